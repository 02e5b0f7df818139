//! `network`: reports of topologies, costs, failures, designs, traffic and simulations, and what they share.

pub mod collective;
pub mod cost;
pub mod design;
pub mod failures;
pub mod flows;
pub mod rail_only;
pub mod show;
pub mod simulate;
pub mod sites;
mod tables;
pub mod topologies;
pub mod traffic;

use railwright_network::topology::{Design, DesignSpec};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::BytesPerSecond;
use railwright_spec::run::Sheet;

/// An error of a design, with flag names if the value comes from a flag or a default.
pub fn placed(sheet: &Sheet<DesignSpec>, problem: Problem) -> Problem {
    let problem = sheet.placed(problem);
    if problem.place.as_ref().is_some_and(|place| !place.file.is_empty() && !place.file.starts_with("--")) {
        return problem;
    }
    in_flags(problem)
}

/// `design.leaf_oversubscription` becomes `--leaf-oversubscription`.
pub fn in_flags(mut problem: Problem) -> Problem {
    problem.message = dashed(&problem.message);
    problem.hint = problem.hint.as_deref().map(dashed);
    if let Some(place) = problem.place.as_deref_mut()
        && place.file.is_empty()
        && let Some(key) = place.key.take()
    {
        place.file = dashed(&key);
    }
    problem
}

pub(crate) fn dashed(text: &str) -> String {
    let mut parts = text.split("design.");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(part.len());
        let (key, rest) = part.split_at(end);
        out.push_str("--");
        out.push_str(&key.replace('_', "-"));
        // `--radix = 128` is a key's assignment; flags take the value after a space, and lists without brackets.
        match rest.strip_prefix(" = ") {
            Some(value) => {
                let list = value.strip_prefix('[').and_then(|value| value.split_once(']'));
                out.push(' ');
                match list {
                    Some((list, after)) => out.extend([&list.replace(", ", ","), after]),
                    None => out.push_str(value),
                }
            }
            None => out.push_str(rest),
        }
    }
    out
}

/// `64 ports`, or those of each tier where a modular one has more: `64 (leaf), 576 (spine) ports`.
fn switch_ports(design: &Design, radix: u64) -> String {
    let tiers = design.counts().tiers;
    let each: Vec<u64> = tiers.iter().map(|tier| tier.ports / tier.switches).collect();
    if each.iter().all(|ports| *ports == design.ports_per_switch) {
        return format!("{radix} ports");
    }
    let named: Vec<_> = tiers.iter().zip(each).map(|(tier, n)| format!("{n} ({})", tier.name)).collect();
    format!("{} ports", named.join(", "))
}

/// `400 Gbit/s`: the usual unit of ports, unlike bytes on links.
pub fn gigabits(speed: BytesPerSecond) -> String {
    // A third of a port is not an integer.
    let gbit = (speed.get() * 8.0 / 1e6).round() / 1e3;
    if gbit >= 1000.0 { format!("{} Tbit/s", gbit / 1000.0) } else { format!("{gbit} Gbit/s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_name_flags_and_speeds_are_those_of_ports() {
        assert_eq!(
            dashed("increase design.radix, or design.hosts_per_leaf = 4"),
            "raise --radix, or --hosts-per-leaf 4"
        );
        assert_eq!(dashed("write design.dimensions = [16, 16, 16]"), "write --dimensions 16,16,16");
        assert_eq!(gigabits(BytesPerSecond::from_gbit(200.0) / 3.0), "66.667 Gbit/s");
        assert_eq!(gigabits(BytesPerSecond::from_gb(450.0)), "3.6 Tbit/s");
    }
}
