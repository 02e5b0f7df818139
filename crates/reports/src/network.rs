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

use railwright_network::topology::Design;
use railwright_spec::quantity::BytesPerSecond;

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
    fn speeds_are_those_of_ports() {
        assert_eq!(gigabits(BytesPerSecond::from_gbit(200.0) / 3.0), "66.667 Gbit/s");
        assert_eq!(gigabits(BytesPerSecond::from_gb(450.0)), "3.6 Tbit/s");
    }
}
