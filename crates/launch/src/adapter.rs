//! Fine-tuning with adapters: what every reader says of it.
//!
//! Responsible for: keeping adapters apart from full fine-tuning, and the list of what a plan has no key for. Refuses rank and
//! target modules: memory and time are estimated for adapters of a typical size.

use crate::{Draft, RemarkKind};
use railwright_spec::plan::Optimizer;

/// Trains adapters; `said` is what the file says.
pub(crate) fn lora(draft: &mut Draft, said: &str, line: Option<usize>) {
    draft.set("plan.optimizer", &Optimizer::Lora, said, line);
    let message =
        "adapters are estimated at 1% of the parameters: their rank and target modules are not modelled";
    draft.remark(RemarkKind::NotModelled, said, line, message);
}

/// Trains adapters on weights of `bits` bits.
pub(crate) fn quantized(draft: &mut Draft, said: &str, line: Option<usize>, bits: &str) {
    let message = format!(
        "frozen weights in {bits} bits are not modelled: they are estimated in 16, an upper bound of memory"
    );
    draft.remark(RemarkKind::NotModelled, said, line, message);
}
