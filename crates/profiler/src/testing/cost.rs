//! Cost of work, measured on shared machines.
//!
//! Responsible for: the processor time of one thread. Excludes wall time, which grows with the load.

/// Processor time of this thread since its start, in seconds (Linux, `/proc/thread-self/schedstat`).
///
/// # Panics
///
/// Without that file: only tests and benches on Linux use it.
pub fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    nanoseconds.expect("a number") / 1e9
}
