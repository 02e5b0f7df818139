//! Comments and messages in the code use the words of the glossary.
//!
//! Responsible for: counting the words that `docs/glossary.md` avoids in comments and string literals of Rust
//! code, per crate. `words.counts` has the budget of each crate, which may only fall: `WORDS_UPDATE=1 cargo
//! test -p xtask --test words` writes lower counts, `WORDS_UPDATE=reset` writes all counts (after a merge).
//! Excludes help, documents and snapshots: see `crates/cli/tests/words.rs`.

#[path = "../../crates/cli/tests/support/glossary.rs"]
mod glossary;

use glossary::{avoided, count, flat, root};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Folders with Rust code. `crates` is counted by crate.
const FOLDERS: &[&str] = &["crates", "xtask", "fuzz", "python"];

/// The kinds of text that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Comments,
    Messages,
}

/// A comment or a string literal of Rust code.
#[derive(Debug, PartialEq, Eq)]
struct Piece<'a> {
    kind: Kind,
    text: &'a str,
}

/// Splits Rust code into its comments and string literals. Characters and lifetimes are skipped.
fn pieces(code: &str) -> Vec<Piece<'_>> {
    let bytes = code.as_bytes();
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let rest = &code[at..];
        let length = if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            found.push(Piece { kind: Kind::Comments, text: rest[..end].trim_start_matches(['/', '!']) });
            end
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            found.push(Piece { kind: Kind::Comments, text: &rest[..end] });
            end
        } else if let Some(fence) = raw_fence(code, at) {
            let body = at + fence.len();
            let close = fence.trim_start_matches(['b', 'r']);
            let end = code[body..].find(close).map_or(code.len(), |end| body + end);
            found.push(Piece { kind: Kind::Messages, text: &code[body..end] });
            end + close.len() - at
        } else if rest.starts_with('"') {
            let end = string_end(rest);
            found.push(Piece { kind: Kind::Messages, text: &rest[1..end] });
            end + 1
        } else if rest.starts_with('\'') {
            character(rest)
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        at += length.max(1);
    }
    found
}

/// The delimiters of a raw string at a position: its letters and its end, as `r"##`; `None` if there is no
/// raw string.
fn raw_fence(code: &str, at: usize) -> Option<String> {
    let rest = &code[at..];
    let is_inside_a_name = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let letters = if rest.starts_with("br") { "br" } else { "r" };
    if is_inside_a_name || !rest.starts_with(letters) {
        return None;
    }
    let hashes = rest[letters.len()..].chars().take_while(|c| *c == '#').count();
    let is_raw = rest[letters.len() + hashes..].starts_with('"');
    is_raw.then(|| format!("{letters}\"{}", "#".repeat(hashes)))
}

/// Offset of the quote that ends a string, which begins with a quote.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len().saturating_sub(1)
}

/// The length of a character literal; 1 for a lifetime.
fn character(text: &str) -> usize {
    let inner = &text[1..];
    if let Some(escape) = inner.strip_prefix('\\') {
        let first = escape.chars().next().map_or(0, char::len_utf8);
        return escape[first..].find('\'').map_or(1, |end| 2 + first + end + 1);
    }
    let first = inner.chars().next().map_or(0, char::len_utf8);
    if inner[first..].starts_with('\'') { 1 + first + 1 } else { 1 }
}

/// A text without code in backticks and without placeholders of `format!`.
fn prose(text: &str) -> String {
    let without_code: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let mut kept = String::new();
    let mut depth = 0_usize;
    for c in without_code.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept.replace("\\n", " ").replace('\\', " ")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules", "artifacts"].contains(&name.as_str()) {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Tests whether messages of a file are read by tests only.
fn is_test(path: &Path) -> bool {
    let path = path.to_string_lossy().replace('\\', "/");
    ["/tests/", "/benches/", "/testing/"].iter().any(|part| path.contains(part))
        || ["tests.rs", "testing.rs"].iter().any(|end| path.ends_with(end))
}

/// The crate of a file, by its folder.
fn owner(path: &Path) -> String {
    let path = path.strip_prefix(root()).expect("within").to_string_lossy().replace('\\', "/");
    let parts: Vec<&str> = path.split('/').collect();
    parts[..if parts[0] == "crates" { 2 } else { 1 }].join("/")
}

/// Words to avoid by crate and kind, each with its number.
fn counted() -> BTreeMap<(String, Kind), BTreeMap<String, usize>> {
    let avoided = avoided();
    let mut files = Vec::new();
    for folder in FOLDERS {
        rust_files(&root().join(folder), &mut files);
    }
    assert!(files.len() > 500, "{}", files.len());
    let mut found: BTreeMap<(String, Kind), BTreeMap<String, usize>> = BTreeMap::new();
    for path in files {
        let code = std::fs::read_to_string(&path).expect("readable");
        let code = if is_test(&path) {
            &code
        } else {
            code.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&code)
        };
        for kind in [Kind::Comments, Kind::Messages] {
            if kind == Kind::Messages && is_test(&path) {
                continue;
            }
            let texts: Vec<&str> =
                pieces(code).into_iter().filter(|piece| piece.kind == kind).map(|piece| piece.text).collect();
            let text = flat(&prose(&texts.join(if kind == Kind::Comments { " " } else { " . " })));
            let counts = found.entry((owner(&path), kind)).or_default();
            for word in &avoided {
                let n = count(&text, word);
                if n > 0 {
                    *counts.entry(word.clone()).or_default() += n;
                }
            }
        }
    }
    found
}

#[test]
fn code_has_fewer_and_fewer_words_to_avoid() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/words.counts");
    let listed = std::fs::read_to_string(&list).unwrap_or_default();
    let budgets: BTreeMap<&str, usize> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(count, name)| (name, count.parse().expect("a count")))
        .collect();
    let (mut wrong, mut lines) = (Vec::new(), String::new());
    for ((owner, kind), words) in counted() {
        let name = format!("{owner} {}", format!("{kind:?}").to_lowercase());
        let all: usize = words.values().sum();
        if all > budgets.get(name.as_str()).copied().unwrap_or(0) {
            wrong.push(format!("{name}: {all}: {words:?}"));
        }
        if all > 0 {
            let _ = writeln!(lines, "{all} {name}");
        }
    }
    let update = std::env::var("WORDS_UPDATE").unwrap_or_default();
    if update == "reset" || (!update.is_empty() && wrong.is_empty()) {
        std::fs::write(&list, lines).expect("writable");
        return;
    }
    assert!(
        wrong.is_empty(),
        "more words to avoid than xtask/tests/words.counts allows, see docs/glossary.md:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn comments_and_strings_are_found() {
    let code = "/// A `say` doc.\nlet a = 'x'; let l: &'a str = \"a \\\"b\\\" // c\"; // d\nlet r = r#\"e \"f\" \"#; /* g */ let q = '\"';\n";
    let all = pieces(code);
    let texts = |kind| all.iter().filter(|p| p.kind == kind).map(|p| p.text.trim()).collect::<Vec<_>>();
    assert_eq!(texts(Kind::Comments), ["A `say` doc.", "d", "/* g */"]);
    assert_eq!(texts(Kind::Messages), ["a \\\"b\\\" // c", "e \"f\""]);
    assert_eq!(flat(&prose("Is `told` {said} told\\n")), "is told");
}
