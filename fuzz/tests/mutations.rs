//! The targets without libFuzzer: seeds, cut, doubled, spliced and overwritten by a fixed random sequence. Runs on stable Rust.
//!
//! `RAILWRIGHT_FUZZ_SECONDS` says how long, for all targets together (10 without it). The inputs depend on nothing else, so a failure
//! comes back; the input that failed is written below the system's folder for temporary files.

use railwright_fuzz::TARGETS;
use std::path::Path;
use std::time::{Duration, Instant};

/// What makes readers stumble: numbers out of range, types out of place, brackets that never close.
const DICTIONARY: &[&str] = &[
    "0",
    "-1",
    "1e30",
    "1e-30",
    "NaN",
    "inf",
    "18446744073709551615",
    "9223372036854775808",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "[[[[[[[[",
    "{\"a\":",
    "\u{feff}",
    "é",
    "=",
    "\n",
    "#",
    ".",
    ",,",
    "4 Qi",
    "1e400",
    "layers = 1000000",
    "${a.b}",
    "*a",
    "&a ",
    "- ",
    ": ",
    "\"x\" = 1",
];

/// No reader may take longer for one small input.
const LONGEST: Duration = Duration::from_secs(5);

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }
}

fn mutate(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut text = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(text.len() + 1);
        let end = at + random.below((text.len() - at).min(64) + 1);
        match random.below(7) {
            0 => text.truncate(at),
            1 => drop(text.drain(at..end)),
            2 => {
                let part = text[at..end].to_vec();
                text.splice(at..at, part);
            }
            3 => {
                let word = DICTIONARY[random.below(DICTIONARY.len())];
                text.splice(at..at, word.bytes());
            }
            4 => {
                // A number becomes another one: where readers decide how much to allocate.
                let digits: Vec<usize> = (0..text.len()).filter(|&i| text[i].is_ascii_digit()).collect();
                if let Some(&start) = digits.get(random.below(digits.len())) {
                    let stop = (start..text.len()).find(|&i| !text[i].is_ascii_digit()).unwrap_or(text.len());
                    let word = DICTIONARY[random.below(8)];
                    text.splice(start..stop, word.bytes());
                }
            }
            5 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                text.truncate(at);
                text.extend_from_slice(&other[from..]);
            }
            _ => {
                if let Some(byte) = text.get_mut(at) {
                    *byte = (random.next() & 0xff) as u8;
                }
            }
        }
        text.truncate(1 << 16);
    }
    text
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("seeds").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{name} has no seeds");
    files.iter().map(|file| std::fs::read(file).expect("readable")).collect()
}

#[test]
fn no_reader_panics_or_hangs() {
    let seconds = std::env::var("RAILWRIGHT_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(10.0);
    let each = Duration::from_secs_f64(seconds / TARGETS.len() as f64);
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
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
