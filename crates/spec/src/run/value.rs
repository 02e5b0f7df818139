//! Values of a run file without their meaning, and the kinds of values that keys expect.
//!
//! Responsible for: the TOML types that a run file uses. Independent of keys.

use serde::Serialize;
use std::fmt::Write as _;

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A number with a fraction or an exponent.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Value>),
}

/// Kind of value that a key expects: used by reading, schema, documentation and messages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", content = "choices")]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number from 0.
    Count,
    /// Any number.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of several names.
    Choice(&'static [&'static str]),
    /// Text in a form given by the documentation of the key; the strings are examples.
    Form(&'static [&'static str]),
    /// A list of whole numbers.
    Counts,
    /// A list of texts.
    Texts,
    /// A quantity: a string with a unit; the strings are examples.
    Quantity(&'static [&'static str]),
    /// A number with an optional suffix, such as `"14.8T"`; the strings are examples.
    Amount(&'static [&'static str]),
}

impl Kind {
    /// Description of the expected value, for messages.
    pub fn expects(self) -> String {
        let quoted = |names: &[&str]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        let any_of = |names: &[&str]| match names {
            [some @ .., last] if !some.is_empty() => format!("{} or `{last}`", quoted(some)),
            one => quoted(one),
        };
        match self {
            Self::Text => "a string".to_owned(),
            Self::Count => "a whole number, 0 or more".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Choice(names) => format!("one of {}", quoted(names)),
            Self::Form(examples) => format!("a value such as {}", any_of(examples)),
            Self::Counts => "a list of whole numbers".to_owned(),
            Self::Texts => "a list of strings".to_owned(),
            Self::Quantity(examples) => format!("a value with a unit, such as {}", any_of(examples)),
            Self::Amount(examples) => format!("a number, or a value such as {}", any_of(examples)),
        }
    }

    /// True if a bare word on the command line is a text.
    pub(crate) fn is_textual(self) -> bool {
        matches!(self, Self::Text | Self::Choice(_) | Self::Form(_) | Self::Quantity(_) | Self::Amount(_))
    }
}

impl Value {
    /// Description of the value, for messages: `the text "8"`, `3.5`.
    pub fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("the text `{}`", crate::human::shorten(text)),
            Self::Integer(n) => format!("{n}"),
            Self::Number(x) => crate::human::exact(*x),
            Self::Flag(b) => format!("`{b}`"),
            Self::List(list) => format!("a list of {}", list.len()),
        }
    }

    /// The text itself, or the TOML form of any other value.
    pub fn to_plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => other.to_toml(),
        }
    }

    /// TOML form.
    pub fn to_toml(&self) -> String {
        match self {
            Self::Text(text) => quote(text),
            Self::Integer(n) => n.to_string(),
            Self::Number(x) if x.is_nan() => "nan".to_owned(),
            Self::Number(x) if x.is_infinite() => if *x > 0.0 { "inf" } else { "-inf" }.to_owned(),
            // Debug, not Display: it keeps a fraction or an exponent, so that the type is preserved.
            Self::Number(x) => format!("{x:?}"),
            Self::Flag(b) => b.to_string(),
            Self::List(list) => {
                format!("[{}]", list.iter().map(Self::to_toml).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A TOML basic string.
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_reads_back_what_was_written() {
        let list = Value::List(vec![
            Value::Text("a \"b\" \\ \n\u{1}\u{7f}é".to_owned()),
            Value::Integer(-3),
            Value::Number(1e22),
            Value::Number(2.0),
            Value::Flag(true),
        ]);
        let text = format!("v = {}", list.to_toml());
        let table: toml::Table = toml::from_str(&text).expect("TOML");
        let back = table["v"].as_array().expect("a list");
        assert_eq!(back[0].as_str(), Some("a \"b\" \\ \n\u{1}\u{7f}é"));
        assert_eq!(back[1].as_integer(), Some(-3));
        assert_eq!((back[2].as_float(), back[3].as_float()), (Some(1e22), Some(2.0)));
        assert_eq!(back[4].as_bool(), Some(true));
    }
}
