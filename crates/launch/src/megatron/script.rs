//! Scripts and command lines that start Megatron-LM.
//!
//! Responsible for: finding the command among all that a script would start, and the words that belong to
//! Megatron. Runs nothing.

use super::arguments::{self, Arguments};
use super::dialect::{self, Stated};
use super::world::World;
use super::{flags, partial, stranger, world};
use crate::shell::{self, Command, Script, Unknown, Why, Word};
use crate::{Context, Draft, Evidence, Format, Launch, Reader, RemarkKind, Strength, annotation};
use railwright_spec::problem::Problem;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of flags in a launch of Megatron.
const FEWEST: usize = 3;
/// Longer texts are not scripts.
const LONGEST: usize = 4 << 20;

/// Reads shell scripts.
#[derive(Debug)]
pub struct ScriptReader;

/// Reads command lines and bare flags.
#[derive(Debug)]
pub struct CommandReader;

impl Reader for ScriptReader {
    fn format(&self) -> Format {
        Format::MegatronScript
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let count = flags_in(text)?;
        let mark = script_mark(text)?;
        Some(Evidence::new(
            strength(text, count),
            format!("{count} flags of Megatron-LM in a shell script ({mark})"),
        ))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        read(Format::MegatronScript, text, file, context)
    }
}

impl Reader for CommandReader {
    fn format(&self) -> Format {
        Format::MegatronCommand
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let count = flags_in(text)?;
        if script_mark(text).is_some() {
            return None;
        }
        Some(Evidence::new(strength(text, count), format!("{count} flags of Megatron-LM")))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        read(Format::MegatronCommand, text, file, context)
    }
}

fn strength(text: &str, count: usize) -> Strength {
    let is_named =
        ["pretrain_gpt", "pretrain_", "megatron", "Megatron"].iter().any(|name| text.contains(name));
    match count {
        8.. => Strength::Certain,
        _ if is_named => Strength::Certain,
        _ => Strength::Likely,
    }
}

/// Megatron's flags in a text that is neither a log nor a structured file.
fn flags_in(text: &str) -> Option<usize> {
    if text.len() > LONGEST || text.trim_start().starts_with(['{', '<', '[']) || super::log::is_log(text) {
        return None;
    }
    if text.contains("primus-cli") && text.contains("--config") {
        // The settings are in Primus's file; the flags are overrides of it.
        return None;
    }
    if stranger::starts_recipe(text) {
        return None;
    }
    let words = text.split(|c: char| c.is_whitespace() || "\"'()".contains(c));
    let known: Vec<&str> = words.clone().filter(|word| !word.is_empty()).collect();
    (describes(&known) && !stranger::starts(words)).then(|| flags::count(known))
}

/// Tests whether words describe a run: by their number of flags, or as a command of ms-swift, which names its
/// model and may leave the rest to its defaults.
fn describes(words: &[&str]) -> bool {
    let is_swift = || words.windows(2).any(|pair| dialect::is_swift(pair[0], pair[1]));
    let names_model = || words.iter().any(|word| word.starts_with("--model") || word.starts_with("--mcore"));
    flags::count(words.iter().copied()) >= FEWEST || is_swift() && names_model()
}

/// The texts of words.
fn texts(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

/// Feature that makes a text a script: an interpreter, an assignment, a directive.
fn script_mark(text: &str) -> Option<&'static str> {
    if text.trim_start().starts_with("#!") {
        return Some("`#!`");
    }
    let assigns = |line: &str| {
        let line = line.trim_start().trim_start_matches("export ");
        line.split_once('=').is_some_and(|(name, rest)| {
            let name = name.trim_end_matches('+');
            !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !rest
                    .split_whitespace()
                    .nth(1)
                    .is_some_and(|word| word.contains("torchrun") || word.contains("python"))
        })
    };
    if text.lines().any(assigns) {
        return Some("it sets variables");
    }
    let branches =
        |line: &str| line.contains("; then") || line.contains("; do") || line.starts_with("bash -c ");
    text.lines().any(branches).then_some("it has branches")
}

/// Reads a text as a script, without detection.
pub(super) fn read(
    format: Format,
    text: &str,
    file: &str,
    context: &Context<'_>,
) -> Result<Launch, Vec<Problem>> {
    let mut draft = Draft::new(format, file);
    if text.len() > LONGEST {
        draft.problem(Problem::new("larger than 4 MiB, the limit of launch scripts"));
        return draft.finish();
    }
    let Some((arguments, world, says)) = started(format, text, file, context, &mut draft) else {
        draft.problem(none_started(text));
        return draft.finish();
    };
    partial::fill(&arguments, &world, &says, &mut draft);
    if !context.is_empty() {
        partial::audit(&arguments, &world, &mut draft);
    }
    annotation::read(text, &mut draft);
    draft.finish()
}

/// Tests whether a text is a Python program, whose strings may contain a command.
fn is_python(text: &str) -> bool {
    let imports =
        |line: &str| line.starts_with("import ") || (line.starts_with("from ") && line.contains(" import "));
    text.lines().any(imports) && !shell::is_marked(text)
}

/// The error of a text without a command of Megatron-LM: it may start a recipe of Megatron-Bridge by its
/// name.
fn none_started(text: &str) -> Problem {
    if is_python(text) {
        return Problem::new(
            "this Python program builds the flags of Megatron-LM itself, and is not executed",
        )
        .hint("pass the command that it starts, or the log of the run");
    }
    let mut words = text.split_whitespace();
    let recipe = words
        .find(|word| word.starts_with("--model_recipe_name"))
        .and_then(|word| word.split_once('=').map(|(_, name)| name).or_else(|| words.next()));
    match recipe {
        Some(name) => Problem::new(format!(
            "this script starts the Megatron-Bridge recipe `{name}`, whose settings are not in this file"
        ))
        .hint("pass the recipe's Python file, or a model with its layout, as in `railwright estimate llama-3.1-8b --tp 8`"),
        None => Problem::new("no command in this file starts Megatron-LM with flags of a run")
            .hint("is the part with `--num-layers` and `--tensor-model-parallel-size` in another file?"),
    }
}

/// Reads a script that starts Megatron-LM with flags of the files that it reads; `None` if its commands have
/// too few of them.
pub(crate) fn read_script(
    script: &Script,
    text: &str,
    file: &str,
    context: &Context<'_>,
) -> Option<Result<Launch, Vec<Problem>>> {
    let is_run = script.commands.iter().any(|command| starts(&command.words));
    is_run.then(|| read(Format::MegatronScript, text, file, context))
}

/// Tests whether words start Megatron-LM with flags of a run.
pub(crate) fn starts(words: &[Word]) -> bool {
    let texts = texts(words);
    describes(&texts) && !stranger::starts(texts)
}

/// Every argument by its field, with its values, and the ranks that the command starts; `None` if no command
/// starts Megatron-LM.
pub(crate) fn arguments_of(format: Format, text: &str) -> Option<BTreeMap<String, Vec<String>>> {
    if text.len() > LONGEST {
        return None;
    }
    let mut draft = Draft::new(format, "");
    let (arguments, world, _) = started(format, text, "", &Context::default(), &mut draft)?;
    let mut out: BTreeMap<String, Vec<String>> =
        arguments.iter().map(|(name, argument)| (name.to_owned(), argument.values.clone())).collect();
    for (name, ranks) in [("ranks of the job", world.ranks), ("ranks of a node", world.per_node)] {
        out.extend(ranks.map(|ranks| (name.to_owned(), vec![ranks.to_string()])));
    }
    Some(out)
}

/// The arguments of the command that a text starts, and its ranks.
fn started(
    format: Format,
    text: &str,
    file: &str,
    context: &Context<'_>,
    draft: &mut Draft,
) -> Option<(Arguments, World, Stated)> {
    let script = shell::read(text, file, context, |text| world::Batch::read(text, 1).variables());
    draft.lines_of(script.sources.clone());
    for (line, what, why) in &script.open {
        draft.remark(RemarkKind::Unresolved, what, Some(*line), why.clone());
    }
    let launch = launch(&script, draft).or_else(|| {
        let command = bare(text, Command::default());
        (format == Format::MegatronCommand && !command.words.is_empty()).then_some(command)
    })?;
    let launch = if format == Format::MegatronCommand { bare(text, launch) } else { launch };
    if let Some(line) = launch.conditional() {
        let source = launch.words.first().map_or("", |word| word.text.as_str());
        let (_, branch) = draft.spot(Some(line));
        let message = format!("starts only if the branch of line {} is taken", branch.unwrap_or(line));
        draft.remark(RemarkKind::Assumed, source, Some(launch.line), message);
    }
    surroundings(&script, draft);
    let mut batch = world::Batch::default();
    // Its own directives, and those of the script around it: another start can use another number of nodes.
    for (text, base) in script.sources.around(launch.line) {
        batch.add(&world::Batch::read(text, base));
    }
    if let Some((word, what)) = dialect::other(&launch.words) {
        let problem =
            Problem::new(format!("`{}` {what}: not supported as a causal language model", word.text));
        draft.problem(
            problem.hint("set model and layout with flags, as in `railwright estimate llama-3.1-8b --tp 8`"),
        );
    }
    let mut world = world::of_commands(&launch, &script, &batch, draft);
    let around = arguments::Surroundings { choices: &script.choices, has_missing: script.has_missing };
    let dialect = dialect::of(&launch);
    let launch = Command { words: dialect::words(dialect, &launch.words), ..launch };
    let mut arguments = arguments::of_words(&launch.words, around, draft);
    if launch.is_alone && format == Format::MegatronScript {
        let why = "no command in this file uses them, so others may be added elsewhere";
        arguments.hide("these flags", Some(launch.line), why);
    }
    if let Some(word) = launch.words.iter().find(|word| stranger::is_flag(&word.text))
        && dialect == dialect::Dialect::Megatron
    {
        let why = "Megatron-LM has no such flag, so the program has its own arguments and defaults";
        arguments.hide(&word.text, Some(word.line), why);
    }
    if dialect != dialect::Dialect::Megatron {
        // A known program, whose model flags have a reader.
        arguments.know_program();
    }
    if arguments.iter().any(|(name, _)| flags::by_name(name).is_some_and(|flag| flag.since == "mindspeed")) {
        draft.front_end("mindspeed");
    }
    if arguments.is_on("deepspeed") {
        dialect::deepspeed_file::read(&mut arguments, file, context, draft);
    }
    let says = dialect::apply(dialect, &launch, &script, &mut arguments, &mut world, draft);
    Some((arguments, world, says))
}

/// Reports environment values of the script that are not given.
fn surroundings(script: &Script, draft: &mut Draft) {
    const SHOWN: usize = 12;
    if script.needs_arguments {
        let message = "the script takes arguments, but none are passed after `--`";
        draft.remark(RemarkKind::Assumed, "$@", None, message);
    }
    let names: Vec<&str> = script.taken_as_unset.iter().map(String::as_str).collect();
    if let [first, ..] = names.as_slice() {
        let list = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let more =
            if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
        let message =
            format!("unset variables are empty, as in a shell: {list}{more}; set them with `{first}=VALUE`");
        draft.remark(RemarkKind::Assumed, &format!("${first}"), None, message);
    }
}

/// A pasted command line without the quotes and continued lines that a shell requires: its plain words, if
/// they contain more flags. Comments are none of them.
fn bare(text: &str, command: Command) -> Command {
    let is_python = is_python(text);
    let mut words = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let parts = line
            .split_whitespace()
            .take_while(|part| !part.starts_with('#'))
            .map(|part| if is_python { within(part) } else { part })
            .map(|part| part.trim_matches(['\'', '"']))
            .filter(|part| !matches!(*part, "" | "\\" | "$"));
        words.extend(parts.map(|part| Word {
            text: part.to_owned(),
            line: index + 1,
            unknown: blank(part, is_python).into_iter().collect(),
        }));
    }
    let count = |words: &[Word]| flags::count(words.iter().map(|word| word.text.as_str()));
    if count(&words) > count(&command.words) { Command { words, ..command } } else { command }
}

/// A word of a command in a text of Python, without the code around its string: `f"--num-layers`, `2048")`.
fn within(part: &str) -> &str {
    let start = part.find("--").filter(|&at| part[..at].ends_with(['"', '\'']));
    let part = start.and_then(|at| part.get(at..)).unwrap_or(part);
    part.trim_end_matches([')', ',']).trim_end_matches(['"', '\''])
}

/// The part of a pasted word that its owner sets: `$TP`, `${TP}`, `$(nproc)`, and `{tp}` in a text of Python.
fn blank(word: &str, is_python: bool) -> Option<Unknown> {
    let value =
        word.split_once('=').filter(|(name, _)| name.starts_with("--")).map_or(word, |(_, value)| value);
    if is_python && value.len() > 2 && value.starts_with('{') && value.ends_with('}') {
        return Some(Unknown { text: value.to_owned(), why: Why::Unset });
    }
    let is_name = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || "_{(".contains(c));
    let at = value.find('$').filter(|at| is_name(&value[at + 1..]))?;
    Some(Unknown { text: value[at..].to_owned(), why: Why::Unset })
}

/// The command with the most flags of Megatron; without any, the variable.
fn launch(script: &Script, draft: &mut Draft) -> Option<Command> {
    let count = |words: &[Word]| flags::count(words.iter().map(|word| word.text.as_str()));
    let commands: Vec<Command> = script
        .commands
        .iter()
        .map(|command| Command { words: apart(&command.words), ..command.clone() })
        .collect();
    // The last of several: earlier ones are often trials.
    let runs = commands.iter().enumerate().filter(|(_, command)| describes(&texts(&command.words)));
    if let Some((index, _)) = runs.max_by_key(|(_, command)| count(&command.words)) {
        return commands.into_iter().nth(index);
    }
    let (name, words) = script
        .variables
        .iter()
        .map(|(name, words)| (name, apart(words)))
        .max_by_key(|(_, words)| count(words))?;
    if !describes(&texts(&words)) {
        return None;
    }
    let line = words.first().map_or(1, |word| word.line);
    let (names, words) = joined(script, name, words);
    draft.remark(
        RemarkKind::Assumed,
        &names.join(" "),
        Some(line),
        "assumed to be the command: this file does not start it",
    );
    Some(Command { words, line, is_alone: true, ..Command::default() })
}

/// The variable with the most flags, and others without a common flag: a file that sets a run up in parts
/// leaves it to its caller to start all of them.
fn joined(script: &Script, most: &str, mut words: Vec<Word>) -> (Vec<String>, Vec<Word>) {
    let flags_of = |words: &[Word]| -> BTreeSet<String> {
        let flags = words.iter().filter(|word| word.text.starts_with("--"));
        flags.map(|word| word.text.split('=').next().unwrap_or_default().to_owned()).collect()
    };
    let mut names = vec![format!("${most}")];
    let mut known = flags_of(&words);
    for (name, more) in script.variables.iter().filter(|(name, _)| *name != most) {
        let more = apart(more);
        let own = flags_of(&more);
        if flags::count(more.iter().map(|word| word.text.as_str())) > 1 && own.is_disjoint(&known) {
            known.extend(own);
            words.extend(more);
            names.push(format!("${name}"));
        }
    }
    (names, words)
}

/// Splits words that contain several, such as `"--fp8-format hybrid"` in an array, like the unquoted array.
fn apart(words: &[Word]) -> Vec<Word> {
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        // A placeholder may have spaces: `--load=<PATH TO IT>`.
        let is_one = word.text.contains('<') && word.text.ends_with('>');
        if !is_one
            && word.text.trim_start().starts_with("--")
            && word.text.trim().contains(char::is_whitespace)
        {
            let parts = word.text.split_whitespace().map(|part| {
                let unknown =
                    word.unknown.iter().filter(|unknown| part.contains(&unknown.text)).cloned().collect();
                Word { text: part.trim_matches(['\'', '"']).to_owned(), line: word.line, unknown }
            });
            out.extend(parts);
        } else {
            out.push(word.clone());
        }
    }
    out
}
