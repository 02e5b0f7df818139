//! OmegaConf's `${...}` inside one file.
//!
//! Responsible for: references to other keys (`${a.b}`, `${.sibling}`) and the arithmetic of NeMo's launcher
//! (`${multiply:a,b}`) and NeMo-RL (`${mul:a,b}`). A reference outside the file (environment, other files,
//! code) stays open.

use super::{Data, Document, Spot};
use std::collections::BTreeMap;

/// Limits of text length and reference depth.
const LONGEST: usize = 4096;
const STEPS: usize = 32;

/// Resolves all references. Unresolved ones are open and reported: key, text, place, reason.
pub(crate) fn interpolate(document: &mut Document) -> Vec<(String, String, Spot, String)> {
    let mut keys = BTreeMap::new();
    for (index, entry) in document.entries.iter().enumerate() {
        keys.insert(entry.path.clone(), index);
    }
    let mut work = Work { document, keys, state: Vec::new() };
    work.state = vec![State::New; work.document.entries.len()];
    let mut open = Vec::new();
    for index in 0..work.document.entries.len() {
        let entry = &work.document.entries[index];
        let Data::Text(text) = &entry.data else { continue };
        let (path, text, spot) = (entry.path.clone(), text.clone(), entry.spot);
        if !text.contains("${") {
            continue;
        }
        if let Err(why) = work.entry(index, 0) {
            work.document.entries[index].data = Data::Null;
            open.push((path, text, spot, why));
        }
    }
    open
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    New,
    Busy,
    Done,
    Failed(String),
}

struct Work<'d> {
    document: &'d mut Document,
    keys: BTreeMap<String, usize>,
    state: Vec<State>,
}

impl Work<'_> {
    fn entry(&mut self, index: usize, steps: usize) -> Result<Data, String> {
        match &self.state[index] {
            State::Done => return Ok(self.document.entries[index].data.clone()),
            State::Busy => return Err("refers to itself".to_owned()),
            State::Failed(why) => return Err(why.clone()),
            State::New => {}
        }
        if steps > STEPS {
            return Err(format!("exceeds {STEPS} levels of references"));
        }
        self.state[index] = State::Busy;
        let entry = &self.document.entries[index];
        let (path, data) = (entry.path.clone(), entry.data.clone());
        let resolved = match data {
            Data::Text(text) if text.contains("${") => self.text(&text, &path, steps),
            data => Ok(data),
        };
        self.state[index] = match &resolved {
            Ok(data) => {
                self.document.entries[index].data = data.clone();
                State::Done
            }
            Err(why) => State::Failed(why.clone()),
        };
        resolved
    }

    /// A text with references; a single reference keeps the type of its target.
    fn text(&mut self, text: &str, path: &str, steps: usize) -> Result<Data, String> {
        if text.len() > LONGEST {
            return Err(format!("longer than {LONGEST} bytes"));
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let inner = rest.get(start + 2..).unwrap_or_default();
            let end = closing(inner).ok_or("`${` is not closed")?;
            let data = self.reference(&inner[..end], path, steps + 1)?;
            if start == 0 && out.is_empty() && end + 1 == inner.len() {
                return Ok(data);
            }
            out.push_str(&rest[..start]);
            match &data {
                Data::Text(text) => out.push_str(text),
                data => out.push_str(&data.plain()),
            }
            if out.len() > LONGEST {
                return Err(format!("grows beyond {LONGEST} bytes"));
            }
            rest = &inner[end + 1..];
        }
        out.push_str(rest);
        Ok(Data::Text(out))
    }

    /// Value of the text between `${` and `}`.
    fn reference(&mut self, inner: &str, path: &str, steps: usize) -> Result<Data, String> {
        if steps > STEPS {
            return Err(format!("exceeds {STEPS} levels of references"));
        }
        if let Some((name, arguments)) = inner.split_once(':') {
            return self.arithmetic(name.trim(), arguments, path, steps);
        }
        let inner = inner.trim();
        let dots = inner.len() - inner.trim_start_matches('.').len();
        let target = if dots == 0 {
            inner.to_owned()
        } else {
            let mut parent = path;
            for _ in 0..dots {
                parent = parent.rsplit_once('.').map_or("", |(above, _)| above);
            }
            let name = &inner[dots..];
            if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
        };
        match self.keys.get(&target) {
            Some(&index) => self.entry(index, steps),
            None if target.bytes().all(|b| b.is_ascii_digit()) => {
                Err(format!("`${target}` is an argument of the script: pass it with `--launch-args`"))
            }
            None => Err(format!("`{}` is not in this file", railwright_spec::human::shorten(&target))),
        }
    }

    fn arithmetic(&mut self, name: &str, arguments: &str, path: &str, steps: usize) -> Result<Data, String> {
        if !matches!(name, "multiply" | "mul" | "add" | "divide_ceil" | "divide_floor") {
            return Err("refers to another file".to_owned());
        }
        let mut numbers = Vec::new();
        for argument in split(arguments) {
            let data = match self.text(argument.trim(), path, steps)? {
                Data::Text(word) => Data::of_word(&word),
                data => data,
            };
            let Data::Integer(n) = data else {
                return Err(format!("`{name}` takes whole numbers, found {}", data.shown()));
            };
            numbers.push(n);
        }
        let result = match (name, numbers.as_slice()) {
            ("multiply" | "mul", [_, ..]) => numbers.iter().try_fold(1_i64, |a, &b| a.checked_mul(b)),
            ("add", [_, ..]) => numbers.iter().try_fold(0_i64, |a, &b| a.checked_add(b)),
            ("divide_ceil", &[a, b]) if a >= 0 && b > 0 => a.checked_add(b - 1).map(|sum| sum / b),
            ("divide_floor", &[a, b]) if a >= 0 && b > 0 => Some(a / b),
            _ => None,
        };
        result.map(Data::Integer).ok_or_else(|| format!("`{name}` of these numbers has no result"))
    }
}

/// Offset of the brace that closes an opened `${`.
pub(crate) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Arguments between commas, except for commas inside braces.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
