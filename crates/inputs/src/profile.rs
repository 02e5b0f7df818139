//! Reads and writes profiles: ranks and pipeline passes of all given paths.
//!
//! Responsible for: combining files into one job, joining its ranks, and saving it, with ranks in parallel.
//! Skips other recordings (logs, flight records) and reports their number.

#[cfg(all(feature = "tables", not(target_family = "wasm")))]
mod saved;

#[cfg(all(feature = "tables", not(target_family = "wasm")))]
pub use saved::save;
#[cfg(all(feature = "tables", not(target_family = "wasm")))]
pub(super) use saved::unpack;

use super::jobs::Wanted;
use super::traces;
use crate::Caller;
use crate::opened::print_skipped;
use railwright_profiler::Job;
use railwright_profiler::clocks::ClockPolicy;
use railwright_profiler::groups::Layout;
use railwright_profiler::job::Family;
use railwright_profiler::joined::{JoinOptions, Joined, join};
use railwright_profiler::passes::Passes;
use railwright_profiler::readers::{Keep, Recording};
use railwright_profiler::view::{Tables, View};
use railwright_profiler::windows::{Windows, windows};
use railwright_spec::problem::Problem;
use rayon::prelude::*;

/// Reads ranks and passes.
pub fn load(
    paths: &[String],
    command: &'static str,
    keep: Keep,
    printer: &dyn Caller,
) -> Result<(Job, Vec<Passes>), Problem> {
    let wanted = Wanted::one(command, &[&[Family::Ranks, Family::Passes]]);
    let mut loaded = traces::load(paths, wanted, keep, printer)?;
    // A saved profile contains its original rows; other formats have rows that digests omit.
    if command != "save" {
        loaded = loaded.without_digests()?;
    }
    print_skipped(&loaded.problems, printer);
    let (mut ranks, mut passes, mut empty, mut others) = (Vec::new(), Vec::new(), 0, 0);
    for recording in loaded.recordings {
        match recording {
            // Such as the slices of our analyses in an export.
            Recording::Rank(trace) if trace.gpu.is_empty() && trace.host.is_empty() => empty += 1,
            Recording::Rank(trace) => ranks.push(*trace),
            Recording::Passes(table) => passes.push(table),
            _ => others += 1,
        }
    }
    if others > 0 {
        printer.note(&format!("files that are not traces are skipped: {others}"));
    }
    if empty > 0 {
        printer.note(&format!("empty traces are skipped: {empty}"));
    }
    if ranks.is_empty() && passes.is_empty() {
        let hint = "use `railwright log` for logs, `railwright hang` for flight-recorder dumps";
        return Err(Problem::new("these files contain no trace").in_file(paths.join(" ")).hint(hint));
    }
    let job = Job::new(ranks);
    printer.warnings(&job.warnings);
    Ok((job, passes))
}

/// Joins the ranks of a job and moves them onto one time.
pub fn join_ranks(job: &mut Job, clocks: ClockPolicy, layout: Option<Layout>) -> Joined {
    join(job, &JoinOptions { clocks, layout, ..JoinOptions::default() })
}

/// The steps of a job with joined ranks.
pub fn steps(job: &Job, joined: &Joined) -> Windows {
    let tables = Tables::shipped();
    let views: Vec<View<'_>> =
        job.members.par_iter().map(|member| View::new(&member.trace, &tables)).collect();
    windows(&views, joined)
}
