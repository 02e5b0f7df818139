//! Workers for the pieces of a search: threads if available, else the caller.

use railwright_spec::problem::Problem;

/// Maximum number of threads of a search.
pub const MOST_THREADS: usize = 1024;

/// A number of workers.
#[derive(Debug)]
pub(crate) struct Workers {
    #[cfg(feature = "threads")]
    pool: rayon::ThreadPool,
}

impl Workers {
    /// Creates workers; 0 uses the number of cores. The front end limits values from the environment.
    #[cfg(feature = "threads")]
    pub(crate) fn new(threads: usize) -> Result<Self, Problem> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| {
            Problem::new(format!("threads cannot be started: {error}")).in_file("--threads")
        })?;
        Ok(Self { pool })
    }

    /// One worker, independent of the requested number.
    #[cfg(not(feature = "threads"))]
    pub(crate) fn new(_: usize) -> Result<Self, Problem> {
        Ok(Self {})
    }

    /// Number of workers.
    #[cfg(feature = "threads")]
    pub(crate) fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Number of workers.
    #[cfg(not(feature = "threads"))]
    pub(crate) fn count(&self) -> usize {
        1
    }

    /// Runs the work once on every worker.
    #[cfg(feature = "threads")]
    pub(crate) fn each(&self, work: impl Fn() + Sync) {
        self.pool.broadcast(|_| work());
    }

    /// Runs the work once.
    #[cfg(not(feature = "threads"))]
    pub(crate) fn each(&self, work: impl Fn()) {
        work();
    }

    /// Maps every item, in parallel. Results are in the order of the items.
    #[cfg(feature = "threads")]
    pub(crate) fn map<T: Sync, U: Send>(&self, items: &[T], make: impl Fn(&T) -> U + Sync + Send) -> Vec<U> {
        use rayon::prelude::*;
        self.pool.install(|| items.par_iter().map(make).collect())
    }

    /// Maps every item, in order.
    #[cfg(not(feature = "threads"))]
    pub(crate) fn map<T, U>(&self, items: &[T], make: impl Fn(&T) -> U) -> Vec<U> {
        items.iter().map(make).collect()
    }
}
