//! Step times under likely alternatives of what an estimate assumes.
//!
//! Responsible for: the alternatives that widen an interval: open settings of the plan, an unspecified
//! network, and the speed of the host. Excludes their likelihood, and the version of the framework (see
//! [`super::versions`]).

use crate::costing::{Costing, Machine};
use crate::evaluate::evaluate;
use railwright_spec::Portable as _;
use railwright_spec::plan::{OpenSettings, Plan};
use railwright_spec::quantity::Seconds;

/// A step time under a different assumption.
pub(super) struct Alternative {
    /// Time of the step.
    pub(super) total: Seconds,
    /// Assumption, as text after a step time.
    pub(super) assumption: String,
}

/// Ratio of host speeds around the generation's. A generation's cost per kernel is from the hosts of its
/// measured runs, often one. Launches are single-threaded: at one step of code, published LoRA runs on A100
/// hosts took half of the time per kernel that was measured on an H100 host, and eager generations of one
/// kind differ by a factor of five (catalog/software.toml).
const HOST_RANGE: f64 = 2.0;

/// Architectures of which installed networks differ, and the slow ones as a share of the accelerator's usual
/// bandwidth. Of 39 publications of runs over several nodes of these that state their bandwidth, 13 have at
/// most half of it, and 9 a quarter or less (`inter_node_bw_gbps` in catalog/evidence). Of 194 on Hopper and
/// Blackwell servers, 4 have half or less.
const VARIED_NETWORKS: [&str; 6] = ["Pascal", "Volta", "Turing", "Ampere", "Ada", "Blackwell RTX"];
const SLOW_NETWORK: f64 = 0.25;

/// Minimum change of the step time by the host's speed. Below, the errors of measured runs already contain
/// it.
const MUCH: f64 = 0.15;

/// Minimum change of the step time by open settings.
const LITTLE: f64 = 0.005;

/// All alternatives of a step of time `step` that change it.
pub(super) fn all(costing: &Costing<'_>, step: Seconds, open: OpenSettings) -> Vec<Alternative> {
    let changes = |other: &Alternative| (other.total / step - 1.0).abs() > LITTLE;
    let open = slower(costing, step, open).into_iter().chain(faster(costing, open)).filter(changes);
    let network = network(costing).into_iter().filter(changes);
    open.chain(network).chain(hosts(costing, step)).collect()
}

/// The bounds of measured over predicted time, widened by the ratios `r` of alternative step times to the
/// predicted one.
///
/// The alternatives and the errors of measured runs are independent, so their logarithms add as squares: `ln
/// h' = sqrt(ln^2 h + sum ln^2 r)` over all `r > 1` for the upper bound, and over all `r < 1` for the lower
/// one.
pub(super) fn widened((low, high): (f64, f64), ratios: &[f64]) -> (f64, f64) {
    let bound = |own: f64, sign: f64| {
        let squares = |ratio: f64| (sign * ratio.portable_ln()).max(0.0).powi(2);
        let more: f64 = ratios.iter().map(|ratio| squares(*ratio)).sum();
        // A bound on the other side of the prediction shows a bias, which alternatives do not change.
        if more > 0.0 {
            own * (sign * ((squares(own) + more).sqrt() - squares(own).sqrt())).portable_exp()
        } else {
            own
        }
    };
    (bound(low, -1.0), bound(high, 1.0))
}

/// The faster alternatives of open settings. `None` without one.
fn faster(costing: &Costing<'_>, open: OpenSettings) -> Option<Alternative> {
    let total = time(&costing.for_plan(&open.faster(costing.plan)?))?;
    Some(Alternative { total, assumption: "with balanced experts".to_owned() })
}

/// The slower alternatives of open settings together. `None` without one.
fn slower(costing: &Costing<'_>, step: Seconds, open: OpenSettings) -> Option<Alternative> {
    let plan = open.slower(costing.plan, costing.software)?;
    let total = time(&costing.for_plan(&plan))?;
    // Overlap of an exchange that the plan lacks changes nothing.
    let has_effect = plan.overlap != costing.plan.overlap && {
        let exposed = Plan { overlap: plan.overlap, ..costing.plan.clone() };
        time(&costing.for_plan(&exposed)).is_some_and(|total| total > step)
    };
    let changes = [
        (has_effect, "without the overlap that recipes enable (off by default)".to_owned()),
        (
            plan.expert_imbalance > costing.plan.expert_imbalance,
            format!("if the busiest expert has {} times the mean load", plan.expert_imbalance),
        ),
    ];
    let texts: Vec<String> =
        changes.into_iter().filter(|(is_changed, _)| *is_changed).map(|(_, text)| text).collect();
    Some(Alternative { total, assumption: texts.join(" and ") })
}

/// The step on a host of twice and half the speed, if the host limits the step.
fn hosts(costing: &Costing<'_>, step: Seconds) -> Vec<Alternative> {
    let at = |rate: f64| {
        let software = costing.software.with_host_rate(rate);
        time(&Costing::with_software(
            costing.model,
            costing.cluster,
            costing.plan,
            costing.machine,
            &software,
        ))
    };
    [
        (HOST_RANGE, "with a host that is twice as fast"),
        (1.0 / HOST_RANGE, "with a host that is half as fast"),
    ]
    .into_iter()
    .filter_map(|(rate, assumption)| {
        let total = at(rate)?;
        let is_much = (total / step - 1.0).abs() > MUCH;
        is_much.then(|| Alternative { total, assumption: assumption.to_owned() })
    })
    .collect()
}

/// The step over a slower network, if nothing specifies the network and installed ones differ.
fn network(costing: &Costing<'_>) -> Option<Alternative> {
    let device = costing.cluster.accelerator.device_architecture();
    let is_in_domain = costing.cluster.devices <= costing.cluster.scale_up.domain_size;
    if is_in_domain || !costing.cluster.network.is_assumed || !VARIED_NETWORKS.contains(&device) {
        return None;
    }
    let mut cluster = costing.cluster.clone();
    cluster.network.bandwidth = cluster.network.bandwidth * SLOW_NETWORK;
    let machine = Machine::new(&cluster);
    let total =
        time(&Costing::with_software(costing.model, &cluster, costing.plan, &machine, costing.software))?;
    let assumption = "with a quarter of the usual network bandwidth (none is specified)".to_owned();
    Some(Alternative { total, assumption })
}

fn time(costing: &Costing<'_>) -> Option<Seconds> {
    let total = evaluate(costing).ok()?.time.total;
    (total.is_finite() && total > Seconds::ZERO).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::super::tests::estimate_of;
    use super::widened;
    use railwright_spec::plan::Sharding;

    fn width(sequence: u64, software: &str) -> (f64, f64, String) {
        let estimate = estimate_of("llama-3.2-1b", "dgx-h100", 1, |p| {
            p.software = Some(software.into());
            p.sharding = Some(Sharding { zero_stage: 0, group: None, reshard_after_forward: true });
            p.sequence_length = Some(sequence);
            p.micro_batches = Some(1);
        });
        let interval = &estimate.step_time_interval;
        (interval.low / estimate.step_time, interval.high / estimate.step_time, interval.source.clone())
    }

    /// A step that waits for the host has an interval over hosts; one that does not is as certain as its
    /// generation.
    #[test]
    fn a_step_that_waits_for_the_host_depends_on_its_speed() {
        let (short, long) = (width(128, "transformers-2026"), width(8192, "transformers-2026"));
        assert!(short.0 < long.0 * 0.95 && short.1 > long.1 * 1.05, "{short:?} {long:?}");
        assert!(
            short.2.contains("with a host that is twice as fast") && !long.2.contains("host"),
            "{short:?} {long:?}"
        );
    }

    /// An unspecified network of an architecture whose installed networks differ widens the interval upwards;
    /// a specified one does not, and neither does a job within one node.
    #[test]
    fn an_unspecified_network_widens_the_interval() {
        let of = |cluster: &str, devices: u64| {
            let estimate = estimate_of("llama-3-8b", cluster, devices, |p| {
                p.software = Some("torchtitan-2024-eager".into());
                p.sequence_length = Some(1024);
                p.micro_batches = Some(1);
            });
            let interval = &estimate.step_time_interval;
            (interval.high / estimate.step_time, interval.source.contains("usual network bandwidth"))
        };
        let (open, preset, node) = (of("a100-80g-sxm", 64), of("dgx-a100", 64), of("a100-80g-sxm", 8));
        assert!(open.1 && !preset.1 && !node.1, "{open:?} {preset:?} {node:?}");
        assert!(open.0 > 1.05 * preset.0, "{open:?} {preset:?}");
        assert!(!of("h100-80g-sxm", 64).1);
    }

    #[test]
    fn independent_ratios_add_as_squares_of_logarithms() {
        let (low, high) = widened((0.8, 1.5), &[1.2, 0.7]);
        assert!((high.ln().powi(2) - 1.5_f64.ln().powi(2) - 1.2_f64.ln().powi(2)).abs() < 1e-12, "{high}");
        assert!((low.ln().powi(2) - 0.8_f64.ln().powi(2) - 0.7_f64.ln().powi(2)).abs() < 1e-12, "{low}");
        assert_eq!(widened((0.8, 1.5), &[]), (0.8, 1.5));
        let (_, biased) = widened((0.7, 0.95), &[1.2]);
        assert!((biased - 0.95 * 1.2).abs() < 1e-12, "{biased}");
    }

    /// A recipe's overlap is one end of the interval of an open plan, and specified overlap removes the
    /// other.
    #[test]
    fn open_overlap_widens_upwards_alone() {
        let of = |overlap: Option<bool>| {
            let estimate = estimate_of("llama-3-8b", "dgx-h100", 64, |p| {
                // Without graphs, the host limits this step at any overlap.
                p.software = Some("megatron-core-2025+cuda-graphs".into());
                p.tensor_parallel = Some(8);
                (p.overlap_tensor, p.overlap_gradient_reduce, p.overlap_parameter_gather) =
                    (overlap, overlap, overlap);
            });
            let interval = &estimate.step_time_interval;
            (interval.low / estimate.step_time, interval.high / estimate.step_time)
        };
        let (open, recipe) = (of(None), of(Some(true)));
        assert!(open.1 > recipe.1 * 1.02 && (open.0 - recipe.0).abs() < 1e-9, "{open:?} {recipe:?}");
        let off = of(Some(false));
        assert!((off.0 - recipe.0).abs() < 1e-9 && (off.1 - recipe.1).abs() < 1e-9, "{off:?} {recipe:?}");
    }
}
