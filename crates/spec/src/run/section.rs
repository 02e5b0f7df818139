//! The table of keys: each section of a run file is a struct of optional fields that this macro declares.
//!
//! Responsible for: one definition of a key with its type, documentation and default. Reading, writing,
//! layering, the schema, the reference page and the flags all derive from it, so they cannot disagree.

use super::value::{Kind, Value};
use crate::problem::Problem;
use serde::Serialize;

/// One key of a run file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Key {
    /// Section: `model`, `cluster`, `plan`, `training`, `cost`.
    pub section: &'static str,
    /// Key inside the section, dotted.
    pub name: &'static str,
    /// Expected kind of value.
    #[serde(flatten)]
    pub kind: Kind,
    /// Documentation: a noun phrase for a value, a verb phrase for a switch.
    pub doc: &'static str,
    /// Default in words.
    pub default: &'static str,
}

impl Key {
    /// Dotted key with its section: `plan.tensor_parallel`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }
}

/// A section: a set of optional fields with one key each.
pub trait Section {
    /// Name of the section.
    const SECTION: &'static str;
    /// Keys, in the order of the documentation.
    const KEYS: &'static [Key];

    /// Sets a field by its key inside the section; `None` without such a key. The problem has no place yet.
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), Problem>>;

    /// Value of a field; `None` if it is not set.
    fn get(&self, name: &str) -> Option<Value>;

    /// Clears a field.
    fn clear(&mut self, name: &str);

    /// Sets every field that is set in `other`.
    fn overlay(&mut self, other: &Self);
}

/// Declares a section, see [`Section`](crate::run::Section).
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
