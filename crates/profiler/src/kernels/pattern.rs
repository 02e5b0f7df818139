//! Patterns of names: successive parts, optionally anchored at the start or the end.
//!
//! Responsible for: matching a pattern against a lowercase name in time linear in the name. Regular
//! expressions are not supported.

/// A pattern, in lowercase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    parts: Vec<String>,
    start: bool,
    end: bool,
}

impl Pattern {
    /// Reads `^` (start), `$` (end), `*` (anything) and text; `None` for a pattern without text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (start, rest) = text.strip_prefix('^').map_or((false, text.as_str()), |rest| (true, rest));
        let (end, rest) = rest.strip_suffix('$').map_or((false, rest), |rest| (true, rest));
        let start = start && !rest.starts_with('*');
        let end = end && !rest.ends_with('*');
        let parts: Vec<String> = rest.split('*').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        (!parts.is_empty()).then_some(Self { parts, start, end })
    }

    /// Tests whether the pattern fits a lowercase name.
    pub(crate) fn fits(&self, name: &str) -> bool {
        let mut rest = name;
        let last = self.parts.len() - 1;
        for (n, part) in self.parts.iter().enumerate() {
            if n == 0 && self.start {
                let Some(behind) = rest.strip_prefix(part.as_str()) else { return false };
                rest = behind;
                if n == last && self.end {
                    return rest.is_empty();
                }
            } else if n == last && self.end {
                return rest.ends_with(part.as_str());
            } else {
                let Some(at) = rest.find(part.as_str()) else { return false };
                rest = &rest[at + part.len()..];
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_in_their_order_and_ends_are_tied() {
        let fits = |pattern: &str, name: &str| Pattern::parse(pattern).unwrap().fits(name);
        assert!(fits("gemm", "volta_sgemm_128") && !fits("^gemm", "volta_sgemm_128"));
        assert!(
            fits("^triton_*norm", "triton_red_fused_rms_norm_3")
                && !fits("^triton_*norm", "rms_norm_triton_")
        );
        assert!(fits("^aten::to$", "aten::to") && !fits("^aten::to$", "aten::topk"));
        assert!(fits("a*b$", "xaab") && !fits("a*b$", "xaaba") && !fits("ab*b$", "ab"));
        assert!(Pattern::parse("^*").is_none() && Pattern::parse("").is_none());
    }
}
