//! Commands of a script that start a trainer.
//!
//! Responsible for: finding the command, and its flags as keys. Runs nothing.

use super::common::{Dialect, put};
use super::launcher::{NO_VALUE, Unknown, flag, launcher};
use super::{keys, litgpt};
use crate::Context;
use crate::context::Sources;
use crate::document::{self, Data, Document, Entry};
use crate::megatron::Batch;
use crate::shell::{self, Arm, Command, Why, Word};
use railwright_spec::problem::Problem;
use std::path::Path;

/// Programs with the following words that train; `swift infer`, `swift export` and similar ones do not.
const PROGRAMS: &[(&str, &[&str], Dialect)] = &[
    ("swift", &["sft", "pt", "rlhf"], Dialect::Swift),
    ("llamafactory-cli", &["train"], Dialect::LlamaFactory),
    ("trl", &["sft", "dpo", "grpo", "kto", "reward", "rloo"], Dialect::Trl),
];

/// Suffixes of scripts, and modules.
const SCRIPTS: &[(&str, Dialect)] = &[
    ("swift/cli/sft.py", Dialect::Swift),
    ("swift/cli/pt.py", Dialect::Swift),
    ("swift/cli/rlhf.py", Dialect::Swift),
    ("src/train_bash.py", Dialect::LlamaFactory),
    ("openrlhf.cli.train_sft", Dialect::OpenRlhf),
    ("openrlhf.cli.train_rm", Dialect::OpenRlhf),
    ("openrlhf.cli.train_dpo", Dialect::OpenRlhf),
    ("openrlhf.cli.train_kto", Dialect::OpenRlhf),
    ("openrlhf.cli.train_kd", Dialect::OpenRlhf),
    ("openrlhf.cli.train_ppo_ray", Dialect::OpenRlhf),
    ("openrlhf.cli.train_ppo", Dialect::OpenRlhf),
];

/// Flags of a script on Transformers' arguments: the micro-batch, and names of the model.
const MICRO_BATCH: &str = "per_device_train_batch_size";
pub(super) const MODELS: [&str; 8] = [
    "model_name_or_path",
    "model_name",
    "model_id",
    "model",
    "model_path",
    "base_model",
    "pretrained_model_name_or_path",
    "pretrained_model_path",
];

/// Flags of OpenRLHF.
const OPENRLHF: [&str; 3] = ["micro_train_batch_size", "pretrain", "zero_stage"];

/// Flags of PaddleNLP, whose trainer has names of Transformers with other settings of its own.
const PADDLE: [&str; 3] = ["tensor_parallel_degree", "pipeline_parallel_degree", "sharding_parallel_degree"];

/// Keys of a command, those without a value, and the lines of the files that were read for it.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) document: Document,
    pub(super) unknown: Unknown,
    pub(super) sources: Sources,
}

/// Modules that start other programs.
const LAUNCHERS: [&str; 4] =
    ["torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch", "deepspeed"];

/// The program of a word: that of `$(which swift)`, whose path is known only at run time, or the word itself.
fn program(word: &str) -> &str {
    let bare = |inner: &'static str| {
        let rest = word.strip_prefix(inner)?.trim_end_matches([')', '`']).trim();
        (!rest.contains(char::is_whitespace)).then_some(rest)
    };
    ["$(which ", "$(command -v ", "`which ", "`command -v "].into_iter().find_map(bare).unwrap_or(word)
}

/// The trainer that words start, the index of its first argument, and the words that name it.
fn start(words: &[Word]) -> Option<(Dialect, usize, String)> {
    let last = |word: &Word| program(&word.text).rsplit('/').next().unwrap_or_default().to_owned();
    for (index, pair) in words.windows(2).enumerate() {
        let program = last(&pair[0]);
        let found = PROGRAMS
            .iter()
            .find(|(name, verbs, _)| *name == program && verbs.contains(&pair[1].text.as_str()))
            // A file of settings as the first argument has the settings.
            .filter(|_| words.get(index + 2).is_none_or(|word| !is_settings(word)));
        if let Some((name, _, dialect)) = found {
            return Some((*dialect, index + 2, format!("{name} {}", pair[1].text)));
        }
    }
    for (index, word) in words.iter().enumerate() {
        if let Some((name, dialect)) = SCRIPTS.iter().find(|(name, _)| word.text.ends_with(name)) {
            return Some((*dialect, index + 1, (*name).to_owned()));
        }
    }
    if let Some(found) = openrlhf(words) {
        return Some(found);
    }
    // A wrapper may start another program: the last before the flags counts.
    let first = words.iter().position(|word| flag(word).as_deref() == Some(MICRO_BATCH))?;
    let before = words.get(..first)?;
    let module = before.windows(2).rposition(|pair| {
        matches!(pair[0].text.as_str(), "-m" | "--module") && !LAUNCHERS.contains(&pair[1].text.as_str())
    });
    let is_python = |word: &Word| Path::new(&word.text).extension().is_some_and(|end| end == "py");
    let script = before.iter().rposition(is_python);
    let program = script.or(module.map(|index| index + 1))?;
    let behind = words.get(program + 1..)?;
    let has = |name: &str| behind.iter().any(|word| flag(word).as_deref() == Some(name));
    if PADDLE.iter().any(|name| has(name)) {
        return None;
    }
    let is_factory = has("stage") && (has("finetuning_type") || has("cutoff_len"));
    let dialect = if is_factory { Dialect::LlamaFactory } else { Dialect::Transformers };
    Some((dialect, program + 1, format!("{} --{MICRO_BATCH}", last(words.get(program)?))))
}

/// Tests whether words start a trainer with its flags.
pub(super) fn is_start(words: &[Word]) -> bool {
    start(words).is_some()
}

/// Puts settings of a command in place of those of the configuration that it names.
pub(super) fn override_with(
    dialect: Dialect,
    (launcher, arguments): (&[Word], &[Word]),
    document: &mut Document,
) {
    match dialect {
        Dialect::LitGpt => litgpt::override_with(arguments, document),
        // `llamafactory-cli train CONFIG key=value`, with the parser of OmegaConf.
        Dialect::LlamaFactory => {
            for (name, value) in arguments.iter().filter_map(pair) {
                document.entries.retain(|entry| entry.path != name);
                put(document, name, Data::of_word(value), 0);
            }
        }
        Dialect::Foundry if is_composer(launcher) => {
            for (name, value) in arguments.iter().filter_map(pair) {
                document.entries.retain(|entry| entry.path != name);
                // Its line is one of the script, not of the configuration.
                put(document, name, Data::of_word(value), 0);
            }
        }
        _ => {}
    }
}

/// Tests whether words start llm-foundry's launcher, whose programs take settings as `key=value`.
fn is_composer(launcher: &[Word]) -> bool {
    launcher.iter().any(|word| word.text.rsplit('/').next() == Some("composer"))
}

/// The name of a setting as one word, `key=value`, with a value that the script determines.
pub(crate) fn assigned(word: &Word) -> Option<&str> {
    pair(word).map(|(name, _)| name)
}

/// A setting as one word, with a value that the script determines.
fn pair(word: &Word) -> Option<(&str, &str)> {
    let (name, value) = word.text.split_once('=')?;
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
    (is_name && word.unknown.is_empty()).then_some((name, value.trim_matches(['"', '\''])))
}

/// Tests whether a program over llm-foundry reads a word as a setting.
pub(crate) fn is_override(launcher: &[Word], word: &Word) -> bool {
    is_composer(launcher) && pair(word).is_some()
}

/// Tests whether a word names a file of settings.
fn is_settings(word: &Word) -> bool {
    let end = Path::new(&word.text).extension().and_then(|end| end.to_str());
    end.is_some_and(|end| matches!(end, "yaml" | "yml" | "json"))
}

/// Copies of OpenRLHF's programs by file: `deepspeed cli/train_sft.py`, with arguments that only they have
/// together.
fn openrlhf(words: &[Word]) -> Option<(Dialect, usize, String)> {
    let has = |name: &str| words.iter().any(|word| flag(word).as_deref() == Some(name));
    if !OPENRLHF.iter().all(|name| has(name)) {
        return None;
    }
    let trains = |word: &Word| {
        let file = word.file_name();
        let ends = Path::new(&file).extension().is_some_and(|end| end == "py");
        ends && ["train_sft", "train_rm", "train_dpo", "train_kto", "train_kd"]
            .iter()
            .any(|name| file.starts_with(name))
    };
    let at = words.iter().position(trains)?;
    Some((Dialect::OpenRlhf, at + 1, format!("{} --{}", words[at].file_name(), OPENRLHF[0])))
}

/// The trainer that a script starts, and why.
pub(super) fn find(text: &str) -> Option<(Dialect, String)> {
    let (outer, _) = shell::documents(text);
    let is_yaml =
        outer.lines().any(|line| line.starts_with("model_name_or_path:") || line.starts_with("base_model:"));
    let marks = PROGRAMS.iter().map(|(name, ..)| *name).chain(SCRIPTS.iter().map(|(name, _)| *name));
    let has_mark = marks.into_iter().any(|mark| text.contains(mark))
        || text.contains("--per_device_train_batch_size")
        || text.contains("--per-device-train-batch-size")
        || text.contains("--micro_train_batch_size");
    // Python that declares such flags, and configurations, are not scripts.
    let is_python = !shell::is_marked(text)
        && ["import ", "from ", "def "].iter().any(|start| text.lines().any(|line| line.starts_with(start)));
    if is_yaml || is_python || !has_mark || !text.contains("--") || text.len() > document::LONGEST {
        return None;
    }
    let script = shell::read_alone(text);
    let (dialect, _, why) = started(&script).pop().map(|(_, start)| start)?;
    Some((dialect, format!("the command `{why}`")))
}

/// The commands that start a trainer: those of the script, or else those in a variable.
fn started(script: &shell::Script) -> Vec<(Command, (Dialect, usize, String))> {
    let known = |command: Command| Some((command.clone(), start(&command.words)?));
    let found: Vec<_> = script
        .commands
        .iter()
        .filter_map(|command| {
            known(command.clone())
                .or_else(|| alternatives(script, command).into_iter().filter_map(known).next_back())
        })
        .collect();
    if !found.is_empty() {
        return found;
    }
    let held = script.variables.values().filter_map(|words| {
        let words: Vec<Word> = words
            .iter()
            .flat_map(|word| {
                word.text.split_whitespace().map(|part| Word {
                    text: part.to_owned(),
                    line: word.line,
                    unknown: word.unknown.iter().filter(|u| part.contains(&u.text)).cloned().collect(),
                })
            })
            .filter(|word| word.text != "\\")
            .collect();
        let line = words.first().map_or(1, |word| word.line);
        known(Command { words, line, is_alone: true, ..Command::default() })
    });
    held.collect()
}

/// The commands of a word that an undecided branch sets: `$header` as `srun torchrun ...` or as `torchrun
/// ...`.
fn alternatives(script: &shell::Script, command: &Command) -> Vec<Command> {
    let either = |word: &Word| {
        word.unknown.iter().find_map(|unknown| match unknown.why {
            Why::Either(index) if unknown.text == word.text => Some(index),
            _ => None,
        })
    };
    let Some((at, index)) = command.words.iter().enumerate().find_map(|(at, word)| Some((at, either(word)?)))
    else {
        return Vec::new();
    };
    let Some(choice) = script.choices.get(index) else { return Vec::new() };
    let (before, behind) = command.words.split_at(at);
    choice
        .alternatives
        .iter()
        .enumerate()
        .map(|(index, words)| {
            let words = before.iter().chain(words).chain(behind.iter().skip(1)).cloned().collect();
            let mut arms = command.arms.clone();
            arms.push(Arm { line: choice.line, index });
            Command { words, arms, ..command.clone() }
        })
        .collect()
}

/// The trainer of the last command that starts one.
pub(super) fn dialect(script: &shell::Script) -> Option<Dialect> {
    started(script).pop().map(|(_, (dialect, ..))| dialect)
}

/// Keys of the command, and those without a value.
pub(super) fn parse(
    dialect: Dialect,
    text: &str,
    file: &str,
    context: &Context<'_>,
) -> Result<Keys, Problem> {
    document::check_length(text, file)?;
    let script = shell::read(text, file, context, |text| Batch::read(text, 1).variables());
    let mut document = Document::default();
    let mut unknown = Vec::new();
    let mut all = started(&script);
    all.retain(|(_, (found, ..))| *found == dialect);
    let Some((command, (_, first, name))) = all.pop() else {
        return Err(Problem::new("no command in this file starts the trainer").in_file(file));
    };
    if let Some(line) = command.conditional() {
        let why = "depends on a condition that is known only at run time; the last alternative is read";
        unknown.push(("the command".to_owned(), line, why.to_owned()));
    }
    for (line, what, why) in &script.open {
        unknown.push((what.clone(), *line, why.clone()));
    }
    put(&mut document, "program", Data::Text(name), command.line);
    let (before, behind) = command.words.split_at(first.min(command.words.len()));
    launcher(before, &mut document, &mut unknown);
    flags(behind, &mut document, &mut unknown);
    // `NPROC_PER_NODE=8 swift sft`
    for (name, value) in command.prefix.iter().filter(|(name, _)| keys::is_known(name)) {
        if document.get(name).is_none() {
            put(&mut document, name, Data::of_word(value), command.line);
        }
    }
    if let Some((count, line)) = of_job(&Batch::read(text, 1), before, &document) {
        put(&mut document, "num_processes", Data::Integer(count), line);
    }
    for (name, values) in &script.variables {
        if keys::is_known(name)
            && document.get(name).is_none()
            && let Some(word) = values.first().filter(|word| word.unknown.is_empty())
        {
            put(&mut document, name, Data::of_word(&word.text), word.line);
        }
    }
    Ok(Keys { document, unknown, sources: script.sources })
}

/// A program that no launcher starts has the GPU of a job that asks for one.
fn of_job(batch: &Batch, before: &[Word], document: &Document) -> Option<(i64, usize)> {
    let is_python = |word: &Word| matches!(word.file_name(), "python" | "python3");
    let is_plain = before.iter().filter(|word| !word.text.contains('=')).all(|word| {
        is_python(word)
            || word.text.starts_with('-')
            || Path::new(&word.text).extension().is_some_and(|end| end == "py")
    });
    let is_counted =
        ["NPROC_PER_NODE", "NNODES", "num_processes", "gpus"].iter().any(|path| document.has(path));
    let (gpus, line) = batch.gpus_per_node?;
    let is_one_node = batch.nodes.is_none_or(|(nodes, _)| nodes == 1);
    (gpus == 1 && is_one_node && is_plain && !is_counted && before.iter().any(is_python)).then_some((1, line))
}

fn flags(words: &[Word], document: &mut Document, unknown: &mut Unknown) {
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(text) = word.text.strip_prefix("--") else {
            if let Some((name, value)) = word.text.split_once('=').filter(|(name, _)| keys::is_known(name)) {
                put(document, name, Data::of_word(value), word.line);
            }
            continue;
        };
        let (name, first) = match text.split_once('=') {
            Some((name, value)) => (name, Some((value.to_owned(), word))),
            None => (text, words.next_if(|w| !w.text.starts_with("--")).map(|w| (w.text.clone(), w))),
        };
        let mut more = Vec::new();
        while let Some(word) = words.next_if(|w| !w.text.starts_with("--")) {
            more.push(word.text.as_str());
        }
        let name = name.replace('-', "_");
        // Names of modules follow each other; of other flags the first word decides.
        let first = first.map(|(value, word)| {
            let is_list = name.ends_with("target_modules") || name == "num_learners_per_node";
            let value = if is_list { more.iter().fold(value, |list, name| list + "," + name) } else { value };
            (value, word)
        });
        match first {
            Some((value, word)) if !word.unknown.is_empty() => {
                // Names of models are the last part of their paths.
                let tail = value.rsplit('/').next().unwrap_or_default();
                if MODELS.contains(&name.as_str())
                    && value.contains('/')
                    && !tail.is_empty()
                    && !tail.contains(['$', '{', '*'])
                {
                    put(document, &name, Data::Text(tail.to_owned()), word.line);
                } else if keys::is_known(&name) {
                    unknown.push((format!("--{name} {value}"), word.line, NO_VALUE.to_owned()));
                    // `auto` keeps a value open, so that no default is stated for it.
                    if !matches!(name.as_str(), "bf16" | "fp16") {
                        put(document, &name, Data::Text("auto".to_owned()), word.line);
                    }
                }
            }
            Some((value, word)) => match table(&value) {
                Some(entries) => {
                    for entry in entries {
                        put(document, &format!("{name}.{}", entry.path), entry.data, word.line);
                    }
                }
                None => put(document, &name, Data::of_word(&value), word.line),
            },
            // `--model $NAME` with an empty variable.
            None if MODELS.contains(&name.as_str()) || name == "pretrain" => {
                unknown.push((word.text.clone(), word.line, NO_VALUE.to_owned()));
            }
            None => put(document, &name, Data::Flag(true), word.line),
        }
    }
}

/// The entries of a table in JSON, as Transformers accepts it for arguments that are dictionaries.
fn table(value: &str) -> Option<Vec<Entry>> {
    if !value.trim_start().starts_with('{') {
        return None;
    }
    document::json(value, "").ok().map(|document| document.entries).filter(|entries| !entries.is_empty())
}
