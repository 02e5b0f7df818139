//! Selection of passes: by kind, rank, stage, replica, step, micro-batch.
//!
//! Responsible for: the set and its notation (`stage=3 kind=forward,backward step=10..20`). Rejects unknown
//! keys and kinds, with the nearest known ones.

use crate::passes::{Pass, PassKind};
use railwright_spec::problem::{Problem, did_you_mean};
use serde::Serialize;

/// Selected passes: those that match every list; an empty list matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subset {
    /// Kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<PassKind>,
    /// Ranks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
    /// Stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<u32>,
    /// Replicas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<u32>,
    /// Steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u32>,
    /// Micro-batches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub micro_batches: Vec<u32>,
}

const KEYS: [&str; 6] = ["kind", "rank", "stage", "replica", "step", "micro_batch"];

/// Maximum length of a list: a range is expanded to its numbers.
const MOST: u32 = 1 << 20;

impl Subset {
    /// Tests whether a pass is selected.
    pub fn holds(&self, pass: &Pass) -> bool {
        let fits = |list: &[u32], value: u32| list.is_empty() || list.contains(&value);
        let batch = |m| self.micro_batches.contains(&m);
        (self.kinds.is_empty() || self.kinds.contains(&pass.kind))
            && fits(&self.ranks, pass.rank)
            && fits(&self.stages, pass.stage)
            && fits(&self.replicas, pass.replica)
            && fits(&self.steps, pass.step)
            && (self.micro_batches.is_empty() || pass.micro_batch.is_some_and(batch))
    }

    /// Reads pairs of a key and its values, separated by spaces or semicolons. Values are numbers, ranges
    /// (`2..5` includes both ends) and kinds, separated by commas.
    ///
    /// # Errors
    ///
    /// If a key, a kind or a number is invalid.
    pub fn read(text: &str) -> Result<Self, Problem> {
        let mut subset = Self::default();
        let pairs = text.split(|c: char| c.is_whitespace() || c == ';').filter(|pair| !pair.is_empty());
        for pair in pairs {
            let Some((key, values)) = pair.split_once('=') else {
                return Err(Problem::new(format!("`{pair}` does not select passes"))
                    .hint("use pairs such as `stage=3 kind=forward step=10..20`"));
            };
            let key = key.trim().to_ascii_lowercase().replace('-', "_");
            let list = match key.trim_end_matches('s') {
                "kind" | "operator" => {
                    for name in values.split(',') {
                        subset.kinds.extend(kinds(name)?);
                    }
                    continue;
                }
                "rank" => &mut subset.ranks,
                "stage" => &mut subset.stages,
                "replica" => &mut subset.replicas,
                "step" => &mut subset.steps,
                "micro_batch" | "micro_batche" => &mut subset.micro_batches,
                _ => {
                    let hint = did_you_mean(
                        &key,
                        KEYS,
                        &format!("keys are {}", KEYS.map(|k| format!("`{k}`")).join(", ")),
                    );
                    return Err(Problem::new(format!("unknown key `{key}` for passes")).hint(hint));
                }
            };
            for value in values.split(',') {
                numbers(value, list)?;
            }
        }
        if subset == Self::default() {
            return Err(
                Problem::new("no passes are selected").hint("use pairs such as `stage=3 kind=forward`")
            );
        }
        Ok(subset)
    }

    /// Formats the set in the notation of `read`.
    pub fn describe(&self) -> String {
        let mut parts = Vec::new();
        if !self.kinds.is_empty() {
            parts.push(self.kinds.iter().map(|k| k.name()).collect::<Vec<_>>().join(", "));
        }
        for (one, many, list) in [
            ("rank", "ranks", &self.ranks),
            ("stage", "stages", &self.stages),
            ("replica", "replicas", &self.replicas),
            ("step", "steps", &self.steps),
            ("micro-batch", "micro-batches", &self.micro_batches),
        ] {
            if !list.is_empty() {
                let word = if list.len() == 1 { one } else { many };
                parts.push(format!("{word} {}", railwright_spec::human::ranges(list)));
            }
        }
        if parts.is_empty() { "everything".to_owned() } else { parts.join(" of ") }
    }
}

fn numbers(value: &str, list: &mut Vec<u32>) -> Result<(), Problem> {
    let number = |text: &str| {
        text.trim().parse::<u32>().map_err(|_| {
            Problem::new(format!("`{value}` is neither a number nor a range"))
                .hint("write `3`, `1,4` or `2..5`")
        })
    };
    let (first, last) = match value.split_once("..") {
        Some((first, last)) => (number(first)?, number(last.trim_start_matches('='))?),
        None => (number(value)?, number(value)?),
    };
    if last < first || last - first >= MOST || list.len() as u64 + u64::from(last - first) >= u64::from(MOST)
    {
        return Err(Problem::new(format!("`{value}` is not a range of passes"))
            .hint("use `2..5`, smaller number first"));
    }
    list.extend(first..=last);
    Ok(())
}

/// Kinds of a name: a kind, or a family of them.
fn kinds(name: &str) -> Result<Vec<PassKind>, Problem> {
    use PassKind as K;
    let plain = name.trim().to_ascii_lowercase().replace(['_', '-'], " ");
    Ok(match plain.as_str() {
        "backward" => vec![K::Backward, K::BackwardInput, K::BackwardWeight],
        "compute" => vec![K::Forward, K::Backward, K::BackwardInput, K::BackwardWeight],
        "p2p" | "messages" => vec![K::SendForward, K::ReceiveForward, K::SendBackward, K::ReceiveBackward],
        "data parallel" | "dp" => vec![K::ParameterGather, K::GradientReduce, K::RemainderReduce],
        _ => {
            let known = K::ALL.into_iter().find(|k| k.name().replace(['(', ')'], "") == plain);
            let Some(kind) = known.or_else(|| K::of_timer(name.trim())) else {
                let names = K::ALL.map(PassKind::name);
                let families = ["compute", "p2p", "dp"];
                let all = names.iter().chain(&families).copied();
                let hint = did_you_mean(
                    &plain,
                    all,
                    "kinds are `forward`, `backward`, `p2p`, `dp`, `optimizer` and those of the table by kind",
                );
                return Err(Problem::new(format!("unknown kind of pass `{}`", name.trim())).hint(hint));
            };
            vec![kind]
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_as_people_write_them() {
        let set = Subset::read("stage=3 kind=forward,dp; step=10..12,14").unwrap();
        assert_eq!((set.stages, set.steps), (vec![3], vec![10, 11, 12, 14]));
        assert_eq!(set.kinds.len(), 4);
        let set = Subset::read("ranks=0,1 micro-batches=2").unwrap();
        assert_eq!(set.describe(), "ranks 0, 1 of micro-batch 2");
        assert_eq!(Subset::read("kind=forward-send").unwrap().kinds, [PassKind::SendForward]);
        for (text, expected) in [
            ("stag=3", "did you mean `stage`?"),
            ("kind=forwrd", "did you mean `forward`?"),
            ("stage=x", "write `3`, `1,4` or `2..5`"),
            ("step=5..2", "use `2..5`, smaller number first"),
            ("step=0..4294967295", "use `2..5`, smaller number first"),
        ] {
            assert_eq!(Subset::read(text).unwrap_err().hint.as_deref(), Some(expected), "{text}");
        }
        assert!(Subset::read("  ").is_err() && Subset::read("stage").is_err());
    }
}
