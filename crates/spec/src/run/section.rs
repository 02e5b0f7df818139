//! The table of keys: each section of a run file is a struct of optional fields that this macro declares.
//!
//! Responsible for: one place where a key, its type, its documentation and its default stand together. Reading, writing,
//! layering, the schema, the reference page and the flags all come from it, so they cannot disagree.

use super::value::{Kind, Value};
use crate::problem::Problem;
use serde::Serialize;

/// One key of a run file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Key {
    /// The section: `model`, `cluster`, `plan`, `training`, `cost`.
    pub section: &'static str,
    /// The rest of the dotted key.
    pub name: &'static str,
    /// What it expects.
    #[serde(flatten)]
    pub kind: Kind,
    /// Meaning.
    pub doc: &'static str,
    /// What holds without it, in words.
    pub default: &'static str,
}

impl Key {
    /// The dotted key with its section: `plan.tensor_parallel`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }
}

/// A section: a set of optional fields with a key each.
pub trait Section {
    /// The section's name.
    const SECTION: &'static str;
    /// Its keys, in the order of the documentation.
    const KEYS: &'static [Key];

    /// Sets a field by its key inside the section; `None` when there is no such key. The problem has no place yet.
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), Problem>>;

    /// The value of a field, if set.
    fn get(&self, name: &str) -> Option<Value>;

    /// Forgets the value of a field.
    fn clear(&mut self, name: &str);

    /// Takes every field that the other sets.
    fn overlay(&mut self, other: &Self);
}

/// Declares a section. See [`Section`](crate::run::Section).
#[macro_export]
macro_rules! section {
    (
        $(#[$meta:meta])*
        $name:ident in $section:literal {
            $( $(#[doc = $doc:literal])+ $field:ident: $type:ty = $key:literal, $default:literal; )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: Option<$type>, )+
        }

        impl $crate::run::Section for $name {
            const SECTION: &'static str = $section;
            const KEYS: &'static [$crate::run::Key] = &[
                $( $crate::run::Key {
                    section: $section,
                    name: $key,
                    kind: <$type as $crate::run::Field>::KIND,
                    doc: concat!($($doc),+),
                    default: $default,
                } ),+
            ];

            fn set(
                &mut self,
                name: &str,
                value: &$crate::run::Value,
            ) -> Option<Result<(), $crate::problem::Problem>> {
                match name {
                    $( $key => Some(<$type as $crate::run::Field>::read(value).map(|v| self.$field = Some(v))), )+
                    _ => None,
                }
            }

            fn get(&self, name: &str) -> Option<$crate::run::Value> {
                match name {
                    $( $key => self.$field.as_ref().map($crate::run::Field::write), )+
                    _ => None,
                }
            }

            fn clear(&mut self, name: &str) {
                match name {
                    $( $key => self.$field = None, )+
                    _ => {}
                }
            }

            fn overlay(&mut self, other: &Self) {
                $( if other.$field.is_some() {
                    self.$field.clone_from(&other.$field);
                } )+
            }
        }
    };
}
pub(crate) use section;
