//! `network rail-only`: the paper's claims, tables and figures.

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::{args, input};
use railwright_network::rail_only::figures::figures;
use railwright_network::rail_only::report::report;
use railwright_reports::network::rail_only::Paper;

/// Reports, and draws on request.
pub(crate) fn run(arguments: &args::RailOnly, printer: &Printer) -> Result<Outcome, Failure> {
    let report = report()?;
    if let Some(folder) = &arguments.figures {
        input::make_folder(folder)?;
        let all = figures(&report);
        for figure in &all {
            input::write(&format!("{}/{}", folder.trim_end_matches('/'), figure.file), &figure.svg)?;
        }
        printer.note(&format!("wrote {} figures to `{folder}`", all.len()));
    }
    printer.answer(&Paper(report), &arguments.output)?;
    Ok(Outcome::Yes)
}
