//! Execution of work on many ranks.
//!
//! Responsible for: the trait by which a program provides its threads. Answers do not depend on it. Starts no
//! threads.

/// Execution of work on many ranks: sequential or concurrent.
pub trait Workers: Sync {
    /// Applies `work` to every item; results are in the order of the items.
    fn map<'a, T: Sync, R: Send>(&self, items: &'a [T], work: impl Fn(usize, &'a T) -> R + Sync) -> Vec<R>;
}

/// Sequential execution.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneByOne;

impl Workers for OneByOne {
    fn map<'a, T: Sync, R: Send>(&self, items: &'a [T], work: impl Fn(usize, &'a T) -> R + Sync) -> Vec<R> {
        items.iter().enumerate().map(|(at, item)| work(at, item)).collect()
    }
}
