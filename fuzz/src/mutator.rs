//! The plain mutator: seeds, cut, doubled, spliced and overwritten by a fixed random sequence.
//!
//! Responsible for: inputs where libFuzzer is not to be had; the same ones every time. Refuses to watch
//! coverage.

use std::path::Path;

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

/// A fixed random sequence.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

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

/// A seed, changed in a few places.
pub fn mutate(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut text = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(text.len() + 1);
        let end = at + random.below((text.len() - at).min(64) + 1);
        match random.below(8) {
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
            6 => text[at..end].iter_mut().take(4).for_each(|byte| *byte = 0xff),
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

/// The seeds of a target, in order of their names.
///
/// # Panics
/// Without seeds.
pub fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("seeds").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{name} has no seeds");
    files.iter().map(|file| std::fs::read(file).expect("readable")).collect()
}
