//! Models by name on Hugging Face.
//!
//! Responsible for: the repository of a model of the catalogue, for writers whose frameworks load a model by
//! it. None if the dimensions differ from the catalogue's.

use crate::Lost;
use railwright_spec::model::{Model, by_name, catalogue};

/// The repository with a model of these dimensions; `None` if unknown.
pub(crate) fn repository(model: &Model) -> Option<&'static str> {
    let entry = catalogue().iter().find(|entry| entry.name == model.name)?;
    let known = by_name(entry.name).ok()?;
    let is_same = known.layers == model.layers
        && known.layer_kinds == model.layer_kinds
        && known.parameters() == model.parameters();
    entry.aliases.iter().map(String::as_str).find(|alias| is_same && alias.contains('/'))
}

/// Reason why a framework that loads models of Hugging Face cannot be given this one.
pub(crate) fn unknown(framework: &str, model: &Model) -> Lost {
    Lost {
        key: "model".to_owned(),
        message: format!(
            "{framework} loads Hugging Face models, but the catalogue has no repository of {} with these \
             dimensions",
            model.name
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_name_the_model_again() {
        let mut found = 0;
        for entry in catalogue() {
            let model = by_name(entry.name).expect("a model of the catalogue");
            let Some(repository) = repository(&model) else { continue };
            found += 1;
            assert_eq!(by_name(repository).map(|back| back.name), Ok(model.name), "{repository}");
            assert!(!repository.contains("--") && repository.split('/').count() == 2, "{repository}");
        }
        assert!(found > 60, "only {found} repositories");
        let mut cut = by_name("qwen3-8b").expect("a model");
        cut.layers.pop();
        assert_eq!(repository(&cut), None);
    }
}
