//! The readers of tables without libFuzzer: seeds with bytes changed, cut and doubled by a fixed random sequence. Runs on stable Rust.
//!
//! `RAILWRIGHT_FUZZ_SECONDS` says how long (5 without it). The inputs depend on nothing else.

use railwright_fuzz::tables::table_file;
use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_secs(5);

fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as usize
}

#[test]
fn no_reader_of_tables_panics_or_hangs() {
    let seconds = std::env::var("RAILWRIGHT_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(5.0);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds/table_file");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("seeds").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("readable")).collect();
    for seed in &seeds {
        table_file(seed);
    }
    let (mut state, begun, mut inputs) = (0x9e37_79b9_7f4a_7c15_u64, Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs_f64(seconds) {
        let mut bytes = seeds[next(&mut state) % seeds.len()].clone();
        for _ in 0..=next(&mut state) % 4 {
            let at = next(&mut state) % bytes.len().max(1);
            match next(&mut state) % 8 {
                0 => bytes.truncate(at),
                1 => {
                    let part = bytes[at..].to_vec();
                    bytes.extend_from_slice(&part[..part.len().min(64)]);
                }
                2 => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = (next(&mut state) & 0xff) as u8;
                    }
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        inputs += 1;
        let start = Instant::now();
        let ended = std::panic::catch_unwind(|| table_file(&bytes));
        if ended.is_err() || start.elapsed() > LONGEST {
            let file = std::env::temp_dir().join("railwright-fuzz-table_file.bin");
            std::fs::write(&file, &bytes).expect("a place for the input that failed");
            panic!("input {inputs} failed after {:?}: {}", start.elapsed(), file.display());
        }
    }
    println!("table_file: {inputs} inputs");
}
