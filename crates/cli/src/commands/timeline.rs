//! `timeline`: one step as a trace for ui.perfetto.dev, or as a picture.

use crate::args;
use crate::commands::network::simulate::machine;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_calculator::timeline::{Detail, timeline_on, timeline_with};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_step::{chrome, svg};
use std::path::Path;

/// Writes a timeline.
pub(crate) fn run(arguments: &args::Timeline, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.output.as_deref();
    let is_picture =
        arguments.svg || path.is_some_and(|path| Path::new(path).extension().is_some_and(|e| e == "svg"));
    if path.is_none() && printer.is_on_terminal() {
        let name = if is_picture { "step.svg" } else { "trace.json" };
        return Err(Problem::new("a trace is of no use on a terminal")
            .hint(format!("name a file, as in `-o {name}`, or pipe it on"))
            .into());
    }
    let launch = run::launch::find(&arguments.run)?;
    let Resolved { run, warnings, .. } = run::resolve(&arguments.run)?;
    if let Some(launch) = &launch {
        run::launch::tell(launch, printer);
    }
    let detail = match arguments.detail {
        args::Detail::Automatic if is_picture => Detail::Passes,
        args::Detail::Automatic => Detail::Automatic,
        args::Detail::Passes => Detail::Passes,
        args::Detail::Operators => Detail::Operators,
    };
    let step = match machine(&arguments.pricing, &run.cluster)? {
        None => timeline_with(&run.model, &run.cluster, &run.plan, detail)?,
        Some((machine, _)) => timeline_on(&machine, &run.model, &run.cluster, &run.plan, detail)?,
    };
    let text = if is_picture {
        svg::pipeline(&step, &svg::Options { title: step.name.clone(), ..svg::Options::default() })
    } else {
        chrome::to_string(&step, chrome::Options::default())
    };
    printer.warnings(&warnings);
    printer.data(&text, path)?;
    if path.is_some() {
        let how = if is_picture { "open it in a browser" } else { "open it in https://ui.perfetto.dev" };
        printer.note(&format!(
            "a step of {} on {} ranks, one for each pipeline stage; {how}",
            human::seconds(step.duration().seconds()),
            step.ranks.len()
        ));
    }
    Ok(Outcome::Yes)
}
