//! `hang`: ranks missing from collectives, from flight records.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::jobs::Wanted;
use crate::input::traces;
use crate::printer::Printer;
use railwright_profiler::hang::{hang, lost_rank};
use railwright_profiler::job::Family;
use railwright_profiler::monitors::xpu_timer;
use railwright_profiler::readers::{Keep, Recording};
use railwright_reports::hang::Verdict;
use railwright_spec::problem::Problem;

/// Dumps, with monitor data of the same job.
const WANTED: Wanted = Wanted::one("hang", &[&[Family::Flight, Family::Monitors]]);

/// Evaluates dumps. The outcome is `No` if something hangs, or may hang because dumps are missing.
pub(crate) fn run(arguments: &args::records::Hang, printer: &Printer) -> Result<Outcome, Failure> {
    let loaded = traces::load(&arguments.paths, WANTED, Keep::default(), printer)?;
    crate::input::opened::print_skipped(&loaded.problems, printer);
    let (mut records, mut gauges, mut damaged, mut others) = (Vec::new(), Vec::new(), 0, 0);
    for recording in loaded.recordings {
        match recording {
            Recording::Flight(record) => records.push(*record),
            Recording::Metrics { gauges: more, damaged: bad } => {
                gauges.extend(more);
                damaged += bad;
            }
            _ => others += 1,
        }
    }
    if records.is_empty() && gauges.is_empty() {
        let problem = Problem::new("these files contain no flight-recorder dumps");
        let hint = "set TORCH_FR_BUFFER_SIZE=2000 (older: TORCH_NCCL_TRACE_BUFFER_SIZE) and TORCH_NCCL_DUMP_ON_TIMEOUT=1 to write dumps";
        return Err(problem.hint(hint).into());
    }
    if others > 0 {
        printer.note(&format!("skipped files of other formats: {others}"));
    }
    let files = loaded.problems.iter().filter_map(|problem| Some(problem.place.as_deref()?.file.as_str()));
    let lost: Vec<u32> = files.filter_map(|file| lost_rank(file, &records)).collect();
    let answer = Verdict {
        hang: (!records.is_empty()).then(|| hang(&records, &lost)),
        metrics: (!gauges.is_empty()).then(|| xpu_timer::judge(&gauges, damaged)),
    };
    if let Some(hang) = &answer.hang {
        printer.warnings(&hang.warnings);
    }
    // Missing dumps cannot exclude a hang.
    let hangs = answer.hang.as_ref().is_some_and(|h| h.hangs() != Some(false))
        || answer.metrics.as_ref().is_some_and(|m| m.ranks.iter().any(|r| r.hangs));
    printer.answer(&answer, &arguments.output)?;
    Ok(if hangs { Outcome::No } else { Outcome::Yes })
}
