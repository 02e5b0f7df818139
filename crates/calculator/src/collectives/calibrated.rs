//! Calibrated link models inside a domain.
//!
//! Responsible for: measured models, and between measured rank counts the catalogue's model scaled like the
//! nearest one. Sustained models are divided by the sustained share, which the price of a run multiplies
//! again. Excludes operations that were not measured.

use super::law::{Law, bus_factor};
use super::{Collective, Source};
use railwright_spec::Portable as _;
use railwright_spec::calibration::{Calibration, Regime};

/// One measured model, with the catalogue's for the same operation and ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    op: Collective,
    ranks: u64,
    law: Law,
    catalogued: Law,
}

/// Tests whether messages between neighbours were measured directly.
pub(super) fn has_messages(measured: &[Measured]) -> bool {
    measured.iter().any(|one| one.op == Collective::SendReceive)
}

/// The models of a calibration and of the catalogue.
pub(super) fn measured(
    calibration: &Calibration,
    catalogued: &dyn Fn(Collective, u64) -> (Law, Source),
) -> Vec<Measured> {
    let mut list: Vec<Measured> = Vec::new();
    for one in &calibration.collectives {
        let op = one.operation;
        if list.iter().any(|known| known.op == op && known.ranks == one.ranks) {
            continue;
        }
        let Some(best) = calibration.collective(one.operation, one.ranks) else { continue };
        let (before, _) = catalogued(op, one.ranks);
        // With reduction in the switch, the model counts the buffer itself; nccl-tests counts bus bytes.
        let per_wire = if before.in_switch { bus_factor(op, one.ranks as f64) } else { 1.0 };
        let kept = match best.regime {
            Regime::Burst => 1.0,
            Regime::Sustained => calibration.collective_rate.as_ref().map_or(1.0, |rate| rate.rate),
        };
        let law = Law {
            base: best.base_us * 1e-6 * kept,
            per_byte: per_wire / (best.bandwidth_gb * 1e9) * kept,
            ramp: best.ramp_ns * 1e-9 * kept,
            in_switch: before.in_switch,
        };
        list.push(Measured { op, ranks: one.ranks, law, catalogued: before });
    }
    list
}

/// The model for a number of ranks, given the catalogue's; `None` if the operation was not measured.
pub(super) fn law(
    measured: &[Measured],
    op: Collective,
    ranks: u64,
    (catalogued, _): (Law, Source),
) -> Option<(Law, Source)> {
    let wanted = match op {
        Collective::ExpertDispatch { .. } => Collective::AllToAll,
        other => other,
    };
    let doublings = |one: &Measured| (one.ranks as f64 / ranks as f64).portable_log2().abs();
    let of_op = measured.iter().filter(|one| one.op == wanted);
    let near = of_op.min_by(|a, b| doublings(a).total_cmp(&doublings(b)))?;
    if near.ranks == ranks {
        return Some((near.law, Source::Calibrated));
    }
    let scaled = |value: f64, to: f64, from: f64| if from > 0.0 { value * (to / from) } else { to };
    let law = Law {
        base: scaled(catalogued.base, near.law.base, near.catalogued.base),
        per_byte: scaled(catalogued.per_byte, near.law.per_byte, near.catalogued.per_byte),
        ramp: if near.catalogued.ramp > 0.0 {
            scaled(catalogued.ramp, near.law.ramp, near.catalogued.ramp)
        } else {
            catalogued.ramp
        },
        in_switch: catalogued.in_switch,
    };
    Some((law, Source::Interpolated))
}
