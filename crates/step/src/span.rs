//! Spans of a timeline in columns.
//!
//! Responsible for: the vocabulary of a timeline ([`Phase`], [`Activity`], [`Dimension`], [`OperatorFamily`])
//! and the columns. Streams and order of spans belong to [`crate::Step`].

use crate::{CollectiveId, NameId, Time};
use railwright_spec::quantity::{LayerIndex, MicroBatch};
use serde::Serialize;

/// Part of the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Forward pass.
    Forward,
    /// Recomputed forward work of the backward pass.
    Recompute,
    /// Undivided backward pass.
    Backward,
    /// Gradient of the input.
    BackwardInput,
    /// Gradient of the weights.
    BackwardWeight,
    /// Gradient reduction, clipping, update and parameter gathering.
    Optimizer,
    /// Anything else, or unknown.
    #[default]
    Other,
}

impl Phase {
    /// All phases in the order of a step.
    pub const ALL: [Self; 7] = [
        Self::Forward,
        Self::Recompute,
        Self::Backward,
        Self::BackwardInput,
        Self::BackwardWeight,
        Self::Optimizer,
        Self::Other,
    ];

    /// Usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Recompute => "recompute",
            Self::Backward => "backward",
            Self::BackwardInput => "backward_input",
            Self::BackwardWeight => "backward_weight",
            Self::Optimizer => "optimizer",
            Self::Other => "other",
        }
    }

    /// True if part of a pass through the pipeline.
    pub const fn is_pass(self) -> bool {
        !matches!(self, Self::Optimizer | Self::Other)
    }
}

/// Parallel dimension of a communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Tensor (and sequence) parallelism.
    Tensor,
    /// Context parallelism.
    Context,
    /// Expert parallelism.
    Expert,
    /// Pipeline parallelism.
    Pipeline,
    /// Data parallelism, sharding included.
    Data,
    /// None of these, or unknown.
    Other,
}

impl Dimension {
    /// All dimensions.
    pub const ALL: [Self; 6] =
        [Self::Tensor, Self::Context, Self::Expert, Self::Pipeline, Self::Data, Self::Other];

    /// Usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Context => "context",
            Self::Expert => "expert",
            Self::Pipeline => "pipeline",
            Self::Data => "data",
            Self::Other => "other",
        }
    }
}

/// Activity of a stream during a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Compute, including operand movement.
    #[default]
    Compute,
    /// Communication of a dimension.
    Communication(Dimension),
    /// Copies between device and host memory.
    Copy,
    /// Host work.
    Host,
    /// Wait for another rank, if recorded as a span.
    Wait,
}

/// Kind of operator of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OperatorFamily {
    /// GEMMs, grouped ones included.
    MatrixProduct,
    /// Softmax attention.
    Attention,
    /// Norms.
    Norm,
    /// Activation functions and other element-wise kernels.
    Elementwise,
    /// Table lookups.
    Embedding,
    /// Routing and permutation of tokens to experts.
    Routing,
    /// The loss.
    Loss,
    /// Optimizer updates.
    Optimizer,
    /// Communication.
    Collective,
    /// Copies.
    Copy,
    /// A whole pass, without operators.
    Pass,
    /// Anything else, or unknown.
    #[default]
    Other,
}

impl OperatorFamily {
    /// Usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MatrixProduct => "matrix_product",
            Self::Attention => "attention",
            Self::Norm => "norm",
            Self::Elementwise => "elementwise",
            Self::Embedding => "embedding",
            Self::Routing => "routing",
            Self::Loss => "loss",
            Self::Optimizer => "optimizer",
            Self::Collective => "collective",
            Self::Copy => "copy",
            Self::Pass => "pass",
            Self::Other => "other",
        }
    }
}

/// One row of [`Spans`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Start time.
    pub start: Time,
    /// End time.
    pub end: Time,
    /// Activity.
    pub activity: Activity,
    /// Part of the step.
    pub phase: Phase,
    /// Kind of operator.
    pub operator: OperatorFamily,
    /// Name.
    pub name: NameId,
    /// Micro-batch; `None` if unknown or none.
    pub micro_batch: Option<MicroBatch>,
    /// Virtual stage, numbered along the pipeline; `None` if unknown or none.
    pub chunk: Option<u32>,
    /// Layer; `None` if unknown or none.
    pub layer: Option<LayerIndex>,
    /// Bytes moved: through memory, over the network or across the host bus, depending on `activity`; 0 if
    /// unknown.
    pub bytes: u64,
    /// Collective; `None` if it has none or is not described.
    pub collective: Option<CollectiveId>,
}

impl Span {
    /// Duration.
    pub fn duration(&self) -> Time {
        self.end - self.start
    }
}

/// `None` in a column.
const NONE: u32 = u32::MAX;

/// Spans of one stream in columns, by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    start: Vec<Time>,
    end: Vec<Time>,
    activity: Vec<Activity>,
    phase: Vec<Phase>,
    operator: Vec<OperatorFamily>,
    name: Vec<NameId>,
    micro_batch: Vec<u32>,
    chunk: Vec<u32>,
    layer: Vec<u32>,
    bytes: Vec<u64>,
    collective: Vec<u32>,
}

impl Spans {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// True if there are no spans.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Adds a span at the end.
    pub fn push(&mut self, span: Span) {
        self.start.push(span.start);
        self.end.push(span.end);
        self.activity.push(span.activity);
        self.phase.push(span.phase);
        self.operator.push(span.operator);
        self.name.push(span.name);
        self.micro_batch.push(span.micro_batch.map_or(NONE, |m| m.0));
        self.chunk.push(span.chunk.unwrap_or(NONE));
        self.layer.push(span.layer.map_or(NONE, |l| l.0));
        self.bytes.push(span.bytes);
        self.collective.push(span.collective.map_or(NONE, |c| c.0));
    }

    /// Span at an index.
    pub fn get(&self, index: usize) -> Option<Span> {
        let some = |value: u32| (value != NONE).then_some(value);
        Some(Span {
            start: *self.start.get(index)?,
            end: *self.end.get(index)?,
            activity: *self.activity.get(index)?,
            phase: *self.phase.get(index)?,
            operator: *self.operator.get(index)?,
            name: *self.name.get(index)?,
            micro_batch: some(*self.micro_batch.get(index)?).map(MicroBatch),
            chunk: some(*self.chunk.get(index)?),
            layer: some(*self.layer.get(index)?).map(LayerIndex),
            bytes: *self.bytes.get(index)?,
            collective: some(*self.collective.get(index)?).map(CollectiveId),
        })
    }

    /// All spans.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Span> + ExactSizeIterator {
        (0..self.len()).map(|index| self.get(index).unwrap_or_default())
    }

    /// End of the last span; `None` without spans.
    pub fn last_end(&self) -> Option<Time> {
        self.end.last().copied()
    }

    /// Column of start times.
    pub fn starts(&self) -> &[Time] {
        &self.start
    }

    /// Column of end times.
    pub fn ends(&self) -> &[Time] {
        &self.end
    }
}
