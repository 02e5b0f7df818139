//! `digest`: the trace of a rank as a small file that is joined with those of other ranks.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::digest::{Written, files, one, share};
use crate::printer::Printer;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Problems that are printed.
const TOLD: usize = 5;

/// Writes digests.
pub(crate) fn run(arguments: &args::tables::Digest, printer: &Printer) -> Result<Outcome, Failure> {
    let (part, parts) = match arguments.part.as_deref() {
        Some(text) => share(text)?,
        None => (0, 1),
    };
    let all = files(&arguments.paths)?;
    let own: Vec<&(PathBuf, String)> = all.iter().skip(part).step_by(parts).collect();
    if own.is_empty() {
        printer.note(&format!("part {part} of {parts} has none of the {} files", all.len()));
        return Ok(Outcome::Yes);
    }
    let folder = Path::new(&arguments.output);
    let written: Vec<Written> =
        own.par_iter().with_max_len(1).map(|(path, name)| one(path, &folder.join(name), printer)).collect();
    let (mut sizes, mut problems) = (Vec::new(), Vec::new());
    for result in written {
        match result {
            Ok(found) => sizes.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    for problem in problems.iter().take(TOLD) {
        printer.note(&format!("skipped: {problem}"));
    }
    if problems.len() > TOLD {
        printer.note(&format!("skipped: {} more files", problems.len() - TOLD));
    }
    if sizes.is_empty() {
        let nothing = || Problem::new("these files contain no rank trace").in_file(arguments.paths.join(" "));
        return Err(problems.into_iter().next().unwrap_or_else(nothing).into());
    }
    printer.note(&format!(
        "wrote {} digest{} to `{}`, {}",
        human::whole(sizes.len() as u64),
        if sizes.len() == 1 { "" } else { "s" },
        arguments.output,
        human::bytes_decimal(Bytes::new(sizes.iter().sum::<u64>() as f64))
    ));
    Ok(Outcome::Yes)
}
