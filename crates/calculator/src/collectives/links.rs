//! Links that connect a set of devices directly: their models by operation and number of ranks.

use super::calibrated::{self, Measured};
use super::domain;
use super::law::Law;
use super::link::LinkClass;
use super::torus::Torus;
use super::{Collective, CollectiveCost, Source};
use railwright_spec::calibration::Calibration;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};

/// Group sizes with cached models; larger ones are computed on demand.
const KEPT_RANKS: u64 = 128;
const OPERATIONS: [Collective; 5] = [
    Collective::AllReduce,
    Collective::AllGather,
    Collective::ReduceScatter,
    Collective::AllToAll,
    Collective::SendReceive,
];

/// One kind of link that connects a set of devices.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub(super) class: LinkClass,
    pub(super) bandwidth: f64,
    reduces: bool,
    torus: Option<Torus>,
    /// Multiple of the models' base latency; 1 is normal.
    pub(super) pace: f64,
    kept: Vec<[(Law, Source); OPERATIONS.len()]>,
    /// Models measured by a calibration.
    measured: Vec<Measured>,
}

impl Links {
    pub(super) fn new(
        class: LinkClass,
        bandwidth: BytesPerSecond,
        reduces: bool,
        [domain, slice]: [u64; 2],
        calibration: Option<&Calibration>,
    ) -> Self {
        let bandwidth = if bandwidth.get() > 0.0 { bandwidth.get() } else { 16e9 };
        let torus = match class {
            LinkClass::Torus(dimensions) => Some(Torus::of_slice(slice, dimensions, bandwidth)),
            _ => None,
        };
        let mut links =
            Self { class, bandwidth, reduces, torus, pace: 1.0, kept: Vec::new(), measured: Vec::new() };
        if let Some(calibration) = calibration {
            links.measured = calibrated::measured(calibration, &|op, ranks| links.catalogued(op, ranks));
        }
        links.kept = (0..=domain.min(KEPT_RANKS))
            .map(|ranks| OPERATIONS.map(|op| links.unkept(op, ranks.max(1))))
            .collect();
        links
    }

    /// The catalogue's model.
    fn catalogued(&self, op: Collective, ranks: u64) -> (Law, Source) {
        domain::law(self.class, op, ranks, self.bandwidth, self.reduces)
    }

    /// The model of the calibration, or of the catalogue.
    fn unkept(&self, op: Collective, ranks: u64) -> (Law, Source) {
        let catalogued = self.catalogued(op, ranks);
        calibrated::law(&self.measured, op, ranks, catalogued).unwrap_or(catalogued)
    }

    /// The model for `ranks` ranks on these links.
    pub(super) fn law(&self, op: Collective, ranks: u64) -> (Law, Source) {
        let column = match op {
            Collective::AllReduce => 0,
            Collective::AllGather | Collective::Broadcast => 1,
            Collective::ReduceScatter => 2,
            Collective::AllToAll | Collective::ExpertDispatch { .. } => 3,
            Collective::SendReceive => 4,
        };
        let (law, source) = match self.kept.get(ranks as usize) {
            Some(laws) => laws[column],
            None => self.unkept(op, ranks),
        };
        (Law { base: law.base * self.pace, ..law }, source)
    }

    pub(super) fn time(&self, op: Collective, bytes: f64, ranks: u64) -> CollectiveCost {
        if let Some(torus) = &self.torus {
            return torus.time(op, bytes, ranks);
        }
        let (law, source) = self.law(op, ranks);
        let wire = law.wire(op, bytes, ranks as f64);
        CollectiveCost {
            time: Seconds::new(law.base + law.growing(wire, bytes)),
            latency: Seconds::new(law.base),
            wire_bytes_scale_up: Bytes::new(wire),
            wire_bytes_network: Bytes::ZERO,
            source,
            algorithm: match op {
                Collective::AllReduce if law.in_switch => "nvls",
                Collective::AllToAll => "all-to-all",
                _ => "ring",
            },
        }
    }

    /// One message to a neighbour: as measured, otherwise from a two-rank all-to-all, whose ranks each keep
    /// half of their buffer.
    pub(super) fn send(&self, bytes: f64) -> CollectiveCost {
        if let Some(torus) = &self.torus {
            return torus.time(Collective::SendReceive, bytes, 2);
        }
        let (law, source, buffer) = if calibrated::has_messages(&self.measured) {
            let (law, source) = self.law(Collective::SendReceive, 2);
            (law, source, bytes)
        } else {
            let (law, source) = self.law(Collective::AllToAll, 2);
            (law, source.max(Source::Interpolated), 2.0 * bytes)
        };
        CollectiveCost {
            time: Seconds::new(law.base + law.growing(bytes, buffer)),
            latency: Seconds::new(law.base),
            wire_bytes_scale_up: Bytes::new(bytes),
            wire_bytes_network: Bytes::ZERO,
            source,
            algorithm: "send",
        }
    }
}
