//! Features of a software stack that a generation alone does not fix: a dispatcher of tokens, CUDA graphs, no overlap.
//!
//! Responsible for: the features of `catalog/software.toml`, and for stacks named as `generation+feature+feature`. Refuses to find out
//! which features a run has: that is `identified`'s.

use super::{Software, catalogue, lay_over};
use crate::problem::{Problem, did_you_mean};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// One feature: what it changes of a generation's constants.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// Its identifier, as it stands behind a `+` in `plan.software`.
    pub id: String,
    /// For people.
    pub name: String,
    /// What its effect rests on.
    pub source: String,
    /// Lowercase phrases that mean it in free text.
    pub words: Vec<String>,
    /// Lowercase phrases that rule it out where they stand.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Constants that it sets.
    #[serde(default)]
    sets: toml::Table,
    /// Constants that it multiplies.
    #[serde(default)]
    scales: BTreeMap<String, f64>,
}

/// The bundled features.
pub fn features() -> &'static [Feature] {
    catalogue().map_or(&[], |catalogue| &catalogue.features)
}

/// The generation of a stack, without its features: `megatron-core-2025` of `megatron-core-2025+cuda-graphs`.
pub fn generation_of(id: &str) -> &str {
    id.split('+').next().unwrap_or(id)
}

/// A generation's constants from its keys.
pub(super) fn software(table: toml::Table) -> Result<Software, String> {
    let id = table.get("id").and_then(toml::Value::as_str).ok_or("a generation has no id")?.to_owned();
    table.try_into().map_err(|e: toml::de::Error| format!("generation `{id}`: {e}"))
}

impl Feature {
    fn apply(&self, table: &mut toml::Table) {
        lay_over(table, &self.sets);
        for (key, factor) in &self.scales {
            if let Some(toml::Value::Float(value)) = table.get_mut(key) {
                *value *= factor;
            }
        }
    }
}

/// A stack by identifier: a generation, or one with features behind `+` in any order.
pub fn by_id(id: &str) -> Result<&'static Software, Problem> {
    let generations = super::generations();
    if let Some(found) = generations.iter().find(|g| g.id == id) {
        return Ok(found);
    }
    let mut parts = id.split('+');
    let own = parts.next().unwrap_or_default();
    let Some((catalogue, index)) =
        catalogue().and_then(|c| Some((c, c.generations.iter().position(|g| g.id == own)?)))
    else {
        let names = generations.iter().map(|g| g.id.as_str());
        return Err(Problem::new(format!("unknown software generation `{own}`"))
            .at_key("plan.software")
            .hint(did_you_mean(own, names, "list them with `railwright explain software`")));
    };
    let mut chosen = Vec::new();
    for part in parts {
        let Some(feature) = features().iter().find(|f| f.id == part) else {
            let names = features().iter().map(|f| f.id.as_str());
            return Err(Problem::new(format!("unknown software feature `{part}`"))
                .at_key("plan.software")
                .hint(did_you_mean(part, names, "list them with `railwright explain software`")));
        };
        chosen.push(feature);
    }
    chosen.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    chosen.dedup_by(|a, b| a.id == b.id);
    let id = chosen.iter().fold(own.to_owned(), |id, feature| format!("{id}+{}", feature.id));
    stack(id, &catalogue.tables[index], &chosen)
}

/// The constants of a stack, worked out once for each set of features: at most generations x 2^features of them live on.
fn stack(id: String, table: &toml::Table, chosen: &[&Feature]) -> Result<&'static Software, Problem> {
    static STACKS: RwLock<BTreeMap<String, &'static Software>> = RwLock::new(BTreeMap::new());
    if let Some(found) = STACKS.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
        return Ok(found);
    }
    let mut table = table.clone();
    for feature in chosen {
        feature.apply(&mut table);
    }
    table.insert("id".to_owned(), toml::Value::String(id.clone()));
    let software =
        software(table).map_err(|message| Problem::new(message).at_key("plan.software"))?;
    let mut stacks = STACKS.write().unwrap_or_else(PoisonError::into_inner);
    Ok(stacks.entry(id).or_insert_with(|| Box::leak(Box::new(software))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_laid_over_a_generation_in_any_order() {
        let plain = by_id("megatron-core-2025").expect("known");
        let fused = by_id("megatron-core-2025+fused-dispatch+cuda-graphs").expect("known");
        let same = by_id("megatron-core-2025+cuda-graphs+fused-dispatch+cuda-graphs").expect("known");
        assert!(std::ptr::eq(fused, same));
        assert_eq!(fused.id, "megatron-core-2025+cuda-graphs+fused-dispatch");
        assert_eq!(generation_of(&fused.id), plain.id);
        assert!(!plain.fused_expert_dispatch && fused.fused_expert_dispatch);
        assert!(fused.host_us_per_kernel < plain.host_us_per_kernel / 2.0);
        assert_eq!(fused.matmul, plain.matmul);
    }

    #[test]
    fn every_feature_changes_what_it_names_in_every_generation() {
        for feature in features() {
            assert!(!feature.words.is_empty() && !feature.source.is_empty(), "{}", feature.id);
            for generation in super::super::generations() {
                let with = by_id(&format!("{}+{}", generation.id, feature.id)).expect("reads");
                for key in feature.scales.keys() {
                    assert!(
                        catalogue().expect("reads").tables[0].get(key).is_some_and(toml::Value::is_float),
                        "{key}"
                    );
                }
                assert_eq!(with.name, generation.name);
            }
        }
    }

    #[test]
    fn unknown_features_are_refused_with_the_nearest() {
        let problem = by_id("megatron-core-2025+cuda-graph").expect_err("unknown");
        assert!(problem.hint.expect("hint").contains("cuda-graphs"));
    }
}
