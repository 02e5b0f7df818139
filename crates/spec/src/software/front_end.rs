//! Programs in front of a software generation that pass on only a part of its choices, as
//! listed in `catalog/front_ends.toml`.
//!
//! Responsible for: the one rule for the settings that a launch file of such a program can have. Neither
//! prices nor forbids: a plan beyond it is still estimated, but no search ranks it for that file.

use super::Offers;
use crate::plan::{ContextKind, RecomputeModule};
use serde::Deserialize;
use std::sync::LazyLock;

/// A program in front of a generation. A choice that is absent is the generation's own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontEnd {
    /// Identifier.
    pub id: String,
    /// The program in words.
    pub title: String,
    /// Where its choices are documented.
    pub source: String,
    tensor: Option<bool>,
    pipeline: Option<bool>,
    expert: Option<bool>,
    context: Option<Vec<ContextKind>>,
    zero_stages: Option<Vec<u8>>,
    keeps_gathered: Option<bool>,
    recompute: Option<Vec<RecomputeModule>>,
    recompute_layers: Option<bool>,
    tensor_overlap: Option<bool>,
    expert_overlap: Option<bool>,
}

#[derive(Deserialize)]
struct File {
    front_end: Vec<FrontEnd>,
}

static FRONT_ENDS: LazyLock<Vec<FrontEnd>> = LazyLock::new(|| {
    toml::from_str::<File>(railwright_catalog::FRONT_ENDS).map_or_else(|_| Vec::new(), |file| file.front_end)
});

/// Every front end of the catalogue.
pub fn front_ends() -> &'static [FrontEnd] {
    &FRONT_ENDS
}

/// A front end by its identifier.
pub fn front_end(id: &str) -> Option<&'static FrontEnd> {
    FRONT_ENDS.iter().find(|known| known.id == id)
}

impl FrontEnd {
    /// Features of a generation that remain available.
    pub fn narrowed(&self, offers: &Offers) -> Offers {
        let both = |own: Option<bool>, offered: bool| offered && own.unwrap_or(true);
        let mut left = offers.clone();
        left.tensor = both(self.tensor, offers.tensor);
        left.pipeline = both(self.pipeline, offers.pipeline);
        left.expert = both(self.expert, offers.expert);
        left.keeps_gathered = both(self.keeps_gathered, offers.keeps_gathered);
        left.recompute_layers = both(self.recompute_layers, offers.recompute_layers);
        left.overlap.tensor = both(self.tensor_overlap, offers.overlap.tensor);
        left.overlap.expert = both(self.expert_overlap, offers.overlap.expert);
        if let Some(kinds) = &self.context {
            left.context.retain(|kind| kinds.contains(kind));
        }
        if let Some(stages) = &self.zero_stages {
            left.zero_stages.retain(|stage| stages.contains(stage));
        }
        if let Some(modules) = &self.recompute {
            left.recompute.retain(|module| modules.contains(module));
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::software::generations;

    #[test]
    fn every_front_end_leaves_a_plan() {
        assert!(front_ends().len() > 8, "the file reads");
        for front in front_ends() {
            assert!(!front.source.is_empty() && front_end(&front.id) == Some(front), "{}", front.id);
            for generation in generations() {
                let left = front.narrowed(&generation.offers);
                assert!(
                    !left.schedules.is_empty()
                        && left.zero_stages.len() <= generation.offers.zero_stages.len()
                );
                assert_eq!(front.narrowed(&left), left, "{} of {}", front.id, generation.id);
            }
        }
    }

    #[test]
    fn the_trainer_has_neither_pipeline_nor_tensor_parallelism() {
        let trainer = front_end("transformers").expect("known");
        let offers = Offers::everything();
        let left = trainer.narrowed(&offers);
        assert!(!left.tensor && !left.pipeline && !left.expert && left.context.is_empty());
        assert!(left.full_recompute && !left.recompute_layers && left.zero_stages == [0, 1, 2, 3]);
    }
}
