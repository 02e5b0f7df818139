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

pub use railwright_answers::gigabits;
use railwright_network::topology::Design;

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
