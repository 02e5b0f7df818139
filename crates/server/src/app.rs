//! State that all requests share.

use crate::Settings;
use crate::desk::Backend;
use crate::guard::Guard;
use crate::job_table::Jobs;
use crate::pools::WorkerPools;
use crate::uploads::Uploads;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::sync::watch;

/// Shared state of all requests.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) desk: Arc<dyn Backend>,
    pub(crate) guard: Guard,
    pub(crate) uploads: Uploads,
    pub(crate) jobs: Jobs,
    /// Concurrency limits of questions.
    pub(crate) pools: WorkerPools,
    /// Bytes of all questions in memory, waiting or running.
    pub(crate) held: AtomicUsize,
    /// True once the server shuts down.
    pub(crate) end: watch::Receiver<bool>,
}
