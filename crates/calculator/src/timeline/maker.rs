//! Parts of passes: operators, exposed communication with its bytes, hidden communication with its bytes, and
//! the host's share.
//!
//! Responsible for: parts of some work whose times sum to it. Independent of the kind of work.

use super::groups;
use crate::collectives::Collective as Operation;
use crate::costing::Costing;
use crate::estimate::calls::Call;
use crate::estimate::communication::operation;
use crate::evaluate::Evaluation;
use crate::exchanges::ProcessGroup;
use crate::layer::LayerCost;
use crate::schedule::OperationKind;
use crate::work::{Dimension as WorkDimension, Family, Work};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_step::build::Part;
use railwright_step::{Activity, CollectiveId, OperatorFamily, Phase, Step, StreamKind};

/// Kinds of passes, in the order of [`OperationKind`].
pub(super) const KINDS: usize = 5;

/// Direction of passes through layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    /// From the first layer to the last.
    Onwards,
    /// From the last to the first.
    Back,
}

/// Error for this number of spans.
pub(super) fn too_many(spans: usize) -> Problem {
    Problem::new(format!("a timeline of {spans} spans is too large to be useful"))
        .at_key("plan.global_batch")
        .hint("show families of operators (`--detail operators`), or a step with fewer micro-batches")
}

/// Kind, process group, bytes and leading rank of a collective.
type Description = (Operation, ProcessGroup, u64, u64);

/// Context for creating parts: the step's names, and the collectives already described.
pub(super) struct Maker<'a, 'c> {
    step: &'a mut Step,
    pub(super) costing: &'a Costing<'c>,
    /// First rank of the groups.
    base: u64,
    /// Descriptions by kind, process group, bytes and leading rank.
    known: Vec<(Description, Option<CollectiveId>)>,
}

impl<'a, 'c> Maker<'a, 'c> {
    /// A maker for a step.
    pub(super) fn new(step: &'a mut Step, costing: &'a Costing<'c>) -> Self {
        Self { step, costing, known: Vec::new(), base: 0 }
    }

    /// Sets the first rank of the groups.
    pub(super) fn lead(&mut self, base: u64) {
        self.base = base;
    }

    /// The description of a call, created once.
    fn collective(&mut self, call: &Call) -> Option<CollectiveId> {
        let key = (call.operation, call.process_group, call.bytes.get().to_bits(), self.base);
        if let Some((_, known)) = self.known.iter().find(|(known, _)| *known == key) {
            return *known;
        }
        let made = groups::of_call(self.step, self.costing, call, self.base);
        self.known.push((key, made));
        made
    }

    /// Communication of some work that `calls` perform: the exposed parts, each with its call, and the part
    /// overlapped with a pass of duration `whole`. Calls of a dimension divide its exposed time by their
    /// times, and bytes are proportional to the time.
    pub(super) fn communication(
        &mut self,
        work: &Work,
        calls: &[Call],
        whole: Seconds,
    ) -> (Vec<Part>, Vec<(Call, Part)>) {
        let (mut hidden, mut exposed) = (Vec::new(), Vec::new());
        for d in WorkDimension::ALL {
            let (all, waited) = (work.communication[d as usize], work.exposed[d as usize]);
            if all <= Seconds::ZERO {
                continue;
            }
            let hides = (all - waited).max(Seconds::ZERO);
            // Hidden communication runs concurrently with the pass, and is not shown longer than the pass
            // itself.
            let shown = hides.min(whole);
            let own = || calls.iter().filter(|call| call.dimension == d);
            let sum: Seconds = own().map(|call| call.time(self.costing)).sum();
            let times: Vec<(Call, f64)> = own().map(|call| (*call, call.time(self.costing) / sum)).collect();
            for (call, share) in times {
                let collective = self.collective(&call);
                let bytes = |part: Seconds| (call.bytes.get() * call.count * (part / all)).round() as u64;
                if waited > Seconds::ZERO {
                    let name = self.step.names.intern(&name(&call));
                    let part = Part::communication(name, d.of_step(), waited * share, false, collective);
                    exposed.push((call, Part { bytes: bytes(waited.min(all)), ..part }));
                }
                if shown > Seconds::ZERO {
                    let name = self.step.names.intern(&format!("{}, hidden", name(&call)));
                    let part = Part::communication(name, d.of_step(), shown * share, true, collective);
                    let stream = StreamKind::Communication(d.of_step(), 1);
                    hidden.push(Part { stream, bytes: bytes(hides), ..part });
                }
            }
            if d == WorkDimension::Host && shown > Seconds::ZERO {
                let name = self.step.names.intern("host offload, hidden");
                let part = Part::communication(name, d.of_step(), shown, true, None);
                hidden.push(Part { stream: StreamKind::Communication(d.of_step(), 1), ..part });
            }
        }
        (hidden, exposed)
    }

    /// Name of one of this number of equal parts of a call.
    pub(super) fn name_of_part(&mut self, call: &Call, parts: usize) -> railwright_step::NameId {
        let part = Call { count: call.count / parts.max(1) as f64, ..*call };
        self.step.names.intern(&name(&part))
    }

    /// Wait of a pass for the host link, if any.
    pub(super) fn offload(&mut self, work: &Work) -> Option<Part> {
        let waited = work.exposed[WorkDimension::Host as usize];
        let name = self.step.names.intern("host offload");
        let part = Part::communication(name, WorkDimension::Host.of_step(), waited, false, None);
        (waited > Seconds::ZERO).then_some(part)
    }

    /// An operator, or a family of them.
    pub(super) fn compute(&mut self, family: Family, name: &str, time: Seconds) -> Part {
        Part::compute(self.step.names.intern(name), operator(family), time)
    }

    /// Excess of a pass of duration `whole` over its device's time, if any.
    pub(super) fn host(&mut self, work: &Work, whole: Seconds) -> Option<Part> {
        let host = whole - work.time();
        let name = self.step.names.intern("waiting for the host");
        let part = Part {
            activity: Activity::Host,
            stream: StreamKind::Host(0),
            ..Part::compute(name, OperatorFamily::Other, host)
        };
        (host.get() > 1e-9 * whole.get()).then_some(part)
    }
}

/// The kinds of passes of a virtual stage: phases of its work, duration, and direction through the layers.
pub(super) fn kinds(evaluation: &Evaluation, chunk: usize) -> [(&'static [Phase], Seconds, Sequence); KINDS] {
    let time = &evaluation.chunks[chunk].time;
    let (input, weight) = (time.backward_input, time.backward_weight);
    let kind = |kind| match kind {
        OperationKind::Forward => (&[Phase::Forward][..], time.forward, Sequence::Onwards),
        OperationKind::Recompute => (&[Phase::Recompute][..], time.recompute, Sequence::Onwards),
        OperationKind::Backward => {
            (&[Phase::BackwardInput, Phase::BackwardWeight][..], input + weight, Sequence::Back)
        }
        OperationKind::BackwardInput => (&[Phase::BackwardInput][..], input, Sequence::Back),
        OperationKind::BackwardWeight => (&[Phase::BackwardWeight][..], weight, Sequence::Back),
    };
    [
        OperationKind::Forward,
        OperationKind::Recompute,
        OperationKind::Backward,
        OperationKind::BackwardInput,
        OperationKind::BackwardWeight,
    ]
    .map(kind)
}

/// Sum of the work of some phases.
pub(super) fn work(cost: &LayerCost, phases: &[Phase]) -> Work {
    let mut sum = Work::default();
    for &phase in phases {
        sum += cost.phase(phase);
    }
    sum
}

const fn operator(family: Family) -> OperatorFamily {
    match family {
        Family::Embedding => OperatorFamily::Embedding,
        Family::Norm => OperatorFamily::Norm,
        Family::AttentionCore => OperatorFamily::Attention,
        Family::AttentionInput | Family::AttentionOutput | Family::Mlp | Family::Experts | Family::Head => {
            OperatorFamily::MatrixProduct
        }
        Family::Activation | Family::Residual => OperatorFamily::Elementwise,
        Family::Router => OperatorFamily::Routing,
        Family::Loss => OperatorFamily::Loss,
    }
}

/// `all gather x32`, and `all gather` for one.
fn name(call: &Call) -> String {
    let (operation, _) = operation(call.operation, call.group.ranks);
    let operation = operation.replace('_', " ");
    if call.count == 1.0 { operation } else { format!("{operation} x{}", call.count) }
}
