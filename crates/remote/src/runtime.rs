//! Threads for transfers, and waits with time limits.
//!
//! Responsible for: one runtime per process, and a time limit for every wait.

use railwright_spec::problem::Problem;
use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Maximum threads for transfers, whose only work is decryption.
const THREADS: usize = 4;
/// Time limit of one request with all its retries, or of one piece of a response. For an upload: of the
/// response after the last byte.
pub(crate) const LONGEST: Duration = Duration::from_secs(120);

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// Runtime, started on first use.
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

/// Minimum assumed rate of uploads, in bytes per second.
const SLOWEST: u64 = 100_000;

/// Time limit of an upload: [`LONGEST`] plus the time of its bytes at the minimum rate.
pub(crate) fn upload_limit(bytes: u64) -> Duration {
    LONGEST + Duration::from_secs(bytes / SLOWEST)
}

/// Waits for a result; `None` after [`LONGEST`].
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> Result<Option<T>, Problem> {
    wait_for(LONGEST, work)
}

/// Waits for a result; `None` after `limit`.
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
