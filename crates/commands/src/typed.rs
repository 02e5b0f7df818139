//! Arguments by name as the typed arguments of a command, for clients without a command line.
//!
//! Responsible for: the types that a command declares, from texts. A structure within a structure has its
//! fields among the arguments of the same command, as flattened arguments of a command line have. Excludes
//! names, relations and defaults of arguments: these are complete.

use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use serde::de::value::{Error, MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

/// Arguments by identifier: the argument as help shows it, for messages, and its values.
pub type Arguments = BTreeMap<String, (String, Vec<String>)>;

/// The type `T` of a command that `words` select, or of its arguments without words.
///
/// # Errors
///
/// A value that its argument does not accept.
pub fn typed<'a, T: Deserialize<'a>>(words: &'a [String], arguments: &'a Arguments) -> Result<T, Problem> {
    T::deserialize(Part::Command(words, arguments)).map_err(|error| Problem::new(error.to_string()))
}

/// A command of some words, one argument, or one of its values with the argument's name in help.
#[derive(Clone, Copy)]
enum Part<'a> {
    Command(&'a [String], &'a Arguments),
    Argument(&'a str, &'a Arguments),
    Value(&'a str, &'a str),
}

impl<'a> Part<'a> {
    /// The argument's name in help and its value, which is the last if there are several.
    fn value(self) -> Option<(&'a str, &'a str)> {
        match self {
            Self::Value(shown, text) => Some((shown, text)),
            Self::Argument(name, arguments) => {
                arguments.get(name).and_then(|(shown, texts)| Some((shown.as_str(), texts.last()?.as_str())))
            }
            Self::Command(..) => None,
        }
    }

    fn text(self) -> Result<(&'a str, &'a str), Error> {
        let name = if let Self::Argument(name, _) = self { name } else { "command" };
        self.value().ok_or_else(|| Error::custom(format!("`{name}` is missing")))
    }

    fn parsed<T: FromStr<Err: Display>>(self) -> Result<T, Error> {
        let (shown, text) = self.text()?;
        let refused =
            |error| Error::custom(format!("invalid value '{}' for '{shown}': {error}", shorten(text)));
        text.parse().map_err(refused)
    }

    fn arguments(self) -> Result<&'a Arguments, Error> {
        match self {
            Self::Command(_, arguments) | Self::Argument(_, arguments) => Ok(arguments),
            Self::Value(shown, _) => Err(Error::custom(format!("'{shown}' has no arguments of its own"))),
        }
    }
}

impl<'de> IntoDeserializer<'de> for Part<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(self.parsed()?)
        })*
    };
}

impl<'de> Deserializer<'de> for Part<'de> {
    type Error = Error;

    parsed! {
        deserialize_bool visit_bool
        deserialize_u8 visit_u8
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_f64 visit_f64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.text()?.1)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value().is_some() { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let given = if let Self::Argument(name, arguments) = self { arguments.get(name) } else { None };
        let values = |(shown, texts): &'de (String, Vec<String>)| {
            texts.iter().map(|text| Part::Value(shown, text)).collect::<Vec<_>>()
        };
        visitor.visit_seq(SeqDeserializer::new(given.map(values).unwrap_or_default().into_iter()))
    }

    /// Every argument with a value.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let arguments = self.arguments()?;
        let given = arguments.iter().filter(|(_, (_, texts))| !texts.is_empty());
        let each = given.map(|(name, _)| (name.as_str(), Part::Argument(name, arguments)));
        visitor.visit_map(MapDeserializer::new(each))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let arguments = self.arguments()?;
        let each = fields.iter().map(|name| (*name, Part::Argument(name, arguments)));
        visitor.visit_map(MapDeserializer::new(each))
    }

    /// A command by its first word, or one of the choices of an argument.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let named = |word: &str| {
            let plain = word.replace('-', "");
            let known = variants.iter().find(|variant| variant.eq_ignore_ascii_case(&plain));
            known.copied().ok_or_else(|| Error::custom(format!("there is no `{}`", shorten(word))))
        };
        if let Self::Command([word, rest @ ..], arguments) = self {
            let inner = std::iter::once((named(word)?, Part::Command(rest, arguments)));
            return visitor.visit_enum(MapAccessDeserializer::new(MapDeserializer::new(inner)));
        }
        visitor.visit_enum(named(self.text()?.1)?.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u16 u128 f32 char str string bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct identifier ignored_any
    }
}
