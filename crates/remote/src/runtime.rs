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
/// The longest wait for one request with all its repetitions, or for one piece of an answer, or for the answer to an upload once its bytes are out.
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

/// The slowest upload that is waited for, in bytes per second.
const SLOWEST: u64 = 100_000;

/// The longest wait for an upload: [`LONGEST`] and the time of its bytes at the slowest rate.
pub(crate) fn upload_limit(bytes: u64) -> Duration {
    LONGEST + Duration::from_secs(bytes / SLOWEST)
}

/// Waits for a result; `None` after [`LONGEST`].
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> Result<Option<T>, Problem> {
    wait_for(LONGEST, work)
}

/// The same with another limit.
pub(crate) fn wait_for<T>(limit: Duration, work: impl Future<Output = T>) -> Result<Option<T>, Problem> {
    Ok(runtime()?.block_on(async { tokio::time::timeout(limit, work).await.ok() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_uploads_may_take_longer() {
        assert_eq!(upload_limit(0), LONGEST);
        // 3 GB at 100 kB/s.
        assert_eq!(upload_limit(3_000_000_000), LONGEST + Duration::from_secs(30_000));
    }
}
