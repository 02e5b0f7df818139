//! The best plan of one setting: what `search` asks once and `size` for every number of devices.
//!
//! Responsible for: threads, progress and Ctrl-C around the tuner's search. Refuses to choose: the tuner does.

use super::open_run::Setting;
use crate::args::Effort;
use crate::exit::Failure;
use crate::printer::Printer;
use railwright_calculator::defaults;
use railwright_calculator::estimate::{Estimate, EstimateOptions, estimate};
use railwright_spec::plan::PlanSpec;
use railwright_spec::problem::Problem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a search ended with.
pub(crate) enum Found {
    /// The estimate of the best plan.
    Best(Box<Estimate>),
    /// Nothing, and why.
    Nothing(String),
    /// The user stopped it before anything was found.
    Stopped,
}

/// Searches, one after another, until the user stops it.
pub(crate) struct Searcher {
    stop: Arc<AtomicBool>,
}

impl Searcher {
    /// Checks the effort and listens to Ctrl-C.
    pub(crate) fn new(effort: &Effort, _: &Printer) -> Result<Self, Problem> {
        if effort.threads.is_some_and(|n| n == 0 || n > MOST_THREADS) {
            return Err(Problem::new(format!("expected 1 to {MOST_THREADS} threads")).in_file("--threads"));
        }
        if effort.fit_probability.is_some_and(|p| !(0.0..=1.0).contains(&p)) {
            return Err(Problem::new("expected a probability from 0 to 1").in_file("--fit-probability"));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        // Without a handler Ctrl-C ends the program at once, which is no worse.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                // Who asks twice does not want to wait for the answer.
                std::process::exit(i32::from(crate::exit::INTERRUPTED));
            }
        });
        Ok(Self { stop })
    }

    /// Whether the user stopped it.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// The best plan of a setting with so many sequences a step.
    pub(crate) fn best(&self, setting: &Setting, sequences: u64) -> Result<Found, Failure> {
        if self.is_stopped() {
            return Ok(Found::Stopped);
        }
        let run = &setting.run;
        let said =
            PlanSpec { global_batch: Some(sequences), batch_tokens: None, ..setting.spec.plan.clone() };
        let Some(start) = defaults::start(&said, &run.model, &run.cluster)? else {
            return Ok(Found::Nothing("nothing fits".to_owned()));
        };
        let options = EstimateOptions { training: run.training, cost: run.cost };
        Ok(Found::Best(Box::new(estimate(&run.model, &run.cluster, &start.plan, &options)?)))
    }
}

const MOST_THREADS: usize = 4096;
