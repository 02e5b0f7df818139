//! `compare`: two traces or two training logs compared, or a run's prediction with its trace or its log.

mod kind;
pub(crate) mod logs;
pub(crate) mod modelled;

use super::profile::time;
use super::profiled;
use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::remote::without_query;
use crate::printer::document::{Block, Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal};
use kind::Kind;
use railwright_profiler::compare::{Comparison, Condition, Difference, Verdict, compare};
use railwright_profiler::noise::{self, Shift};
use railwright_profiler::profile::Report;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Two profiles side by side.
pub(crate) struct Compared {
    titles: [String; 2],
    comparison: Comparison,
    /// The shift of steps from A to B, in nanoseconds; `None` unless each has several.
    shift: Option<Shift>,
    verdicts: Vec<Verdict>,
    top: usize,
}

/// Compares the contents of two paths. The outcome is `No` if a failure condition is met.
pub(crate) fn run(arguments: &args::Compare, printer: &Printer) -> Result<Outcome, Failure> {
    let conditions =
        arguments.fail_if.iter().map(|text| Condition::parse(text)).collect::<Result<Vec<_>, Problem>>()?;
    let kinds = [Some(kind::of(&arguments.first)), arguments.second.as_deref().map(kind::of)];
    if kinds.contains(&Some(Kind::Log)) {
        return logs::run(arguments, kinds, &conditions, printer);
    }
    if arguments.launch.is_some() {
        let problem =
            Problem::new("the launch file describes a training log, but A is not a log").in_file("--launch");
        return Err(problem
            .hint("pass a launch file as one side, as in `railwright compare train.sh traces/`")
            .into());
    }
    let Some(second) = &arguments.second else {
        let problem = Problem::new("the second side of the comparison is missing").in_file(&arguments.first);
        return Err(problem
            .hint("pass a second path; a single training log is compared with its prediction")
            .into());
    };
    let sides = [&arguments.first, second];
    if kinds == [Some(Kind::Run); 2] {
        let problem = Problem::new("both files are run files, so there is no measurement");
        return Err(problem.hint("`railwright whatif` compares two predictions").into());
    }
    if kinds.contains(&Some(Kind::Run)) {
        return modelled::run(arguments, (sides, kinds[0] == Some(Kind::Run)), &conditions, printer);
    }
    let how = "pass a run file or a launch file as one side, as in `railwright compare run.toml traces/`";
    arguments.run_settings.without_run(how)?;
    if arguments.calibration.is_some() {
        let problem = Problem::new("this option applies to a prediction, but both sides are measured");
        return Err(problem.in_file("--calibration").hint(how).into());
    }
    let tables = profiled::tables(&arguments.reading)?;
    let mut reports = Vec::new();
    for path in sides {
        let mut options = profiled::options(tables.clone(), &args::Needed::default())?;
        options.step = arguments.step;
        let read = profiled::read(
            std::slice::from_ref(path),
            "compare",
            &arguments.reading,
            &options.tables,
            printer,
        )?;
        reports.push(read.profiled(&options, printer)?.report.clone());
    }
    let comparison = compare(&reports[0], &reports[1]);
    let shift = between(&reports[0], &reports[1]);
    let significant = shift.as_ref().and_then(Shift::is_significant);
    let verdict = |condition: &Condition| {
        let verdict = condition.check(&comparison)?;
        // The variation of other metrics between steps is unknown.
        let known = significant.filter(|_| condition.figure == "step_time");
        Ok(verdict.held_against(known))
    };
    let verdicts = conditions.iter().map(verdict).collect::<Result<Vec<_>, Problem>>()?;
    let fails = verdicts.iter().any(|verdict| verdict.met);
    let answer = Compared {
        titles: sides.map(|side| without_query(side).to_owned()),
        comparison,
        shift,
        verdicts,
        top: arguments.top,
    };
    printer.answer(&answer, &arguments.output)?;
    Ok(if fails { Outcome::No } else { Outcome::Yes })
}

/// The shift between the steps of two recordings.
fn between(first: &Report, second: &Report) -> Option<Shift> {
    let steps = |report: &Report| report.steps.iter().map(|step| step.duration as f64).collect::<Vec<_>>();
    noise::shift(&steps(first), &steps(second))
}

/// Significance of a change, in words.
fn verdict_of(shift: &Shift) -> (String, Tone) {
    let percent = |share: f64| format!("{:+.2}%", share * 100.0);
    let (first, second) = (shift.first.steps, shift.second.steps);
    match shift.interval.map(|(low, high)| (low / shift.first.median, high / shift.first.median)) {
        None => (
            format!("significance unknown: {first} and {second} steps are too few for an interval"),
            Tone::Doubtful,
        ),
        Some((low, high)) => {
            let interval =
                format!("95% interval {} to {}, {first} and {second} steps", percent(low), percent(high));
            if low > 0.0 || high < 0.0 {
                (format!("significant change: {interval}"), Tone::Plain)
            } else {
                (format!("no significant change: {interval}"), Tone::Doubtful)
            }
        }
    }
}

/// A change with its sign, red for an increase of cost.
fn change(difference: &Difference) -> Cell {
    let sign = if difference.change < 0.0 { "-" } else { "+" };
    let text = if difference.change == 0.0 {
        "0".to_owned()
    } else {
        format!("{sign}{}", time(difference.change.abs()))
    };
    Cell::number(text, difference.change * 1e-9)
}

fn relative(difference: &Difference) -> Cell {
    match difference.relative {
        Some(share) => Cell::number(format!("{:+.1}%", share * 100.0), share),
        None => Cell::from("new"),
    }
}

fn value(nanoseconds: f64) -> Cell {
    Cell::number(time(nanoseconds), nanoseconds * 1e-9)
}

/// A table of differences, the larger ones first. Rows missing on both sides are omitted.
fn differences<'a>(name: &str, rows: impl Iterator<Item = &'a Difference>) -> Table {
    let columns = vec![
        Column::words(name),
        Column::numbers("A"),
        Column::numbers("B"),
        Column::numbers("change"),
        Column::numbers("of A"),
    ];
    let row = |d: &Difference| {
        vec![Cell::from(human::part(&d.name)), value(d.first), value(d.second), change(d), relative(d)]
    };
    let is_there = |d: &&Difference| d.first != 0.0 || d.second != 0.0;
    Table { columns, rows: rows.filter(is_there).map(row).collect() }
}

/// Results of conditions.
fn verdicts(document: &mut Document, verdicts: &[Verdict]) {
    if verdicts.is_empty() {
        return;
    }
    document.heading("conditions");
    let line = |verdict: &Verdict| {
        let found = match verdict.difference.relative {
            Some(share) => format!("{:+.2}%", share * 100.0),
            None => time(verdict.difference.change),
        };
        let (word, tone) = match (verdict.met, verdict.significant) {
            (true, _) => ("condition met: exit code 1", Tone::Bad),
            (false, Some(false)) => ("condition not met: no significant change", Tone::Good),
            (false, _) => ("condition not met", Tone::Good),
        };
        Cell::new(format!("{}: {word} ({found})", verdict.condition.text), tone)
    };
    document.blocks.push(Block::Bullets(verdicts.iter().map(line).collect()));
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ComparedFields<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    titles: &'a [String; 2],
    verdicts: &'a [Verdict],
    #[serde(rename = "shift_ns")]
    shift: Option<&'a Shift>,
    /// True if the change is larger than the noise; `None` if unknown.
    significant: Option<bool>,
}

impl Answer for Compared {
    const KIND: &'static str = "compare";

    type Json<'a> = ComparedFields<'a>;

    fn json(&self) -> ComparedFields<'_> {
        ComparedFields {
            comparison: &self.comparison,
            titles: &self.titles,
            verdicts: &self.verdicts,
            shift: self.shift.as_ref(),
            significant: self.shift.as_ref().and_then(Shift::is_significant),
        }
    }

    fn document(&self, terminal: Terminal) -> Document {
        let Self { comparison, titles, .. } = self;
        let mut document = Document::default();
        let step = &comparison.step_time;
        document.spans(vec![
            Cell::new(format!("step time {} (was {})", time(step.second), time(step.first)), Tone::Strong),
            format!(
                ": {}",
                step.relative.map_or_else(String::new, |share| format!("{:+.2}%", share * 100.0))
            )
            .into(),
        ]);
        if let Some(shift) = &self.shift {
            let (words, tone) = verdict_of(shift);
            document.paragraph(Cell::new(words, tone));
        }
        document.pairs(vec![("A", Cell::from(titles[0].as_str())), ("B", Cell::from(titles[1].as_str()))]);
        verdicts(&mut document, &self.verdicts);
        document.heading_with("step breakdown", "mean of ranks and steps, largest change first");
        let most = step.first.max(step.second);
        let shown = comparison.labels.iter().filter(|d| d.first.max(d.second) >= 0.0005 * most);
        document.table(differences("part", shown));
        document.heading_with(
            "common recording",
            "from the last rank's first to the first rank's last activity; mean of ranks",
        );
        document.table(differences("part", comparison.recorded.iter()));
        document.heading_with("operator families", "time per rank and step");
        let shown = comparison.families.iter().filter(|d| d.change.abs() >= 0.0005 * most);
        document.table(differences("family, phase", shown));
        self.kernels(&mut document, terminal);
        if !comparison.warnings.is_empty() {
            document.heading("warnings");
            document.warnings(&comparison.warnings);
        }
        document.next_step("`railwright profile` lists causes and remedies for one job");
        document
    }
}

impl Compared {
    fn kernels(&self, document: &mut Document, terminal: Terminal) {
        let shown: Vec<_> =
            self.comparison.kernels.iter().filter(|row| row.time.change != 0.0).take(self.top).collect();
        if shown.is_empty() {
            return;
        }
        document.heading_with("kernels", "largest changes of the time per rank and step");
        let columns = vec![
            Column::numbers("change"),
            Column::numbers("A"),
            Column::numbers("B"),
            Column::numbers("calls").expendable(2),
            Column::words("phase").expendable(1),
            Column::words("kernel"),
        ];
        let room = terminal.width.saturating_sub(52).clamp(20, 90);
        let count = |n: f64| if n.fract() == 0.0 { human::whole(n as u64) } else { format!("{n:.1}") };
        let rows = shown.into_iter().map(|row| {
            let calls = if row.first_count.to_bits() == row.second_count.to_bits() {
                count(row.first_count)
            } else {
                format!("{} > {}", count(row.first_count), count(row.second_count))
            };
            vec![
                change(&row.time),
                value(row.time.first),
                value(row.time.second),
                Cell::from(calls),
                Cell::from(row.phase.name().replace('_', " ")),
                Cell {
                    text: super::profile::cut(&human::part(&row.time.name), room, terminal),
                    tone: Tone::Plain,
                    raw: Some(row.time.name.clone()),
                },
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
    }
}
