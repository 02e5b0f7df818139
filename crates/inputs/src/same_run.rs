//! Checks that logs, traces and run belong together.
//!
//! Responsible for: run settings in the arguments and reports of a log, and rejection of logs of other runs.
//! Settings missing in a log are accepted.

use crate::claims;
use railwright_calculator::calibration::{Claim, differences};
use railwright_profiler::log::{Judged, TrainingLog};
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::Run;

/// Run settings of a log.
#[derive(Clone, Debug)]
pub struct Said {
    file: String,
    claims: Vec<Claim>,
}

impl Said {
    /// Claims of a log: its printed arguments, if any, and the batch of its last reports.
    pub fn of(log: &TrainingLog, judged: &Judged, file: &str) -> Self {
        // Reports contain a growing batch more precisely than the arguments.
        let claims = claims::of(log, judged.segments.last().and_then(|segment| segment.batch), file);
        Self { file: file.to_owned(), claims }
    }

    fn devices(&self) -> Option<f64> {
        self.claims.iter().find(|claim| claim.key == "cluster.devices").map(|claim| claim.value)
    }
}

/// Returns an error for logs of a run other than the named one, or with a number of devices other than that
/// of the traces.
pub fn check(logs: &[Said], run: Option<&Run>, traced: Option<u32>) -> Result<(), Problem> {
    for log in logs {
        let mut differs = run.map_or_else(Vec::new, |run| differences(&log.claims, &run.model, &run.plan));
        if let (None, Some(devices), Some(traced)) = (run, log.devices(), traced)
            && (devices - f64::from(traced)).abs() > 0.5
        {
            differs.push(format!("it used {devices} devices, but the traced job has {traced}"));
        }
        if !differs.is_empty() {
            return Err(Problem::new(format!("this log belongs to another run: {}", differs.join(", ")))
                .in_file(&log.file)
                .hint("pass the run of this log with --run, change it with --set, or omit the log"));
        }
    }
    Ok(())
}

/// A warning if the traced job and the run differ in size; possibly only part of the ranks was traced.
pub fn doubt(run: Option<&Run>, traced: Option<u32>) -> Option<Warning> {
    let (run, traced) = (run?, traced?);
    let own = run.plan.world_size();
    (traced > 1 && u64::from(traced) != own).then(|| {
        Warning::new(
            "calibration-other-run",
            format!("the traced job has {traced} ranks, but the run has {own}: they may be different runs"),
        )
    })
}
