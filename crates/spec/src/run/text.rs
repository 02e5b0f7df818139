//! From TOML text to keys and values with their places.
//!
//! Responsible for: strictness. Unknown keys, a table instead of a value, and values of an unsupported type
//! are errors. An error has the line, the column, the line's text and the nearest valid key. Independent of
//! the meaning of keys.

use super::section::Key;
use super::value::{Kind, Value};
use crate::problem::{Problem, nearest};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key that was set, with its value and place in the text.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) value: Value,
    pub(crate) span: Range<usize>,
}

/// Longest run file in bytes.
const LONGEST: usize = 1 << 20;

/// Aliases of keys, from frameworks and common usage.
const ALIASES: &[(&str, &str)] = &[
    ("plan.tp", "plan.tensor_parallel"),
    ("plan.pp", "plan.pipeline_parallel"),
    ("plan.dp", "plan.data_parallel"),
    ("plan.cp", "plan.context_parallel"),
    ("plan.ep", "plan.expert_parallel"),
    ("plan.etp", "plan.expert_tensor_parallel"),
    ("plan.vp", "plan.virtual_stages"),
    ("plan.vpp", "plan.virtual_stages"),
    ("plan.sp", "plan.sequence_parallel"),
    ("plan.mbs", "plan.micro_batch"),
    ("plan.gbs", "plan.global_batch"),
    ("plan.seq", "plan.sequence_length"),
    ("plan.zero", "plan.sharding"),
    ("plan.uneven", "plan.uneven_stages"),
    ("plan.framework", "plan.software"),
    ("plan.gradient_accumulation_steps", "plan.micro_batches"),
    ("plan.tensor_model_parallel_size", "plan.tensor_parallel"),
    ("plan.pipeline_model_parallel_size", "plan.pipeline_parallel"),
    ("plan.context_parallel_size", "plan.context_parallel"),
    ("plan.expert_model_parallel_size", "plan.expert_parallel"),
    ("plan.expert_tensor_parallel_size", "plan.expert_tensor_parallel"),
    ("plan.seq_length", "plan.sequence_length"),
    ("plan.sequence", "plan.sequence_length"),
    ("plan.micro_batch_size", "plan.micro_batch"),
    ("plan.global_batch_size", "plan.global_batch"),
    ("plan.precision", "plan.precision.preset"),
    ("cluster.based_on", "cluster.preset"),
    ("cluster.gpus", "cluster.devices"),
    ("cluster.num_gpus", "cluster.devices"),
    ("cluster.gpu", "cluster.accelerator"),
    ("cluster.gpus_per_node", "cluster.devices_per_node"),
    ("model.hidden_size", "model.hidden"),
    ("model.num_layers", "model.layers"),
    ("model.num_hidden_layers", "model.layers"),
    ("model.num_attention_heads", "model.heads"),
    ("model.num_key_value_heads", "model.kv_heads"),
    ("model.intermediate_size", "model.ffn"),
    ("model.ffn_hidden_size", "model.ffn"),
    ("model.vocab_size", "model.vocab"),
    ("model.vocabulary", "model.vocab"),
    ("model.num_experts", "model.experts"),
    ("model", "model.name"),
    ("cluster", "cluster.preset"),
];

/// Keys that may be set.
pub(crate) struct Keys<'a>(pub(crate) Vec<&'a [Key]>);

impl Keys<'_> {
    /// Key of a dotted path; `None` if unknown.
    pub(crate) fn find(&self, path: &str) -> Option<&Key> {
        let (section, name) = path.split_once('.')?;
        self.0.iter().flat_map(|keys| keys.iter()).find(|key| key.section == section && key.name == name)
    }

    /// Canonical path of a path that may be an alias.
    pub(crate) fn real<'p>(&self, path: &'p str) -> &'p str {
        ALIASES
            .iter()
            .find(|(alias, real)| *alias == path && self.find(real).is_some())
            .map_or(path, |(_, real)| real)
    }

    fn paths(&self) -> Vec<String> {
        self.0.iter().flat_map(|keys| keys.iter().map(Key::path)).collect()
    }

    fn is_group(&self, path: &str) -> bool {
        self.paths().iter().any(|p| p.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    }

    /// Problem of an unknown key.
    pub(crate) fn unknown(&self, path: &str) -> Problem {
        let (parent, last) = path.rsplit_once('.').unwrap_or(("", path));
        let known = self.paths();
        let shown = crate::human::shorten(path);
        let problem = Problem::new(format!("unknown key `{shown}`")).at_key(shown.clone());
        let aliases = ALIASES.iter().filter(|(_, real)| self.find(real).is_some());
        let names = known.iter().map(|path| (path.as_str(), path.as_str())).chain(aliases.copied());
        let names: Vec<(&str, &str)> = names.collect();
        // Nearest key under the same parent, else the nearest of all.
        let prefix = if parent.is_empty() { String::new() } else { format!("{parent}.") };
        let under = names.iter().filter_map(|(name, _)| name.strip_prefix(&prefix)?.split('.').next());
        let mut beside: Vec<&str> = under.collect();
        beside.sort_unstable();
        beside.dedup();
        let near = nearest(last, beside.iter().copied());
        let ends: Vec<(&str, &str)> =
            names.iter().map(|(name, real)| (name.rsplit('.').next().unwrap_or(name), *real)).collect();
        let elsewhere = ends.iter().find(|(end, _)| *end == last).map(|(_, whole)| *whole).or_else(|| {
            let near_end = nearest(last, ends.iter().map(|e| e.0));
            near_end.first().and_then(|near| ends.iter().find(|e| e.0 == *near)).map(|e| e.1)
        });
        if let Some(name) = near.first() {
            let whole = if parent.is_empty() { (*name).to_owned() } else { format!("{parent}.{name}") };
            problem.hint(format!("did you mean `{whole}`?"))
        } else if let Some(whole) = elsewhere {
            problem.hint(format!("did you mean `{whole}`?"))
        } else if beside.is_empty() {
            problem.hint("`railwright keys` lists all keys")
        } else {
            problem.hint(format!(
                "valid here: {}",
                beside.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
            ))
        }
    }
}

/// Reads a text. `root` is the section of the text's top level; empty for a whole run file.
pub(crate) fn read(text: &str, file: &str, root: &str, keys: &Keys<'_>) -> Result<Vec<Entry>, Problem> {
    if text.len() > LONGEST {
        return Err(Problem::new("the file exceeds 1 MiB, the limit of run files").in_file(file));
    }
    let table = DeTable::parse(text).map_err(|error| {
        let problem = Problem::new(error.message().trim().replace('\n', ", ")).in_file(file);
        match error.span() {
            Some(span) => problem.at_offset(text, span.start),
            None => problem,
        }
    })?;
    let mut reader = Reader { keys, entries: Vec::new(), first: None };
    reader.table(table.get_ref(), root);
    let Reader { mut entries, first, .. } = reader;
    if let Some((offset, cause)) = first {
        return Err(cause.problem(keys).in_file(file).at_offset(text, offset));
    }
    entries.sort_by_key(|entry| entry.span.start);
    for pair in entries.windows(2) {
        // An alias and its key, such as `tp` and `tensor_parallel`, must not both be set.
        if let Some(twice) =
            entries.iter().find(|e| e.path == pair[1].path && e.span.start < pair[1].span.start)
        {
            let line = text[..twice.span.start].matches('\n').count() + 1;
            return Err(Problem::new(format!("set twice; first set in line {line}"))
                .at_key(&twice.path)
                .in_file(file)
                .at_offset(text, pair[1].span.start));
        }
    }
    Ok(entries)
}

/// Cause of a rejection.
enum Cause {
    /// An unknown key. The search for the nearest known one takes longest, so it is left to the first problem
    /// of the text: the file may have 100,000 of them.
    Unknown(String),
    Other(Problem),
}

impl Cause {
    fn problem(self, keys: &Keys<'_>) -> Problem {
        match self {
            Self::Unknown(path) => keys.unknown(&path),
            Self::Other(problem) => problem,
        }
    }
}

struct Reader<'a> {
    keys: &'a Keys<'a>,
    entries: Vec<Entry>,
    /// The first problem of the text and its offset.
    first: Option<(usize, Cause)>,
}

impl Reader<'_> {
    fn problem(&mut self, offset: usize, cause: Cause) {
        if self.first.as_ref().is_none_or(|(first, _)| offset < *first) {
            self.first = Some((offset, cause));
        }
    }

    fn table(&mut self, table: &DeTable<'_>, parent: &str) {
        for (name, value) in table {
            let path = if parent.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{parent}.{}", name.get_ref())
            };
            self.entry(&path, name.span(), value);
        }
    }

    fn entry(&mut self, path: &str, name: Range<usize>, value: &Spanned<DeValue<'_>>) {
        if let DeValue::Table(table) = value.get_ref() {
            if self.keys.is_group(path) {
                self.table(table, path);
            } else if self.keys.find(self.keys.real(path)).is_some() {
                let problem = Problem::new("expected a value, found a table").at_key(path);
                self.problem(name.start, Cause::Other(problem));
            } else {
                self.problem(name.start, Cause::Unknown(path.to_owned()));
            }
            return;
        }
        let real = self.keys.real(path);
        if self.keys.find(real).is_none() {
            let cause = if self.keys.is_group(path) {
                let problem = Problem::new("expected a table, found a value").at_key(path);
                Cause::Other(problem.hint(format!("use a section `[{path}]` with keys")))
            } else {
                Cause::Unknown(path.to_owned())
            };
            self.problem(name.start, cause);
            return;
        }
        match plain(value.get_ref()) {
            Ok(plain) => self.entries.push(Entry { path: real.to_owned(), value: plain, span: value.span() }),
            Err(problem) => self.problem(value.span().start, Cause::Other(problem.at_key(path))),
        }
    }
}

/// Value without its place.
pub(crate) fn plain(value: &DeValue<'_>) -> Result<Value, Problem> {
    match value {
        DeValue::String(text) => Ok(Value::Text(text.to_string())),
        DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix())
            .map(Value::Integer)
            .map_err(|_| Problem::new("the whole number is too large")),
        DeValue::Float(x) => {
            x.as_str().parse().map(Value::Number).map_err(|_| Problem::new("the number is not valid"))
        }
        DeValue::Boolean(flag) => Ok(Value::Flag(*flag)),
        DeValue::Array(list) => {
            list.iter().map(|item| plain(item.get_ref())).collect::<Result<_, _>>().map(Value::List)
        }
        DeValue::Datetime(_) => Err(Problem::new("a date is not supported here")),
        DeValue::Table(_) => Err(Problem::new("a table is not supported in a list")),
    }
}

/// Value of a word on the command line for a kind of key. Quotes are not required there.
pub(super) fn from_words(word: &str, kind: Kind) -> Value {
    let parsed = DeValue::parse(word).ok().and_then(|value| plain(value.get_ref()).ok());
    let raw = || Value::Text(word.to_owned());
    match (parsed, kind) {
        (Some(Value::Text(text)), _) => Value::Text(text),
        (Some(value @ Value::Integer(_)), Kind::Form(_)) => value,
        (_, kind) if kind.is_textual() => raw(),
        (Some(value @ Value::List(_)), _) => value,
        // A list without brackets: 4,4,3.
        (_, Kind::Counts | Kind::Texts) => Value::List(
            word.trim_matches(['[', ']'])
                .split(',')
                .map(str::trim)
                .map(|item| match item.parse() {
                    Ok(n) if kind == Kind::Counts => Value::Integer(n),
                    _ => Value::Text(item.to_owned()),
                })
                .collect(),
        ),
        (Some(value), _) => value,
        (None, Kind::Count) => count_of(word).map_or_else(raw, Value::Integer),
        (None, _) => raw(),
    }
}

/// Count with a suffix by common usage: `16k` GPUs are 16,384, a context of `128k` is 131,072, `1M` is
/// 1,048,576.
fn count_of(word: &str) -> Option<i64> {
    let (number, factor) = match word.char_indices().next_back()? {
        (at, 'k' | 'K') => (&word[..at], 1 << 10),
        (at, 'm' | 'M') => (&word[..at], 1 << 20),
        _ => return None,
    };
    let product = number.trim().parse::<f64>().ok()? * f64::from(factor);
    (product.is_finite() && product >= 0.0 && product.fract() == 0.0 && product < 9e15)
        .then_some(product as i64)
}
