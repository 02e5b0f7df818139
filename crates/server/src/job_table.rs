//! Running and recent jobs, by number.

use crate::Watch;
use crate::desk::Reply;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A job with its result, once it has ended.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) watch: Arc<Watch>,
    pub(crate) end: watch::Receiver<Option<Arc<Reply>>>,
}

/// All jobs, by number.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) last: u64,
    pub(crate) jobs: BTreeMap<u64, Job>,
}

impl Jobs {
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, number: &str) -> Option<Job> {
        let number: u64 = number.parse().ok()?;
        self.table().jobs.get(&number).cloned()
    }

    /// Stops all running jobs.
    pub(crate) fn stop_all(&self) {
        for job in self.table().jobs.values() {
            job.watch.stop();
        }
    }
}
