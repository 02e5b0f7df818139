//! Patterns of the shell (`*`, `?`) and their use in parameters: `${X%.sh}`, `${X##*/}`, `${X/a/b}`.
//!
//! Responsible for: matching and cutting, in time proportional to the product of both lengths. Sets of
//! characters are not supported: the result is then unknown.

/// Texts that are matched are no longer.
const LONGEST: usize = 64 << 10;

/// True if a whole text matches a pattern; `None` for patterns with sets of characters.
pub(super) fn fits(pattern: &str, text: &str) -> Option<bool> {
    if pattern.contains('[') && pattern.contains(']') || text.len() > LONGEST || pattern.len() > 1024 {
        return None;
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star, mut mark) = (0, 0, None, 0);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some(p);
                mark = t;
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some(at) => {
                    p = at + 1;
                    mark += 1;
                    t = mark;
                }
                None => return Some(false),
            },
        }
    }
    Some(pattern[p..].iter().all(|c| *c == '*'))
}

/// Text without a matching part at its start (`#`) or end (`%`); the longest such part if `greedy`.
pub(super) fn cut(text: &str, pattern: &str, at_end: bool, greedy: bool) -> Option<String> {
    if text.len() > 4096 {
        return None;
    }
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    if greedy != at_end {
        places.reverse();
    }
    for at in places {
        let (head, tail) = text.split_at(at);
        let (part, rest) = if at_end { (tail, head) } else { (head, tail) };
        if fits(pattern, part)? {
            return Some(rest.to_owned());
        }
    }
    Some(text.to_owned())
}

/// Text with the first fit of a plain pattern, or all of them, replaced.
pub(super) fn replace(text: &str, pattern: &str, with: &str, all: bool) -> Option<String> {
    if pattern.contains(['*', '?', '[', '#', '%']) || pattern.is_empty() || text.len() > LONGEST {
        return None;
    }
    Some(if all { text.replace(pattern, with) } else { text.replacen(pattern, with, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_and_cut() {
        assert_eq!(fits("*7b*", "llama-7b-chat"), Some(true));
        assert_eq!(fits("?b", "7b"), Some(true));
        assert_eq!(fits("a*c", "ab"), Some(false));
        assert_eq!(fits("[ab]", "a"), None);
        assert_eq!(cut("a/b/run.sh", "*/", false, true).as_deref(), Some("run.sh"));
        assert_eq!(cut("a/b/run.sh", "/*", true, false).as_deref(), Some("a/b"));
        assert_eq!(cut("run.sh", ".sh", true, false).as_deref(), Some("run"));
        assert_eq!(cut("8b", "x", true, false).as_deref(), Some("8b"));
        assert_eq!(replace("a,b,c", ",", " ", true).as_deref(), Some("a b c"));
    }
}
