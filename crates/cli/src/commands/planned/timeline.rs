//! `timeline`: one step as a trace for ui.perfetto.dev, or as a diagram.

use crate::args;
use crate::args::timeline::Format;
use crate::exit::{Failure, Outcome};
use crate::printer::{Printer, suffix, unknown_suffix};
use crate::run::{self, Resolved};
use railwright_answers::Pricing as _;
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::timeline::{Detail, timeline_on};
use railwright_commands::warn_of_fit;
use railwright_report::SCHEMA_VERSION;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_step::columns::{Options, of_step_watched};
use railwright_step::{Step, chrome, svg};

/// Writes a timeline.
pub(crate) fn run(arguments: &args::Timeline, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.output.as_deref();
    let format = match (arguments.format, path.and_then(suffix)) {
        (Some(format), _) => format,
        (None, Some("svg")) => Format::Svg,
        (None, _) if arguments.svg => Format::Svg,
        (None, Some("json") | None) => Format::Chrome,
        (None, Some(other)) => return Err(unknown_suffix(other, "chrome, columns or svg").into()),
    };
    let is_picture = format == Format::Svg;
    let window = arguments.cut.window()?;
    if path.is_none() && printer.is_on_terminal() {
        let name = if is_picture { "step.svg" } else { "trace.json" };
        return Err(Problem::new("refusing to print a trace to a terminal")
            .hint(format!("pass a file, as in `-o {name}`, or pipe the output"))
            .into());
    }
    let launch = run::launch::find(&arguments.run)?;
    let Resolved { run, warnings, chosen, .. } = run::resolve(&arguments.run)?;
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    let detail = match arguments.detail {
        args::Detail::Automatic if is_picture => Detail::Passes,
        args::Detail::Automatic => Detail::Automatic,
        args::Detail::Passes => Detail::Passes,
        args::Detail::Operators => Detail::Operators,
        args::Detail::Layers => Detail::Layers,
    };
    let wanted = || printer.wanted();
    let run = if arguments.pricing.network.is_empty() { run } else { run.as_used() };
    let simulated = arguments.pricing.wanted().machine(&run.cluster)?.map(|(machine, _)| machine);
    let machine = simulated.unwrap_or_else(|| Machine::new(&run.cluster));
    let step = timeline_on(&machine, &run.model, &run.cluster, &run.plan, detail, &wanted)?;
    let text = match format {
        Format::Svg => {
            svg::pipeline(&step, &svg::Options { title: step.name.clone(), ..svg::Options::default() })
        }
        Format::Chrome => {
            printer.written(|out| chrome::write_trace(&step, chrome::Options::default(), out))?
        }
        Format::Columns => {
            let most_spans = arguments.cut.most_spans as usize;
            let columns =
                of_step_watched(&step, &Options { rank: arguments.rank, window, most_spans }, &wanted)?;
            if columns.tracks.is_empty() {
                return Err(no_rank(&step, arguments.rank).into());
            }
            printer.written(|out| columns.write_json(SCHEMA_VERSION, out))?
        }
    };
    printer.warnings(&warnings);
    warn_of_fit(&run, printer)?;
    printer.data(&text, path)?;
    if path.is_some() {
        printer.chosen(&chosen);
        let how = match format {
            Format::Svg => "open the file in a browser",
            Format::Chrome => "open the file in https://ui.perfetto.dev",
            Format::Columns => "`railwright serve` draws these columns",
        };
        let costing = Costing::new(&run.model, &run.cluster, &run.plan, &machine)?;
        let overlap = evaluate(&costing)?.overlap_of_steps;
        let length = step.duration().seconds();
        let in_sequence = if overlap > Seconds::ZERO {
            format!(" in isolation, {} in a sequence of overlapping steps,", human::seconds(length - overlap))
        } else {
            String::new()
        };
        printer.note(&format!(
            "the file shows a step of {}{in_sequence} on {} ranks, one per pipeline stage; {how}",
            human::seconds(length),
            step.ranks.len()
        ));
    }
    Ok(Outcome::Yes)
}

/// The error for a rank that is not among those shown.
fn no_rank(step: &Step, rank: Option<u32>) -> Problem {
    let ranks: Vec<String> = step.ranks.iter().map(|rank| rank.rank.0.to_string()).collect();
    Problem::new(format!("rank {} does not represent a stage", rank.unwrap_or_default()))
        .in_file("--rank")
        .hint(format!("one rank of each stage is shown: {}", ranks.join(", ")))
}
