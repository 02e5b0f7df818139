//! Saved profiles: a job and its passes as one file.
//!
//! Responsible for: packing and unpacking them, ranks side by side. The format is that of
//! `railwright-tables`.

use crate::Caller;
use railwright_profiler::Job;
use railwright_profiler::passes::Passes;
use railwright_profiler::readers::Recording;
use railwright_spec::problem::Problem;
use railwright_tables::store;
use rayon::prelude::*;

/// A job and passes as the bytes of a saved profile.
fn pack(job: &Job, passes: &[Passes]) -> Result<Vec<u8>, Problem> {
    let ranks: Vec<_> = job.members.par_iter().map(store::rank_parts).collect::<Result<_, _>>()?;
    let tables: Vec<_> = passes
        .par_iter()
        .enumerate()
        .map(|(at, table)| store::passes_parts(at, table))
        .collect::<Result<_, _>>()?;
    store::assemble(job, passes.len(), ranks.into_iter().chain(tables).flatten().collect())
}

/// Saves a profile.
pub fn save(path: &str, job: &Job, passes: &[Passes], printer: &dyn Caller) -> Result<(), Problem> {
    let bytes = pack(job, passes)?;
    crate::write_with(path, |out| out.write_all(&bytes))?;
    printer.note(&format!("wrote `{path}`"));
    Ok(())
}

/// Contents of a saved profile; ranks are read in parallel.
pub(crate) fn unpack(label: &str, bytes: Vec<u8>) -> Result<Vec<Recording>, Problem> {
    let opened = store::Store::open(label, bytes)?;
    let members: Vec<_> =
        (0..opened.ranks()).into_par_iter().map(|at| opened.rank(at)).collect::<Result<_, _>>()?;
    let passes = opened.passes()?;
    let ranks = members.into_iter().map(|member| {
        let mut trace = member.trace;
        trace.identity.rank = Some(member.rank);
        Recording::Rank(Box::new(trace))
    });
    Ok(ranks.chain(passes.into_iter().map(Recording::Passes)).collect())
}
