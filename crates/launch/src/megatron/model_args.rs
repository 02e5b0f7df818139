//! YAML files of flags. `MODEL_ARGS` with `ENV_VARS` is the form of Megatron-LM's functional tests and the
//! MoE model zoo. FlagScale's training files have flags at any depth of their sections `system`, `model` and
//! `data`.
//!
//! Responsible for: converting such a file, line by line, to the script of its runner, so that variables are
//! expanded and every value keeps its line. Rejects files that do not start training.

use super::{flags, script};
use crate::{Context, Evidence, Format, Launch, Reader, Strength, annotation};
use railwright_spec::problem::Problem;

/// Maximum length of such a file, in bytes.
const LONGEST: usize = 1 << 20;

/// Flags of programs that generate text.
const INFERENCE: &[&str] = &[
    "--num-tokens-to-generate",
    "--prompts",
    "--prompt-file",
    "--inference-repeat-n",
    "--incoming-requests-per-sec",
];

/// FlagScale's sections of flags.
const FLAGSCALE: &[&str] = &["system", "model", "data"];

/// Megatron's fields that a FlagScale file has at least.
const FLAGSCALE_FIELDS: usize = 6;

/// Keys of NeMo's command line that mean the same as a flag of a different name.
const RENAMED: &[(&str, &str)] = &[("num_moe_experts", "num_experts"), ("max_steps", "train_iters")];

/// Reads YAML files of flags.
#[derive(Debug)]
pub struct ModelArgsReader;

impl Reader for ModelArgsReader {
    fn format(&self) -> Format {
        Format::MegatronArgsYaml
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let has = |key: &str| {
            text.lines().any(|line| line.trim_end() == key || line.starts_with(&format!("{key} ")))
        };
        if text.len() > LONGEST {
            return None;
        }
        if !has("MODEL_ARGS:") {
            let known = |entry: &&Entry| {
                FLAGSCALE.contains(&entry.section.as_str()) && flags::by_name(&entry.key).is_some()
            };
            let count =
                if has("system:") && has("model:") { entries(text).iter().filter(known).count() } else { 0 };
            let why =
                || format!("the keys `system` and `model` (FlagScale) with {count} of Megatron's fields");
            return (count >= FLAGSCALE_FIELDS).then(|| Evidence::new(Strength::Certain, why()));
        }
        let count = entries(text).iter().filter(|entry| entry.section == "MODEL_ARGS").count();
        (count > 0)
            .then(|| Evidence::new(Strength::Certain, format!("the key `MODEL_ARGS` with {count} flags")))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let entries = entries(text);
        let refuse = |message: &str, line| {
            let place = railwright_spec::problem::Place { line, ..Default::default() };
            let problem = Problem { place: Some(Box::new(place)), ..Problem::new(message) };
            Err(vec![problem.in_file(file)])
        };
        if text.len() > LONGEST {
            return refuse("larger than 1 MiB, the limit of flag files", None);
        }
        let inference = entries.iter().find(|entry| INFERENCE.contains(&entry.key.as_str()));
        if let Some(entry) = inference {
            let message = format!("`{}` is an inference flag: this file does not start training", entry.key);
            return refuse(&message, Some(entry.line));
        }
        let mixed = entries.iter().find(|entry| {
            entry.key == "enable_hetero"
                && entry.values.iter().any(|value| value.eq_ignore_ascii_case("true"))
        });
        if let Some(entry) = mixed {
            return refuse(
                "`enable_hetero` mixes kinds of devices in one job, which is not modelled",
                Some(entry.line),
            );
        }
        script::read(Format::MegatronArgsYaml, &as_script(text, &entries), file, context)
    }
}

/// The script that the runner of such a file starts.
pub(crate) fn script_of(text: &str) -> String {
    as_script(text, &entries(text))
}

/// Flags of `MODEL_ARGS` with their lines.
pub(crate) fn lines_of(text: &str) -> Vec<(String, usize)> {
    let flags = entries(text).into_iter().filter(|entry| entry.section == "MODEL_ARGS");
    flags.map(|entry| (entry.key, entry.line)).collect()
}

/// One `key: value` of a section.
#[derive(Debug)]
struct Entry {
    section: String,
    key: String,
    /// The values: one, or those of a list.
    values: Vec<String>,
    line: usize,
}

/// The entries of the sections that matter: a section, then a key a line, seldom a list below one. Sections
/// within sections only group.
fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut section = String::new();
    let (mut before, mut opens) = (0, false);
    for (index, line) in text.lines().enumerate() {
        let bare = without_comment(line);
        let trimmed = bare.trim();
        if trimmed.is_empty() {
            continue;
        }
        let indent = bare.len() - bare.trim_start().len();
        // A key without a value, followed by deeper lines, is not a flag.
        if std::mem::take(&mut opens) && indent > before && !trimmed.starts_with("- ") {
            entries.pop();
        }
        before = indent;
        let is_top = !bare.starts_with([' ', '\t']);
        if is_top {
            trimmed.split(':').next().unwrap_or_default().clone_into(&mut section);
            continue;
        }
        if let Some(item) = trimmed.strip_prefix("- ").filter(|_| !trimmed.starts_with("--")) {
            if let Some(last) = entries.last_mut().filter(|last| last.section == section) {
                last.values.push(unquoted(item));
            }
            continue;
        }
        let Some((key, value)) = trimmed.split_once(": ").or_else(|| Some((trimmed.strip_suffix(':')?, "")))
        else {
            continue;
        };
        let values = Some(value.trim()).filter(|value| !value.is_empty()).map(unquoted).into_iter().collect();
        let entry = Entry { section: section.clone(), key: unquoted(key.trim()), values, line: index + 1 };
        opens = entry.values.is_empty();
        entries.push(entry);
    }
    entries
}

/// A line up to its comment: `#` after a space and outside quotes.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') if before.is_whitespace() => quote = Some(c),
            (None, '#') if before.is_whitespace() => return &line[..at],
            _ => {}
        }
        before = c;
    }
    line
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(text)
        .to_owned()
}

/// The script that a runner of these files starts, each entry on a separate line.
fn as_script(text: &str, entries: &[Entry]) -> String {
    let is_flagscale = !entries.iter().any(|entry| entry.section == "MODEL_ARGS");
    let kept = |line: &str| if annotation::is_comment(line) { line.to_owned() } else { String::new() };
    let mut lines: Vec<String> = text.lines().map(kept).collect();
    lines.resize(lines.len().max(1), String::new());
    let mut launcher = Vec::new();
    for entry in entries {
        let Some(line) = lines.get_mut(entry.line - 1) else { continue };
        match entry.section.as_str() {
            "ENV_VARS" => {
                let is_name = entry.key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if is_name {
                    *line = format!("export {}={}", entry.key, quoted(&entry.values.join(" ")));
                }
            }
            "MODEL_ARGS" => *line = argument(entry, &mut launcher),
            section if is_flagscale && FLAGSCALE.contains(&section) => *line = argument(entry, &mut launcher),
            _ => {}
        }
    }
    let launcher =
        if launcher.is_empty() { String::new() } else { format!("torchrun {}", launcher.join(" ")) };
    let last = lines.len() - 1;
    // Dotted keys override a recipe of NeMo, which sets the rest.
    let is_override = |entry: &Entry| {
        entry.section == "MODEL_ARGS" && entry.key.contains('.') && !entry.key.starts_with('-')
    };
    let recipe = if entries.iter().any(is_override) { " $(recipe)" } else { "" };
    let start = format!("\n{launcher} pretrain_gpt.py \"${{__ARGS[@]}}\"{recipe}");
    lines[last].push_str(&start);
    lines.join("\n")
}

/// One flag, appended to the arguments.
fn argument(entry: &Entry, launcher: &mut Vec<String>) -> String {
    if let Some(flag) = launcher_flag(&entry.key) {
        launcher.push(format!("{flag} {}", quoted(&entry.values.join(" "))));
        return String::new();
    }
    let spelling = if entry.key.starts_with("--") {
        entry.key.clone()
    } else {
        let last = entry.key.rsplit('.').next().unwrap_or(&entry.key);
        let last = RENAMED.iter().find(|(known, _)| *known == last).map_or(last, |(_, flag)| *flag);
        flags::by_name(last).map_or_else(|| format!("--{last}"), |flag| flag.spelling())
    };
    let value = entry.values.join(" ");
    match value.to_ascii_lowercase().as_str() {
        "true" | "" => return format!("__ARGS+=({spelling})"),
        "false" => return String::new(),
        _ => {}
    }
    // A list in brackets or an expression is one word; words with spaces between them are several, as the
    // runner splits them.
    let is_one = value.contains(['(', '[', '|', '*', '{']);
    let words: Vec<String> =
        if is_one { vec![quoted(&value)] } else { value.split_whitespace().map(quoted).collect() };
    format!("__ARGS+=({spelling} {})", words.join(" "))
}

/// Launcher flag that corresponds to a key of NeMo.
fn launcher_flag(key: &str) -> Option<&'static str> {
    match key {
        "trainer.num_nodes" => Some("--nnodes"),
        "trainer.devices" => Some("--nproc-per-node"),
        _ => None,
    }
}

/// A text between double quotes, in which variables are expanded.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "ENV_VARS:\n  A: 4\nMODEL_ARGS:\n  --num-layers: 12 # twelve\n  --hidden-size: 512\n  \
        --num-attention-heads: 8\n  --bf16: true\n  --fp16: false\n  --seq-length: ${SEQ_LEN}\n  \
        --tensor-model-parallel-size: ${TP}\n  --num-experts: 8\n  --moe-layer-freq: ([0]*3+[1]*9)\n  \
        --recompute-granularity: selective\n  --recompute-modules: mlp moe\n  --vocab-size: 1024\n\
        TEST_TYPE: regular\n";

    #[test]
    fn flags_keep_their_lines_and_variables_are_open() {
        let launch = ModelArgsReader.read(FILE, "m.yaml").expect("sound");
        assert_eq!(launch.spec.model.layers, Some(12));
        assert_eq!(launch.spec.model.first_dense_layers, Some(3));
        assert_eq!(launch.spec.plan.tensor_parallel, None, "{:?}", launch.open);
        assert!(launch.partial.is_some(), "a degree is open");
        let open = launch.open.iter().find(|open| open.key == "plan.tensor_parallel").expect("open");
        assert_eq!(open.line, Some(10));
        let origin = launch.origins.iter().find(|origin| origin.key == "model.layers").expect("set");
        assert_eq!((origin.line, origin.source.as_str()), (Some(4), "--num-layers 12"));
        let variables =
            [("TP", "2"), ("SEQ_LEN", "4096")].map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
        let context = Context { variables, ..Context::default() };
        let whole = ModelArgsReader.read_with(FILE, "m.yaml", &context).expect("sound");
        assert_eq!((whole.spec.plan.tensor_parallel, whole.spec.plan.sequence_length), (Some(2), Some(4096)));
        assert!(whole.partial.is_none() && whole.spec.plan.pipeline_parallel == Some(1));
    }

    #[test]
    fn inference_is_refused_and_other_yaml_is_not_claimed() {
        let text = FILE.replace("--recompute-granularity: selective", "--num-tokens-to-generate: 32");
        let problems = ModelArgsReader.read(&text, "m.yaml").expect_err("refused");
        assert!(problems[0].to_string().contains("--num-tokens-to-generate"), "{}", problems[0]);
        assert!(ModelArgsReader.recognise("model:\n  a: 1\n").is_none());
    }

    #[test]
    fn sections_of_flagscale_hold_flags_at_any_depth() {
        let text = "system:\n  tensor_model_parallel_size: 8\n  pipeline_model_parallel_size: 4\n  precision:\n    bf16: True\n  \
                    checkpoint:\n    save_interval: ${experiment.save_steps}\nmodel:\n  num_layers: 80\n  hidden_size: 8192\n  \
                    num_attention_heads: 64\n  group_query_attention: True\n  num_query_groups: 8\n  seq_length: 8192\n  \
                    micro_batch_size: 1\n  global_batch_size: 1024\n  add_qkv_bias: false\n  optimizer:\n    lr_scheduler:\n      \
                    lr: 1.5e-4\ndata:\n  data_path: ${data_path:??}\n  tokenizer:\n    vocab_size: 128256\n";
        let evidence = ModelArgsReader.recognise(text).expect("recognised");
        assert!(evidence.why.contains("FlagScale"), "{}", evidence.why);
        let launch = ModelArgsReader.read(text, "70b.yaml").expect("sound");
        let (plan, model) = (&launch.spec.plan, &launch.spec.model);
        assert_eq!(
            (plan.tensor_parallel, plan.pipeline_parallel, plan.global_batch),
            (Some(8), Some(4), Some(1024))
        );
        assert_eq!((model.layers, model.kv_heads, model.vocab), (Some(80), Some(8), Some(128_256)));
        assert!(plan.precision.is_some() && launch.partial.is_none(), "{:?}", launch.partial);
        let unknown = launch
            .remarks
            .iter()
            .find(|remark| remark.source.contains("--precision") || remark.source.starts_with("--optimizer"));
        assert!(unknown.is_none(), "groups are not flags: {unknown:?}");
        let mixed = text.replace("  precision:\n", "  hetero:\n    enable_hetero: True\n  precision:\n");
        assert!(ModelArgsReader.read(&mixed, "h.yaml").is_err());
    }

    #[test]
    fn nemo_keys_in_such_a_file() {
        let text = "MODEL_ARGS:\n  trainer.num_nodes: 2\n  trainer.devices: 8\n  \
                    trainer.strategy.tensor_model_parallel_size: 2\n  data.micro_batch_size: 2\n  data.seq_length: 512\n";
        let launch = ModelArgsReader.read(text, "m.yaml").expect("sound");
        assert_eq!((launch.spec.cluster.devices, launch.spec.plan.tensor_parallel), (Some(16), Some(2)));
        assert!(launch.partial.is_some() && launch.spec.plan.pipeline_parallel.is_none());
    }
}
