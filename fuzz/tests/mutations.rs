//! The targets without libFuzzer: seeds, cut, doubled, spliced and overwritten by a fixed random sequence.
//! Runs on stable Rust.
//!
//! `RAILWRIGHT_FUZZ_SECONDS` is the time for all targets together (default: 10). The inputs depend on nothing
//! else, so failures are reproducible; the failing input is written to the system's folder for temporary
//! files.

use railwright_fuzz::TARGETS;
use railwright_fuzz::mutator::{Random, mutate, seeds};
use std::time::{Duration, Instant};

/// No reader may take longer for one small input.
const LONGEST: Duration = Duration::from_secs(5);

#[test]
fn no_reader_panics_or_hangs() {
    let seconds = std::env::var("RAILWRIGHT_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(10.0);
    let each = Duration::from_secs_f64(seconds / TARGETS.len() as f64);
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        let mut random = Random::default();
        let begun = Instant::now();
        let mut inputs = 0;
        let mut next = seeds.clone().into_iter();
        while inputs < seeds.len() || begun.elapsed() < each {
            let bytes = next.next().unwrap_or_else(|| mutate(&mut random, &seeds));
            let text = String::from_utf8_lossy(&bytes).into_owned();
            inputs += 1;
            let keep = || {
                let file = std::env::temp_dir().join(format!("railwright-fuzz-{name}.txt"));
                std::fs::write(&file, &text).expect("a place for the input that failed");
                file.display().to_string()
            };
            let start = Instant::now();
            let ended = std::panic::catch_unwind(|| target(&text));
            assert!(ended.is_ok(), "{name} panicked on input {inputs}: {}", keep());
            assert!(
                start.elapsed() < LONGEST,
                "{name} took {:?} for input {inputs}: {}",
                start.elapsed(),
                keep()
            );
        }
        println!("{name}: {inputs} inputs");
    }
}
