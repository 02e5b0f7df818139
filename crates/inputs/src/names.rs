//! Filters on names: a glob, or a part of the name.

/// A filter. `*` matches anything, `?` one character; a word without either matches anywhere in a name. Case
/// is ignored.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<char>);

impl Pattern {
    /// Creates a filter from the user's text.
    pub fn new(text: &str) -> Self {
        let plain: String = text.to_lowercase().chars().take(200).collect();
        Self(if plain.contains(['*', '?']) {
            plain.chars().collect()
        } else {
            format!("*{plain}*").chars().collect()
        })
    }

    /// Tests whether a name matches. Linear in both lengths except for retries after each `*`.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.to_lowercase().chars().collect();
        let (mut p, mut n) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while n < name.len() {
            match self.0.get(p) {
                Some('*') => {
                    retry = Some((p + 1, n));
                    p += 1;
                }
                Some(&c) if c == '?' || c == name[n] => {
                    p += 1;
                    n += 1;
                }
                _ => match retry {
                    Some((after, from)) => {
                        retry = Some((after, from + 1));
                        p = after;
                        n = from + 1;
                    }
                    None => return false,
                },
            }
        }
        self.0[p..].iter().all(|&c| c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn globs_and_parts() {
        let is = |pattern: &str, name: &str| Pattern::new(pattern).matches(name);
        assert!(is("llama-3*", "llama-3.1-405b") && !is("llama-3*", "codellama-34b"));
        assert!(is("*moe*b", "qwen1.5-MoE-a2.7b") && is("moe", "olmoe-1b-7b"));
        assert!(is("h?00*", "h100-sxm5-80gb") && !is("h?00", "h100-sxm5-80gb"));
        assert!(is("", "anything") && is("*", "") && !is("?", ""));
        // A pattern that would take exponential time with naive recursion.
        assert!(!is(&"*a".repeat(60), &"a".repeat(59)));
    }
}
