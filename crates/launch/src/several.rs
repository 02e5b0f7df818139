//! Scripts with several commands that start a training run: one is read, and each of the others is another
//! run or an alternative to it.
//!
//! Responsible for: the commands that start a training run, and a remark that names the lines of all and the
//! one that is read.

use crate::launch::{Launch, Remark, RemarkKind};
use crate::shell::{Command, Script};
use crate::{megatron, started, trainers};
use std::collections::BTreeSet;

/// Parts of the names of programs that train nothing.
const OTHER: &[&str] = &[
    "eval",
    "infer",
    "generate",
    "generation",
    "export",
    "convert",
    "conversion",
    "decode",
    "checker",
    "merge",
    "preprocess",
    "prepare",
    "tokeniz",
    "serve",
    "chat",
    "test",
    "download",
    "predict",
    "sample",
    "api",
    "webui",
    "process",
    "report",
    "inspect",
    "monitor",
    "rollout",
    "format",
];

/// Adds the remark to the launch of a script.
pub(crate) fn note(launch: &mut Launch, script: &Script) {
    let commands = distinct(script);
    if commands.len() < 2 {
        return;
    }
    let origins: BTreeSet<(Option<String>, usize)> =
        launch.origins.iter().filter_map(|origin| Some((origin.file.clone(), origin.line?))).collect();
    let used = |command: &Command| {
        let lines: BTreeSet<usize> = command.words.iter().map(|word| word.line).collect();
        lines.into_iter().filter(|line| origins.contains(&script.sources.place(*line))).count()
    };
    // Of equal ones the last, as all readers take it.
    let Some(read) = commands.iter().max_by_key(|command| used(command)) else { return };
    let line = |command: &Command| script.sources.place(command.line).1;
    let lines: Vec<String> = commands.iter().map(|command| line(command).to_string()).collect();
    let Some((last, others)) = lines.split_last() else { return };
    let excluded: Vec<String> = commands
        .iter()
        .zip(&lines)
        .filter(|(command, _)| command.excludes(read))
        .map(|(_, line)| line.clone())
        .collect();
    let message = if others.iter().all(|line| line == last) && !excluded.is_empty() {
        format!(
            "line {last} has {} commands that start training, of which a condition selects one; the last is read",
            commands.len()
        )
    } else if others.iter().all(|line| line == last) {
        format!(
            "the command in line {last} runs {} times with different arguments; the last is read",
            commands.len()
        )
    } else {
        format!(
            "{} commands start training, in lines {} and {last}; the command in line {} is read; {}",
            commands.len(),
            others.join(", "),
            line(read),
            rest(&excluded, commands.len())
        )
    };
    let (file, at) = script.sources.place(read.line);
    let remark = Remark {
        kind: RemarkKind::Conflict,
        source: "this script".to_owned(),
        line: Some(at),
        message,
        file,
    };
    launch.remarks.push(remark);
    launch.remarks.sort_by_key(|remark| (remark.kind, remark.line));
}

/// What the commands are that are not read: alternatives in other branches of the same condition, at some
/// lines, or other runs.
fn rest(excluded: &[String], all: usize) -> String {
    if excluded.is_empty() {
        return "each of the others is a separate run".to_owned();
    }
    let lines = if excluded.len() == 1 { "line" } else { "lines" };
    let others = if excluded.len() + 1 < all { "; each of the others is a separate run" } else { "" };
    format!(
        "a condition selects this command or that in {lines} {}, so a run starts only one of them{others}",
        excluded.join(", ")
    )
}

/// The commands that start a training, without repetitions of the same words.
fn distinct(script: &Script) -> Vec<&Command> {
    let mut found: Vec<&Command> = Vec::new();
    for command in script.commands.iter().filter(|command| trains(command)) {
        let words = |command: &Command| shared(command);
        let own = words(command);
        if !found.iter().any(|other| words(other) == own) {
            found.push(command);
        }
    }
    found
}

/// The words of a command without the numbers of its rank: the ranks of one run start one by one.
fn shared(command: &Command) -> Vec<String> {
    const OF_RANK: [&str; 6] = ["rank", "local_rank", "node_rank", "cuda_id", "machine_rank", "global_rank"];
    let name = |text: &str| text.trim_start_matches('-').replace('-', "_");
    let is_of_rank = |text: &str| text.starts_with('-') && OF_RANK.contains(&name(text).as_str());
    let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    (0..words.len())
        .filter(|&at| !at.checked_sub(1).is_some_and(|before| is_of_rank(words[before])))
        .map(|at| match words[at].split_once('=') {
            Some((flag, _)) if is_of_rank(flag) => flag.to_owned(),
            _ => words[at].to_owned(),
        })
        .collect()
}

/// Tests whether a program's name has a word of one that trains nothing, and none of a training:
/// `latest_train.py` trains.
fn is_other(name: &str) -> bool {
    let has = |parts: &[&str]| {
        name.split(|c: char| !c.is_alphanumeric()).any(|word| parts.iter().any(|part| word.starts_with(part)))
    };
    // Converters have names such as `to_huggingface`.
    let is_converter = name.rsplit('.').next().is_some_and(|last| last.starts_with("to_"));
    has(&["tokeniz"]) || ((has(OTHER) || is_converter) && !has(&["train", "pretrain", "finetune", "sft"]))
}

/// Tests whether a command starts a training.
fn trains(command: &Command) -> bool {
    let words = &command.words;
    // A line that begins with a flag is a pasted continuation, not another command.
    if words.first().is_none_or(|word| word.text.starts_with('-')) {
        return false;
    }
    let name = started::program(command).map(str::to_ascii_lowercase);
    if name.as_ref().is_some_and(|name| is_other(name)) {
        return false;
    }
    trainers::starts(words) || megatron::starts(words) || started::trains(command)
}
