//! Modules of the same repository that a Python text imports.
//!
//! Responsible for: finding the file of a module, parsing it once, and values of its names. Opens files only
//! through the context, and runs nothing: a module is followed like the text itself. Classes of other files
//! stay names.

use super::parse;
use super::tree::Block;
use super::value::Value;
use crate::Context;
use crate::context::Sources;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Files that one text may lead to.
const MOST_MODULES: usize = 64;
/// Imports that hand a name on.
pub(super) const MOST_HOPS: usize = 8;
/// Packages that no repository of recipes defines.
const ELSEWHERE: &[&str] = &[
    "argparse",
    "collections",
    "copy",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "itertools",
    "json",
    "logging",
    "math",
    "numpy",
    "os",
    "pathlib",
    "re",
    "sys",
    "torch",
    "transformers",
    "typing",
];

/// A parsed file.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) block: Block,
    pub(super) is_package: bool,
}

/// Parsed files by module, and the lines of all of them.
#[derive(Debug, Default)]
struct Cache {
    parsed: BTreeMap<String, Option<Rc<Parsed>>>,
    sources: Sources,
}

/// The files of a text's repository. Copies share the parsed modules.
#[derive(Clone, Debug, Default)]
pub(super) struct Repository<'a> {
    context: Option<&'a Context<'a>>,
    file: String,
    /// Tests by name whether a reader supports a function of another file without its code.
    keeps: Option<fn(&str) -> bool>,
    cache: Rc<RefCell<Cache>>,
}

impl<'a> Repository<'a> {
    pub(super) fn new(text: &str, file: &str, context: &'a Context<'a>, keeps: fn(&str) -> bool) -> Self {
        let mut cache = Cache::default();
        cache.sources.add(file, text);
        let cache = Rc::new(RefCell::new(cache));
        Self { context: Some(context), file: file.to_owned(), keeps: Some(keeps), cache }
    }

    /// Tests by name whether a reader supports the result of a function.
    pub(super) fn keeps(&self, name: &str) -> bool {
        self.keeps.is_some_and(|keeps| keeps(name))
    }

    /// A line as its own file counts.
    pub(super) fn line(&self, line: usize) -> usize {
        self.cache.borrow().sources.place(line).1
    }

    /// Lines of all files that were opened.
    pub(super) fn sources(&self) -> Sources {
        self.cache.borrow().sources.clone()
    }

    /// The parsed file of a module; leading dots count from the text's own folder.
    pub(super) fn open(&self, module: &str) -> Option<Rc<Parsed>> {
        if let Some(known) = self.cache.borrow().parsed.get(module) {
            return known.clone();
        }
        let parsed = self.parse(module);
        self.cache.borrow_mut().parsed.insert(module.to_owned(), parsed.clone());
        parsed
    }

    fn parse(&self, module: &str) -> Option<Rc<Parsed>> {
        let context = self.context.filter(|context| context.files.is_some())?;
        let first = module.split('.').next().unwrap_or(module);
        if ELSEWHERE.contains(&first) || self.cache.borrow().sources.count() > MOST_MODULES {
            return None;
        }
        let name = module.trim_start_matches('.');
        let dots = module.len() - name.len();
        let mut path = String::new();
        if dots > 0 {
            let folder = self.file.rsplit_once('/').map_or(".", |(folder, _)| folder);
            path = format!("{folder}/{}", "../".repeat(dots - 1));
        }
        path.push_str(&name.replace('.', "/"));
        let package = format!("{}/__init__.py", path.trim_end_matches('/'));
        let plain = (!name.is_empty()).then(|| format!("{path}.py"));
        let candidates: Vec<_> =
            plain.into_iter().map(|path| (path, false)).chain([(package, true)]).collect();
        // Packages of a repository may be in its folder `src`.
        let folders: &[&str] = if dots == 0 { &["", "src/"] } else { &[""] };
        let ((file, text), is_package) = folders.iter().find_map(|folder| {
            candidates.iter().find_map(|(path, is_package)| {
                context.open(&format!("{folder}{path}"), &self.file).ok().map(|found| (found, *is_package))
            })
        })?;
        let base = self.cache.borrow_mut().sources.add(&file, &text);
        let block = parse::parse_from(&text, base).ok()?;
        Some(Rc::new(Parsed { block, is_package }))
    }
}

/// A module, as far as it was followed.
#[derive(Clone, Debug, Default)]
pub(super) struct Module {
    /// The package that its relative imports start from; a single dot for the text's own folder.
    pub(super) package: String,
    pub(super) names: BTreeMap<String, Value>,
}

impl Module {
    /// The text itself.
    pub(super) fn main() -> Self {
        Self { package: ".".to_owned(), names: BTreeMap::new() }
    }

    /// An imported path, without dots that count from this module.
    pub(super) fn absolute(&self, path: &str) -> String {
        let name = path.trim_start_matches('.');
        let dots = path.len() - name.len();
        if dots == 0 {
            return path.to_owned();
        }
        let mut package = self.package.clone();
        for _ in 1..dots {
            package = match package.trim_start_matches('.') {
                "" => format!("{package}."),
                _ => above(&package),
            };
        }
        let is_dots = package.ends_with('.');
        if is_dots || package.is_empty() { format!("{package}{name}") } else { format!("{package}.{name}") }
    }
}

/// The package of a module.
pub(super) fn above(module: &str) -> String {
    match module.rfind('.') {
        Some(at) if module[..at].trim_start_matches('.').is_empty() => module[..=at].to_owned(),
        Some(at) => module[..at].to_owned(),
        None => String::new(),
    }
}

/// Longest start of a name that a part of a module's path shares with it.
pub(super) fn shared_start(module: &str, name: &str) -> usize {
    let shared = |part: &str| part.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    module.split('.').map(shared).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_count_from_the_module() {
        let of = |package: &str, path: &str| {
            Module { package: package.to_owned(), names: BTreeMap::new() }.absolute(path)
        };
        assert_eq!(of(".", ".common.base"), ".common.base");
        assert_eq!(of(".", "..common.base"), "..common.base");
        assert_eq!(of("a.b", ".c.base"), "a.b.c.base");
        assert_eq!(of("a.b", "..c.base"), "a.c.base");
        assert_eq!(of(".sub", "..c"), ".c");
        assert_eq!(of(".sub", ".c"), ".sub.c");
        assert_eq!(above(".sub.mod"), ".sub");
        assert_eq!(above(".mod"), ".");
        assert_eq!(above("a.b"), "a");
    }
}
