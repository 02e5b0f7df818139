//! Settings of MaxText's base file (`base.yml`), for commands and files that are based on it.
//!
//! Responsible for: sequence, batch and dimensions without an override (e591f30c, August 2026; unchanged
//! since 2024), and the rule by which `global_parameter_scale` multiplies dimensions. Scales that are not
//! powers of two are errors.

use crate::document::{Data, Document, Entry, Spot};

/// A file with more keys than this is the base file.
pub(super) const BASE_FILE: usize = 80;
/// Keys with the same value for every model.
const SETTINGS: &[(&str, Data)] =
    &[("max_target_length", Data::Integer(2048)), ("per_device_batch_size", Data::Integer(12))];
/// Dimensions without `model_name`.
const DIMENSIONS: &[(&str, Data)] = &[
    ("base_emb_dim", Data::Integer(2048)),
    ("base_num_query_heads", Data::Integer(16)),
    ("base_num_kv_heads", Data::Integer(16)),
    ("base_mlp_dim", Data::Integer(7168)),
    ("base_num_decoder_layers", Data::Integer(16)),
    ("head_dim", Data::Integer(128)),
    ("vocab_size", Data::Integer(32_000)),
];

/// Adds the settings of the base file to the keys of a document: those of the repository's own file, or else
/// MaxText's.
pub(super) fn fill(document: &mut Document, own: Option<&Document>) {
    let has_name = ["model_name", "student_overrides.model_name"].iter().any(|path| {
        document.get(path).is_some_and(|entry| !matches!(entry.data.plain().as_str(), "default" | "null"))
    });
    let dimensions = if has_name { &[][..] } else { DIMENSIONS };
    let format = [("dtype", Data::Text("bfloat16".to_owned()))];
    for (path, data) in SETTINGS.iter().chain(dimensions).chain(&format) {
        if document.get(path).is_none() {
            let found = own.and_then(|own| own.get(path)).filter(|entry| entry.data != Data::Null);
            let data = found.map_or(data, |entry| &entry.data);
            let entry = Entry::new((*path).to_owned(), data.clone(), Spot::default());
            document.entries.push(Entry { name: format!("base.yml: {path}"), ..entry });
        }
    }
}

/// Exponents of two that a scale of `2^n` multiplies dimensions by: width, heads and MLP, layers.
///
/// Exponents of MaxText's scaling in turn: heads and MLP first, then the width, then the layers. So eight
/// times the parameters double each once (`get_individual_scales` in `configs/pyconfig.py`). With `n = 3 b +
/// r`: heads and MLP `b + [r > 0]`, width `b + [r > 1]`, layers `b`.
pub(super) fn exponents(scale: u64) -> Option<[u32; 3]> {
    let power = scale.is_power_of_two().then(|| scale.trailing_zeros())?;
    let (base, rest) = (power / 3, power % 3);
    Some([base + u32::from(rest > 1), base + u32::from(rest > 0), base])
}

#[cfg(test)]
mod tests {
    use super::exponents;

    #[test]
    fn scales_go_round_heads_width_and_layers() {
        assert_eq!(exponents(1), Some([0, 0, 0]));
        assert_eq!(exponents(2), Some([0, 1, 0]));
        assert_eq!(exponents(4), Some([1, 1, 0]));
        assert_eq!(exponents(8), Some([1, 1, 1]));
        // The 128B model of `configs/v5p/128b.sh`: 64 layers of 8,192 with 128 heads and an MLP of 57,344.
        assert_eq!(exponents(128), Some([2, 3, 2]));
        assert_eq!(exponents(3), None);
    }
}
