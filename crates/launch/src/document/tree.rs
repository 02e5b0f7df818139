//! A configuration as a tree, before its keys are flattened.
//!
//! Responsible for: types common to YAML, TOML and JSON, and the line of each value. Excludes dates, binary
//! data and all other types of only one syntax.

use railwright_spec::human::shorten;
use railwright_spec::run::Value;

/// Line and column of a value, both from 1; 0 for unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The line.
    pub(crate) line: usize,
    /// The column.
    pub(crate) column: usize,
}

impl Spot {
    /// The line, if known.
    pub(crate) fn line(self) -> Option<usize> {
        (self.line > 0).then_some(self.line)
    }
}

/// A value with its line and column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// The value.
    pub(crate) data: Data,
    /// Place.
    pub(crate) spot: Spot,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    /// No value: `null`, `~`, an empty value.
    Null,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Named values.
    Table(Vec<(String, Node)>),
}

impl Data {
    /// A count, also as text in quotes. A negative number is 0, which no count may be.
    pub(crate) fn count(&self) -> Option<u64> {
        match self {
            Self::Integer(n) => Some(u64::try_from(*n).unwrap_or(0)),
            Self::Text(text) => text.trim().parse::<i64>().ok().map(|n| u64::try_from(n).unwrap_or(0)),
            _ => None,
        }
    }

    /// Names in a list, or one name.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::List(items) => items.iter().map(|item| item.data.plain()).collect(),
            Self::Text(text) => vec![text.clone()],
            _ => Vec::new(),
        }
    }

    /// The value in messages and origins: shortened, strings without quotes.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) => shorten(text),
            data => shorten(&data.plain()),
        }
    }

    /// The whole value as text, for its meaning: [`Self::shown`] is cut to the length of a message.
    pub(crate) fn plain(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Flag(flag) => flag.to_string(),
            Self::Integer(n) => n.to_string(),
            Self::Number(x) => format!("{x}"),
            Self::Text(text) => text.clone(),
            Self::List(items) => {
                let shown: Vec<String> = items.iter().take(8).map(|item| item.data.shown()).collect();
                let more = if items.len() > 8 { ", ..." } else { "" };
                format!("[{}{more}]", shown.join(", "))
            }
            Self::Table(pairs) => format!("a table of {}", pairs.len()),
        }
    }

    /// The value for a run file; `None` for tables and for null.
    pub(crate) fn value(&self) -> Option<Value> {
        match self {
            Self::Null | Self::Table(_) => None,
            Self::Flag(flag) => Some(Value::Flag(*flag)),
            Self::Integer(n) => Some(Value::Integer(*n)),
            Self::Number(x) => Some(Value::Number(*x)),
            Self::Text(text) => Some(Value::Text(text.clone())),
            Self::List(items) => {
                items.iter().map(|item| item.data.value()).collect::<Option<_>>().map(Value::List)
            }
        }
    }

    /// Value of a bare word: a number, true or false, null, or a text.
    pub(crate) fn of_word(word: &str) -> Self {
        match word {
            "null" | "None" | "~" | "" => Self::Null,
            "true" | "True" => Self::Flag(true),
            "false" | "False" => Self::Flag(false),
            _ => {
                let numeric = word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
                if let Ok(n) = word.parse() {
                    Self::Integer(n)
                } else if let (true, Ok(x)) = (numeric, word.parse()) {
                    Self::Number(x)
                } else {
                    Self::Text(word.to_owned())
                }
            }
        }
    }
}
