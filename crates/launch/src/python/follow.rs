//! Names of other modules, followed to their values.

use super::modules::{MOST_HOPS, Module, above, shared_start};
use super::run::{Frame, Program};
use super::value::Value;
use std::collections::{BTreeMap, BTreeSet};

impl Program<'_> {
    /// Value of a name in another module; `None` if its file is missing or does not define it.
    pub(super) fn imported(&mut self, path: &str) -> Option<Value> {
        let mut path = path.to_owned();
        for _ in 0..MOST_HOPS {
            let (module, name) = path.rsplit_once('.')?;
            let module =
                if module.chars().all(|c| c == '.') { format!("{module}.") } else { module.to_owned() };
            let index = self.load(&module)?;
            match self.defined(index, name)? {
                Value::Name(next) if next != path => path = next,
                Value::Name(_) => return None,
                value => return Some(value),
            }
        }
        None
    }

    /// A function of another module, unless the reader supports it by name.
    pub(super) fn imported_function(&mut self, path: &str) -> Option<usize> {
        let last = path.rsplit('.').next().unwrap_or(path);
        if self.repository.keeps(last) {
            return None;
        }
        match self.imported(path)? {
            Value::Function(index) => Some(index),
            _ => None,
        }
    }

    fn defined(&mut self, index: usize, name: &str) -> Option<Value> {
        self.defined_through(index, name, &mut BTreeSet::new())
    }

    /// The same with the modules that were searched before: modules may hand names to each other in a circle.
    fn defined_through(&mut self, index: usize, name: &str, seen: &mut BTreeSet<usize>) -> Option<Value> {
        if !seen.insert(index) {
            return None;
        }
        let module = self.modules.get(index)?;
        if let Some(value) = module.names.get(name) {
            return Some(value.clone());
        }
        // `from x import *` re-exports all names.
        let mut stars: Vec<String> =
            module.names.keys().rev().filter_map(|name| name.strip_prefix('*')).map(str::to_owned).collect();
        // A package of many modules exceeds the limit on files: those with the start of the name come first.
        stars.sort_by_key(|module| std::cmp::Reverse(shared_start(module, name)));
        stars.into_iter().find_map(|module| {
            let index = self.load(&module)?;
            self.defined_through(index, name, seen)
        })
    }

    /// Loads a module once.
    fn load(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.loaded.get(name) {
            return *known;
        }
        let parsed = self.repository.open(name);
        let index = parsed.as_ref().map(|_| self.modules.len());
        self.loaded.insert(name.to_owned(), index);
        let parsed = parsed?;
        let package = if parsed.is_package { name.to_owned() } else { above(name) };
        self.modules.push(Module { package, names: BTreeMap::new() });
        // Neither the place of the import nor other effects of the module concern the configuration.
        let doubts = std::mem::take(&mut self.doubts);
        let (escapes, others, is_through) = (self.escapes.len(), self.others.len(), self.is_through);
        self.frames.push(Frame::of_module(self.modules.len() - 1));
        self.block(&parsed.block);
        self.frames.pop();
        self.escapes.truncate(escapes);
        self.others.truncate(others);
        self.is_through = is_through;
        self.doubts = doubts;
        index
    }
}
