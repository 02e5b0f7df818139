//! A configuration as keys, values and lines, for any format.
//!
//! Responsible for: YAML, TOML, JSON and lists of overrides as one flat list of dotted keys, each with
//! the line of its value. Independent of the meaning of keys. Rejects texts above limits of length, depth and
//! references.

mod from_json;
mod from_toml;
mod from_yaml;
mod interpolate;
mod overrides;
mod tree;

pub(crate) use from_json::json;
pub(crate) use from_toml::toml;
pub(crate) use from_yaml::yaml;
pub(crate) use interpolate::{closing, interpolate};
pub(crate) use overrides::overrides;
pub(crate) use tree::{Data, Node, Spot};

use railwright_spec::problem::Problem;

/// Longer texts are not configurations.
pub(crate) const LONGEST: usize = 4 << 20;
/// Deeper ones neither.
pub(crate) const DEEPEST: usize = 64;
/// Values in all that a configuration may have, aliases followed.
pub(crate) const MOST_VALUES: usize = 50_000;

/// One value with its dotted key. Lists are values; so is an empty table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The dotted key, in today's spelling.
    pub(crate) path: String,
    /// The dotted key in the file's spelling.
    pub(crate) name: String,
    /// The value.
    pub(crate) data: Data,
    /// Line and column of the value.
    pub(crate) spot: Spot,
    /// True if a reader used it.
    pub(crate) taken: bool,
}

impl Entry {
    pub(crate) fn new(path: String, data: Data, spot: Spot) -> Self {
        Self { name: path.clone(), path, data, spot, taken: false }
    }
}

/// A configuration: values by dotted keys, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Document {
    /// The values.
    pub(crate) entries: Vec<Entry>,
    /// Repeated keys, with the place of the last occurrence, which counts.
    pub(crate) repeated: Vec<(String, Spot)>,
}

impl Document {
    /// Flattens a tree.
    pub(crate) fn new(root: Node) -> Self {
        let mut document = Self::default();
        document.flatten(String::new(), root);
        document
    }

    fn flatten(&mut self, path: String, node: Node) {
        match node.data {
            Data::Table(pairs) if !pairs.is_empty() => {
                for (name, child) in pairs {
                    let below = if path.is_empty() { name } else { format!("{path}.{name}") };
                    self.flatten(below, child);
                }
            }
            data => self.entries.push(Entry::new(path, data, node.spot)),
        }
    }

    /// Renames keys of older versions, unless the current name is also present.
    pub(crate) fn rename(&mut self, aliases: &[(&str, &str)]) {
        for (old, new) in aliases {
            if self.get(new).is_none() {
                for entry in self.entries.iter_mut().filter(|entry| entry.path == *old) {
                    (*new).clone_into(&mut entry.path);
                }
            }
        }
    }

    /// The value of a key. For a repeated key (in overrides), the last one.
    pub(crate) fn get(&self, path: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.path == path)
    }

    /// Tests whether a key has a table or a value.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.entries.iter().any(|entry| {
            entry.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// Returns an error for a text that is too long for a configuration.
pub(crate) fn check_length(text: &str, file: &str) -> Result<(), Problem> {
    if text.len() > LONGEST {
        return Err(Problem::new(format!("larger than {} MiB, the limit of configurations", LONGEST >> 20))
            .in_file(file));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
