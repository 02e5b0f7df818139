//! `size`: how many machines of which kind, for a deadline or a budget, and where more stop paying.

mod report;

use super::best;
use super::open_run::{self, Asked, Setting};
use crate::args;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Dollars, FlopPerSecond, Seconds};
use railwright_spec::run::{Amount, Field, Value};
use railwright_tuner::size::{Goal, Machine, Sized, Sizing, numbers, reach};

/// A finished table and how it was asked for.
pub(crate) struct Answered {
    pub(crate) title: String,
    pub(crate) sized: Sized,
    /// Each row's layout as flags, in the order of the rows.
    pub(crate) layouts: Vec<String>,
    /// The command that estimates the chosen row.
    pub(crate) command: Option<String>,
    pub(crate) tokens: f64,
    pub(crate) global_batch: u64,
    pub(crate) sequence_length: u64,
    pub(crate) growing_batch: bool,
    /// Whether cluster sizes have batches of their own, because none divides among all.
    pub(crate) own_batches: bool,
    pub(crate) chosen: Vec<String>,
    /// Whether the user stopped it.
    pub(crate) is_incomplete: bool,
}

/// Sizes. The answer is no when no number of devices meets the deadline or the budget.
pub(crate) fn run(arguments: &args::Size, printer: &Printer) -> Result<Outcome, Failure> {
    let goal = goal(arguments)?;
    let asked = open_run::ask(&arguments.run)?;
    open_run::tell_launch(&arguments.run, printer)?;
    let Some(first) = asked.settings.first() else {
        return Err(Problem::new("no cluster is named").into());
    };
    let Some(tokens) = first.run.training.tokens else {
        let problem = Problem::new("without a number of tokens there is nothing to size").in_file("--tokens");
        return Err(problem.hint("set the number of training tokens, as in `--tokens 15T`").into());
    };
    if goal.budget.is_some() {
        priced(&asked)?;
    }
    let batch = Batch::of(&asked, &goal, arguments.growing_batch)?;
    let kinds = kinds(&asked, &goal, &batch);
    let fewest = kinds.iter().filter_map(|kind| kind.numbers.first()).min().copied().unwrap_or(1);
    let first_of_kind = first_of_kind(&asked);
    let mut sizing = Sizing::new(goal, kinds, !asked.says_devices);
    let searcher = best::Searcher::new(&arguments.effort, printer)?.priced(&arguments.pricing);
    // What is wrong with every number of devices is a mistake, not an answer.
    for setting in &first_of_kind {
        let said =
            PlanSpec { global_batch: Some(batch.sequences), batch_tokens: None, ..setting.spec.plan.clone() };
        searcher.space(setting, &said, &[])?;
    }
    while let Some(question) = sizing.next() {
        let setting = asked.resized(first_of_kind[question.machine], question.devices)?;
        let sequences = batch.at(question.devices, fewest);
        match searcher.best(&setting, sequences)? {
            best::Found::Best(estimate) => sizing.answer(question, &estimate),
            best::Found::Nothing(reason) => sizing.refuse(question, reason),
            best::Found::Stopped => break,
        }
    }
    let sized = sizing.finish();
    let mut answer =
        answered(&asked, arguments, &first_of_kind, sized, &batch, tokens, searcher.is_stopped())?;
    for said in first_of_kind.iter().filter_map(|setting| searcher.said(setting)) {
        if !answer.chosen.contains(&said) {
            answer.chosen.push(said);
        }
    }
    let is_no = answer.sized.verdict.is_no || answer.sized.rows.is_empty();
    printer.answer(&answer, &arguments.output)?;
    Ok(if answer.is_incomplete {
        Outcome::Interrupted
    } else if is_no {
        Outcome::No
    } else {
        Outcome::Yes
    })
}

fn answered(
    asked: &Asked<'_>,
    arguments: &args::Size,
    kinds: &[&Setting],
    sized: Sized,
    batch: &Batch,
    tokens: f64,
    is_incomplete: bool,
) -> Result<Answered, Failure> {
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
    if kinds.first().is_some_and(|kind| kind.spec.training.availability.is_none()) {
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
                price.source
            ));
        }
    }
    let model = kinds.first().map_or_else(String::new, |kind| crate::run::describe(&kind.run.model));
    Ok(Answered {
        title: format!("{model}, {} tokens", human::count(tokens)),
        layouts,
        command,
        tokens,
        global_batch: batch.sequences,
        sequence_length: batch.sequence_length,
        growing_batch: arguments.growing_batch,
        own_batches: batch.is_own,
        chosen,
        sized,
        is_incomplete,
    })
}

/// What was asked for, checked.
fn goal(arguments: &args::Size) -> Result<Goal, Problem> {
    let deadline = arguments.deadline.as_deref().map(deadline).transpose()?;
    let budget = arguments.budget.as_deref().map(budget).transpose()?;
    if !(arguments.worth > 0.0 && arguments.worth <= 1.0) {
        let problem =
            Problem::new(format!("expected a share above 0 and at most 1, found {}", arguments.worth));
        return Err(problem.in_file("--worth"));
    }
    Ok(Goal { deadline, budget, worth: arguments.worth })
}

fn deadline(text: &str) -> Result<Seconds, Problem> {
    const LONGEST: f64 = 100.0 * 365.25 * 86_400.0;
    let text = text.trim();
    let plain = text.replace("days", "d").replace("day", "d").replace("hours", "h");
    let hint = "write it with a unit, as in `90d` or `2000h`";
    let time = Seconds::read(&Value::Text(plain)).map_err(|problem| {
        let message = problem.message;
        Problem::new(message).in_file("--deadline").hint(hint)
    })?;
    if time.get() > 0.0 && time.get() <= LONGEST {
        Ok(time)
    } else {
        let problem = Problem::new(format!("`{}` is no time to train in", human::shorten(text)));
        Err(problem.in_file("--deadline").hint("expected more than none and at most a hundred years"))
    }
}

fn budget(text: &str) -> Result<Dollars, Problem> {
    let text = text.trim();
    let plain = text.trim_start_matches('$').trim().replace(',', "");
    let hint = "write dollars, as in `30M` or `250K`";
    let amount = Amount::read(&Value::Text(plain))
        .map_err(|problem| Problem::new(problem.message).in_file("--budget").hint(hint))?;
    if amount.0.is_finite() && amount.0 > 0.0 && amount.0 <= 1e15 {
        Ok(Dollars::new(amount.0))
    } else {
        let problem = Problem::new(format!("`{}` buys nothing that can be computed", human::shorten(text)));
        Err(problem.in_file("--budget").hint("expected more than $0 and at most 1,000 trillion"))
    }
}

/// A budget means nothing where devices have no price.
fn priced(asked: &Asked<'_>) -> Result<(), Problem> {
    for setting in &asked.settings {
        let accelerator = &setting.run.cluster.accelerator;
        if setting.run.cost.price_per_device_hour.is_none() && accelerator.price.is_none() {
            return Err(Problem::new(format!("the catalogue has no price for {}", accelerator.name))
                .in_file("--budget")
                .hint("give one with --price-per-device-hour"));
        }
    }
    Ok(())
}

/// The first setting of each cluster.
fn first_of_kind<'a>(asked: &'a Asked<'_>) -> Vec<&'a Setting> {
    let mut list: Vec<&Setting> = Vec::new();
    for setting in &asked.settings {
        if list.last().is_none_or(|last| last.word != setting.word) {
            list.push(setting);
        }
    }
    list
}

fn kinds(asked: &Asked<'_>, goal: &Goal, batch: &Batch) -> Vec<Machine> {
    let mut list: Vec<Machine> = Vec::new();
    for setting in &asked.settings {
        let cluster = &setting.run.cluster;
        let devices = cluster.devices_per_node.max(1);
        if asked.says_devices {
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
            batch.sequences,
            batch.sequence_length,
            peak(setting),
        );
        // A deadline brings a narrow reach, which half steps fill; without one the reach is wide.
        let dense = goal.deadline.is_some();
        let mut list_of = numbers(devices, reach.from, reach.to, dense);
        if list_of.is_empty() {
            list_of.push(reach.from);
        }
        list.push(Machine { name: setting.word.clone(), devices, numbers: list_of, most: reach.most });
    }
    list
}

/// The peak of the format that products run in, as far as it is said; of bf16 otherwise.
fn peak(setting: &Setting) -> FlopPerSecond {
    use railwright_spec::precision::DataType;
    let plan = &setting.spec.plan;
    let preset = plan.precision.map(|preset| preset.precision().compute);
    let format = plan.precision_compute.or(preset).unwrap_or(DataType::Bf16);
    let accelerator = &setting.run.cluster.accelerator;
    let found = accelerator.peak_rate(format).or_else(|| accelerator.peak_rate(DataType::Bf16));
    found.unwrap_or(FlopPerSecond::from_tera(100.0))
}

/// The global batch of every number of devices.
struct Batch {
    sequences: u64,
    sequence_length: u64,
    grows: bool,
    /// Whether each number of devices has the nearest batch that divides among it.
    is_own: bool,
    chosen: Vec<String>,
}

impl Batch {
    fn of(asked: &Asked<'_>, goal: &Goal, grows: bool) -> Result<Self, Problem> {
        let said = asked.said();
        let mut chosen = Vec::new();
        let mut is_own = false;
        if said.micro_batches.is_some() {
            let problem =
                Problem::new("the number of micro batches follows from the layout, which is to be found");
            return Err(problem
                .in_file("--micro-batches")
                .hint("set --global-batch or --batch-tokens instead"));
        }
        let sequence_length = open_run::sequence_length(asked);
        if said.sequence_length.is_none() {
            chosen.push(format!("sequences of {} tokens", human::whole(sequence_length)));
        }
        let sequences = match (said.global_batch, said.batch_tokens) {
            (Some(_), Some(_)) => {
                let problem = Problem::new("`--global-batch` and `--batch-tokens` both set the batch");
                return Err(problem.in_file("--batch-tokens").hint("keep one"));
            }
            (Some(sequences), None) => sequences,
            (None, Some(tokens)) => {
                let batch = open_run::divisible_batch(tokens.0, sequence_length, 1024);
                chosen.push(format!(
                    "global batch {} for {} tokens",
                    human::whole(batch),
                    human::count(tokens.0)
                ));
                batch
            }
            (None, None) => {
                let wanted = asked.settings.first().map_or(0, |setting| {
                    let typed = asked.settings.iter().map(|s| s.run.cluster.devices).max().unwrap_or(0);
                    if asked.says_devices {
                        return typed;
                    }
                    let run = &setting.run;
                    let reach = reach(
                        &run.model,
                        &run.cluster,
                        &run.training,
                        goal,
                        u64::MAX,
                        sequence_length,
                        peak(setting),
                    );
                    if goal.deadline.is_some() { reach.to / 4 } else { 0 }
                });
                let usual = open_run::usual_batch(sequence_length, wanted);
                let devices: Vec<u64> = asked
                    .settings
                    .iter()
                    .map(|s| {
                        if asked.says_devices {
                            s.run.cluster.devices
                        } else {
                            s.run.cluster.devices_per_node
                        }
                    })
                    .collect();
                let common = open_run::divided_batch(usual, &devices);
                is_own = common.is_none();
                let sequences = common.unwrap_or(usual);
                let near = if is_own { " or the nearest that divides among the GPUs" } else { "" };
                chosen.push(format!("global batch {}{near}", human::whole(sequences)));
                sequences
            }
        };
        Ok(Self { sequences, sequence_length, grows, is_own, chosen })
    }

    fn at(&self, devices: u64, fewest: u64) -> u64 {
        let own = |usual: u64| open_run::divided_batch(usual, &[devices]).unwrap_or(usual);
        if self.is_own && !self.grows {
            own(self.sequences)
        } else if self.grows {
            let grown = u128::from(self.sequences) * u128::from(devices) / u128::from(fewest.max(1));
            u64::try_from(grown).unwrap_or(u64::MAX).max(1)
        } else {
            self.sequences
        }
    }
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
