//! Patterns in paths: `traces/*.json`, `run/**/rank[0-3].json.gz`.
//!
//! Responsible for: walking only through folders that may be read, so that a pattern from a request cannot
//! access or measure anything outside the given paths. Rejects `..` after a wildcard, and too many
//! entries.

use crate::{access, disk};
use glob::{MatchOptions, Pattern};
use railwright_spec::problem::Problem;
use std::path::{Component, Path, PathBuf};

/// Entries of folders that are looked at for one pattern, at most.
const ENTRIES: usize = 1 << 18;
/// Maximum depth of `**`.
const DEPTH: usize = 32;
/// Case-sensitive, and a leading dot must be explicit, as in a shell.
const AS_A_SHELL: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// Tests whether a path is a pattern.
pub fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// A pattern of addresses, whose objects are listed rather than walked through.
#[cfg(all(feature = "remote", not(target_family = "wasm")))]
pub struct Like(Pattern);

#[cfg(all(feature = "remote", not(target_family = "wasm")))]
impl Like {
    /// Reads a pattern.
    pub fn new(path: &str) -> Result<Self, Problem> {
        let pattern = Pattern::new(path.trim_end_matches('/'));
        pattern.map(Self).map_err(|error| Problem::new(format!("invalid pattern: {error}")).in_file(path))
    }

    /// Tests whether an address or a prefix above it matches. Below a prefix, hidden names are excluded.
    pub fn matches_above(&self, address: &str) -> bool {
        let ends = address.match_indices('/').map(|(at, _)| at).chain([address.len()]);
        ends.filter(|&end| self.0.matches_with(&address[..end], AS_A_SHELL))
            .any(|end| !address[end..].split('/').any(|part| part.starts_with('.')))
    }
}

/// One part of a pattern between separators.
enum Part {
    Name(String),
    Like(Pattern),
    /// `**`: any number of folders.
    Below,
}

/// The files and folders that match a pattern, unordered. Inaccessible ones are not revealed.
pub(super) fn find(path: &str) -> Result<Vec<PathBuf>, Problem> {
    let wrong = |message: String| Problem::new(message).in_file(path);
    let mut base = PathBuf::new();
    let mut parts = Vec::new();
    for component in Path::new(path).components() {
        let text = component.as_os_str().to_string_lossy();
        let is_like = matches!(component, Component::Normal(_)) && is_pattern(&text);
        if parts.is_empty() && !is_like {
            base.push(component);
        } else if matches!(component, Component::ParentDir) {
            return Err(wrong("`..` cannot follow a wildcard".to_owned()));
        } else if text == "**" {
            // Repeated wildcards are equivalent to one, and every pair of them would double the routes to
            // each folder.
            if !matches!(parts.last(), Some(Part::Below)) {
                parts.push(Part::Below);
            }
        } else if is_like {
            let like = Pattern::new(&text).map_err(|error| wrong(format!("invalid pattern: {error}")))?;
            parts.push(Part::Like(like));
        } else {
            parts.push(Part::Name(text.into_owned()));
        }
    }
    if access::is_restricted() {
        // The same error as for all paths outside; a pattern without matches has another one.
        access::to_read(&base)?;
    }
    let mut walk = Walk { left: ENTRIES, found: Vec::new() };
    walk.go(&base, &parts, 0);
    walk.found.sort();
    walk.found.dedup();
    Ok(walk.found)
}

struct Walk {
    left: usize,
    found: Vec<PathBuf>,
}

impl Walk {
    fn go(&mut self, at: &Path, parts: &[Part], depth: usize) {
        let Some((part, rest)) = parts.split_first() else {
            if access::exists(at) {
                self.found.push(at.to_owned());
            }
            return;
        };
        match part {
            Part::Name(name) => self.go(&at.join(name), rest, depth),
            Part::Like(like) => {
                for name in self.names(at) {
                    if like.matches_with(&name, AS_A_SHELL) {
                        self.go(&at.join(&name), rest, depth);
                    }
                }
            }
            Part::Below => {
                self.go(at, rest, depth);
                if depth >= DEPTH {
                    return;
                }
                for name in self.names(at) {
                    let inner = at.join(&name);
                    // A link to a folder above would lead round for ever.
                    let is_link = inner.symlink_metadata().is_ok_and(|about| about.is_symlink());
                    if !name.starts_with('.') && !is_link && access::is_folder(&inner) {
                        self.go(&inner, parts, depth + 1);
                    }
                }
            }
        }
    }

    /// The names in a folder that may be read.
    fn names(&mut self, folder: &Path) -> Vec<String> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if self.left == 0 {
            return Vec::new();
        }
        let Ok(real) = access::to_read(here) else { return Vec::new() };
        let Ok(entries) = disk::read_dir(real) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .take(self.left)
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        self.left -= names.len();
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn patterns_mean_what_a_shell_means() {
        let top = std::env::temp_dir().join(format!("railwright-globs-{}", std::process::id()));
        let _ = fs::remove_dir_all(&top);
        for folder in ["a/x/deep", "b", ".hidden"] {
            fs::create_dir_all(top.join(folder)).expect("made");
        }
        for file in [
            "a/rank0.json",
            "a/rank1.json",
            "a/rank10.json",
            "a/note.txt",
            "b/rank0.json",
            "a/x/deep/rank2.json",
            ".hidden/rank9.json",
        ] {
            fs::write(top.join(file), "x").expect("written");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(&top, top.join("a/round")).expect("linked");
        let find = |pattern: &str| -> Vec<String> {
            let found = find(&top.join(pattern).to_string_lossy()).unwrap_or_else(|e| panic!("{e}"));
            found.iter().map(|p| p.strip_prefix(&top).expect("below").display().to_string()).collect()
        };
        assert_eq!(find("a/*.json"), ["a/rank0.json", "a/rank1.json", "a/rank10.json"]);
        assert_eq!(find("a/rank?.json"), ["a/rank0.json", "a/rank1.json"]);
        assert_eq!(find("*/rank[0-1].json"), ["a/rank0.json", "a/rank1.json", "b/rank0.json"]);
        assert_eq!(find("**/rank2.json"), ["a/x/deep/rank2.json"]);
        assert_eq!(find("*/x/deep"), ["a/x/deep"]);
        assert_eq!(find("**/*.json").len(), 5, "without what is hidden, and not round");
        assert_eq!(find(&format!("{}rank2.json", "**/".repeat(200))), ["a/x/deep/rank2.json"]);
        assert!(find("c/*").is_empty() && find("*/nothing").is_empty());
        let wrong = |pattern: &str| super::find(pattern).expect_err("refused").message;
        assert!(wrong("a/*/../../etc/passwd").contains("`..`"));
        assert!(wrong("a/[").contains("invalid pattern"));
        let _ = fs::remove_dir_all(&top);
    }
}
