//! Generation of samples on the GPUs that train.
//!
//! Responsible for: the memory of its engine, which is listed. Excludes its time.

use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::human;
use railwright_spec::model::by_name;
use railwright_spec::quantity::Bytes;

/// Memory of the generation engine on a GPU.
pub(super) struct Generation<'p> {
    pub(super) backend: String,
    /// The key that represents it in the report.
    pub(super) path: &'p str,
    pub(super) tensor: u64,
    /// Ranks that divide the routed experts; those of tensor parallelism if unset.
    pub(super) experts: Option<u64>,
    /// Share of the memory that weights and the cache of keys and values may take.
    pub(super) share: Option<f64>,
    /// True if it runs on the GPUs that train.
    pub(super) is_colocated: bool,
    /// True if it releases its memory while the actor trains.
    pub(super) frees: bool,
}

impl Generation<'_> {
    pub(super) fn remark(&self, fields: &mut Fields<'_>) {
        let name = fields.draft.spec().model.name.clone();
        // Served in 16 bits: two bytes of each parameter, cut by tensor parallelism, and routed experts by
        // expert parallelism.
        let weights = name.and_then(|name| by_name(&name).ok()).map(|model| {
            let (all, tensor) = (model.parameters(), self.tensor.max(1));
            let routed = all.routed_experts as f64 / self.experts.unwrap_or(tensor).max(tensor) as f64;
            let other = all.total.saturating_sub(all.routed_experts) as f64 / tensor as f64;
            let bytes = 2.0 * (routed + other);
            format!(", of which the weights take {}", human::bytes(Bytes::new(bytes)))
        });
        let weights = weights.unwrap_or_default();
        let share = self.share.map_or_else(
            || "an unspecified share of a GPU's memory".to_owned(),
            |share| format!("up to {:.0}% of a GPU's memory", share * 100.0),
        );
        let when = match (self.is_colocated, self.frees) {
            (false, _) => "on separate GPUs, which are not part of this run",
            (true, true) => "on the same GPUs, and releases it while the actor trains",
            (true, false) => {
                "on the same GPUs at all times: training has only the remaining memory, which the memory \
                 estimate does not subtract"
            }
        };
        let message =
            format!("generation with {} at TP {} uses {share}{weights}, {when}", self.backend, self.tensor);
        fields.remark(RemarkKind::NotModelled, self.path, message);
    }
}
