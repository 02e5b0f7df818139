//! Narrowing a space by user restrictions: `tensor_parallel=1..8`, `schedule=1f1b,zb-h1`, `micro_batch=2`.
//!
//! Responsible for: reading restrictions with the names of the run file, and errors for empty ones or
//! contradictions of fixed settings. The search reports if the combined space is empty.

use super::counts::Counts;
use super::space::{Policy, Shardings, Space};
use super::split::Split;
use railwright_spec::plan::Recompute;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::{Field, Value};

/// The dimensions accepted by [`Space::restrict`].
pub const DIMENSIONS: [&str; 23] = [
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_stages",
    "context_parallel",
    "context_kind",
    "expert_parallel",
    "expert_tensor_parallel",
    "data_parallel",
    "micro_batch",
    "sequence_parallel",
    "sharding",
    "segment",
    "rank_order",
    "schedule",
    "uneven_stages",
    "recompute",
    "recompute_layers",
    "overlap.gradient_reduce",
    "overlap.parameter_gather",
    "overlap.tensor",
    "overlap.pipeline",
    "overlap.expert",
    "hybrid_group",
];

impl Space {
    /// Narrows a dimension (with or without the prefix `plan.`) to a list (`1,2,4`), bounds (`2..8`, `..8`,
    /// `2..`) or one value. Bounds stay within what the software supports. Listed values are tried even
    /// if the search would not suggest them, as a fixed setting is; an estimate warns of those that the
    /// software lacks.
    pub fn restrict(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        let key = key.strip_prefix("plan.").unwrap_or(key);
        let place = |problem: Problem| problem.at_key(format!("plan.{key}"));
        let pinned = self.is_pinned(key);
        if pinned {
            return Err(place(
                Problem::new(format!("`{key}` is set by the plan and by `--space`"))
                    .hint(format!("remove `{key}` from `--space`, or from the plan")),
            ));
        }
        let software = self.base.software.clone();
        let numbers = |slot: &mut Counts| {
            let narrowed = slot.narrowed(counts(text)?).ok_or_else(|| {
                Problem::new(format!(
                    "the range {} has no value that {software} and the model allow",
                    shorten(text)
                ))
                .hint("list values explicitly, as in `2,4`, or add --unlimited")
            })?;
            *slot = narrowed;
            Ok(())
        };
        let result = match key {
            "tensor_parallel" => numbers(&mut self.tensor),
            "pipeline_parallel" => numbers(&mut self.pipeline),
            "virtual_stages" => numbers(&mut self.virtual_stages),
            "context_parallel" => numbers(&mut self.context),
            "expert_parallel" => numbers(&mut self.expert),
            "expert_tensor_parallel" => numbers(&mut self.expert_tensor),
            "data_parallel" => numbers(&mut self.data),
            "micro_batch" => numbers(&mut self.micro_batch),
            "hybrid_group" => match &mut self.sharding {
                Shardings::Open { groups, .. } => numbers(groups),
                Shardings::Listed(_) => Err(Problem::new("`sharding` already lists the groups")),
            },
            "context_kind" => names(text).map(|list| self.context_kinds = list),
            "segment" => names(text).map(|list| self.segments = Some(list)),
            "rank_order" => names(text).map(|list| self.rank_orders = list),
            "schedule" => names(text).map(|list| self.schedules = list),
            "sharding" => names(text).map(|list| self.sharding = Shardings::Listed(list)),
            "sequence_parallel" => names(text).map(|list| self.sequence_parallel = list),
            "uneven_stages" => names(text).map(|list: Vec<bool>| {
                self.splits = match (list.contains(&true), list.contains(&false)) {
                    (true, true) => vec![Split::Even, Split::ShortEnds, Split::LightHead],
                    (true, false) => vec![Split::ShortEnds, Split::LightHead],
                    _ => vec![Split::Even],
                };
            }),
            "recompute" => names(text).and_then(|list| self.restrict_recompute(list)),
            "recompute_layers" if !self.policies.contains(&Policy::Full) => Err(no_full()),
            "recompute_layers" => numbers(&mut self.recompute_layers),
            "overlap.gradient_reduce" => names(text).map(|list| self.overlap_gradient_reduce = list),
            "overlap.parameter_gather" => names(text).map(|list| self.overlap_parameter_gather = list),
            "overlap.tensor" => names(text).map(|list| self.overlap_tensor = list),
            "overlap.pipeline" => names(text).map(|list| self.overlap_pipeline = list),
            "overlap.expert" => names(text).map(|list| self.overlap_expert = list),
            other => {
                return Err(Problem::new(format!("`{other}` is not a dimension of the search"))
                    .hint(did_you_mean(other, DIMENSIONS, "dimensions have the names of `plan` keys")));
            }
        };
        result.map_err(place)
    }

    /// Restricts policies, and the layers in those of whole layers. Selective recompute covers every layer of
    /// a search.
    fn restrict_recompute(&mut self, list: Vec<Recompute>) -> Result<(), Problem> {
        let mut policies = Vec::new();
        let (mut some, mut all) = (Vec::new(), false);
        for recompute in list {
            policies.push(match recompute {
                Recompute::None => Policy::None,
                Recompute::Selective { modules, layers: None } => Policy::Selective(modules),
                Recompute::Selective { layers: Some(layers), .. } => {
                    return Err(Problem::new(format!(
                        "a search recomputes modules in every layer, but this policy is limited to {layers} layers \
                        per stage"
                    ))
                    .hint("omit the number of layers, or fix it with plan.recompute"));
                }
                Recompute::Full { layers } => {
                    all |= layers.is_none();
                    some.extend(layers);
                    Policy::Full
                }
            });
        }
        some.sort_unstable();
        some.dedup();
        match (some.is_empty(), all) {
            // `full` without a number is any number of layers, as by default.
            (true, _) => {}
            (false, false) => self.recompute_layers = Counts::Listed(some),
            (false, true) => {
                return Err(Problem::new("`full` covers any number of layers, so `full:N` has no effect")
                    .hint("remove one of the two"));
            }
        }
        policies.sort();
        policies.dedup();
        self.policies = policies;
        Ok(())
    }

    /// Tests whether the plan fixes a dimension.
    fn is_pinned(&self, key: &str) -> bool {
        use railwright_spec::run::Section as _;
        match key {
            "recompute_layers" => self.specified.recompute.is_some(),
            "hybrid_group" => self.specified.sharding.is_some(),
            key => self.specified.get(key).is_some(),
        }
    }
}

fn no_full() -> Problem {
    Problem::new("it sets the number of layers with full recompute, but `full` is not allowed in this search")
        .hint("allow `full` in `recompute`, or omit it")
}

/// Parses `4`, `1,2,4`, `2..8`, `..8`, `2..`.
fn counts(text: &str) -> Result<Counts, Problem> {
    let expected = || {
        Problem::new(format!("expected whole numbers of 1 or more, found `{}`", shorten(text)))
            .hint("use a number, a list (`1,2,4`) or a range (`2..8`)")
    };
    let number = |part: &str| part.trim().parse::<u64>().ok().filter(|n| (1..=10_000_000).contains(n));
    if let Some((low, high)) = text.split_once("..") {
        let end = |part: &str, open: u64| {
            if part.trim().is_empty() { Ok(open) } else { number(part).ok_or_else(expected) }
        };
        let (low, high) = (end(low, 0)?, end(high.trim_start_matches('='), u64::MAX)?);
        if low > high {
            return Err(Problem::new(format!("the range {low} to {high} is empty"))
                .hint(format!("swap the bounds: `{high}..{low}`")));
        }
        return Ok(Counts::Between(low, high));
    }
    let mut list =
        text.split(',').map(|part| number(part).ok_or_else(expected)).collect::<Result<Vec<u64>, _>>()?;
    list.sort_unstable();
    list.dedup();
    Ok(Counts::Listed(list))
}

/// Parses a list of values of one type; a comma inside brackets or of a `selective:a,b` belongs to the value.
fn names<T: Field + PartialEq>(text: &str) -> Result<Vec<T>, Problem> {
    let mut list: Vec<T> = Vec::new();
    let mut add = |part: &str| -> Result<(), Problem> {
        let value = match part {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            part => part.parse().map_or_else(|_| Value::Text(part.to_owned()), Value::Integer),
        };
        let read = T::read(&value)?;
        if !list.contains(&read) {
            list.push(read);
        }
        Ok(())
    };
    // `;` separates values that contain commas.
    let separator = if text.contains(';') { ';' } else { ',' };
    for part in text.split(separator) {
        add(part.trim())?;
    }
    Ok(list)
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::plan::{PlanSpec, Schedule};
    use railwright_spec::{cluster, model};

    fn space(specified: &PlanSpec) -> Space {
        let model = model::by_name("llama-3-8b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 64).expect("known");
        Space::new(specified, &model, &cluster).expect("a space")
    }

    #[test]
    fn numbers_are_listed_bounded_or_pinned() {
        assert_eq!(counts("4,1,4").expect("fine"), Counts::Listed(vec![1, 4]));
        assert_eq!(counts("2..8").expect("fine"), Counts::Between(2, 8));
        assert_eq!(counts("..8").expect("fine"), Counts::Between(0, 8));
        for bad in ["", "0", "x", "8..2", "1,,2", "-1", "99999999999999999999", ".."] {
            let read = counts(bad);
            assert!(read.is_err() || bad == "..", "{bad}: {read:?}");
        }
    }

    #[test]
    fn names_are_those_of_the_run_file() {
        let mut space = space(&PlanSpec::default());
        space.restrict("plan.schedule", "1f1b, zb-h1").expect("fine");
        assert_eq!(space.schedules, [Schedule::OneForwardOneBackward, Schedule::ZbH1]);
        space.restrict("sharding", "zero1,fsdp,hsdp:8").expect("fine");
        space.restrict("recompute", "none;selective:norm,activation;full").expect("fine");
        assert_eq!(space.policies.len(), 3);
        space.restrict("overlap.tensor", "false").expect("fine");
        let problem = space.restrict("schedule", "1f2b").expect_err("unknown");
        assert!(problem.hint.expect("a hint").contains("1f1b"));
        let problem = space.restrict("tensor_paralel", "2").expect_err("unknown");
        assert!(problem.hint.expect("a hint").contains("tensor_parallel"));
    }

    /// A range never adds what the framework lacks; a list does, as a fixed setting, and `--unlimited` lifts
    /// the limits.
    #[test]
    fn a_range_stays_within_the_framework() {
        let torchtune = PlanSpec { software: Some("torchtune-2024".into()), ..PlanSpec::default() };
        let mut limited = space(&torchtune);
        limited.restrict("tensor_parallel", "1..8").expect("includes 1");
        assert!(limited.tensor.allows(1) && !limited.tensor.allows(2));
        let problem = limited.restrict("pipeline_parallel", "2..4").expect_err("no pipeline there");
        assert!(problem.message.contains("torchtune-2024"), "{problem:?}");
        limited.restrict("pipeline_parallel", "2,4").expect("listed");
        assert!(limited.pipeline.allows(2));
        let model = model::by_name("llama-3-8b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 64).expect("known");
        let mut open = Space::unlimited(&torchtune, &model, &cluster).expect("a space");
        open.restrict("pipeline_parallel", "2..4").expect("every choice");
        assert!(open.pipeline.allows(4));
    }

    #[test]
    fn layers_stay_with_their_policy_or_are_refused() {
        let mut open = space(&PlanSpec::default());
        open.restrict("recompute", "full:7;full:5").expect("fine");
        assert_eq!(open.recompute_layers, Counts::Listed(vec![5, 7]));
        assert_eq!(open.policies, [Policy::Full]);
        for bad in ["selective:mlp:4", "full;full:5"] {
            let before = open.policies.clone();
            let problem = open.restrict("recompute", bad).expect_err(bad);
            assert!(problem.hint.is_some(), "{problem:?}");
            assert_eq!(open.policies, before, "{bad}");
        }
        open.restrict("recompute", "selective:mlp").expect("fine");
        open.restrict("recompute_layers", "4").expect_err("modules are recomputed in every layer");
    }

    #[test]
    fn what_is_pinned_cannot_be_restricted() {
        let mut space = space(&PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() });
        assert_eq!(space.tensor, Counts::Listed(vec![2]));
        assert!(space.restrict("tensor_parallel", "4").is_err());
    }
}
