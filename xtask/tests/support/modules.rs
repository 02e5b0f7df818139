//! Module dependencies, from `use` lines and paths in the text of a crate.
//!
//! Responsible for: production code alone. A name that a module re-exports counts as a use of the defining
//! module. A parent's list of its children and of their exports does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a crate by module path, such as `schedule::order`; the root is `lib`.
pub(crate) struct Modules {
    texts: BTreeMap<String, String>,
    /// By module: the re-exported names, with their origins.
    exported: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// Names of modules that contain only tests.
const TESTS: [&str; 4] = ["tests", "testing", "properties", "measured"];

impl Modules {
    /// Reads the sources below a folder.
    pub(crate) fn read(src: &Path) -> Self {
        let mut texts = BTreeMap::new();
        for path in super::rust_files(src) {
            let relative: PathBuf = path.strip_prefix(src).expect("below").with_extension("");
            let parts: Vec<String> =
                relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if !parts.iter().any(|part| TESTS.contains(&part.as_str())) {
                texts.insert(parts.join("::"), production(&super::read(&path)));
            }
        }
        let mut exported: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        for (module, text) in &texts {
            for (is_public, paths) in uses(text) {
                for path in paths.into_iter().filter(|_| is_public) {
                    let Some(last) = path.last().cloned() else { continue };
                    let (from, name) = last
                        .split_once(" as ")
                        .map_or((last.as_str(), last.as_str()), |(from, name)| (from, name));
                    let mut target = path.clone();
                    target.pop();
                    target.push(from.trim().to_owned());
                    let target = absolute(module, &target);
                    exported.entry(module.clone()).or_default().insert(name.trim().to_owned(), target);
                }
            }
        }
        Self { texts, exported }
    }

    /// Number of modules.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The module at the end of a path, through re-exports.
    fn target(&self, path: &[String], depth: usize) -> Option<String> {
        let longest = (1..=path.len()).rev().find(|n| self.texts.contains_key(&path[..*n].join("::")));
        let (module, rest) = match longest {
            Some(n) => (path[..n].join("::"), &path[n..]),
            None => ("lib".to_owned(), path),
        };
        if let Some(first) = rest.first()
            && depth < 8
            && let Some(from) = self.exported.get(&module).and_then(|names| names.get(first))
        {
            let mut further = from.clone();
            further.extend_from_slice(&rest[1..]);
            if further != path {
                return self.target(&further, depth + 1);
            }
        }
        longest.map(|_| module)
    }

    /// Modules that each module uses.
    pub(crate) fn arrows(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let mut arrows: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (module, text) in &self.texts {
            let own = arrows.entry(module).or_default();
            let mut paths: Vec<Vec<String>> = uses(text)
                .into_iter()
                .filter(|(is_public, _)| !is_public)
                .flat_map(|(_, paths)| paths)
                .collect();
            paths.extend(inline(text));
            for path in paths {
                own.extend(self.target(&absolute(module, &path), 0).filter(|target| target != module));
            }
            // A child by its bare name.
            for child in declared(text) {
                let path = child_of(module, &child);
                if self.texts.contains_key(&path) && names(text, &child) {
                    own.insert(path);
                }
            }
        }
        arrows
    }

    /// Modules that use each other, the largest circle first.
    pub(crate) fn circles(&self) -> Vec<Vec<String>> {
        let arrows = self.arrows();
        let reach = |from: &str| {
            let mut seen: BTreeSet<String> = BTreeSet::new();
            let mut open = vec![from.to_owned()];
            while let Some(module) = open.pop() {
                for next in arrows.get(module.as_str()).into_iter().flatten() {
                    if seen.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            seen
        };
        let reached: BTreeMap<&str, BTreeSet<String>> =
            arrows.keys().map(|module| (*module, reach(module))).collect();
        let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (module, own) in &reached {
            if own.contains(*module) {
                let with = own
                    .iter()
                    .filter(|other| reached.get(other.as_str()).is_some_and(|back| back.contains(*module)));
                circles.insert(with.cloned().collect());
            }
        }
        let mut circles: Vec<Vec<String>> = circles.into_iter().collect();
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }
}

/// A file without comments, unit tests and the scopes of visibilities.
fn production(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut out = lines.collect::<Vec<_>>().join("\n");
    for scope in ["crate", "super", "in super::super", "in super::super::super", "in super"] {
        out = out.replace(&format!("pub({scope})"), "pub");
    }
    out
}

/// Every `use` of this crate: true for a re-export, and the paths that it names.
fn uses(text: &str) -> Vec<(bool, Vec<Vec<String>>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let before = &text[..at];
        let line = before.rsplit('\n').next().unwrap_or_default().trim();
        if !matches!(line, "" | "pub") {
            continue;
        }
        let body = text[at + 4..].split(';').next().unwrap_or_default();
        let is_public = line == "pub";
        let is_own = ["crate", "super", "self"].iter().any(|root| body.trim_start().starts_with(root));
        if is_own || is_public {
            let mut paths = Vec::new();
            expand(&[], body, &mut paths);
            found.push((is_public, paths));
        } else if line.is_empty() {
            // `use child::name;` in the parent's file.
            let mut paths = Vec::new();
            expand(&["self".to_owned()], body, &mut paths);
            let children = declared(text);
            paths.retain(|path| path.get(1).is_some_and(|first| children.contains(first)));
            found.push((false, paths));
        }
    }
    found
}

/// The paths of a `use` tree.
fn expand(prefix: &[String], text: &str, out: &mut Vec<Vec<String>>) {
    let text = text.trim();
    let Some(open) = text.find('{') else {
        let mut path = prefix.to_vec();
        path.extend(text.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()));
        out.push(path);
        return;
    };
    let mut path = prefix.to_vec();
    path.extend(text[..open].split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()));
    let body = text[open + 1..].rsplit_once('}').map_or("", |(body, _)| body);
    let (mut depth, mut start) = (0_usize, 0);
    for (at, letter) in body.char_indices().chain([(body.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                let part = body.get(start..at).unwrap_or_default();
                if !part.trim().is_empty() {
                    expand(&path, part, out);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Paths in code that begin at this crate.
fn inline(text: &str) -> Vec<Vec<String>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let mut paths = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in text.match_indices(root) {
            let before = text[..at].chars().next_back();
            let line = text[..at].rsplit('\n').next().unwrap_or_default().trim_start();
            let is_use = line.starts_with("use ") || line.starts_with("pub use ");
            if before.is_none_or(|c| !is_word(c)) && !is_use {
                let end = text[at..].find(|c| !is_word(c)).map_or(text.len(), |n| at + n);
                paths.push(
                    text[at..end].split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect(),
                );
            }
        }
    }
    paths
}

/// Modules that a file declares.
fn declared(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
    };
    text.lines().filter_map(line).collect()
}

/// Tests whether code names a module without a path before it.
fn names(text: &str, module: &str) -> bool {
    let path = format!("{module}::");
    text.match_indices(&path).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let line = text[..at].rsplit('\n').next().unwrap_or_default().trim_start();
        before.is_none_or(|c| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
            && !line.starts_with("pub use ")
            && !line.starts_with("use ")
    })
}

fn child_of(module: &str, child: &str) -> String {
    if matches!(module, "lib" | "main") { child.to_owned() } else { format!("{module}::{child}") }
}

/// A path from the root of the crate.
fn absolute(module: &str, path: &[String]) -> Vec<String> {
    let own = || -> Vec<String> {
        if matches!(module, "lib" | "main") {
            Vec::new()
        } else {
            module.split("::").map(str::to_owned).collect()
        }
    };
    match path.first().map(String::as_str) {
        Some("crate") => path[1..].to_vec(),
        Some("self") => own().into_iter().chain(path[1..].iter().cloned()).collect(),
        Some("super") => {
            let ups = path.iter().take_while(|part| *part == "super").count();
            let mut base = own();
            base.truncate(base.len().saturating_sub(ups));
            base.extend_from_slice(&path[ups..]);
            base
        }
        _ => own().into_iter().chain(path.iter().cloned()).collect(),
    }
}
