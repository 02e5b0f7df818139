//! Keys of network designs as flags, in problems of a design that was described by flags.

use railwright_spec::problem::Problem;
use railwright_spec::run::{Section, Sheet};

/// An error of a design, with flag names if the value comes from a flag or a default.
pub fn placed_in_flags<S: Section + Default>(sheet: &Sheet<S>, problem: Problem) -> Problem {
    let problem = sheet.placed(problem);
    if problem.place.as_ref().is_some_and(|place| !place.file.is_empty() && !place.file.starts_with("--")) {
        return problem;
    }
    design_in_flags(problem)
}

/// `design.leaf_oversubscription` becomes `--leaf-oversubscription`.
pub fn design_in_flags(mut problem: Problem) -> Problem {
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

/// Keys of a design as flags: `design.radix` becomes `--radix`.
pub fn dashed(text: &str) -> String {
    let mut parts = text.split("design.");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(part.len());
        let (key, rest) = part.split_at(end);
        out.push_str("--");
        out.push_str(&key.replace('_', "-"));
        // `--radix = 128` is a key's assignment; flags take the value after a space, and lists without
        // brackets.
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

#[cfg(test)]
mod tests {
    use super::dashed;

    #[test]
    fn keys_of_a_design_become_flags() {
        assert_eq!(
            dashed("raise design.radix, or design.hosts_per_leaf = 4"),
            "raise --radix, or --hosts-per-leaf 4"
        );
        assert_eq!(dashed("write design.dimensions = [16, 16, 16]"), "write --dimensions 16,16,16");
    }
}
