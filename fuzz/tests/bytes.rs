//! The readers of binary files, without libFuzzer. Runs on stable Rust.
//!
//! `RAILWRIGHT_FUZZ_SECONDS` is the time for all targets together (default: 10). The inputs depend on nothing
//! else, so failures are reproducible; the failing input is written to the system's folder for temporary
//! files.

use railwright_fuzz::mutator::{Random, mutate, seeds};
use railwright_fuzz::records::TARGETS;
use std::time::{Duration, Instant};

/// No reader may take longer for one small input.
const LONGEST: Duration = Duration::from_secs(5);

#[test]
fn no_reader_of_bytes_panics_or_hangs() {
    let seconds = std::env::var("RAILWRIGHT_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(10.0);
    let each = Duration::from_secs_f64(seconds / TARGETS.len() as f64);
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        let mut random = Random::default();
        let (begun, mut inputs) = (Instant::now(), 0);
        let mut next = seeds.clone().into_iter();
        while inputs < seeds.len() || begun.elapsed() < each {
            let bytes = next.next().unwrap_or_else(|| mutate(&mut random, &seeds));
            inputs += 1;
            let start = Instant::now();
            let ended = std::panic::catch_unwind(|| target(&bytes));
            if ended.is_err() || start.elapsed() > LONGEST {
                let file = std::env::temp_dir().join(format!("railwright-fuzz-{name}.bin"));
                std::fs::write(&file, &bytes).expect("a place for the input that failed");
                panic!("{name}: input {inputs} failed after {:?}: {}", start.elapsed(), file.display());
            }
        }
        println!("{name}: {inputs} inputs");
    }
}
