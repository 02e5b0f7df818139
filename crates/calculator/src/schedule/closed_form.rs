//! Published closed forms of pipeline bubbles, for equal chunks and free transfers.
//!
//! Responsible for: their common inputs; the formulas, as printed in their papers, are in the schedules'
//! files. The engine is tested against them, and `--why` quotes them. Excludes uneven chunks: see
//! [`super::summarize`].

pub use super::dual_pipe::bubble as dual_pipe;
pub use super::one_forward_one_backward::{
    bubble as one_forward_one_backward, in_flight as one_forward_one_backward_in_flight, interleaved,
    interleaved_memory_factor,
};
pub use super::stage_cost::StageCost;
pub use super::zb_h1::bubble as zb_h1;
pub use super::zb_h2::bubble as zb_h2;
