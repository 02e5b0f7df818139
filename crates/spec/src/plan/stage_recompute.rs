//! Recompute policies per pipeline stage, written `full:3 core_attention+mlp:4 offload:0.5`.
//!
//! Responsible for: the shorthand, and the assignment of policies to a stage's layers. Independent of the
//! number of layers, which validation checks.

use super::{Recompute, RecomputeModule};
use crate::problem::Problem;
use crate::run::field::wrong;
use crate::run::{Field, Kind, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Recompute and offload of one pipeline stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageRecompute {
    /// Policies in the order of the stage's layers, each for its number of layers. A policy without a number
    /// covers all remaining layers. Other layers are not recomputed. `Selective` without modules skips
    /// layers.
    pub segments: Vec<Recompute>,
    /// Share of the stage's activations in host memory, 0 to 1; `None`: the plan's.
    pub offload: Option<f64>,
}

/// Upper limit of the number of stages, above that of any pipeline.
const MOST_STAGES: usize = 100_000;

impl StageRecompute {
    /// Policies of `layers` layers: each without its number, and its number of consecutive layers. The counts
    /// sum to `layers`.
    pub fn runs(&self, layers: u64) -> Vec<(Recompute, u64)> {
        let mut left = layers;
        let mut runs = Vec::new();
        for segment in &self.segments {
            let count = segment.layers().unwrap_or(u64::MAX).min(left);
            if count > 0 {
                runs.push((segment.everywhere(), count));
                left -= count;
            }
        }
        if left > 0 {
            runs.push((Recompute::None, left));
        }
        runs
    }

    /// Policy of the stage apart from its counted layers: that of the segment for all remaining layers.
    pub fn rest(&self) -> Recompute {
        let open = self.segments.iter().find(|s| !matches!(s, Recompute::None) && s.layers().is_none());
        open.map_or(Recompute::None, Recompute::everywhere)
    }

    /// Number of layers in segments with a number.
    pub fn counted(&self) -> u64 {
        self.segments.iter().filter_map(Recompute::layers).fold(0, u64::saturating_add)
    }
}

impl Recompute {
    /// Limit of the policy in layers per stage; `None`: all layers.
    pub const fn layers(&self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Full { layers } | Self::Selective { layers, .. } => *layers,
        }
    }

    /// Policy without a limit of layers.
    #[must_use]
    pub fn everywhere(&self) -> Self {
        self.limited(None)
    }

    /// Policy on a number of layers.
    #[must_use]
    pub fn on(&self, layers: u64) -> Self {
        self.limited(Some(layers))
    }

    fn limited(&self, layers: Option<u64>) -> Self {
        match self {
            // A policy without modules represents skipped layers, so that others can follow.
            Self::None if layers.is_some() => Self::Selective { modules: BTreeSet::new(), layers },
            Self::None => Self::None,
            Self::Selective { modules, .. } if modules.is_empty() && layers.is_none() => Self::None,
            Self::Selective { modules, .. } => Self::Selective { modules: modules.clone(), layers },
            Self::Full { .. } => Self::Full { layers },
        }
    }

    /// Shorthand in a stage's entry: `full:3`, `core_attention+mlp`, `none:2`.
    pub fn short(&self) -> String {
        let name = match self {
            Self::Full { .. } => "full".to_owned(),
            Self::Selective { modules, .. } if !modules.is_empty() => {
                modules.iter().map(|module| module.name()).collect::<Vec<_>>().join("+")
            }
            Self::None | Self::Selective { .. } => "none".to_owned(),
        };
        self.layers().map_or_else(|| name.clone(), |n| format!("{name}:{n}"))
    }
}

impl RecomputeModule {
    /// Name in run files.
    pub fn name(self) -> String {
        self.write().to_plain()
    }
}

impl StageRecompute {
    /// Shorthand in run files.
    pub fn short(&self) -> String {
        let mut parts: Vec<String> = self.segments.iter().map(Recompute::short).collect();
        parts.extend(self.offload.map(|share| format!("offload:{share:?}")));
        if parts.is_empty() { "none".to_owned() } else { parts.join(" ") }
    }

    fn read_entry(text: &str) -> Result<Self, Problem> {
        let mut stage = Self::default();
        for part in text.split([' ', ',', '\t']).filter(|part| !part.is_empty()) {
            let (name, number) = match part.split_once(':') {
                Some((name, number)) => (name, Some(number)),
                None => (part, None),
            };
            let name = name.to_ascii_lowercase();
            if name == "offload" {
                let share = number.and_then(|n| n.parse::<f64>().ok()).filter(|x| (0.0..=1.0).contains(x));
                stage.offload = Some(share.ok_or_else(|| {
                    Problem::new(format!("`{part}` has no share to offload"))
                        .hint("use a share from 0 to 1, as in `offload:0.5`")
                })?);
                continue;
            }
            let layers = match number {
                None => None,
                Some(number) => Some(number.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| {
                    Problem::new(format!("`{part}` has no number of layers"))
                        .hint("the part after `:` is a number of layers, 1 or more, as in `full:3`")
                })?),
            };
            if stage.segments.last().is_some_and(|last| last.layers().is_none()) {
                return Err(Problem::new(format!("`{part}` comes after a policy that covers all layers"))
                    .hint("set a number of layers for each policy except the last, as in `full:3 mlp`"));
            }
            stage.segments.push(match name.as_str() {
                "none" | "off" => Recompute::None.limited(layers),
                "full" => Recompute::Full { layers },
                names => Recompute::Selective { modules: read_modules(names)?, layers },
            });
        }
        if stage.segments == [Recompute::None] {
            stage.segments.clear();
        }
        Ok(stage)
    }
}

fn read_modules(names: &str) -> Result<BTreeSet<RecomputeModule>, Problem> {
    names.split('+').map(|name| RecomputeModule::read(&Value::Text(name.to_owned()))).collect()
}

impl Field for Vec<StageRecompute> {
    const KIND: Kind = Kind::Texts;

    fn read(value: &Value) -> Result<Self, Problem> {
        let Value::List(list) = value else { return Err(wrong(Self::KIND, value)) };
        let mut stages = Self::new();
        for item in list {
            let Value::Text(text) = item else { return Err(wrong(Self::KIND, value)) };
            let (entry, times) = match text.rsplit_once('*') {
                None => (text.as_str(), 1),
                Some((entry, times)) => {
                    let times = times.trim().parse::<usize>().ok().filter(|n| (1..=MOST_STAGES).contains(n));
                    let what =
                        || Problem::new(format!("`{}` repeats zero times", crate::human::shorten(text)));
                    (entry, times.ok_or_else(|| what().hint("use `none*14` for 14 identical stages"))?)
                }
            };
            let stage = StageRecompute::read_entry(entry)?;
            if stages.len() + times > MOST_STAGES {
                return Err(Problem::new(
                    "the list has more entries than the largest supported pipeline has stages",
                ));
            }
            stages.extend(std::iter::repeat_n(stage, times));
        }
        Ok(stages)
    }

    fn write(&self) -> Value {
        let mut list: Vec<(String, usize)> = Vec::new();
        for stage in self {
            let text = stage.short();
            match list.last_mut() {
                Some((last, times)) if *last == text => *times += 1,
                _ => list.push((text, 1)),
            }
        }
        let entry = |(text, times)| if times == 1 { text } else { format!("{text}*{times}") };
        Value::List(list.into_iter().map(entry).map(Value::Text).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Result<Vec<StageRecompute>, Problem> {
        Field::read(&Value::List(texts.iter().map(|t| Value::Text((*t).to_owned())).collect()))
    }

    #[test]
    fn the_shorthand_reads_back_what_it_writes() {
        for texts in [
            &["full:3 core_attention+mlp:4", "none*14", "full"][..],
            &["none:3 moe:2 offload:0.5", "offload:0.25", "norm+activation"],
        ] {
            let stages = read(texts).expect("reads");
            assert_eq!(
                stages.write(),
                Value::List(texts.iter().map(|t| Value::Text((*t).to_owned())).collect())
            );
        }
        assert_eq!(read(&["none*14", "full:3,mlp:4"]).expect("commas").len(), 15);
    }

    #[test]
    fn policies_fall_on_layers_in_order() {
        let stage = &read(&["full:3 core_attention+mlp:4"]).expect("reads")[0];
        let counts = |layers| stage.runs(layers).into_iter().map(|(p, n)| (p.short(), n)).collect::<Vec<_>>();
        let named =
            |list: &[(&str, u64)]| list.iter().map(|(p, n)| ((*p).to_owned(), *n)).collect::<Vec<_>>();
        assert_eq!(counts(9), named(&[("full", 3), ("core_attention+mlp", 4), ("none", 2)]));
        assert_eq!(counts(5), named(&[("full", 3), ("core_attention+mlp", 2)]));
        assert_eq!((stage.counted(), stage.rest()), (7, Recompute::None));
        let open = &read(&["none:2 full"]).expect("reads")[0];
        assert_eq!(open.rest(), Recompute::Full { layers: None });
        assert_eq!(open.runs(3), [(Recompute::None, 2), (Recompute::Full { layers: None }, 1)]);
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let message = |text: &str| read(&[text]).expect_err(text).message;
        assert_eq!(message("full mlp:2"), "`mlp:2` comes after a policy that covers all layers");
        assert_eq!(message("full:0"), "`full:0` has no number of layers");
        assert_eq!(message("offload:2"), "`offload:2` has no share to offload");
        assert_eq!(message("none*0"), "`none*0` repeats zero times");
        assert_eq!(read(&["mpl:2"]).expect_err("typo").hint.as_deref(), Some("did you mean `mlp`?"));
        assert!(read(&["none*100000", "none"]).is_err());
    }
}
