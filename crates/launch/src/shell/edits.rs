//! Files that a script makes of a template with `sed`.
//!
//! Responsible for: pipelines of plain substitutions with the script's values, from a template to a file.
//! Patterns have no value here, and a file that is made in several ways has no text.

use crate::context::Context;
use std::collections::BTreeMap;

/// A word of a command, and whether `$` is plain text in it.
type Quoted = (String, bool);

/// The files that a script makes, by name. `filled`: a word with the values of the script's variables.
pub(super) fn made(
    filled: &dyn Fn(&str) -> String,
    file: &str,
    text: &str,
    context: &Context<'_>,
) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    if !text.contains("sed ") {
        return BTreeMap::new();
    }
    let joined = text.replace("\\\n", " ");
    for line in joined.lines().map(str::trim).filter(|line| line.contains("sed ") && line.contains('>')) {
        let Some((target, made)) = product(line, filled, file, context) else { continue };
        match found.get(&target) {
            Some(other) if *other != made => drop(found.insert(target, None)),
            _ => drop(found.insert(target, made)),
        }
    }
    found.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

/// A text with the values of its variables; one without a value stays as it is written.
pub(super) fn with_values(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let is_braced = behind.starts_with('{');
        let start = usize::from(is_braced);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let inner = behind.get(start..).unwrap_or_default();
        let length = inner.find(|c: char| !is_name(c)).unwrap_or(inner.len());
        let name = inner.get(..length).unwrap_or_default();
        let is_closed = !is_braced || inner.get(length..).is_some_and(|end| end.starts_with('}'));
        let end = start + length + usize::from(is_braced);
        if let Some(value) = value(name).filter(|_| is_closed) {
            out.push_str(&value);
            rest = behind.get(end..).unwrap_or_default();
        } else {
            out.push('$');
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

/// The file of a pipeline `sed EDIT... TEMPLATE | sed EDIT... > FILE`, and its text if all of it is known.
fn product(
    line: &str,
    filled: &dyn Fn(&str) -> String,
    file: &str,
    context: &Context<'_>,
) -> Option<(String, Option<String>)> {
    let mut commands = split(line)?;
    let last = commands.last_mut()?;
    let at = last.iter().position(|(word, _)| word == ">")?;
    let target = last.get(at + 1).filter(|_| last.len() == at + 2)?.clone();
    last.truncate(at);
    let known = |(word, is_plain): &Quoted| -> Option<String> {
        let text = if *is_plain { word.clone() } else { filled(word) };
        (*is_plain || !text.contains('$')).then_some(text)
    };
    let target = known(&target)?;
    let run = || -> Option<String> {
        let mut text: Option<String> = None;
        for command in &commands {
            let words: Vec<String> = command.iter().map(known).collect::<Option<_>>()?;
            let (program, rest) = words.split_first()?;
            match (program.as_str(), rest) {
                ("cat", [name]) if text.is_none() => text = Some(context.open(name, file).ok()?.1),
                ("sed", _) => {
                    let (mut edits, mut names, mut is_edit) = (Vec::new(), Vec::new(), false);
                    for word in rest {
                        match word.as_str() {
                            "-e" => is_edit = true,
                            word if is_edit || edits.is_empty() => {
                                edits.push(word.to_owned());
                                is_edit = false;
                            }
                            name => names.push(name.to_owned()),
                        }
                    }
                    let input = match (text.take(), names.as_slice()) {
                        (Some(input), []) => input,
                        (None, [name]) => context.open(name, file).ok()?.1,
                        _ => return None,
                    };
                    text = Some(edits.iter().try_fold(input, |text, edit| edited(&text, edit))?);
                }
                _ => return None,
            }
        }
        text
    };
    Some((target, run()))
}

/// A text after `s/old/new/`, for each line, or several of them with semicolons.
fn edited(text: &str, edit: &str) -> Option<String> {
    let rest = edit.strip_prefix('s')?;
    let delimiter = rest.chars().next().filter(char::is_ascii_punctuation)?;
    let parts: Vec<&str> = rest.split(delimiter).collect();
    let ["", old, new, flags @ ("" | "g")] = parts.as_slice() else { return None };
    let is_plain = !old.is_empty() && !old.contains(['.', '*', '[', ']', '^', '$', '\\', '+', '?']);
    if !is_plain || new.contains(['&', '\\']) {
        return None;
    }
    let replace =
        |line: &str| if *flags == "g" { line.replace(old, new) } else { line.replacen(old, new, 1) };
    Some(text.lines().map(replace).collect::<Vec<_>>().join("\n"))
}

/// The words of the commands of a pipeline; `None` for other syntax.
fn split(line: &str) -> Option<Vec<Vec<Quoted>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<Quoted> = None;
    let mut quote = None;
    let end = |word: &mut Option<Quoted>, commands: &mut Vec<Vec<Quoted>>| {
        if let (Some(word), Some(command)) = (word.take(), commands.last_mut()) {
            command.push(word);
        }
    };
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default().1 |= c == '\'';
            }
            (None, ' ' | '\t') => end(&mut word, &mut commands),
            (None, '|') => {
                end(&mut word, &mut commands);
                commands.push(Vec::new());
            }
            (None, '>') => {
                end(&mut word, &mut commands);
                word = Some((">".to_owned(), true));
                end(&mut word, &mut commands);
            }
            (None, '#' | ';' | '&' | '(' | ')' | '<' | '`') => return None,
            (_, _) => word.get_or_insert_default().0.push(c),
        }
    }
    end(&mut word, &mut commands);
    (quote.is_none() && commands.iter().all(|command| !command.is_empty())).then_some(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substitutions_are_plain_and_by_line() {
        assert_eq!(edited("a: X X\nb: X", "s/X/1/").as_deref(), Some("a: 1 X\nb: 1"));
        assert_eq!(edited("a: X X", "s#X#1#g").as_deref(), Some("a: 1 1"));
        for pattern in ["s/X.*/1/", "s/X/&1/", "X", "s/X/1/p"] {
            assert_eq!(edited("a: X", pattern), None, "{pattern}");
        }
    }

    #[test]
    fn pipelines_are_split_outside_quotes() {
        let found = split("sed \"s/A|B/${x}/\" ${in} | sed 's/C/D/' > out.json").expect("plain");
        let words: Vec<Vec<&str>> =
            found.iter().map(|command| command.iter().map(|(word, _)| word.as_str()).collect()).collect();
        assert_eq!(words, [vec!["sed", "s/A|B/${x}/", "${in}"], vec!["sed", "s/C/D/", ">", "out.json"]]);
        assert_eq!(split("sed s/a/b/ x > y; rm y"), None);
    }
}
