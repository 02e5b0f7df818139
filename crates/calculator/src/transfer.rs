//! Transfer between pipeline stages for one micro-batch: a message, and the receivers' gather of it.
//!
//! Responsible for: bytes, process groups and times of both, once for all chunks and both directions. The
//! pipeline waits for [`Transfer::time`]; estimates, timelines, traffic and simulations show its parts.
//! Excludes the senders (see [`crate::schedule`]) and overlap with compute.

use crate::collectives::{Collective, CollectiveCost};
use crate::costing::Costing;
use crate::exchanges::ProcessGroup;
use railwright_spec::quantity::{Bytes, Seconds};

/// One transfer between neighbouring stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Bytes that a rank sends: `tokens x hidden size x bytes of an activation / tensor ranks`. With
    /// sequence parallelism that is its shard; without it Megatron's scatter-gather has the same size
    /// (Narayanan et al. 2021, section 4.1).
    pub message: Bytes,
    /// Cost of a message, at the burst rate.
    pub message_cost: CollectiveCost,
    /// Time of a message at the sustained rate, without the host's launch.
    pub sending: Seconds,
    /// The receivers' gather of the parts. `None` with sequence parallelism, where each keeps its shard.
    pub gather: Option<Gather>,
    /// Time to launch a transfer from the host.
    pub host: Seconds,
}

/// The all-gather of a message's parts among the tensor ranks that receive them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gather {
    /// The gathered buffer: `tokens x hidden size x bytes of an activation`.
    pub bytes: Bytes,
    /// Cost, at the burst rate.
    pub cost: CollectiveCost,
    /// Time at the sustained rate.
    pub time: Seconds,
}

impl Gather {
    /// Kind of collective.
    pub const OPERATION: Collective = Collective::AllGather;
    /// Process group of the gather.
    pub const PROCESS_GROUP: ProcessGroup = ProcessGroup::Tensor;
}

impl Transfer {
    /// A plan's transfer, over the slowest links of all kinds of device; `None` without a pipeline.
    pub fn new(costing: &Costing<'_>) -> Option<Self> {
        if costing.plan.pipeline_parallel <= 1 {
            return None;
        }
        if !costing.is_mixed() {
            return Some(Self::of_kind(costing));
        }
        let longer = |a: Self, b: Self| if b.time() > a.time() { b } else { a };
        costing.kinds().iter().map(|kind| Self::of_kind(&kind.costing)).reduce(longer)
    }

    fn of_kind(costing: &Costing<'_>) -> Self {
        let plan = costing.plan;
        let (fabric, rate) = (&costing.machine.fabric, costing.software.collective_rate);
        let whole = Bytes::new(costing.tokens * costing.model.hidden_size as f64 * costing.activation_bytes);
        let message = whole / plan.tensor_parallel as f64;
        let message_cost = fabric.send(message, &costing.layout.pipeline, 1.0);
        let is_gathered = !plan.sequence_parallel && plan.tensor_parallel > 1;
        let gather = is_gathered.then(|| {
            let cost =
                fabric.time(Gather::OPERATION, whole, &Gather::PROCESS_GROUP.group(&costing.layout), 1.0);
            Gather { bytes: whole, cost, time: cost.time / rate }
        });
        let host = Seconds::from_micros(costing.software.host_us_per_transfer);
        Self { message, message_cost, sending: message_cost.time / rate, gather, host }
    }

    /// Total time, in seconds: `message / rate + gather / rate + host`.
    pub fn time(&self) -> Seconds {
        self.sending + self.gather_time() + self.host
    }

    /// Time of the gather; zero without one.
    pub fn gather_time(&self) -> Seconds {
        self.gather.map_or(Seconds::ZERO, |gather| gather.time)
    }
}

/// Time of one transfer between neighbouring stages: the hidden states of a micro-batch.
pub fn transfer_time(costing: &Costing<'_>) -> Seconds {
    Transfer::new(costing).map_or(Seconds::ZERO, |transfer| transfer.time())
}
