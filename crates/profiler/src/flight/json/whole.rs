//! An undamaged dump in JSON, entry by entry.
//!
//! Responsible for: holding one entry at a time as a tree of values, because such a tree takes thirty times
//! the bytes of its text. Damaged dumps are left to [`super::Salvage`].

use crate::flight::entries::{Content, Entries};
use crate::trace::ReadReport;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Content of the file; a value that is not an object has no members.
pub(super) struct Whole(pub(super) Content);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members).map(Self)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a dump of the flight recorder")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let (mut members, mut entries) = (Map::new(), None);
        while let Some(key) = map.next_key::<String>()? {
            if key == "entries" {
                entries = map.next_value_seed(List)?;
            } else {
                members.insert(key, map.next_value()?);
            }
        }
        Ok(Content { value: Value::Object(members), entries, report: ReadReport::default() })
    }
}

/// The list of entries; empty if the value is not a list.
struct List;

impl<'de> DeserializeSeed<'de> for List {
    type Value = Option<Entries>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Option<Entries>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut entries = Entries::default();
        while let Some(value) = list.next_element::<Value>()? {
            entries.take(&value);
        }
        Ok(Some(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
