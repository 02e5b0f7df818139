//! Exposed communication by dimension.
//!
//! Responsible for: transfers (not waits) without overlapped compute; one rule per dimension, because
//! remedies differ. Excludes waiting: moving less data does not shorten it.

use super::purpose::{Unattributed, unattributed};
use super::words::time;
use super::{Context, Inference, Rule};
use crate::certainty::Certainty;
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::{Label, Share};
use railwright_step::Dimension;

/// Minimum share of undivided time at which the cost is a bound.
const BOUNDED: f64 = 0.05;

/// A dimension's rule.
pub(super) struct Exposed {
    dimension: Dimension,
    id: &'static str,
    title: &'static str,
    text: &'static str,
    advice: &'static str,
}

pub(super) const EXPOSED: [Exposed; 6] = [
    Exposed {
        dimension: Dimension::Tensor,
        id: "exposed-tensor",
        title: "Exposed tensor-parallel communication",
        text: "Transfers of tensor-parallel groups not overlapped with compute. Threshold: 3% of the \
               step. Cost: that time. It occurs in every layer, so it grows with the TP size and is largest \
               if a group spans NVLink domains.\n\n\
               Remedies: a smaller TP size, sequence parallelism with overlapped all-gathers \
               (`--tp-comm-overlap`), groups within a domain.",
        advice: "overlap tensor-parallel communication with GEMMs (`--tp-comm-overlap`), or reduce the TP size",
    },
    Exposed {
        dimension: Dimension::Context,
        id: "exposed-context",
        title: "Exposed context-parallel communication",
        text: "Transfers of context-parallel groups not overlapped with compute. Threshold: 3% of the \
               step. Cost: that time. Ring attention overlaps them if the attention of a chunk takes longer \
               than the transfer of its keys and values: longer sequences, fewer ranks, grouped-query \
               attention.",
        advice: "use fewer context-parallel ranks, or a ring within the NVLink domain and all-to-all across \
            domains",
    },
    Exposed {
        dimension: Dimension::Expert,
        id: "exposed-expert",
        title: "Exposed expert-parallel communication",
        text: "Transfers of expert-parallel groups (dispatch and combine) not overlapped with compute. \
               Threshold: 3% of the step. Cost: that time.\n\n\
               Remedies: two interleaved micro-batches (DualPipe, batch overlap), groups within a domain, \
               routing limited to a few domains, low-precision dispatch, DeepEP.",
        advice: "interleave two micro-batches, keep expert groups within one NVLink domain, dispatch in fp8",
    },
    Exposed {
        dimension: Dimension::Pipeline,
        id: "exposed-pipeline",
        title: "Exposed messages between pipeline stages",
        text: "Transfers between pipeline stages not overlapped with compute. Threshold: 3% of the step. \
               Cost: that time. Waiting within a message is a bubble, not a transfer.\n\n\
               Remedies: `--overlap-p2p-communication`, fewer virtual stages, messages sharded over \
               tensor-parallel ranks.",
        advice: "overlap messages with passes (`--overlap-p2p-communication`), or divide them among tensor-parallel ranks",
    },
    Exposed {
        dimension: Dimension::Data,
        id: "exposed-data",
        title: "Exposed data-parallel communication",
        text: "Transfers of data-parallel groups (gradients, sharded parameters) not overlapped with compute. \
               Threshold: 3% of the step. Cost: that time.\n\n\
               Remedies: `--overlap-grad-reduce` and `--overlap-param-gather`, bucket sizes that suit the \
               network, more micro-batches per reduction, prefetching and hybrid sharding with FSDP, \
               low-precision formats.",
        advice: "overlap reduction with the backward pass and gathering with the forward pass; check bucket sizes and prefetching",
    },
    Exposed {
        dimension: Dimension::Other,
        id: "exposed-other",
        title: "Exposed communication of unknown purpose",
        text: "Transfers not overlapped with compute, of groups with an unknown dimension. Threshold: 3% \
               of the step. Cost: that time. The evidence lists them by group and operation. If the traces \
               list the ranks of these groups, the parallel sizes (`--layout tp=…,dp=…`) attribute them; \
               without recorded groups they cannot.",
        advice: "overlap these collectives with compute that does not need their result",
    },
];

impl Rule for Exposed {
    fn id(&self) -> &'static str {
        self.id
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn text(&self) -> &'static str {
        self.text
    }

    fn inference(&self) -> Inference {
        Inference::Advice(match self.dimension {
            Dimension::Tensor => {
                "use the server's custom or fused all-reduce, fewer tensor-parallel ranks, or groups within one NVLink domain"
            }
            Dimension::Expert => {
                "keep expert groups within one NVLink domain, dispatch in fp8, overlap two batches"
            }
            Dimension::Pipeline => "use fewer stages, or overlap sends with the next batch",
            Dimension::Other => {
                "overlap these collectives with the compute of another batch; describe process groups (`group_desc`) to attribute them"
            }
            _ => "reduce these collectives, or overlap them with the compute of another batch",
        })
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let fits = |label: Label| matches!(label, Label::Exposed(d, Share::Transfer | Share::Undivided) if d == self.dimension);
        let lost = context.sum(fits);
        if context.share(lost) < 0.03 {
            return Vec::new();
        }
        // With one recorded rank of a group, transfer and wait cannot be separated: the whole is a bound.
        let bounded = context.mean(Label::Exposed(self.dimension, Share::Undivided)) > BOUNDED * lost;
        let what = if bounded { "communication" } else { "transfers" };
        let undivided =
            bounded.then(|| "transfers and waits cannot be separated: the cost is an upper bound".to_owned());
        let late = delayed(context, lost);
        let unknown = (self.dimension == Dimension::Other).then(|| unattributed(context, bounded));
        let whose = match &unknown {
            Some(unknown) => format!("{what} of {}", unknown.groups),
            None => format!("{}-parallel {what}", self.dimension.name()),
        };
        let Unattributed { evidence, advice, .. } = unknown.unwrap_or_else(|| Unattributed {
            groups: String::new(),
            evidence: Vec::new(),
            advice: self.advice.to_owned(),
        });
        vec![Finding {
            id: self.id.to_owned(),
            message: format!("exposed {whose}"),
            cost: Some(lost),
            explained: Explained::Whole,
            subject: Subject {
                kernels: Context::leading(context.times_under(fits)),
                ..Subject::of_dimension(self.dimension)
            },
            certainty: (bounded || late.is_some()).then_some(Certainty::AtMost),
            evidence: undivided
                .into_iter()
                .chain(evidence)
                .chain(context.costliest(context.times_under(fits), 3))
                .chain(late)
                .collect(),
            advice,
            ..Finding::default()
        }]
    }
}

/// Note on named delays that cost as much as these transfers: late ranks delay collectives past the compute
/// that would overlap them.
fn delayed(context: &Context<'_>, lost: f64) -> Option<String> {
    let named = &context.stragglers?.culprits;
    let late: f64 = named.iter().map(|one| one.cost_s * 1e9).sum();
    (late >= 0.5 * lost && !named.is_empty()).then(|| {
        format!("upper bound: stragglers and slow links cost {} per step and delay these collectives; remove them first", time(late))
    })
}
