//! `compare`: two traces side by side, or a run's prediction beside its trace.

mod modelled;

use super::profile::time;
use super::profiled;
use crate::args;
use crate::exit::{Failure, Outcome};
use crate::printer::document::{Block, Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal, fields};
use railwright_profiler::compare::{Comparison, Condition, Difference, Verdict, compare};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Two profiles beside each other.
struct Compared {
    titles: [String; 2],
    comparison: Comparison,
    verdicts: Vec<Verdict>,
    top: usize,
}

fn is_run(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Compares what two paths hold. The answer is no when a condition of failure is met.
pub(crate) fn run(arguments: &args::Compare, printer: &Printer) -> Result<Outcome, Failure> {
    let conditions =
        arguments.fail_if.iter().map(|text| Condition::parse(text)).collect::<Result<Vec<_>, Problem>>()?;
    let sides = [&arguments.first, &arguments.second];
    if sides.iter().all(|path| is_run(path)) {
        let problem = Problem::new("both are run files, so there is nothing measured");
        return Err(problem.hint("`railwright whatif` compares runs that are not measured").into());
    }
    if sides.iter().any(|path| is_run(path)) {
        return modelled::run(arguments, &conditions, printer);
    }
    let of_a_run = [("--calibration", arguments.calibration.is_some()), ("--set", !arguments.set.is_empty())];
    if let Some((flag, _)) = of_a_run.into_iter().find(|(_, is_said)| *is_said) {
        let problem = Problem::new("it is for a prediction, and both sides are measured").in_file(flag);
        return Err(problem
            .hint("put a run file in the place of one side, as in `railwright compare run.toml traces/`")
            .into());
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
        reports.push(profiled::profiled(&read, &options)?.report);
    }
    let comparison = compare(&reports[0], &reports[1]);
    let verdicts = conditions.iter().map(|c| c.check(&comparison)).collect::<Result<Vec<_>, Problem>>()?;
    let fails = verdicts.iter().any(|verdict| verdict.met);
    let answer = Compared { titles: sides.map(String::clone), comparison, verdicts, top: arguments.top };
    printer.answer(&answer, &arguments.output)?;
    Ok(if fails { Outcome::No } else { Outcome::Yes })
}

/// A change with its sign, red where it costs.
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

/// A table of differences, the larger ones first as they come. What neither side has is no row.
fn differences<'a>(name: &str, rows: impl Iterator<Item = &'a Difference>) -> Table {
    let columns = vec![
        Column::words(name),
        Column::numbers("A"),
        Column::numbers("B"),
        Column::numbers("change"),
        Column::numbers("of A"),
    ];
    let row = |d: &Difference| {
        vec![Cell::from(d.name.clone()), value(d.first), value(d.second), change(d), relative(d)]
    };
    let is_there = |d: &&Difference| d.first != 0.0 || d.second != 0.0;
    Table { columns, rows: rows.filter(is_there).map(row).collect() }
}

/// What conditions came to.
fn verdicts(document: &mut Document, verdicts: &[Verdict]) {
    if verdicts.is_empty() {
        return;
    }
    document.heading("conditions");
    let tell = |verdict: &Verdict| {
        let found = match verdict.difference.relative {
            Some(share) => format!("{:+.2}%", share * 100.0),
            None => time(verdict.difference.change),
        };
        let (word, tone) =
            if verdict.met { ("met, so this fails", Tone::Bad) } else { ("not met", Tone::Good) };
        Cell::new(format!("{}: {word} ({found})", verdict.condition.text), tone)
    };
    document.blocks.push(Block::Bullets(verdicts.iter().map(tell).collect()));
}

impl Answer for Compared {
    const KIND: &'static str = "compare";

    fn json(&self) -> Map<String, Value> {
        let mut all = fields(&self.comparison);
        all.insert("titles".to_owned(), json!(self.titles));
        all.insert("verdicts".to_owned(), json!(self.verdicts));
        all
    }

    fn document(&self, terminal: Terminal) -> Document {
        let Self { comparison, titles, .. } = self;
        let mut document = Document::default();
        document.pairs(vec![("A", Cell::from(titles[0].as_str())), ("B", Cell::from(titles[1].as_str()))]);
        let step = &comparison.step_time;
        document.spans(vec![
            Cell::new(
                format!("a step takes {} instead of {}", time(step.second), time(step.first)),
                Tone::Strong,
            ),
            format!(
                ": {}",
                step.relative.map_or_else(String::new, |share| format!("{:+.2}%", share * 100.0))
            )
            .into(),
        ]);
        verdicts(&mut document, &self.verdicts);
        document.heading_with("where a step goes", "mean of ranks and steps, the largest change first");
        let most = step.first.max(step.second);
        let shown = comparison.labels.iter().filter(|d| d.first.max(d.second) >= 0.0005 * most);
        document.table(differences("part", shown));
        document.heading_with("the whole recording", "without regard to steps, mean of ranks");
        document.table(differences("part", comparison.recorded.iter()));
        document.heading_with("families of operators", "time of a rank in a step");
        let shown = comparison.families.iter().filter(|d| d.change.abs() >= 0.0005 * most);
        document.table(differences("family, phase", shown));
        self.kernels(&mut document, terminal);
        if !comparison.warnings.is_empty() {
            document.heading("doubts");
            let tell = |warning: &railwright_spec::problem::Warning| {
                Cell::from(format!("{} ({})", warning.message, warning.id))
            };
            document.blocks.push(Block::Bullets(comparison.warnings.iter().map(tell).collect()));
        }
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
        document.heading_with("kernels", "the largest changes of a rank's time in a step");
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
                    text: super::profile::cut(&row.time.name, room, terminal),
                    tone: Tone::Plain,
                    raw: Some(row.time.name.clone()),
                },
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
    }
}
