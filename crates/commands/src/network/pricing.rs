//! Pricing of collectives: by simulation on a topology, or in closed form.

use super::wired::{Wired, wired};
use railwright_answers::Machines;
use railwright_calculator::costing::Machine;
use railwright_inputs::networks::on_network::{self, OnNetwork};
use railwright_network::simulate::Wiring;
use railwright_network::topology::Kind;
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_tuner::flows::{self, OnTopology};

/// Pricing method of collectives.
#[derive(Clone, Debug, Default)]
pub struct Pricing {
    /// `flow`, `closed`, and settings of the topology as `key=value`.
    pub network: Vec<String>,
    /// A topology or a design file.
    pub topology: Option<String>,
}

impl railwright_answers::Pricing for Pricing {
    fn machine(&self, cluster: &Cluster) -> Result<Option<(Machine, String)>, Problem> {
        network_of(self, cluster)?
            .map(|(wiring, remark)| flows::machine(cluster, wiring).map(|machine| (machine, remark)))
            .transpose()
    }

    fn machines(&self, cluster: &Cluster) -> Result<Option<(Machines, String)>, Problem> {
        network_of(self, cluster)?
            .map(|(wiring, remark)| flows::quick_and_simulated(cluster, wiring).map(|both| (both, remark)))
            .transpose()
    }
}

/// The topology for collectives of a varying cluster, with its description; `None` for the closed form.
///
/// # Errors
///
/// A network that does not exist, or cannot be built.
pub fn on_topology(pricing: &Pricing, cluster: &Cluster) -> Result<Option<(OnTopology, String)>, Problem> {
    let Some(on) = asked(pricing)? else { return Ok(None) };
    let remark = on_network::specified(&on)?.spec;
    Ok(network_of(pricing, cluster)?.map(|(_, words)| (OnTopology::new(remark), words)))
}

/// The network that collectives are to be simulated on, if they are.
fn network_of(pricing: &Pricing, cluster: &Cluster) -> Result<Option<(Wiring, String)>, Problem> {
    let Some(on) = asked(pricing)? else { return Ok(None) };
    let Wired { sheet, wiring, .. } = wired(&on, cluster, &[])?;
    let kind = sheet.spec.kind.unwrap_or(Kind::RailOptimized).name();
    let routing = sheet.spec.routing.unwrap_or_default().name();
    let remark = format!("collectives simulated on {kind}, routing {routing}");
    Ok(Some((wiring, remark)))
}

/// Topology settings, if collectives are simulated.
fn asked(pricing: &Pricing) -> Result<Option<OnNetwork>, Problem> {
    let (words, keys): (Vec<&String>, Vec<&String>) =
        pricing.network.iter().partition(|word| !word.contains('='));
    let mut is_flow = None;
    for word in words {
        is_flow = Some(match word.as_str() {
            "flow" => true,
            "closed" => false,
            other => {
                return Err(Problem::new(format!("unknown network model `{}`", human::shorten(other)))
                    .in_file("--network")
                    .hint(did_you_mean(
                        other,
                        ["flow", "closed"],
                        "use `flow`, `closed` or a design key such as `radix=128`",
                    )));
            }
        });
    }
    if is_flow != Some(true) {
        if let Some(remark) = pricing.topology.as_deref().or(keys.first().map(|key| key.as_str())) {
            return Err(Problem::new(format!(
                "the closed form has no topology, so `{}` has no effect",
                human::shorten(remark)
            ))
            .in_file(if pricing.topology.is_some() { "--topology" } else { "--network" })
            .hint("add `--network flow`"));
        }
        return Ok(None);
    }
    Ok(Some(OnNetwork { topology: pricing.topology.clone(), keys: keys.into_iter().cloned().collect() }))
}
