//! Scripts and command lines that start Megatron-LM.
//!
//! Responsible for: finding the command among all that a script would start, and the words that belong to Megatron. Refuses to run it.

use super::arguments::{self, Arguments};
use super::meaning::{self, World};
use super::{flags, world};
use crate::shell::{self, Command, Script, Word};
use crate::{Draft, Evidence, Format, Launch, Reader, RemarkKind, Strength, annotation};
use railwright_spec::problem::Problem;

/// Flags that make a text a launch of Megatron.
const FEWEST: usize = 3;
/// Longer texts are no scripts.
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

    fn read(&self, text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
        read(Format::MegatronScript, text, file)
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

    fn read(&self, text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
        read(Format::MegatronCommand, text, file)
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

/// Megatron's flags in a text that is no log and no structured file.
fn flags_in(text: &str) -> Option<usize> {
    if text.len() > LONGEST || text.trim_start().starts_with(['{', '<', '[']) || super::log::is_log(text) {
        return None;
    }
    let words = text.split(|c: char| c.is_whitespace() || "\"'()".contains(c));
    let count = flags::count(words);
    (count >= FEWEST).then_some(count)
}

/// What makes a text a script: an interpreter, an assignment, a directive.
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
    text.lines().any(assigns).then_some("it sets variables")
}

fn read(format: Format, text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let mut draft = Draft::new(format, file);
    if text.len() > LONGEST {
        draft.problem(Problem::new("longer than 4 MiB, which no launch script is"));
        return draft.finish();
    }
    let batch = world::Batch::read(text);
    let script = shell::read(text, &batch.variables());
    for (line, what, why) in &script.open {
        draft.remark(RemarkKind::Unresolved, what, Some(*line), why.clone());
    }
    let found = launch(&script, &mut draft).or_else(|| {
        let command = bare(text, Command { words: Vec::new(), line: 1 });
        (format == Format::MegatronCommand && !command.words.is_empty()).then_some(command)
    });
    let Some(launch) = found else {
        let problem =
            Problem::new("no command in it starts Megatron-LM with flags that say something about a run");
        draft.problem(
            problem
                .hint("is the part with `--num-layers` and `--tensor-model-parallel-size` in another file?"),
        );
        return draft.finish();
    };
    let launch = if format == Format::MegatronCommand { bare(text, launch) } else { launch };
    let world = world::of_commands(&launch, &script.commands, &batch, &mut draft);
    let arguments = arguments::of_words(&launch.words, &mut draft);
    fill(&arguments, &world, &mut draft);
    annotation::read(text, &mut draft);
    draft.finish()
}

/// A command line that was pasted without the quotes and the continued lines that a shell wants: its words as they stand, if they
/// hold more flags.
fn bare(text: &str, command: Command) -> Command {
    let mut words = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let parts = line
            .split_whitespace()
            .map(|part| part.trim_matches(['\'', '"']))
            .filter(|part| !matches!(*part, "" | "\\" | "$"));
        words.extend(parts.map(|part| Word { text: part.to_owned(), line: index + 1, unknown: Vec::new() }));
    }
    let count = |words: &[Word]| flags::count(words.iter().map(|word| word.text.as_str()));
    if count(&words) > count(&command.words) { Command { words, line: command.line } } else { command }
}

fn fill(arguments: &Arguments, world: &World, draft: &mut Draft) {
    meaning::fill(arguments, world, draft);
}

/// The command with the most flags of Megatron; where none has any, the variable.
fn launch(script: &Script, draft: &mut Draft) -> Option<Command> {
    let count = |words: &[Word]| flags::count(words.iter().map(|word| word.text.as_str()));
    let commands: Vec<Command> = script
        .commands
        .iter()
        .map(|command| Command { words: apart(&command.words), ..command.clone() })
        .collect();
    let counts: Vec<usize> = commands.iter().map(|command| count(&command.words)).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    if most >= FEWEST {
        // The last of several: earlier ones are often trials.
        let index = counts.iter().rposition(|count| *count == most)?;
        let rivals =
            counts.iter().enumerate().filter(|(i, c)| *i != index && **c * 2 > most && **c >= FEWEST).count();
        if rivals > 0 {
            let (said, line) = (commands[index].words.first()?.text.clone(), commands[index].line);
            draft.remark(
                RemarkKind::Conflict,
                &said,
                Some(line),
                format!("{} commands start Megatron-LM; this one is read", rivals + 1),
            );
        }
        return commands.into_iter().nth(index);
    }
    let (name, words) = script
        .variables
        .iter()
        .map(|(name, words)| (name, apart(words)))
        .max_by_key(|(_, words)| count(words))?;
    if count(&words) < FEWEST {
        return None;
    }
    let line = words.first().map_or(1, |word| word.line);
    draft.remark(
        RemarkKind::Assumed,
        &format!("${name}"),
        Some(line),
        "is taken for the command, as nothing in this file starts it",
    );
    Some(Command { words, line })
}

/// Words that hold several, such as `"--fp8-format hybrid"` in an array, taken apart as the unquoted array would be.
fn apart(words: &[Word]) -> Vec<Word> {
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        if word.text.trim_start().starts_with("--") && word.text.trim().contains(char::is_whitespace) {
            let parts = word.text.split_whitespace().map(|part| {
                let unknown =
                    word.unknown.iter().filter(|name| part.contains(name.as_str())).cloned().collect();
                Word { text: part.trim_matches(['\'', '"']).to_owned(), line: word.line, unknown }
            });
            out.extend(parts);
        } else {
            out.push(word.clone());
        }
    }
    out
}
