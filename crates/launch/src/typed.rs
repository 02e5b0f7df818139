//! Framework flags on the command line.
//!
//! Responsible for: arguments that belong to a framework flag, and their run settings. Without defaults:
//! other settings stay open, unlike in a launch file.

use crate::megatron::world::World;
use crate::megatron::{arguments, flags, meaning};
use crate::shell::Word;
use crate::{Draft, Format, Reader, Remark, RemarkKind, torchtitan};
use railwright_spec::problem::Problem;
use railwright_spec::run::Value;

/// Settings of framework flags.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Typed {
    /// Keys of a run file with their values, in the order of the keys.
    pub settings: Vec<(String, Value)>,
    /// Remarks on the flags.
    pub remarks: Vec<Remark>,
}

/// Number of words after a flag that belong to it; `None` for a flag that no framework has.
/// `--tp-comm-overlap`: none, `--num-layers 32`: one, `--parallelism.tensor_parallel_degree 4`: one.
pub fn words_of(flag: &str, behind: &[&str]) -> Option<usize> {
    let has_value = flag.contains('=');
    let name = flag.split('=').next().unwrap_or(flag);
    if name.len() < 4 || !name.starts_with("--") {
        return None;
    }
    let until_flag = || behind.iter().take_while(|word| !word.starts_with("--")).count();
    if is_torchtitan(name) {
        return Some(if has_value { 0 } else { until_flag().min(1) });
    }
    let Some(flag) = flags::by_spelling(name) else {
        return Some(match flags::without_meaning(name)? {
            _ if has_value => 0,
            "0" => 0,
            "1" | "?" => until_flag().min(1),
            _ => until_flag(),
        });
    };
    Some(match flag.takes {
        _ if has_value => 0,
        flags::Takes::On | flags::Takes::Off => 0,
        flags::Takes::One => until_flag().min(1),
        flags::Takes::Many => until_flag(),
    })
}

/// `--section.key` of a key that torchtitan's reader supports.
fn is_torchtitan(name: &str) -> bool {
    titan_path(name).is_some()
}

/// The key of a torchtitan flag, and whether the flag is the negative one. torchtitan's parser allows hyphens
/// for underscores, and `--section.no-key` for a key that is true by default.
fn titan_path(name: &str) -> Option<(String, bool)> {
    let path = name.strip_prefix("--")?.replace('-', "_");
    let (section, key) = path.rsplit_once('.')?;
    if torchtitan::knows(&path) {
        return Some((path, false));
    }
    let positive = key.strip_prefix("no_").map(|key| format!("{section}.{key}"));
    match positive.filter(|path| torchtitan::accepts(path)) {
        Some(path) => Some((path, true)),
        None => torchtitan::accepts(&path).then_some((path, false)),
    }
}

/// A word of a torchtitan flag as its reader takes it.
fn titan_word(word: &str) -> String {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    match (titan_path(name), value) {
        (Some((path, true)), None) => format!("--{path}=false"),
        (Some((path, _)), Some(value)) => format!("--{path}={value}"),
        (Some((path, _)), None) => format!("--{path}"),
        (None, _) => word.to_owned(),
    }
}

/// Settings of Megatron-LM and torchtitan flags, each with its values as separate words.
pub fn typed(words: &[String]) -> Result<Typed, Vec<Problem>> {
    let mut megatron: Vec<Word> = Vec::new();
    let mut titan: Vec<String> = Vec::new();
    let mut is_titan = false;
    let mut out = Typed::default();
    let mut is_without_meaning = false;
    for word in words {
        if word.starts_with("--") {
            let name = word.split('=').next().unwrap_or(word);
            is_titan = is_torchtitan(name);
            is_without_meaning = !is_titan && flags::without_meaning(name).is_some();
            if is_without_meaning {
                out.remarks.push(Remark {
                    kind: RemarkKind::NotModelled,
                    source: name.to_owned(),
                    line: Some(1),
                    message: "this option of Megatron-LM has no setting here; omit it".to_owned(),
                    file: None,
                });
            }
        }
        if is_without_meaning {
            continue;
        }
        if is_titan {
            titan.push(titan_word(word));
        } else {
            megatron.push(Word { text: word.clone(), line: 1, unknown: Vec::new() });
        }
    }
    if !megatron.is_empty() {
        let mut draft = Draft::new(Format::MegatronCommand, "command line");
        let arguments = arguments::of_words(&megatron, arguments::Surroundings::default(), &mut draft);
        meaning::fill(&arguments, &World::default(), &mut draft);
        out.take(draft.finish()?);
    }
    if !titan.is_empty() {
        out.take(torchtitan::TorchtitanReader.read(&titan.join(" "), "command line")?);
    }
    Ok(out)
}

impl Typed {
    /// Keeps the settings that come from the command line, out of all that a reader concludes.
    fn take(&mut self, launch: crate::Launch) {
        for origin in launch.origins.iter().filter(|origin| origin.line.is_some()) {
            if let Some(value) = launch.spec.get(&origin.key) {
                self.settings.push((origin.key.clone(), value));
            }
        }
        let is_reported = |remark: &Remark| remark.line.is_some() && remark.kind != RemarkKind::Assumed;
        self.remarks.extend(launch.remarks.into_iter().filter(is_reported));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Vec<String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let typed = typed(&words).expect("flags");
        typed.settings.iter().map(|(key, value)| format!("{key}={}", value.to_toml())).collect()
    }

    #[test]
    fn flags_mean_what_they_mean_in_a_script_and_nothing_else() {
        let all = settings(
            "--tensor-model-parallel-size 8 --fp8-format hybrid --bf16 --recompute-granularity full",
        );
        for one in
            ["plan.tensor_parallel=8", "plan.precision.compute=\"fp8\"", "plan.precision.preset=\"bf16\""]
        {
            assert!(all.iter().any(|source| source == one), "{one} in {all:?}");
        }
        assert!(
            !all.iter().any(|source| source.contains("pipeline_parallel") || source.contains("sharding")),
            "{all:?}"
        );
        assert_eq!(
            settings("--parallelism.tensor_parallel_degree 4 --training.seq_len=4096"),
            ["plan.sequence_length=4096", "plan.tensor_parallel=4"]
        );
    }

    /// torchtitan's parser takes hyphens, and has a negative flag for each switch.
    #[test]
    fn spellings_of_torchtitan_are_equal() {
        assert_eq!(settings("--training.seq-len 4096"), ["plan.sequence_length=4096"]);
        assert_eq!(
            settings("--parallelism.no-enable-sequence-parallel"),
            settings("--parallelism.enable_sequence_parallel=false")
        );
        assert_eq!(settings("--metrics.log_freq 10 --job.config_file a.toml"), [""; 0]);
    }

    /// An option whose effect is not known here is never dropped silently.
    #[test]
    fn options_of_the_parser_alone_are_reported() {
        let words: Vec<String> = ["--use-mup", "--num-layers", "4"].map(str::to_owned).to_vec();
        let typed = typed(&words).expect("flags");
        assert_eq!(typed.settings.len(), 1);
        assert!(typed.remarks.iter().any(|one| one.source == "--use-mup" && one.line.is_some()), "{typed:?}");
    }

    #[test]
    fn words_belong_to_their_flags() {
        assert_eq!(words_of("--num-layers", &["32", "--bf16"]), Some(1));
        assert_eq!(words_of("--bf16", &["model"]), Some(0));
        assert_eq!(words_of("--num-layers=32", &["model"]), Some(0));
        assert_eq!(words_of("--recompute-modules", &["mlp", "moe", "--x"]), Some(2));
        assert_eq!(words_of("--parallelism.tensor_parallel_degree", &["4"]), Some(1));
        assert_eq!(words_of("--parallelism.no_such_key", &["4"]), None);
        assert_eq!(words_of("--metrics.log_freq", &["10"]), Some(1));
        assert_eq!(words_of("--profiling.enable_profiling", &["model"]), Some(1));
        assert_eq!(words_of("--profiling.enable-profiling=true", &["model"]), Some(0));
        assert_eq!(words_of("--training.seq-len", &["4096"]), Some(1));
        assert_eq!(words_of("--dino-head-hidden-size", &["4"]), Some(1));
        assert_eq!(words_of("--use-mup", &["4"]), Some(0));
        assert_eq!(words_of("--frobnicate", &[]), None);
    }
}
