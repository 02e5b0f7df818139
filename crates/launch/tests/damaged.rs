//! Damaged launch files: cut, doubled, spliced and overwritten by a fixed random sequence. For any input,
//! every reader ends quickly and without a panic.

use railwright_launch::{read, readers};
use std::time::{Duration, Instant};

const SEEDS: &[&str] = &[
    include_str!("../../../examples/launch/llama3_70b.sh"),
    include_str!("../../../examples/launch/gpt3_175b_2022.sh"),
    include_str!("../../../examples/launch/deepseek_v3_command.txt"),
    include_str!("../../../examples/launch/mixtral_8x7b.log"),
    include_str!("../../../fuzz/seeds/launch_file/shell.sh"),
];

const DICTIONARY: &[&str] = &[
    "$(",
    "${",
    "$((",
    "))",
    "\"",
    "'",
    "`",
    "A=(",
    ")",
    "if [ ",
    "then",
    "fi",
    "done",
    "for A in 1 2; do ",
    "case $A in",
    ";;",
    "esac",
    "<<EOF\n",
    "A+=\"$A$A$A\"\n",
    "eval ",
    "\\\n",
    "18446744073709551615",
    "-1",
    "1e400",
    "--num-layers ",
    "9000000000000000000",
    "([0]*999999+[1]*58)",
    "Et*99999|(tt|)*99999",
    "é",
    "\u{0}",
    "------------------------ arguments ------------------------\n",
    "iteration 1/ elapsed time per iteration (ms): 1e999",
    " ...... ",
    "--hybrid-override-pattern M*-E ",
    "[[ ",
    " ]]",
    "&&",
    "||",
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        if n == 0 { 0 } else { (self.0 % n as u64) as usize }
    }

    fn boundary(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    }
}

fn mutate(random: &mut Random) -> String {
    let mut text = SEEDS[random.below(SEEDS.len())].to_owned();
    for _ in 0..=random.below(5) {
        let (a, b) = (random.boundary(&text), random.boundary(&text));
        let (start, end) = (a.min(b), a.max(b));
        match random.below(5) {
            0 => text.truncate(start),
            1 => text.replace_range(start..end, ""),
            2 => {
                let part = text[start..end].to_owned();
                text.insert_str(start, &part);
            }
            3 => {
                let word = DICTIONARY[random.below(DICTIONARY.len())];
                text.insert_str(start, &word.repeat(1 + random.below(3)));
            }
            _ => {
                let other = SEEDS[random.below(SEEDS.len())];
                let from = random.boundary(other);
                text.insert_str(start, &other[from..]);
            }
        }
        let most = (0..=text.len().min(40_000)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(most);
    }
    text
}

#[test]
fn damaged_files_are_read_or_refused() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..120 {
        let text = mutate(&mut random);
        let begin = Instant::now();
        drop(read(&text, "damaged"));
        for reader in readers() {
            drop(reader.read(&text, "damaged"));
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "too slow:\n{text}");
    }
}
