//! One training step as a timeline of ranks, streams and spans, predicted or measured, and its analyses.
//!
//! Start at [`Step`]. Builders push [`Span`]s with [`Step::push`] or, for a pipeline, with
//! [`build::write_pass`]; then [`Step::validate`] checks the timeline. The analyses are one module each:
//! [`breakdown`], [`bubbles`], [`critical_path`] and [`memory`].
//! [`chrome`] writes a trace for Perfetto, [`svg`] a diagram and [`columns`] data for a canvas.
//!
//! ```
//! use railwright_spec::quantity::{Rank, Stage};
//! use railwright_step::breakdown::{Label, breakdown};
//! use railwright_step::{Phase, Span, Step, StreamKind, Time};
//!
//! let mut step = Step::new("one forward pass, then nothing");
//! let rank = step.add_rank(Rank(0), Stage(0));
//! let name = step.names.intern("forward");
//! let span = Span { end: Time::from_nanos(3), phase: Phase::Forward, name, ..Span::default() };
//! step.push(rank, StreamKind::Compute, span);
//! step.end = Time::from_nanos(4);
//! assert!(step.validate().is_empty());
//! assert_eq!(
//!     breakdown(&step).ranks[0].parts,
//!     [(Label::Compute(Phase::Forward), Time::from_nanos(3)), (Label::Idle, Time::from_nanos(1))]
//! );
//! ```
//!
//! This crate is pure: no access to files, clocks, threads or output.

pub mod breakdown;
pub mod bubbles;
pub mod build;
pub mod chrome;
pub mod collective;
pub mod columns;
pub mod critical_path;
mod intervals;
pub mod memory;
mod memory_events;
mod names;
pub mod span;
mod step;
pub mod svg;
mod time;
mod validate;

pub use collective::{Collective, CollectiveId, CollectiveKind, GroupId};
pub use memory_events::{MemoryEvents, MemoryKind};
pub use names::{NameId, Names};
pub use span::{Activity, Dimension, OperatorFamily, Phase, Span, Spans};
pub use step::{Dependency, DependencyKind, Origin, RankTimeline, SpanRef, Step, Stream, StreamKind};
pub use time::Time;
