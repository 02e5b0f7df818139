//! Size of a cluster for a deadline or a budget, and the size up to which more devices are efficient.
//!
//! Responsible for: numbers of devices, batches, and the search of each. The tuner ranks them.

mod batch;

use crate::Refused;
use crate::pricing::Pricing;
use crate::question::Question;
use crate::searcher::{Effort, Found, Searcher, with_batch};
use crate::setting::{Setting, plan_flags};
use crate::title::describe;
use crate::watch::Watch;
use batch::{Batch, peak};
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Dollars, Seconds};
use railwright_spec::run::{Amount, Field, Section as _, Value};
use railwright_tuner::size::{Goal, Machine, Sized, Sizing, Verdict, numbers, reach};
use serde::Serialize;

/// Result of sizing, with its request.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeAnswer {
    /// Title: model and tokens in one line.
    pub title: String,
    /// Cluster sizes, and the verdict.
    #[serde(rename = "size")]
    pub sized: Sized,
    /// Layout of each row as flags, in the order of the rows.
    pub layouts: Vec<String>,
    /// Command that estimates the chosen row; `None` if no row is chosen.
    pub command: Option<String>,
    /// Training tokens.
    pub tokens: f64,
    /// Global batch size in sequences.
    pub global_batch: u64,
    /// Sequence length in tokens.
    pub sequence_length: u64,
    /// True if the global batch scales with the number of devices.
    pub growing_batch: bool,
    /// True if cluster sizes have different batches, because no batch divides among all of them.
    #[serde(skip)]
    pub own_batches: bool,
    /// Layout settings fixed in every row, as flags; empty if all are searched.
    #[serde(skip)]
    pub kept: String,
    /// Defaults of unspecified settings.
    pub chosen: Vec<String>,
    /// True if the whole space was searched.
    #[serde(rename = "complete")]
    pub is_complete: bool,
}

/// Options of sizing.
#[derive(Clone, Debug, Default)]
pub struct SizeOptions {
    /// Maximum training time, such as `90d`.
    pub deadline: Option<String>,
    /// Maximum rental cost in dollars, such as `30M`.
    pub budget: Option<String>,
    /// True to scale the global batch with the number of devices.
    pub growing_batch: bool,
    /// Minimum marginal scaling efficiency, 0 to 1; `None`: one half.
    pub worth: Option<f64>,
    /// Search effort.
    pub effort: Effort,
}

impl SizeOptions {
    /// Rejects meaningless goals.
    pub fn check(&self) -> Result<(), Problem> {
        goal(self).map(|_| ())
    }
}

/// Sizes a cluster for a training run.
pub fn size(
    asked: &dyn Question,
    wanted: &SizeOptions,
    pricing: &dyn Pricing,
    watch: &dyn Watch,
) -> Result<SizeAnswer, Refused> {
    let goal = goal(wanted)?;
    let Some(first) = asked.settings().first() else {
        return Err(Problem::new("no cluster is set").into());
    };
    for setting in asked.settings() {
        setting.run.cluster.require_one_kind("the size of a cluster")?;
    }
    let Some(tokens) = first.run.training.tokens else {
        let problem = Problem::new("the number of training tokens is missing").in_file("--tokens");
        return Err(problem.hint("set the number of training tokens, as in `--tokens 15T`").into());
    };
    if goal.budget.is_some() {
        priced(asked, "--budget")?;
    }
    let length = asked.specified().sequence_length;
    let batch = Batch::of(asked, asked.published(), length, &goal, wanted.growing_batch)?;
    let kinds = kinds(asked, &goal, &batch);
    let fewest = kinds.iter().filter_map(|kind| kind.numbers.first()).min().copied().unwrap_or(1);
    let first_of_kind = first_of_kind(asked);
    let mut sizing = Sizing::new(goal, kinds, !asked.has_devices());
    let searcher = Searcher::new(wanted.effort.clone(), watch)?.priced(pricing);
    // A problem of every number of devices is an error, not a result.
    for setting in &first_of_kind {
        searcher.space(setting, &with_batch(&setting.spec.plan, batch.sequences), &[])?;
    }
    let mut unbuilt: Option<Problem> = None;
    let mut is_buildable = false;
    while let Some(question) = sizing.next() {
        let setting = asked.resized(first_of_kind[question.machine], question.devices)?;
        let sequences = batch.at(question.devices, fewest);
        let found = searcher.best(&setting, sequences)?;
        is_buildable |= !matches!(found, Found::Unbuilt(_));
        match found {
            Found::Unbuilt(problem) => {
                sizing.refuse(question, problem.message.clone());
                unbuilt.get_or_insert(problem);
            }
            Found::Best(estimate) => sizing.answer(question, &estimate),
            Found::TooLarge(reason) => sizing.refuse_for_memory(question, reason),
            Found::Nothing(reason) => sizing.refuse(question, reason),
            Found::Stopped => break,
        }
    }
    // A network of no size is a wrong setting, and no result about the model.
    if let Some(problem) = unbuilt.filter(|_| !is_buildable) {
        return Err(problem.into());
    }
    let mut sized = sizing.finish();
    let is_complete = !searcher.is_stopped();
    if !is_complete {
        // Untried sizes may meet the goal, or meet it better.
        sized.verdict = Verdict::default();
    }
    let mut answer =
        answered(asked, wanted.growing_batch, &first_of_kind, sized, &batch, tokens, is_complete)?;
    for remark in first_of_kind.iter().filter_map(|setting| searcher.network_remark(setting)) {
        if !answer.chosen.contains(&remark) {
            answer.chosen.push(remark);
        }
    }
    Ok(answer)
}

impl SizeAnswer {
    /// True if no cluster size meets the goal.
    pub fn is_no(&self) -> bool {
        self.sized.verdict.is_no || self.sized.rows.is_empty()
    }
}

fn answered(
    asked: &dyn Question,
    growing_batch: bool,
    kinds: &[&Setting],
    sized: Sized,
    batch: &Batch,
    tokens: f64,
    is_complete: bool,
) -> Result<SizeAnswer, Refused> {
    let mut layouts = Vec::with_capacity(sized.rows.len());
    let mut command = None;
    for (index, row) in sized.rows.iter().enumerate() {
        let setting = asked.resized(kinds[row.machine], row.devices)?;
        layouts.push(setting.layout(&row.plan));
        if sized.verdict.chosen == Some(index) {
            command = Some(asked.command(&setting, &row.plan)?);
        }
    }
    let mut chosen = batch.chosen.clone();
    if kinds.first().is_some_and(|kind| {
        kind.spec.training.availability.is_none() && kind.run.training.checkpoints.is_none()
    }) {
        chosen.push("availability 100%".to_owned());
    }
    for (index, kind) in kinds.iter().enumerate() {
        let row = sized.rows.iter().find(|row| row.machine == index);
        if let Some(price) = row.and_then(|row| row.bill.device_price.as_ref())
            && kind.spec.cost.price_per_device_hour.is_none()
        {
            chosen.push(format!(
                "{} per GPU-hour of {} ({})",
                human::dollars(price.amount),
                kind.run.cluster.accelerator.name,
                // The rest of a source is on other prices; JSON has all of it.
                price.source.split([';', '(']).next().unwrap_or_default().trim()
            ));
        }
    }
    let model = kinds.first().map_or_else(String::new, |kind| describe(&kind.run.model));
    Ok(SizeAnswer {
        title: format!(
            "{model}, {} tokens in steps of {} x {} ({})",
            human::count(tokens),
            human::whole(batch.sequences),
            human::whole(batch.sequence_length),
            batch.origin
        ),
        layouts,
        command,
        tokens,
        global_batch: batch.sequences,
        sequence_length: batch.sequence_length,
        growing_batch,
        own_batches: batch.is_own,
        kept: kinds.first().map_or_else(String::new, |kind| kept(&kind.spec.plan)),
        chosen,
        sized,
        is_complete,
    })
}

/// Layout settings that a file or the command line fixes for every number of devices.
const LAYOUT: [&str; 9] = [
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_stages",
    "context_parallel",
    "expert_parallel",
    "expert_tensor_parallel",
    "sharding",
    "micro_batch",
    "recompute",
];

fn kept(specified: &PlanSpec) -> String {
    let mut kept = PlanSpec::default();
    for name in LAYOUT {
        if let Some(value) = specified.get(name) {
            // Cannot fail: the value comes from a specification.
            let _ = kept.set(name, &value);
        }
    }
    plan_flags(&kept, None)
}

/// Validated goal.
fn goal(wanted: &SizeOptions) -> Result<Goal, Problem> {
    let deadline = wanted.deadline.as_deref().map(deadline).transpose()?;
    let budget = wanted.budget.as_deref().map(budget).transpose()?;
    let worth = wanted.worth.unwrap_or(0.5);
    if !(worth > 0.0 && worth <= 1.0) {
        let problem =
            Problem::new(format!("expected a share above 0 and at most 1, found {}", human::exact(worth)));
        return Err(problem.in_file("--worth"));
    }
    Ok(Goal { deadline, budget, worth })
}

fn deadline(text: &str) -> Result<Seconds, Problem> {
    const LONGEST: f64 = 100.0 * 365.25 * 86_400.0;
    let text = text.trim();
    let plain = text.replace("days", "d").replace("day", "d").replace("hours", "h");
    let hint = "use a number with a unit, as in `90d` or `2000h`";
    let time = Seconds::read(&Value::Text(plain)).map_err(|problem| {
        let message = problem.message;
        Problem::new(message).in_file("--deadline").hint(hint)
    })?;
    if time.get() > 0.0 && time.get() <= LONGEST {
        Ok(time)
    } else {
        let problem = Problem::new(format!("`{}` is not a training time", human::shorten(text)));
        Err(problem.in_file("--deadline").hint("expected more than 0 and at most 100 years"))
    }
}

/// Reads a budget in dollars, such as `30M`.
pub fn budget(text: &str) -> Result<Dollars, Problem> {
    let text = text.trim();
    let plain = text.trim_start_matches('$').trim().replace(',', "");
    let hint = "use dollars, as in `30M` or `250K`";
    let amount = Amount::read(&Value::Text(plain))
        .map_err(|problem| Problem::new(problem.message).in_file("--budget").hint(hint))?;
    if amount.0.is_finite() && amount.0 > 0.0 && amount.0 <= 1e15 {
        Ok(Dollars::new(amount.0))
    } else {
        let problem = Problem::new(format!("`{}` is not a budget", human::shorten(text)));
        Err(problem.in_file("--budget").hint("expected more than $0 and at most 1,000 trillion"))
    }
}

/// Rejects a budget or an objective of cost, set by a flag, if devices have no price.
pub(crate) fn priced(asked: &dyn Question, flag: &str) -> Result<(), Problem> {
    for setting in asked.settings() {
        let accelerator = &setting.run.cluster.accelerator;
        if setting.run.cost.price_per_device_hour.is_none() && accelerator.price.is_none() {
            return Err(Problem::new(format!("the catalogue has no price for {}", accelerator.name))
                .in_file(flag)
                .hint("set it with --price-per-device-hour"));
        }
    }
    Ok(())
}

/// First setting of each cluster.
fn first_of_kind(asked: &dyn Question) -> Vec<&Setting> {
    let mut list: Vec<&Setting> = Vec::new();
    for setting in asked.settings() {
        if list.last().is_none_or(|last| last.word != setting.word) {
            list.push(setting);
        }
    }
    list
}

fn kinds(asked: &dyn Question, goal: &Goal, batch: &Batch) -> Vec<Machine> {
    let mut list: Vec<Machine> = Vec::new();
    for setting in asked.settings() {
        let cluster = &setting.run.cluster;
        let devices = cluster.devices_per_node.max(1);
        if asked.has_devices() {
            match list.last_mut().filter(|last| last.name == setting.word) {
                Some(last) => last.numbers.push(cluster.devices),
                None => list.push(Machine {
                    name: setting.word.clone(),
                    devices,
                    numbers: vec![cluster.devices],
                    most: u64::MAX,
                }),
            }
            continue;
        }
        let reach = reach(
            &setting.run.model,
            cluster,
            &setting.run.training,
            goal,
            (&setting.spec.plan, batch.sequences, batch.sequence_length),
            peak(setting),
        );
        // A deadline limits the range of sizes, so half steps are affordable; without one the range is wide.
        let dense = goal.deadline.is_some();
        let mut list_of = numbers(devices, reach.from, reach.to, dense);
        if list_of.is_empty() {
            list_of.push(reach.from);
        }
        list.push(Machine { name: setting.word.clone(), devices, numbers: list_of, most: reach.most });
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_and_budgets_are_read_as_people_write_them() {
        assert_eq!(deadline("90d"), Ok(Seconds::new(90.0 * 86_400.0)));
        assert_eq!(deadline("90 days"), Ok(Seconds::new(90.0 * 86_400.0)));
        assert_eq!(deadline("36h"), Ok(Seconds::new(36.0 * 3600.0)));
        for bad in ["", "90", "soon", "-3d", "0d", "1e99d", "nan d"] {
            assert!(deadline(bad).is_err(), "{bad}");
        }
        assert_eq!(budget("$30M"), Ok(Dollars::new(30e6)));
        assert_eq!(budget("1,500,000"), Ok(Dollars::new(1.5e6)));
        for bad in ["", "-5", "0", "$", "1e99", "a lot"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }
}
