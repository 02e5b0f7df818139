//! Information in names of files and folders: rank, time, similar names.
//!
//! Responsible for: common words before numbers. A number is a rank only after such a word, or for recorders
//! that number their files.

/// End of the names of digests.
pub const DIGEST_SUFFIX: &str = ".digest.parquet";

/// Words whose number is a rank.
const WORDS: [&str; 6] = ["rank", "worker", "process", "proc", "gpu", "device"];

/// Runs of digits with the text before them.
fn numbers(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + name.get(at..)?.find(|c: char| c.is_ascii_digit())?;
        let rest = name.get(from..)?;
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        at = from + length;
        Some((name.get(..from)?, rest.get(..length)?))
    })
}

/// The number of a run of digits, if it can be that of a rank.
fn rank(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|&rank| rank < 1 << 20)
}

/// The rank in a file name. `numbered`: its recorder ends names with the rank.
pub(crate) fn rank_in_name(name: &str, numbered: bool) -> Option<u32> {
    let lower = name.to_ascii_lowercase();
    let stated = numbers(&lower)
        .find(|(before, _)| {
            let before = before.trim_end_matches(['_', '-', '.', '=', '[', '(', ' ']);
            WORDS.iter().any(|word| before.ends_with(word))
        })
        .and_then(|(_, digits)| rank(digits));
    let last = || numbers(&lower).filter(|(_, digits)| rank(digits).is_some()).last();
    stated.or_else(|| last().filter(|_| numbered).and_then(|(_, digits)| rank(digits)))
}

/// The rank in the name of the innermost folder.
pub(crate) fn rank_in_folder(folder: &str) -> Option<u32> {
    let name = folder.rsplit(['/', '\\']).next().unwrap_or(folder);
    rank_in_name(name, false)
}

/// The file whose name has precedence over its header, as its index and the rank in its name. Two headers
/// have the same rank, and one of the two files is named after a rank that is otherwise missing. The names of
/// all other files agree with their headers. `None` if more than one file qualifies. `files` are (rank in the
/// header, rank in the name).
pub(super) fn miscalled(files: &[(Option<u32>, Option<u32>)]) -> Option<(usize, u32)> {
    let (at, (stated, called)) = files.iter().enumerate().find_map(|(at, &(stated, called))| {
        Some((at, stated.zip(called).filter(|(stated, called)| stated != called)?))
    })?;
    let others = || files.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, file)| *file);
    let is_free = others().all(|(other, named)| other != Some(called) && named != Some(called));
    let is_taken = others().any(|(other, _)| other == Some(stated));
    let all_agree = others().all(|(other, named)| other.is_none() || other == named);
    (is_free && is_taken && all_agree).then_some((at, called))
}

/// Host and process from a default name of PyTorch's profiler (`HOST_PROCESS.TIME.pt.trace.json`) or of its
/// digest. Numbers in it belong to the host. `None` if the word before the number marks a step.
pub(super) fn host_and_process(name: &str) -> Option<(&str, &str)> {
    let stem = name.split_once(".pt.trace.json").or_else(|| name.split_once(DIGEST_SUFFIX))?.0;
    let (worker, time) = stem.rsplit_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (host, process) = worker.rsplit_once('_')?;
    let counted = host.rsplit(['_', '-', '.']).next().unwrap_or(host).to_ascii_lowercase();
    let counts = ["step", "iter", "iteration", "epoch", "rank", "batch", "cycle"].contains(&counted.as_str());
    (digits(time) && time.len() >= 10 && digits(process) && !host.is_empty() && !counts)
        .then_some((host, process))
}

/// Time in a name, in microseconds since 1970. Seconds, milli-, micro- or nanoseconds are distinguished by
/// the number of digits.
pub(crate) fn time_in_name(name: &str) -> Option<u64> {
    numbers(name).find_map(|(_, digits)| {
        let number: u64 = digits.parse().ok()?;
        match digits.len() {
            10 => number.checked_mul(1_000_000),
            13 => number.checked_mul(1_000),
            16 => Some(number),
            19 => Some(number / 1_000),
            _ => None,
        }
        // From 2001 on, and not in the far future.
        .filter(|time| (1_000_000_000_000_000..4_000_000_000_000_000).contains(time))
    })
}

/// A name with its numbers and hexadecimal identifiers taken out: equal for files with similar names.
pub fn skeleton(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for token in name.to_lowercase().split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = token.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_number = word.len() >= 6
            && word.bytes().all(|b| b.is_ascii_hexdigit())
            && word.bytes().any(|b| b.is_ascii_digit());
        if is_number {
            text.push('#');
        } else {
            let mut within = false;
            for letter in word.chars() {
                if !letter.is_ascii_digit() {
                    text.push(letter);
                } else if !within {
                    text.push('#');
                }
                within = letter.is_ascii_digit();
            }
        }
        text.push_str(&token[word.len()..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_stand_behind_their_words() {
        for (name, stated) in [
            ("rank0_step5.pt.trace.json.gz", Some(0)),
            ("sampled_rank-1.json.gz", Some(1)),
            ("worker7_step_12.1694128201553.pt.trace.json.gz", Some(7)),
            ("trace_rank[12].json", Some(12)),
            ("RANK_3", Some(3)),
            ("h100_gaunernst_bert-small-uncased__1016001.json.gz", None),
            ("ip-172-31-16-248_29223.1698955894942173530.pt.trace.json.gz", None),
            ("step_5.json", None),
        ] {
            assert_eq!(rank_in_name(name, false), stated, "{name}");
        }
        assert_eq!(rank_in_name("nccl_trace_13", true), Some(13));
        assert_eq!(rank_in_folder("a/rank3/proc1"), Some(1));
        assert_eq!(rank_in_folder("a/rank3/step_1"), None);
    }

    #[test]
    fn one_file_whose_name_contradicts_its_content() {
        let files =
            |pairs: &[(u32, u32)]| -> Vec<_> { pairs.iter().map(|&(s, c)| (Some(s), Some(c))).collect() };
        assert_eq!(miscalled(&files(&[(0, 0), (2, 1), (2, 2)])), Some((1, 1)));
        // No other header has 2; 1 is not free; another one disagrees, too; the names are not ranks.
        assert_eq!(miscalled(&files(&[(0, 0), (2, 1), (3, 3)])), None);
        assert_eq!(miscalled(&files(&[(0, 0), (2, 1), (2, 2), (1, 1)])), None);
        assert_eq!(miscalled(&files(&[(0, 0), (2, 1), (2, 2), (3, 7)])), None);
        assert_eq!(miscalled(&[(Some(0), None), (Some(0), None)]), None);
        // A file without a recorded rank but with 1 in its name has a claim to it.
        assert_eq!(miscalled(&[(Some(2), Some(1)), (Some(2), Some(2)), (None, Some(1))]), None);
    }

    #[test]
    fn hosts_and_processes_are_distinguished_from_steps() {
        let of = host_and_process;
        assert_eq!(of("gpu1_12345.1700000000.pt.trace.json"), Some(("gpu1", "12345")));
        assert_eq!(
            of("ip-172-31-16-248_29223.1698955894942173530.pt.trace.json.gz"),
            Some(("ip-172-31-16-248", "29223"))
        );
        for other in [
            "worker0_step_12.1694128201545.pt.trace.json.gz",
            "rank0_step5.pt.trace.json.gz",
            "a_1.12.pt.trace.json",
            "worker0.1694128201545.pt.trace.json",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn times_are_recognised_by_their_digits() {
        assert_eq!(time_in_name("worker0.1694128201545.pt"), Some(1_694_128_201_545_000));
        assert_eq!(time_in_name("x_29223.1698955894942173530.pt"), Some(1_698_955_894_942_173));
        assert_eq!(time_in_name("job_1234567"), None);
    }

    #[test]
    fn names_that_differ_in_numbers_are_alike() {
        assert_eq!(skeleton("rank10.json"), skeleton("Rank2.json"));
        assert_eq!(skeleton("a.9c44bd29b3f0_1375.pt"), skeleton("a.77aa01_1376.pt"));
        assert_ne!(skeleton("hook-rank0.json"), skeleton("current-rank0.json"));
        assert_ne!(skeleton("pp8"), skeleton("pp8_vpp2"));
    }
}
