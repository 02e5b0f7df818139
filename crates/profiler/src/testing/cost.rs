//! Cost of work, measured on shared machines.
//!
//! Responsible for: the processor time of one thread. Excludes wall time, which grows with the load.

/// Seconds that this thread ran on a processor since its start (Linux, `/proc/thread-self/schedstat`).
///
/// # Panics
///
/// Without that file: only tests and benches of Linux ask for it.
pub fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    nanoseconds.expect("a number") / 1e9
}
