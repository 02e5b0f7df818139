//! Fine-tuning with adapters: what every reader says of it.
//!
//! Responsible for: keeping adapters apart from full fine-tuning, and the list of what a plan has no key for. Refuses rank and
//! target modules: memory and time are estimated for adapters of a typical size.

use crate::{Draft, RemarkKind};
use railwright_spec::model::Model;
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

/// Parameters of adapters over those of the model, as memory and time are estimated.
const SHARE: f64 = 0.01;

/// The rank, a power of two, at which adapters on every matrix of the layers come nearest to what is estimated. An adapter of rank `r` on
/// a matrix of `n x m` has `r (n + m)` parameters (Hu 2021, section 4.1).
pub(crate) fn rank(model: &Model) -> u64 {
    let wanted = SHARE * model.parameters().total as f64 / sides(model).max(1) as f64;
    let power = wanted.max(1.0).log2().round().clamp(0.0, 12.0);
    2_u64.pow(power as u32)
}

/// Parameters of adapters of a rank on every matrix of the layers.
pub(crate) fn parameters(model: &Model, rank: u64) -> f64 {
    rank as f64 * sides(model) as f64
}

/// Rows and columns of every matrix of the layers: the parameters of adapters of rank 1.
fn sides(model: &Model) -> u64 {
    (0..model.layers.len())
        .flat_map(|index| &model.layer(index).weights)
        .filter(|weight| weight.columns > 1 && weight.rows > 1)
        .map(|weight| (weight.rows + weight.columns).saturating_mul(weight.copies.max(1)))
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::model::by_name;

    /// peft counts 41,943,040 trainable parameters for rank 16 on all linear layers of Llama 3 8B; rank 32 is 1.04% of 8.03 B.
    #[test]
    fn the_rank_makes_a_hundredth() {
        let model = by_name("llama-3-8b").expect("a model");
        assert_eq!(16 * sides(&model), 41_943_040);
        assert_eq!(rank(&model), 32);
    }
}
