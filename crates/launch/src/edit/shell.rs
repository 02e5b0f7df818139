//! Edits that may change one flag of a shell script.
//!
//! Responsible for: proposing texts. A value is changed at its origin, an assignment, an array or the
//! command; a switch at its variable or its word. A new flag is placed next to a related one, in the layout
//! of the surrounding lines. Does not verify: reading a proposal shows whether it changes the intended flag
//! alone.

use super::language::{Settings, Splice, Target};
use crate::megatron::flags::{self, Takes};

/// Changes after which a text may contain the flag with its target value.
pub(super) fn candidates(text: &str, target: &Target, now: &Settings) -> Vec<Splice> {
    let (name, wanted) = target;
    match (now.get(name), wanted) {
        (Some(old), Some(new)) => replaced(text, name, old, new),
        (Some(old), None) => removed(text, name, old),
        (None, Some(new)) => {
            // A flag without a resolved value has its place already.
            let mut all = in_command(text, name, 1, new);
            all.extend(added(text, name, new, now));
            all
        }
        (None, None) => Vec::new(),
    }
}

/// Position of a flag in a text: from its first dash to after its last character.
#[derive(Clone, Copy, Debug)]
struct Spot {
    from: usize,
    to: usize,
}

/// Every position of a flag, comments included.
fn places(text: &str, name: &str) -> Vec<Spot> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut spots = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find("--")) {
        let from = at + found;
        let to = text[from..].find(|c| !is_part(c)).map_or(text.len(), |length| from + length);
        at = to.max(from + 2);
        let is_start = !text[..from].ends_with(is_part);
        if is_start && flags::of_script(&text[from..to]).is_some_and(|flag| flag.name == name) {
            spots.push(Spot { from, to });
        }
    }
    spots
}

/// The end of the values of a flag: a number of words, or the one after `=`.
fn end_of_values(text: &str, spot: Spot, words: usize) -> usize {
    if text[spot.to..].starts_with('=') {
        return end_of_word(text, spot.to + 1);
    }
    let mut end = spot.to;
    for _ in 0..words {
        let start = skip_blanks(text, end);
        let next = end_of_word(text, start);
        if next == start {
            break;
        }
        end = next;
    }
    end
}

fn skip_blanks(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        if let Some(length) =
            ["\\\n", "\\\r\n"].iter().find(|end| rest.starts_with(**end)).map(|end| end.len())
        {
            at += length;
        } else if let Some(c) = rest.chars().next().filter(|c| c.is_whitespace()) {
            at += c.len_utf8();
        } else {
            return at;
        }
    }
}

/// The end of a word of shell text: quotes and expansions keep it together, and a quote opened before the
/// word ends it.
fn end_of_word(text: &str, from: usize) -> usize {
    let quote = text[from..].chars().next().filter(|c| matches!(c, '"' | '\''));
    if let Some(quote) = quote {
        return text[from + 1..].find(quote).map_or(text.len(), |length| from + 1 + length + 1);
    }
    let mut depth = 0_usize;
    for (at, c) in text[from..].char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' if depth > 0 => depth -= 1,
            ')' | '}' | '"' | '\'' | ';' | '|' | '&' | '\\' if depth == 0 => return from + at,
            c if c.is_whitespace() && depth == 0 => return from + at,
            _ => {}
        }
    }
    text.len()
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length)
}

/// Tests whether a position is on a line that starts with `#`.
fn is_comment(text: &str, at: usize) -> bool {
    text[line_start(text, at)..].trim_start().starts_with('#')
}

/// Replaces a value.
fn replaced(text: &str, name: &str, old: &[String], new: &[String]) -> Vec<Splice> {
    let spots = places(text, name);
    let mut out = Vec::new();
    if let ([old], [new]) = (old, new) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let lines: Vec<usize> = spots.iter().map(|spot| line_start(text, spot.from)).collect();
        let mut found: Vec<(bool, usize)> = Vec::new();
        if !old.is_empty() {
            for (at, _) in text.match_indices(old.as_str()) {
                let whole = !text[..at].ends_with(is_part) && !text[at + old.len()..].starts_with(is_part);
                // A comment decides no flag, and a scheduler's directive is the size of the job.
                if whole && !is_comment(text, at) {
                    found.push((!lines.contains(&line_start(text, at)), at));
                }
            }
        }
        found.sort_unstable();
        out.extend(found.into_iter().map(|(_, at)| Splice::new(at, at + old.len(), new)));
    }
    // The value in the command itself: it is computed, or its variable serves other flags as well.
    out.extend(in_command(text, name, old.len(), new));
    out
}

/// Replaces the values after a flag, at each of its places except in comments.
fn in_command(text: &str, name: &str, words: usize, new: &[String]) -> Vec<Splice> {
    if flags::by_name(name).is_none_or(|flag| matches!(flag.takes, Takes::On | Takes::Off)) {
        return Vec::new();
    }
    let is_code = |spot: &Spot| !is_comment(text, spot.from);
    let mut out = Vec::new();
    for spot in places(text, name).into_iter().filter(is_code) {
        for values in written(new) {
            let end = end_of_values(text, spot, words);
            let sign = if text[spot.to..].starts_with('=') { "=" } else { " " };
            out.push(Splice::new(spot.to, end, format!("{sign}{values}")));
        }
    }
    out
}

/// Removes a flag, with its line if that contains nothing else.
fn removed(text: &str, name: &str, old: &[String]) -> Vec<Splice> {
    let flag = flags::by_name(name);
    let is_switch = flag.is_some_and(|flag| matches!(flag.takes, Takes::On | Takes::Off));
    let mut out = if is_switch { toggled(text) } else { Vec::new() };
    for spot in places(text, name) {
        let end = if is_switch { spot.to } else { end_of_values(text, spot, old.len()) };
        out.push(without(text, spot.from, end));
    }
    out
}

/// Removes part of a line and tidies up its surroundings.
fn without(text: &str, from: usize, to: usize) -> Splice {
    let (mut from, mut to) = (from, to);
    let quote = |c: Option<char>| c.filter(|c| matches!(c, '"' | '\''));
    if let (Some(a), Some(b)) = (quote(text[..from].chars().next_back()), quote(text[to..].chars().next()))
        && a == b
    {
        (from, to) = (from - 1, to + 1);
    }
    let (start, end) = (line_start(text, from), line_end(text, to));
    let (head, tail) = (&text[start..from], &text[to..end]);
    let (bare, continues) = match tail.trim_end().strip_suffix('\\') {
        Some(bare) => (bare, true),
        None => (tail, false),
    };
    if !head.trim().is_empty() || !bare.trim().is_empty() {
        // Preceding spaces are removed with it; following ones stay, unless nothing precedes.
        if head.trim().is_empty() {
            to += bare.len() - bare.trim_start().len();
        } else {
            from -= head.len() - head.trim_end().len();
        }
        return Splice::new(from, to, "");
    }
    let next = (end + 1).min(text.len());
    let before = &text[..start];
    if !continues && let Some(open) = before.trim_end_matches(['\n', '\r']).strip_suffix('\\') {
        // It was the last line of a command, so the preceding line becomes the last.
        return Splice::new(open.trim_end().len(), next, "\n");
    }
    Splice::new(start, next, "")
}

/// A new flag: through a variable that enables it, else next to a related flag.
fn added(text: &str, name: &str, new: &[String], now: &Settings) -> Vec<Splice> {
    let Some(flag) = flags::by_name(name) else { return Vec::new() };
    let is_switch = matches!(flag.takes, Takes::On | Takes::Off);
    let mut out = if is_switch { toggled(text) } else { Vec::new() };
    let spelling = flag.spelling();
    let words: Vec<String> = if is_switch {
        vec![spelling]
    } else {
        written(new).into_iter().map(|values| format!("{spelling} {values}")).collect()
    };
    for anchor in anchors(name, now) {
        let values = flags::by_name(&anchor).map_or(0, |flag| match flag.takes {
            Takes::On | Takes::Off => 0,
            _ => now.get(&anchor).map_or(0, Vec::len),
        });
        for spot in places(text, &anchor) {
            let end = end_of_values(text, spot, values);
            for word in &words {
                out.push(beside(text, spot.from, end, word));
                out.push(Splice::new(end, end, format!(" {word}")));
            }
        }
    }
    out
}

/// Adds a flag next to a given part: on a separate line if that part has one.
fn beside(text: &str, from: usize, to: usize, word: &str) -> Splice {
    let (start, end) = (line_start(text, from), line_end(text, to));
    let (head, tail) = (&text[start..from], &text[to..end]);
    let (bare, continues) = match tail.trim_end().strip_suffix('\\') {
        Some(bare) => (bare, true),
        None => (tail, false),
    };
    let is_alone = head.trim().is_empty() && (bare.trim().is_empty() || bare.trim_start().starts_with('#'));
    if !is_alone || text[from..to].contains('\n') {
        return Splice::new(to, to, format!(" {word}"));
    }
    if continues {
        return Splice::new(end, end, format!("\n{head}{word} \\"));
    }
    if text[..start].trim_end_matches(['\n', '\r']).ends_with('\\') {
        return Splice::new(start, start, format!("{head}{word} \\\n"));
    }
    Splice::new(end, end, format!("\n{head}{word}"))
}

/// Values as words of a shell: plain if safe, else in quotes; without quotes inside a string.
fn written(values: &[String]) -> Vec<String> {
    let is_plain = |text: &String| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c))
    };
    let bare = values.join(" ");
    if values.iter().all(is_plain) {
        return vec![bare];
    }
    let quoted: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
    vec![quoted.join(" "), bare]
}

/// Words that turn a variable on or off.
const SWITCHES: &[(&str, &str)] = &[
    ("true", "false"),
    ("True", "False"),
    ("1", "0"),
    ("on", "off"),
    ("yes", "no"),
    ("ON", "OFF"),
    ("YES", "NO"),
];

/// Turns each variable over.
fn toggled(text: &str) -> Vec<Splice> {
    let mut out = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let assigned = line.trim_start().trim_start_matches("export ").split_once('=');
        if let Some((name, rest)) = assigned
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            // `SP=true`, `SP="true"`, `SP=${SP:-true}`.
            let at = start + (line.len() - rest.len());
            let value = rest.split_whitespace().next().unwrap_or_default();
            let bare = value.rsplit(['-', '=']).next().unwrap_or(value).trim_matches(['"', '\'', '}']);
            let other = SWITCHES.iter().find_map(|(on, off)| match bare {
                _ if bare == *on => Some(*off),
                _ if bare == *off => Some(*on),
                _ => None,
            });
            if let (Some(other), Some(found)) = (other, value.rfind(bare)) {
                out.push(Splice::new(at + found, at + found + bare.len(), other));
            }
        }
        start += line.len();
    }
    out
}

/// Related flags of the script for the position of a new flag, nearest in meaning first.
fn anchors(name: &str, now: &Settings) -> Vec<String> {
    const GROUPS: &[(&[&str], &[&str])] = &[
        (&["virtual", "pipeline", "decoder_"], &["pipeline_model_parallel_size"]),
        (&["sequence_parallel", "tp_comm"], &["tensor_model_parallel_size"]),
        (&["cp_comm", "context"], &["context_parallel_size", "pipeline_model_parallel_size"]),
        (&["expert", "moe"], &["expert_model_parallel_size", "num_experts"]),
        (
            &["recompute", "checkpoint"],
            &["recompute_granularity", "recompute_modules", "recompute_activations", "micro_batch_size"],
        ),
        (
            &["optimizer", "fsdp", "sharding", "overlap", "offload", "exp_avg", "main_params"],
            &["use_distributed_optimizer", "overlap_grad_reduce", "use_megatron_fsdp", "optimizer"],
        ),
        (&["bf16", "fp8", "fp4", "grad", "attention"], &["bf16", "fp16", "fp8"]),
    ];
    const USUAL: &[&str] = &[
        "pipeline_model_parallel_size",
        "tensor_model_parallel_size",
        "use_distributed_optimizer",
        "micro_batch_size",
        "global_batch_size",
        "bf16",
        "seq_length",
        "num_layers",
    ];
    let groups = GROUPS.iter().filter(|(parts, _)| parts.iter().any(|part| name.contains(part)));
    let near = groups.flat_map(|(_, anchors)| anchors.iter().copied());
    let mut out: Vec<String> = Vec::new();
    for anchor in near.chain(USUAL.iter().copied()) {
        if anchor != name && now.contains_key(anchor) && !out.iter().any(|known| known == anchor) {
            out.push(anchor.to_owned());
        }
    }
    out
}
