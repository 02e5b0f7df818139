//! Hostile configurations: fixtures of every format cut, doubled and spliced by a fixed random sequence,
//! under every reader. Every accepted and possible run is written by every writer, and the output is read
//! again. `fuzz/` does the same for longer.

use railwright_launch::{detect, readers, writers};
use railwright_spec::problem::Problem;
use railwright_spec::run::ModelSpec;
use std::path::{Path, PathBuf};

/// Inputs that break careless readers.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1e30",
    "18446744073709551615",
    "9223372036854775807",
    "null",
    "true",
    "[]",
    "{}",
    "auto",
    "\"",
    "'",
    ": ",
    "\n",
    "\n  ",
    "${a.b}",
    "${multiply:9,9}",
    "*a",
    "&a ",
    "<<: ",
    "[[",
    "{\"a\":",
    "=",
    "--",
    "#",
    "é",
    "\u{feff}",
    "\t",
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

fn fixtures() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).expect("fixtures") {
        for file in std::fs::read_dir(folder.expect("a folder").path()).expect("files") {
            let path = file.expect("a file").path();
            files.push((path.clone(), std::fs::read_to_string(path).expect("text")));
        }
    }
    files.sort();
    assert!(files.len() >= 12, "{} fixtures", files.len());
    files
}

fn mutate(random: &mut Random, text: &str, other: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        let end = at + random.below((bytes.len() - at).min(48) + 1);
        match random.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let word = WORDS[random.below(WORDS.len())];
                bytes.splice(at..end, word.bytes());
            }
            3 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let from = random.below(other.len());
                bytes.splice(at..at, other.bytes().skip(from).take(64));
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the number of written runs.
fn try_all(text: &str) -> usize {
    let mut written = 0;
    drop(detect(text));
    for reader in readers() {
        let launch = match reader.read(text, "f") {
            Ok(launch) => launch,
            Err(problems) => {
                assert!(!problems.is_empty(), "{}: refused without a reason:\n{text}", reader.format());
                continue;
            }
        };
        let mut spec = launch.spec;
        spec.cluster.preset = Some("dgx-h100".to_owned());
        spec.cluster.devices.get_or_insert(64);
        if spec.model == ModelSpec::default() {
            spec.model.name = Some("llama-3-8b".to_owned());
        }
        let config = launch.model_config;
        let Ok((run, _)) = spec.resolve_valid(|_| config.clone().ok_or_else(|| Problem::new("no file")))
        else {
            continue;
        };
        for writer in writers() {
            let file = writer.write(&run);
            let unread = file.not_expressed.iter().find(|lost| lost.key == "plan");
            assert!(unread.is_none(), "{}: {unread:?}\n{}", writer.name(), file.files[0].text);
        }
        written += 1;
    }
    written
}

#[test]
fn every_fixture_becomes_a_run_that_every_writer_writes() {
    for (path, text) in fixtures() {
        assert!(try_all(&text) > 0, "{} gives no possible run", path.display());
    }
}

#[test]
fn no_reader_panics_on_what_is_left_of_a_configuration() {
    let fixtures = fixtures();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..200 {
        let text = &fixtures[round % fixtures.len()].1;
        let other = &fixtures[random.below(fixtures.len())].1;
        try_all(&mutate(&mut random, text, other));
    }
}
