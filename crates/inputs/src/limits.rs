//! Limits of threads and memory.
//!
//! Responsible for: at most one thread per processor, independently of the environment; a memory limit that
//! readers check while reading, and a guard that ends the program with an error before the system kills it.
//! No limit if the system does not report memory (only Linux does).

use crate::system::{machine, used};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use railwright_spec::{LEAST_MEMORY, human, memory_amount};
use std::io::{self, Read};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The environment variable for the number of rayon threads.
const THREADS: &str = "RAYON_NUM_THREADS";
/// The environment variable for the memory limit.
const MEMORY: &str = "RAILWRIGHT_MEMORY_LIMIT";
/// Above any real number of processors.
const MISTAKEN: u128 = 1024;
/// Default of `--memory-limit`: this share of the memory of the machine, or of its container's limit.
const SHARE: (u64, u64) = (3, 4);
/// Interval of the guard.
const LOOK: Duration = Duration::from_millis(5);
/// Bytes between two memory checks of a stream.
const STRIDE: u64 = 1 << 20;

/// The limit in bytes, once known.
static LIMIT: OnceLock<u64> = OnceLock::new();

/// The processors that this program may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Number of threads set in the environment.
fn asked() -> Option<u128> {
    std::env::var(THREADS).ok()?.trim().parse().ok().filter(|asked| *asked > 0)
}

/// The threads of a pool: the requested number or that of the environment, at most one for each processor.
pub fn threads(wanted: Option<usize>) -> usize {
    let most = processors();
    let asked = || asked().map_or(most, |asked| usize::try_from(asked).unwrap_or(most));
    wanted.unwrap_or_else(asked).clamp(1, most)
}

/// Limits the threads requested by the environment to the processors: more are slower, and thousands make no
/// progress. Returns a note on an invalid number.
pub fn bound_threads() -> Option<String> {
    let most = processors();
    let asked = asked().filter(|asked| *asked > most as u128)?;
    // Fails only if threads were started already, which does not happen before this.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(most).build_global();
    // Eight threads on two processors are a valid choice with the same results; thousands are a mistake.
    (asked > MISTAKEN)
        .then(|| format!("{THREADS} exceeds the {most} processors of this machine; using {most} threads"))
}

/// Sets the limit and starts the guard, which ends the program by `end`. A server outlives its requests, so
/// it has none: its readers check the limit.
pub fn bound_memory(asked: Option<u64>, end: Option<impl FnOnce(Problem) + Send + 'static>) {
    let usual = || machine().map(|bytes| bytes / SHARE.1 * SHARE.0);
    let Some(limit) = asked.or_else(usual) else { return };
    let is_first = LIMIT.set(limit).is_ok();
    let Some(end) = end.filter(|_| is_first && used().is_some()) else { return };
    // Without a guard only readers enforce the limit.
    let _ = std::thread::Builder::new().name("memory".to_owned()).spawn(move || {
        while used().is_none_or(|used| used <= limit) {
            std::thread::sleep(LOOK);
        }
        end(exceeded(limit));
    });
}

/// The limit that the environment sets.
pub fn of_environment() -> Result<Option<u64>, Problem> {
    let Ok(text) = std::env::var(MEMORY) else { return Ok(None) };
    memory_amount(&text).map(Some).map_err(|message| Problem::new(message).in_file(MEMORY))
}

/// The error at the limit.
fn exceeded(limit: u64) -> Problem {
    Problem::new(format!("the memory limit of {} is reached", human::bytes(Bytes::new(limit as f64))))
        .in_file("--memory-limit")
        .hint("raise it with `--memory-limit`, or pass fewer or smaller files")
}

/// The error if the limit is reached.
pub fn check() -> Result<(), Problem> {
    match LIMIT.get() {
        Some(&limit) if used().is_some_and(|used| used > allowed(limit, IDLE.load(Ordering::Relaxed))) => {
            Err(exceeded(limit))
        }
        _ => Ok(()),
    }
}

/// Bytes up to which a request may grow when `idle` bytes stayed with the allocator. The threads of a small
/// request rarely get exactly the memory that others freed, so it has the room of the least limit. The room
/// ends at twice that above the limit: otherwise each large request would raise `idle` by it.
fn allowed(limit: u64, idle: u64) -> u64 {
    let room = LEAST_MEMORY as u64;
    limit.max(idle).max(idle.min(limit.saturating_add(room)).saturating_add(room))
}

/// Memory in use at the last time without an active request. Memory freed by a request stays with the
/// allocator for the next one. A server whose memory stays above the limit rejects only requests that need
/// more.
static IDLE: AtomicU64 = AtomicU64::new(0);
/// Number of active requests.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// An active request to a server.
pub struct Open(());

impl Open {
    /// Registers a request.
    #[expect(clippy::new_without_default, reason = "a registration is not a value")]
    pub fn new() -> Self {
        OPEN.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if OPEN.fetch_sub(1, Ordering::Relaxed) == 1 {
            IDLE.store(used().unwrap_or(0), Ordering::Relaxed);
        }
    }
}

/// Without a known limit, as on a machine of 8 GiB.
const UNKNOWN: u64 = 6 << 30;

/// The limit in bytes, for data cached between requests.
pub fn memory() -> u64 {
    LIMIT.get().copied().unwrap_or(UNKNOWN)
}

/// A stream that ends with an error at the limit.
pub struct Bounded<R> {
    stream: R,
    since: u64,
    end: Option<Problem>,
}

impl<R> Bounded<R> {
    /// Bounds a stream.
    pub fn new(stream: R) -> Self {
        Self { stream, since: 0, end: None }
    }

    /// The problem that ended the stream: without it readers would treat the data before an error as a
    /// truncated file.
    pub fn end(self) -> Result<(), Problem> {
        self.end.map_or(Ok(()), Err)
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.since += count as u64;
        if self.since >= STRIDE {
            self.since = 0;
            if let Err(problem) = check() {
                let error = io::Error::new(io::ErrorKind::OutOfMemory, problem.message.clone());
                self.end = Some(problem);
                return Err(error);
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a request that reached the limit the next one has room, and repeated ones have a bound.
    #[test]
    fn a_small_request_has_room_and_large_ones_a_bound() {
        let (mib, limit) = (1 << 20, 100 << 20);
        assert_eq!(allowed(limit, 0), limit);
        assert_eq!(allowed(limit, 60 * mib), limit);
        assert_eq!(allowed(limit, 104 * mib), 136 * mib);
        let mut idle = 0;
        for _ in 0..100 {
            idle = allowed(limit, idle);
        }
        assert_eq!(idle, 164 * mib);
        assert_eq!(allowed(limit, 300 * mib), 300 * mib);
    }

    #[test]
    fn threads_are_at_most_the_processors() {
        let most = processors();
        assert_eq!((threads(Some(0)), threads(Some(1)), threads(Some(usize::MAX))), (1, 1, most));
        assert!((1..=most).contains(&threads(None)));
    }
}
