//! The threads that transfer, and waiting for them.
//!
//! Responsible for: one runtime for the process, and a limit of every wait.

use railwright_spec::problem::Problem;
use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Threads that transfer, at most: decryption is their only work.
const THREADS: usize = 4;
/// The longest wait for one request with all its repetitions, or for one piece of an answer.
pub(crate) const LONGEST: Duration = Duration::from_secs(120);

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// The runtime, started by the first address.
pub(crate) fn runtime() -> Result<&'static Runtime, Problem> {
    let start = || {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(THREADS);
        Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("remote")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())
    };
    RUNTIME
        .get_or_init(start)
        .as_ref()
        .map_err(|error| Problem::new(format!("cannot start network threads: {error}")))
}

/// Waits for a result; `None` after [`LONGEST`].
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> Result<Option<T>, Problem> {
    Ok(runtime()?.block_on(async { tokio::time::timeout(LONGEST, work).await.ok() }))
}
