//! Open settings of a file, with the flags that set them.

use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::run::ModelSpec;

/// One remark with all required or recommended settings that the file lacks.
pub(crate) fn missing(fields: &mut Fields<'_>, who: &str) {
    let spec = fields.draft.spec();
    let mut missing = Vec::new();
    let mut need = |is_open: bool, what: &'static str| {
        if is_open {
            missing.push(what);
        }
    };
    need(spec.model == ModelSpec::default() && !fields.draft.is_open("model.name"), "the model");
    need(spec.plan.sequence_length.is_none(), "the sequence length (`--sequence-length`)");
    need(spec.plan.micro_batch.is_none(), "the micro-batch (`--micro-batch`)");
    let batch = [spec.plan.global_batch, spec.plan.micro_batches];
    need(batch.iter().all(Option::is_none), "the batch (`--global-batch`)");
    need(spec.plan.recompute.is_none(), "recompute (`--recompute`)");
    need(spec.cluster.devices.is_none(), "the number of devices (`--gpus`)");
    let Some((last, rest)) = missing.split_last() else { return };
    let list = if rest.is_empty() { (*last).to_owned() } else { format!("{} or {last}", rest.join(", ")) };
    fields.draft.remark(RemarkKind::Unresolved, who, None, format!("this file does not set {list}"));
}
