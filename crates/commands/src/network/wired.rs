//! The network of a cluster, wired, with the defaults chosen for it.

use railwright_inputs::networks::on_network::{self, OnNetwork};
use railwright_network::simulate::{Part, Wiring};
use railwright_network::topology::{DesignSpec, Kind};
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::Sheet;
use railwright_tuner::flows;

/// A network with the defaults chosen for it.
pub(crate) struct Wired {
    pub(crate) sheet: Sheet<DesignSpec>,
    pub(crate) wiring: Wiring,
    pub(crate) chosen: Option<String>,
    /// The warning about NICs that the devices cannot use, if any.
    pub(crate) warnings: Vec<Warning>,
}

/// The network of a cluster: rail-optimized by default, with packet spraying by default, which is
/// non-blocking on a tree without oversubscription.
pub(crate) fn wired(on: &OnNetwork, cluster: &Cluster, failed: &[Part]) -> Result<Wired, Problem> {
    let (mut sheet, _) = on_network::of(on, Kind::RailOptimized, cluster)?;
    let kind = sheet.spec.kind.unwrap_or(Kind::RailOptimized);
    let mut chosen = Vec::new();
    if on.topology.is_none() {
        chosen.push(format!("topology {}", kind.name()));
    }
    chosen.extend(on_network::usual_routing(kind, &mut sheet.spec));
    let wiring = flows::wiring(cluster, &sheet.spec, failed).map_err(|problem| in_words(problem, &sheet))?;
    let chosen = (!chosen.is_empty()).then(|| chosen.join(", "));
    // The wiring has the speed that the devices use; the design the one that is bought.
    let bought = flows::design_of(cluster, &sheet.spec).resolve()?;
    let warnings = flows::idle_nics(&bought, cluster).into_iter().collect();
    Ok(Wired { sheet, wiring, chosen, warnings })
}

/// An error of the design with the place of the setting, with design keys as in `--network`.
pub(crate) fn in_words(problem: Problem, sheet: &Sheet<DesignSpec>) -> Problem {
    let mut problem = sheet.placed(problem);
    let spelled = |text: &str| text.replace("design.", "--network ").replace(" = ", "=");
    problem.hint = problem.hint.as_deref().map(spelled);
    if let Some(place) = problem.place.as_deref_mut()
        && place.file.is_empty()
        && place.key.as_ref().is_some_and(|key| key.starts_with("design."))
    {
        place.key = None;
        "--network".clone_into(&mut place.file);
    }
    problem
}
