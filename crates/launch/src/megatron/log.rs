//! Logs of Megatron-LM runs: the dump of all arguments, and the time of each iteration.
//!
//! Responsible for: finding the dump among lines of other ranks, prefixes and restarts, and the padded
//! vocabulary that follows it. Incomplete lines are skipped: only `name .... value` is read.

use super::arguments::{self, Argument, Arguments};
use super::dialect::Stated;
use super::iterations::begins_dump;
use super::vocabulary::has_own_rows;
use super::world::World;
use super::{flags, iterations, partial};
use crate::gptneox::{self, dump};
use crate::shell::Word;
use crate::{Context, Draft, Evidence, Format, Launch, Reader, RemarkKind, Strength, effects};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// Lines that a dump may take.
const LONGEST_DUMP: usize = 6000;

/// Reads logs.
#[derive(Debug)]
pub struct LogReader;

impl Reader for LogReader {
    fn format(&self) -> Format {
        Format::MegatronLog
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        if text.lines().any(begins_dump) {
            Some(Evidence::new(Strength::Certain, "a dump of arguments between lines of dashes"))
        } else if text.contains(iterations::MARK) {
            Some(Evidence::new(Strength::Likely, format!("lines with `{}`", iterations::MARK)))
        } else {
            None
        }
    }

    fn read_with(&self, text: &str, file: &str, _: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let mut draft = Draft::new(Format::MegatronLog, file);
        let dumps = dumps(text);
        let since = restarts(&dumps, &mut draft);
        let measured = iterations::read(text, since);
        if measured.is_none() && iterations::read(text, 0).is_some() {
            let message = "no iterations after the last start, and earlier starts had different arguments: no \
                comparison";
            draft.remark(RemarkKind::Assumed, "arguments", Some(since), message);
        }
        if let Some(last) = dumps.last().filter(|last| dump::is_one(last.iter().map(|entry| entry.value))) {
            let document = dump::document(last.iter().map(|entry| (entry.name, entry.value, entry.line)));
            return gptneox::read_document(document, text, file, measured.map(|measured| measured.report));
        }
        let mut arguments = match dumps.last() {
            Some(last) => arguments_of(last, &mut draft),
            None => command_line(text, &mut draft),
        };
        if let Some((first, missing)) = dumps.last().and_then(|last| Some((last.first()?, missing(last)?))) {
            let why = format!("every version prints `{missing}`, which is not in this dump");
            arguments.hide("arguments", Some(first.line), &why);
        }
        if arguments.is_empty() {
            let problem = Problem::new("this log contains neither the dump of arguments nor a command line");
            draft.problem(problem.hint("pass the log from its start, or the script of the run"));
            return draft.finish();
        }
        let world = world(text);
        partial::fill(&arguments, &world, &Stated::default(), &mut draft);
        vocabulary(text, &arguments, &mut draft);
        if let Some(mut measured) = measured {
            let spec = draft.spec();
            let batch = measured.batch.or(spec.plan.global_batch);
            let tokens =
                batch.zip(spec.plan.sequence_length).map(|(batch, length)| batch as f64 * length as f64);
            measured.report.tokens_per_step = tokens;
            if let (Some(batch), Some(source)) = (measured.batch, spec.plan.global_batch)
                && batch != source
            {
                let message = format!("but the last iterations have {batch}, which is used");
                draft.remark(RemarkKind::Conflict, &format!("global_batch_size {source}"), None, message);
                draft.set("plan.global_batch", &batch, &format!("global batch size: {batch}"), measured.line);
            }
            draft.measured(measured.report);
        }
        draft.finish()
    }
}

/// Tests whether a text is a log.
pub(crate) fn is_log(text: &str) -> bool {
    // Comments of scripts quote lines of logs.
    let is_quoted = |line: &str| line.trim_start().starts_with('#');
    let has_steps = text.contains(iterations::MARK)
        && text.lines().any(|line| line.contains(iterations::MARK) && !is_quoted(line));
    has_steps || text.lines().any(|line| begins_dump(line) && !is_quoted(line))
}

/// One line of a dump.
struct Entry<'a> {
    name: &'a str,
    value: &'a str,
    line: usize,
}

/// Every dump of a log, an entry for each line that is one.
fn dumps(text: &str) -> Vec<Vec<Entry<'_>>> {
    let mut dumps: Vec<Vec<Entry<'_>>> = Vec::new();
    let mut room = 0;
    for (index, line) in text.lines().enumerate() {
        if begins_dump(line) {
            dumps.push(Vec::new());
            room = LONGEST_DUMP;
        } else if line.contains("end of arguments") || line.contains(iterations::MARK) {
            room = 0;
        } else if room > 0
            && let Some(dump) = dumps.last_mut()
        {
            room -= 1;
            dump.extend(entry(line).map(|(name, value)| Entry { name, value, line: index + 1 }));
        }
    }
    dumps.retain(|dump| dump.len() > 5);
    dumps
}

/// ` name ....... value`, after any prefix.
fn entry(line: &str) -> Option<(&str, &str)> {
    let dots = line.find(" ..").or_else(|| line.find(" . "))?;
    let name = line[..dots].split_whitespace().last()?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic());
    let value = line[dots..].trim_start().trim_start_matches('.');
    (is_name && (value.is_empty() || value.starts_with(' '))).then_some((name, value.trim()))
}

fn arguments_of(dump: &[Entry<'_>], draft: &mut Draft) -> Arguments {
    let mut arguments = Arguments::default();
    let mut unknown: Vec<&Entry<'_>> = Vec::new();
    for entry in dump {
        let Some(flag) = flags::by_name(entry.name) else {
            let is_off = matches!(
                entry.value,
                "None" | "False" | "0" | "0.0" | "[]" | "" | "none" | "-1" | "1" | "1.0"
            );
            if !is_off && !OTHER_PROGRAMS.iter().any(|start| entry.name.starts_with(start)) {
                unknown.push(entry);
            }
            continue;
        };
        let values = match entry.value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(list) if flag.takes == flags::Takes::Many => list
                .split(',')
                .map(|item| item.trim().trim_matches(['\'', '"']).to_owned())
                .filter(|v| !v.is_empty())
                .collect(),
            _ => vec![entry.value.to_owned()],
        };
        let source = format!("{} {}", entry.name, entry.value);
        arguments.insert(flag.name, Argument { values, source, line: Some(entry.line) }, draft);
    }
    if let Some(first) = unknown.first() {
        // Of a fork or of a different version: names with a known meaning come first.
        let (mut shown, others): (Vec<&Entry<'_>>, Vec<&Entry<'_>>) =
            unknown.iter().copied().partition(|entry| effects::named(entry.name));
        shown.extend(others);
        let list: Vec<String> = shown
            .iter()
            .take(SHOWN)
            .map(|entry| format!("`{} {}`", entry.name, shorten(entry.value)))
            .collect();
        let more = shown.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!(
            "unread arguments of the dump: {}{more}; check that none changes time or memory",
            list.join(", ")
        );
        draft.remark(RemarkKind::Unknown, first.name, Some(first.line), message);
    }
    arguments
}

/// Beginnings of Megatron-LM's arguments for its programs that train no causal language model, and of those
/// for its loggers.
const OTHER_PROGRAMS: &[&str] = &[
    "bert_",
    "biencoder_",
    "ict_",
    "dino_",
    "swin_",
    "vision_",
    "retro_",
    "indexer_",
    "mask_",
    "query_in_",
    "inference_",
    "one_logger_",
    "iter_per_epoch",
    "dist_ckpt_format",
    "encoder_num_layers",
];

/// Unknown arguments that are shown with their values.
const SHOWN: usize = 16;

/// Fields that every version has printed since 2021 and that no flag of a run sets.
const PRINTED: [&str; 2] = ["rank", "world_size"];

/// A field that a whole dump would have; `None` for a whole one.
fn missing(dump: &[Entry<'_>]) -> Option<&'static str> {
    PRINTED.into_iter().find(|name| !dump.iter().any(|entry| entry.name == *name))
}

/// Handles several starts in one log: the last one's arguments apply. Returns the line after which iterations
/// ran with them: earlier ones have other settings.
fn restarts(dumps: &[Vec<Entry<'_>>], draft: &mut Draft) -> usize {
    // The duration of the run does not affect its steps.
    const LENGTHS: &[&str] = &["train_iters", "train_samples", "train_tokens"];
    let Some((last, before)) = dumps.split_last().filter(|(_, before)| !before.is_empty()) else { return 0 };
    let matters = |entry: &Entry<'_>| {
        flags::by_name(entry.name).is_some_and(|flag| flag.effect == flags::Effect::Mapped)
    };
    let values = |dump: &[Entry<'_>]| -> BTreeMap<String, String> {
        dump.iter()
            .filter(|entry| matters(entry))
            .map(|entry| (entry.name.to_owned(), entry.value.to_owned()))
            .collect()
    };
    let wanted = values(last);
    let differences = |dump: &[Entry<'_>]| -> Vec<String> {
        let other = values(dump);
        let differs = |name: &&String| other.get(*name).is_some_and(|value| Some(value) != wanted.get(*name));
        wanted.keys().filter(differs).cloned().collect()
    };
    let changes: Vec<Vec<String>> = before.iter().map(|dump| differences(dump)).collect();
    let measures_other = |names: &Vec<String>| names.iter().any(|name| !LENGTHS.contains(&name.as_str()));
    let first = changes.iter().rposition(measures_other).map_or(0, |index| index + 1);
    let mut changed: Vec<&str> = changes.iter().flatten().map(String::as_str).collect();
    changed.sort_unstable();
    changed.dedup();
    let count = dumps.len();
    let names = changed.iter().take(6).copied().collect::<Vec<_>>().join(", ");
    let message = match (changed.is_empty(), first) {
        (true, _) => format!("the log contains {count} starts with the same arguments"),
        (false, 0) => {
            format!(
                "the log contains {count} starts; the arguments of the last one are used; they differ in \
                {names}"
            )
        }
        (false, first) => format!(
            "the log contains {count} starts; the arguments of the last one are used; they differ in {names}, \
             so iterations of the first {first} are not compared"
        ),
    };
    draft.remark(RemarkKind::Assumed, "arguments", last.first().map(|entry| entry.line), message);
    if first == 0 { 0 } else { dumps.get(first).and_then(|dump| dump.first()).map_or(0, |entry| entry.line) }
}

/// The command that a launcher printed, for logs that lost their dump.
fn command_line(text: &str, draft: &mut Draft) -> Arguments {
    let words = |line: &str, number: usize| -> Vec<Word> {
        let word = |text: &str| Word { text: text.to_owned(), line: number, unknown: Vec::new() };
        line.split_whitespace().map(word).collect()
    };
    let found = text
        .lines()
        .enumerate()
        .find(|(_, line)| line.contains("--") && flags::count(line.split_whitespace()) > 4);
    match found {
        Some((index, line)) => {
            draft.remark(
                RemarkKind::Assumed,
                "arguments",
                Some(index + 1),
                "no dump of arguments: the command line is used",
            );
            arguments::of_words(&words(line, index + 1), arguments::Surroundings::default(), draft)
        }
        None => Arguments::default(),
    }
}

/// `using world size: 8, ...`, which precedes a dump.
fn world(text: &str) -> World {
    const MARK: &str = "using world size:";
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| line.contains(MARK)).collect();
    // Of several starts, the arguments of the last one apply.
    for (index, line) in lines.into_iter().rev() {
        let Some(at) = line.find(MARK) else { continue };
        let rest = line[at + MARK.len()..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if let Ok(ranks) = rest[..end].parse() {
            let source = format!("{MARK} {ranks}");
            return World { ranks: Some(ranks), per_node: None, source, line: Some(index + 1) };
        }
    }
    World::default()
}

/// `> padded vocab (size: 50257) with 47 dummy tokens (new size: 50304)`.
fn vocabulary(text: &str, arguments: &Arguments, draft: &mut Draft) {
    const MARK: &str = "padded vocab (size:";
    if arguments.get("vocab_size").is_some() && !has_own_rows(arguments) {
        return;
    }
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| line.contains(MARK)).collect();
    for (index, line) in lines.into_iter().rev() {
        let Some(at) = line.find(MARK) else { continue };
        let rest = line[at + MARK.len()..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if let Ok(rows) = rest[..end].parse::<u64>() {
            draft.set("model.vocab", &rows, &format!("{MARK} {rows})"), Some(index + 1));
            let given = arguments.origin("vocab_size").0;
            draft.forget(&["tokenizer_type", "tokenizer_model", "no --vocab-size", given.as_str()]);
            let multiple =
                arguments.count("make_vocab_size_divisible_by", draft).filter(|n| *n > 0).unwrap_or(128);
            let (source, line) = arguments.origin("make_vocab_size_divisible_by");
            draft.set("plan.vocabulary_multiple", &multiple, &source, line);
            return;
        }
    }
}
