//! Context of a reader: variables, arguments, and files of a script.
//!
//! Responsible for: access of a reader to other files, and the map of lines to files. Opens no files itself:
//! the program does, within allowed folders.

use std::collections::BTreeMap;

/// Opens the files that a script reads or starts.
pub trait Files {
    /// The path (as messages call it) and the text of a file; `path` is as in the script, `from` is the
    /// path of the script. Otherwise the reason, as in "it is not here".
    fn open(&self, path: &str, from: &str) -> Result<(String, String), String>;
}

/// Context of a launch file.
#[derive(Default)]
pub struct Context<'a> {
    /// Environment variables, such as `TP` with `8`.
    pub variables: Vec<(String, String)>,
    /// Arguments of a script; `None` if unknown.
    pub arguments: Option<Vec<String>>,
    /// Access to further files; without it none is read.
    pub files: Option<&'a dyn Files>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("variables", &self.variables)
            .field("arguments", &self.arguments)
            .field("files", &self.files.is_some())
            .finish()
    }
}

impl Context<'_> {
    /// Tests whether the context is empty.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.arguments.is_none() && self.files.is_none()
    }

    /// A further file, or the reason why it is not read.
    pub(crate) fn open(&self, path: &str, from: &str) -> Result<(String, String), String> {
        match self.files {
            Some(files) => files.open(path, from),
            None => Err("other files cannot be read in this context".to_owned()),
        }
    }
}

/// Files that a script writes itself, before those of a folder.
pub(crate) struct Written<'a> {
    /// Their texts by path.
    pub(crate) texts: &'a BTreeMap<String, String>,
    /// The folder.
    pub(crate) others: Option<&'a dyn Files>,
}

impl Files for Written<'_> {
    fn open(&self, path: &str, from: &str) -> Result<(String, String), String> {
        let plain = |path: &str| path.trim_start_matches("./").to_owned();
        let own = self.texts.iter().find(|(name, _)| plain(name) == plain(path));
        match (own, self.others) {
            (Some((name, text)), _) => Ok((name.clone(), text.clone())),
            (None, Some(files)) => files.open(path, from),
            (None, None) => Err("other files cannot be read in this context".to_owned()),
        }
    }
}

/// Lines of several files in one numbering: those of the first file keep their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    files: Vec<Source>,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: String,
    /// The number of its first line among all, and in its file.
    base: usize,
    first: usize,
    lines: usize,
}

impl Sources {
    /// Takes a file; the number of its first line.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> usize {
        self.push(name.to_owned(), text, 1)
    }

    /// Adds a text that is part of a known file, with its first line.
    pub(crate) fn add_at(&mut self, line: usize, text: &str) -> usize {
        let (name, line) = match self.of(line) {
            Some((source, line)) => (source.name.clone(), line),
            None => (String::new(), line),
        };
        self.push(name, text, line)
    }

    fn push(&mut self, name: String, text: &str, first: usize) -> usize {
        let base = self.files.last().map_or(1, |last| last.base + last.lines + 1);
        let lines = text.lines().count().max(1);
        self.files.push(Source { name, text: text.to_owned(), base, first, lines });
        base
    }

    fn of(&self, line: usize) -> Option<(&Source, usize)> {
        let source = self.files.iter().rev().find(|source| source.base <= line)?;
        Some((source, line - source.base + source.first))
    }

    /// The file of a line, unless it is the first one, and the line in it.
    pub(crate) fn place(&self, line: usize) -> (Option<String>, usize) {
        match self.of(line) {
            Some((source, line)) => {
                let is_first = self.files.first().is_none_or(|first| first.name == source.name);
                ((!is_first).then(|| source.name.clone()), line)
            }
            None => (None, line),
        }
    }

    /// The text that contains a line, then the first one, each with the number of its first line.
    pub(crate) fn around(&self, line: usize) -> Vec<(&str, usize)> {
        let own = self.files.iter().rposition(|source| source.base <= line);
        let mut all: Vec<&Source> = own.and_then(|own| self.files.get(own)).into_iter().collect();
        all.extend(self.files.first().filter(|_| own != Some(0)));
        all.into_iter().map(|source| (source.text.as_str(), source.base)).collect()
    }

    /// The texts of all entries.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|source| source.text.as_str())
    }

    /// Number of entries.
    pub(crate) fn count(&self) -> usize {
        self.files.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_files() {
        let mut sources = Sources::default();
        assert_eq!(sources.add("run.sh", "a\nb\nc\n"), 1);
        let base = sources.add("models/x.sh", "d\ne\n");
        assert_eq!(sources.place(3), (None, 3));
        assert_eq!(sources.place(base + 1), (Some("models/x.sh".to_owned()), 2));
        let inner = sources.add_at(2, "x\ny\n");
        assert_eq!(sources.place(inner + 1), (None, 3));
    }
}
