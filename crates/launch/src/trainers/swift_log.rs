//! Logs of ms-swift: the arguments that it prints, with all its own defaults, and the ranks of its launcher.
//!
//! Responsible for: the block `args: SftArguments(` with one `name=value,` per line. Times of steps are read
//! elsewhere (`profile`).

use super::command::Keys;
use super::common::put;
use super::keys;
use crate::document::{self, Data, Document, Entry, Spot};
use railwright_spec::problem::Problem;

/// Lines that the block may have; the arguments of 2026 are 300.
const LONGEST: usize = 2000;

/// Arguments of the launcher and of other jobs with names of a trainer's keys.
const APART: [&str; 4] = ["load_in_8bit", "load_in_4bit", "device_map", "max_memory"];

/// The line after which the arguments follow.
fn start(text: &str) -> Option<usize> {
    text.lines().position(|line| {
        line.split_once("args: ").is_some_and(|(_, class)| {
            let class = class.trim_end();
            class.ends_with("Arguments(") && class.chars().all(|c| c.is_ascii_alphanumeric() || c == '(')
        })
    })
}

pub(super) fn is_one(text: &str) -> bool {
    text.contains("Arguments(") && text.contains("swift") && start(text).is_some()
}

/// The keys of the block. Unset arguments are left out, and so are names that no reader knows: most are at
/// their defaults.
pub(super) fn parse(text: &str, file: &str) -> Result<Keys, Problem> {
    let Some(start) = start(text) else {
        return Err(Problem::new("this log has no arguments of ms-swift").in_file(file));
    };
    let mut document = Document::default();
    let lines = text.lines().enumerate().skip(start + 1).take(LONGEST);
    for (index, line) in lines.take_while(|(_, line)| line.trim() != ")") {
        let Some((name, value)) = line.trim().trim_end_matches(',').split_once('=') else { continue };
        let is_off = matches!(value, "None" | "[]" | "{}" | "");
        let root_is_known = keys::is_known(name) || matches!(name, "fsdp_config" | "deepspeed");
        if is_off || !root_is_known || APART.contains(&name) {
            continue;
        }
        add(name, value, index + 1, &mut document);
    }
    ranks(text, &mut document);
    Ok(Keys { document, ..Default::default() })
}

/// One argument. Python's tables and lists are YAML in one line.
fn add(name: &str, value: &str, line: usize, document: &mut Document) {
    if !value.starts_with(['{', '[']) {
        return put(document, name, Data::of_word(value.trim_matches(['\'', '"'])), line);
    }
    let Ok(read) = document::yaml(&format!("{name}: {value}\n"), "") else { return };
    for entry in read.entries {
        let path = match entry.path.split_once('.') {
            // The names of Transformers' file, which has them with a prefix or without.
            Some(("fsdp_config", inner)) => {
                format!("fsdp_config.fsdp_{}", inner.strip_prefix("fsdp_").unwrap_or(inner))
            }
            Some(("deepspeed", inner)) => format!("deepspeed_file.{inner}"),
            _ => entry.path.clone(),
        };
        let data = match &entry.data {
            Data::Text(text) if text == "True" => Data::Flag(true),
            Data::Text(text) if text == "False" => Data::Flag(false),
            data => data.clone(),
        };
        document.entries.push(Entry::new(path, data, Spot { line, column: 0 }));
    }
}

/// `rank: 0, local_rank: 0, world_size: 8, local_world_size: 8`; -1 stands for one process without a
/// launcher.
fn ranks(text: &str, document: &mut Document) {
    let number = |line: &str, name: &str| -> Option<u64> {
        let rest = line.split_once(&format!(", {name}: "))?.1;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest.get(..end)?.parse().ok().filter(|n| *n > 0)
    };
    let found = text.lines().enumerate().find_map(|(index, line)| {
        Some((index + 1, number(line, "world_size")?, number(line, "local_world_size")?))
    });
    if let Some((line, all, each)) = found.filter(|(_, all, each)| all.is_multiple_of(*each)) {
        let counts = [("NPROC_PER_NODE", each), ("NNODES", all / each)];
        for (name, count) in counts {
            put(document, name, Data::Integer(i64::try_from(count).unwrap_or(i64::MAX)), line);
        }
    }
}
