//! Typed access to the keys of a JSON object: numbers are whole and within bounds, and wrong types are
//! reported with their place.
//!
//! Responsible for: aliases of keys, nulls (absent), and the position of keys in the text. Ignores unknown
//! keys: configuration files have hundreds without effect here.

use super::bounds::Bound;
use super::tolerant::is_word;
use crate::problem::Problem;
use serde_json::{Map, Value};

/// Longest list. Lists have an entry per layer or fewer, and some are searched once per layer.
const MAX_LIST: usize = 20_000;

/// An object of a configuration file.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    /// Whole text, to find the line of a key.
    text: &'a str,
    /// Approximate offset of the object in the text, in bytes. Keys are searched from here.
    start: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(map: &'a Map<String, Value>, text: &'a str) -> Self {
        Self { map, text, start: 0 }
    }

    /// The object itself.
    pub(super) fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// Adds the line to a problem with a key.
    pub(super) fn locate_again(&self, problem: Problem) -> Problem {
        let key = problem.place.as_ref().and_then(|place| place.key.clone());
        match key.as_deref().and_then(|key| self.offset(key)) {
            Some(offset) if problem.place.as_ref().is_some_and(|p| p.line.is_none() && p.file.is_empty()) => {
                problem.at_offset(self.text, offset)
            }
            _ => problem,
        }
    }

    /// Object under a key; `None` if the key is absent.
    pub(super) fn object(&self, key: &str) -> Result<Option<Self>, Problem> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(map)) => {
                Ok(Some(Self { map, text: self.text, start: self.offset(key).unwrap_or(self.start) }))
            }
            Some(other) => Err(self.wrong_type(key, "an object", other)),
        }
    }

    /// True if both are the same object of the same file.
    pub(super) fn is_same_object(&self, other: &Self) -> bool {
        std::ptr::eq(self.map, other.map)
    }

    /// True if the key is present and not null.
    pub(super) fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|value| !value.is_null())
    }

    /// First name that is present, with its value. Two names with different values are a contradiction.
    fn lookup(&self, names: &[&'static str]) -> Result<Option<(&'static str, &'a Value)>, Problem> {
        let mut found: Option<(&'static str, &'a Value)> = None;
        for name in names {
            match (found, self.map.get(*name)) {
                (_, None | Some(Value::Null)) => {}
                (None, Some(value)) => found = Some((name, value)),
                (Some((first, before)), Some(value)) if !same(before, value) => {
                    return Err(Problem::new(format!(
                        "`{first}` is {before}, but its alias `{name}` is {value}"
                    ))
                    .hint("remove one of them")
                    .at_key(*name)
                    .at_offset(self.text, self.offset(name).unwrap_or(self.start)));
                }
                (Some(_), Some(_)) => {}
            }
        }
        Ok(found)
    }

    /// Whole number under any of the names.
    pub(super) fn count(&self, names: &[&'static str], bound: Bound) -> Result<Option<u64>, Problem> {
        self.lookup(names)?.map(|(name, value)| self.whole(name, value, bound)).transpose()
    }

    /// Required whole number.
    pub(super) fn required(&self, names: &[&'static str], bound: Bound) -> Result<u64, Problem> {
        self.count(names, bound)?.ok_or_else(|| missing(names))
    }

    fn whole(&self, name: &'static str, value: &Value, bound: Bound) -> Result<u64, Problem> {
        let Value::Number(number) = value else { return Err(self.wrong_type(name, "a number", value)) };
        // 4096.0 is accepted, because some writers have no integers.
        let whole = number.as_u64().or_else(|| {
            number.as_f64().filter(|f| f.fract() == 0.0 && (0.0..1e15).contains(f)).map(|f| f as u64)
        });
        match whole {
            Some(whole) => bound.check(name, whole),
            None => Err(bound.refuse(name, &number.to_string())),
        }
        .map_err(|problem| self.locate(problem, name))
    }

    /// Boolean under any of the names.
    pub(super) fn flag(&self, names: &[&'static str]) -> Result<Option<bool>, Problem> {
        match self.lookup(names)? {
            None => Ok(None),
            Some((_, Value::Bool(flag))) => Ok(Some(*flag)),
            Some((name, other)) => Err(self.wrong_type(name, "true or false", other)),
        }
    }

    /// String under any of the names.
    pub(super) fn string(&self, names: &[&'static str]) -> Result<Option<&'a str>, Problem> {
        match self.lookup(names)? {
            None => Ok(None),
            Some((_, Value::String(string))) => Ok(Some(string)),
            Some((name, other)) => Err(self.wrong_type(name, "a string", other)),
        }
    }

    /// List of whole numbers.
    pub(super) fn counts(&self, name: &'static str, bound: Bound) -> Result<Option<Vec<u64>>, Problem> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(items)) if items.len() > MAX_LIST => {
                let problem = Problem::new(format!("{} entries exceed the limit of {MAX_LIST}", items.len()));
                Err(self.locate(problem, name))
            }
            Some(Value::Array(items)) => {
                items.iter().map(|item| self.whole(name, item, bound)).collect::<Result<_, _>>().map(Some)
            }
            Some(other) => Err(self.wrong_type(name, "a list of numbers", other)),
        }
    }

    /// List of strings.
    pub(super) fn strings(&self, name: &'static str) -> Result<Option<Vec<&'a str>>, Problem> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().ok_or_else(|| self.wrong_type(name, "a list of strings", item)))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(other) => Err(self.wrong_type(name, "a list of strings", other)),
        }
    }

    /// Adds the key and its line to a problem.
    pub(super) fn locate(&self, problem: Problem, key: &str) -> Problem {
        let problem = problem.at_key(key);
        match self.offset(key) {
            Some(offset) => problem.at_offset(self.text, offset),
            None => problem,
        }
    }

    /// Adds the place of the first key that is present to a problem.
    pub(super) fn locate_first(&self, problem: Problem, keys: &[&str]) -> Problem {
        let key = keys.iter().find(|key| self.has(key)).or(keys.first()).copied().unwrap_or_default();
        self.locate(problem, key)
    }

    fn wrong_type(&self, key: &str, wanted: &str, found: &Value) -> Problem {
        let found = match found {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => format!("the number {number}"),
            Value::String(word) if is_word(word) => word.clone(),
            Value::String(string) => format!("the string {:?}", string.chars().take(40).collect::<String>()),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        self.locate(Problem::new(format!("expected {wanted}, found {found}")), key)
    }

    fn offset(&self, key: &str) -> Option<usize> {
        let quoted = format!("\"{key}\"");
        self.text.get(self.start..)?.find(&quoted).map(|offset| self.start + offset)
    }
}

/// Problem of a missing required key.
pub(super) fn missing(names: &[&'static str]) -> Problem {
    let aliases = match names {
        [_, others @ ..] if !others.is_empty() => {
            format!(" (nor {})", others.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "))
        }
        _ => String::new(),
    };
    Problem::new(format!("`{}` is missing{aliases}", names.first().unwrap_or(&"a key")))
        .hint("pass the complete config.json of the model")
}

fn same(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().is_some_and(|a| b.as_f64() == Some(a))
}
