//! Workers that a search's pieces run on: threads where there are some, else the caller.

use railwright_spec::problem::Problem;

/// The most threads that a search runs on.
pub const MOST_THREADS: usize = 1024;

/// A number of workers.
#[derive(Debug)]
pub(crate) struct Workers {
    #[cfg(feature = "threads")]
    pool: rayon::ThreadPool,
}

impl Workers {
    /// A number of workers; 0 is the number of cores. The front end limits values from the environment.
    #[cfg(feature = "threads")]
    pub(crate) fn new(threads: usize) -> Result<Self, Problem> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| {
            Problem::new(format!("threads cannot be started: {error}")).in_file("--threads")
        })?;
        Ok(Self { pool })
    }

    /// One worker, however many are wanted.
    #[cfg(not(feature = "threads"))]
    pub(crate) fn new(_: usize) -> Result<Self, Problem> {
        Ok(Self {})
    }

    /// Their number.
    #[cfg(feature = "threads")]
    pub(crate) fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Their number.
    #[cfg(not(feature = "threads"))]
    pub(crate) fn count(&self) -> usize {
        1
    }

    /// Does something once on every worker.
    #[cfg(feature = "threads")]
    pub(crate) fn each(&self, work: impl Fn() + Sync) {
        self.pool.broadcast(|_| work());
    }

    /// Does something once.
    #[cfg(not(feature = "threads"))]
    pub(crate) fn each(&self, work: impl Fn()) {
        work();
    }

    /// What something makes of every item, in their order.
    #[cfg(feature = "threads")]
    pub(crate) fn map<T: Sync, U: Send>(&self, items: &[T], make: impl Fn(&T) -> U + Sync + Send) -> Vec<U> {
        use rayon::prelude::*;
        self.pool.install(|| items.par_iter().map(make).collect())
    }

    /// What something makes of every item, in their order.
    #[cfg(not(feature = "threads"))]
    pub(crate) fn map<T, U>(&self, items: &[T], make: impl Fn(&T) -> U) -> Vec<U> {
        items.iter().map(make).collect()
    }
}
