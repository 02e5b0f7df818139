//! The software generation of trainers on Hugging Face models, which no file names.

use crate::RemarkKind;
use crate::fields::Fields;

/// Sets the generation that a framework indicates, with a remark.
pub(crate) fn software(fields: &mut Fields<'_>, id: &str, why: &str) {
    fields.default("plan.software", &id.to_owned(), why);
    let chosen = format!("inferred: `{id}`, because of {why}");
    fields.draft.remark(RemarkKind::Assumed, "plan.software", None, chosen);
}
