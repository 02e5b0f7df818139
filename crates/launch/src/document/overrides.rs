//! Lists of overrides: `--parallelism.tensor_parallel_degree=8`, `model.tensor_model_parallel_size=4`, alone
//! or after a command.
//!
//! Responsible for: splitting a command like a shell, and distinguishing keys from values. Does not expand
//! variables: text with `$` is returned unchanged.

use super::{Data, Document, Entry, MOST_VALUES, Spot, check_length};
use railwright_spec::problem::Problem;

/// A list of overrides.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overrides {
    /// Keys and values; keys that were spelled with dashes have underscores.
    pub(crate) document: Document,
    /// Words that are not overrides: the command, its files.
    pub(crate) words: Vec<(String, usize)>,
}

/// Reads overrides from a text.
pub(crate) fn overrides(text: &str, file: &str) -> Result<Overrides, Problem> {
    check_length(text, file)?;
    let words = words(text);
    if words.len() > MOST_VALUES {
        return Err(Problem::new("too many arguments").in_file(file));
    }
    let mut found = Overrides::default();
    let mut rest = words.into_iter().peekable();
    while let Some((word, line)) = rest.next() {
        let mut put = |path: &str, data| {
            let spot = Spot { line, column: 0 };
            found.document.entries.push(Entry::new(path.to_owned(), data, spot));
        };
        if let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) {
            if let Some((name, value)) = flag.split_once('=') {
                put(&name.replace('-', "_"), value_of(value));
            } else {
                let name = flag.replace('-', "_");
                let value = rest.next_if(|(next, _)| !next.starts_with("--") && !is_assignment(next));
                match (value, positive(&name)) {
                    (Some((value, _)), _) => put(&name, value_of(&value)),
                    (None, Some(positive)) => put(&positive, Data::Flag(false)),
                    (None, None) => put(&name, Data::Flag(true)),
                }
            }
        } else if let Some((name, value)) =
            word.split_once('=').filter(|(name, _)| is_key(name.trim_start_matches('+')))
        {
            put(name.trim_start_matches('+'), value_of(value));
        } else if let Some(name) = word.strip_prefix('~').filter(|name| is_key(name)) {
            put(name, Data::Null);
        } else {
            found.words.push((word, line));
        }
    }
    Ok(found)
}

/// The key that `no_compile.enable` or `compile.no_enable` negates.
fn positive(name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("no_") {
        return Some(rest.to_owned());
    }
    let (section, key) = name.rsplit_once('.')?;
    key.strip_prefix("no_").map(|key| format!("{section}.{key}"))
}

/// `model.tp=2` is a separate override, not the value of the preceding flag.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| name.contains('.') && is_key(name.trim_start_matches('+')))
}

fn is_key(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

fn value_of(word: &str) -> Data {
    // A list as JSON writes it, lists inside included.
    if word.starts_with('[')
        && let Ok(list) = super::json(word, "")
        && let Some(entry) = list.entries.into_iter().next()
    {
        return entry.data;
    }
    let inner = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inner {
        Some(inner) => Data::List(
            inner
                .split(',')
                .map(|item| item.trim().trim_matches(['"', '\'']))
                .filter(|item| !item.is_empty())
                .map(|item| super::Node { data: Data::of_word(item), spot: Spot::default() })
                .collect(),
        ),
        None => Data::of_word(word),
    }
}

/// The words of a text as a shell splits them, with the line of each: quotes, backslashes, comments.
fn words(text: &str) -> Vec<(String, usize)> {
    let mut words = Vec::new();
    let mut word: Option<(String, usize)> = None;
    let mut line = 1;
    let mut chars = text.chars().peekable();
    let mut quote: Option<char> = None;
    while let Some(c) = chars.next() {
        let here = line;
        if c == '\n' {
            line += 1;
        }
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => match chars.next() {
                Some('\n') => line += 1,
                Some(escaped) => word.get_or_insert((String::new(), here)).0.push(escaped),
                None => {}
            },
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert((String::new(), here));
            }
            (None, '#') if word.is_none() => while chars.next_if(|&c| c != '\n').is_some() {},
            (None, c) if c.is_whitespace() || matches!(c, ';' | '|' | '&') => words.extend(word.take()),
            (_, c) => word.get_or_insert((String::new(), here)).0.push(c),
        }
    }
    words.extend(word);
    words
}
