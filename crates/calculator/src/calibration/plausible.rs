//! Plausibility of fitted constants: rates relative to the catalogue, shares relative to the links.
//!
//! Responsible for: a warning for each constant so far off that another run, another device or a wrong shape
//! is more likely. Does not change constants, and excludes hosts, which can differ by a factor of ten.

use super::predictor::Predictor;
use crate::operators::Pass;
use railwright_spec::calibration::{Calibration, Operators, Regime};
use railwright_spec::human;
use railwright_spec::problem::Warning;

/// Range of plausible rates, as multiples of the catalogue's.
const BELIEVED: (f64, f64) = (0.3, 3.0);
/// Maximum rate of a ring relative to its NICs: rounding and bytes saved by the switch can exceed 1.
const LINK: f64 = 1.05;

/// Doubtful constants of a calibration, relative to the catalogue.
pub(super) fn warnings(before: &Predictor<'_>, calibration: &Calibration) -> Vec<Warning> {
    let mut list = Vec::new();
    let mut text = |name: &str, value: f64| {
        if !(BELIEVED.0..=BELIEVED.1).contains(&value) {
            list.push(Warning::new(
                "calibration-implausible",
                format!(
                    "{name}: {} the catalogue rate, outside the usual range of {} to {}; the run, device or shape probably differs from the measured one",
                    times(value),
                    times(BELIEVED.0),
                    times(BELIEVED.1)
                ),
            ));
        }
    };
    for rate in &calibration.rates {
        let known = match (rate.regime, rate.operators) {
            (Regime::Sustained, Operators::Products(format)) => before.product_rate(format),
            (Regime::Sustained, Operators::AttentionForward) => before.attention_rate(Pass::Forward),
            (Regime::Sustained, Operators::AttentionBackward) => before.attention_rate(Pass::DataGradient),
            _ => 1.0,
        };
        // Small operators are dominated by launches, so the largest measured one is used.
        if let Some((_, last)) = rate.points.last() {
            text(&rate.operators.name(), last / known);
        }
    }
    for law in &calibration.collectives {
        let sample = super::predictor::like(law.operation, law.ranks, law.to_bytes);
        let kept = match law.regime {
            Regime::Burst => 1.0,
            Regime::Sustained => before.software.collective_rate,
        };
        let factor = crate::collectives::bus_factor(law.operation, law.ranks.max(2) as f64);
        let time = law.base_us * 1e-6
            + factor * law.to_bytes / (law.bandwidth_gb * 1e9)
            + law.ramp_ns * 1e-9 * law.to_bytes.sqrt();
        text(
            &format!("{} among {}", law.operation.name(), law.ranks),
            before.collective(&sample) / kept / time.max(1e-12),
        );
    }
    if let Some(rate) = &calibration.collective_rate {
        text("collectives in the run", rate.rate / before.software.collective_rate);
    }
    let Some(network) = &calibration.network else { return list };
    let most = network.ring_share.max(network.spread_share);
    if most > LINK {
        list.push(Warning::new(
            "calibration-beyond-link",
            format!(
                "collectives between domains reach {} of the NIC bandwidth of the cluster ({} per device), \
                 which is impossible: pass the measured cluster. Groups of other sizes use the NIC bandwidth",
                human::percent(most),
                human::bandwidth(before.cluster.network.bandwidth)
            ),
        ));
    }
    list
}

/// A factor as text.
fn times(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0} times") } else { format!("{value:.2} times") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::calibration::{CollectiveRate, Evidence, NetworkLaw, Rate};
    use railwright_spec::cluster::by_name;
    use railwright_spec::precision::DataType;

    fn with_rate(rate: f64) -> Calibration {
        let rate = Rate {
            operators: Operators::Products(DataType::Bf16),
            regime: Regime::Sustained,
            points: vec![(1e9, 0.01), (1e12, rate)],
            evidence: Evidence::default(),
        };
        Calibration { rates: vec![rate], ..Calibration::empty("h100-sxm5-80gb") }
    }

    #[test]
    fn rates_far_from_the_catalogues_are_doubted() {
        let cluster = by_name("dgx-h100", 64).expect("known");
        let predictor = Predictor::new(&cluster, "megatron-core-2024").expect("known");
        let ids = |calibration: &Calibration| -> Vec<String> {
            warnings(&predictor, calibration).into_iter().map(|w| w.id).collect()
        };
        // The generation sustains 0.842 of the burst rate: 0.3 of that is 0.25.
        assert!(ids(&with_rate(0.26)).is_empty() && ids(&with_rate(2.4)).is_empty());
        assert_eq!(ids(&with_rate(0.24)), ["calibration-implausible"]);
        assert_eq!(ids(&with_rate(2.6)), ["calibration-implausible"]);
        let slow = CollectiveRate { rate: 0.1, evidence: Evidence::default() };
        assert_eq!(ids(&Calibration { collective_rate: Some(slow), ..with_rate(0.8) }).len(), 1);
    }

    #[test]
    fn rings_faster_than_their_nics_are_doubted() {
        let cluster = by_name("dgx-h100", 64).expect("known");
        let predictor = Predictor::new(&cluster, "megatron-core-2024").expect("known");
        let network = |ring_share| NetworkLaw {
            ring_share,
            spread_share: 0.8,
            latency: 1.0,
            from_ranks: 16,
            to_ranks: 16,
            from_domains: 2,
            to_domains: 2,
            from_bytes: 8.0,
            to_bytes: 1e9,
            evidence: Evidence::default(),
        };
        let of = |share| Calibration { network: Some(network(share)), ..with_rate(0.8) };
        assert!(warnings(&predictor, &of(0.97)).is_empty());
        let list = warnings(&predictor, &of(2.0));
        assert_eq!(list[0].id, "calibration-beyond-link");
        assert!(list[0].message.contains("50.0 GB/s"), "{}", list[0].message);
    }
}
