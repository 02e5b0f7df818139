//! A division of layers as torchtitan's lists of modules (`module_fqns_per_model_part`).
//!
//! Responsible for: the one such list, for launch files and for the answers of solvers. Excludes the key's
//! place in a file.

/// Modules of each part in the order of the model: the embedding first, then layers, norm and head last. The
/// head's module is `output` in versions of torchtitan that read TOML, and `lm_head` since.
pub fn module_parts(layers: &[u64], head: &str) -> String {
    let mut next = 0;
    let mut parts = Vec::new();
    for (index, count) in layers.iter().enumerate() {
        let mut modules = Vec::new();
        if index == 0 {
            modules.push("\"tok_embeddings\"".to_owned());
        }
        modules.extend((next..next + count).map(|layer| format!("\"layers.{layer}\"")));
        next += count;
        if index + 1 == layers.len() {
            modules.extend(["\"norm\"".to_owned(), format!("\"{head}\"")]);
        }
        parts.push(format!("[{}]", modules.join(", ")));
    }
    format!("[{}]", parts.join(", "))
}
