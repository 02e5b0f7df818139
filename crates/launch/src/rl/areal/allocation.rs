//! AReaL's notation of layouts: `sglang:d4t2+fsdp:d8`, `megatron:(attn:d4p2t2|ffn:d2p2e4)`, `fsdp:d4p1t1`.
//!
//! Responsible for: the parts of an expression and their parallel sizes. Letters that the notation does not
//! have make a part unreadable.

/// Program that trains, or that generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Fsdp,
    Megatron,
    /// Another trainer.
    Other,
    /// Generation and evaluation.
    Generation,
}

/// One part with its parallel sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) engine: Engine,
    /// Name in brackets: `fsdp[actor]`.
    name: Option<String>,
    pub(super) data: u64,
    pub(super) tensor: u64,
    pub(super) pipeline: u64,
    pub(super) context: u64,
    pub(super) expert: u64,
    /// Tensor parallelism of experts, if it is set apart.
    pub(super) expert_tensor: Option<u64>,
}

impl Part {
    /// Ranks of the part: experts use those of the other dimensions.
    pub(super) fn devices(&self) -> u64 {
        [self.data, self.tensor, self.pipeline, self.context].into_iter().fold(1, u64::saturating_mul)
    }
}

/// All parts of an expression; a part that is not understood is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Allocation(Vec<Option<Part>>);

impl Allocation {
    /// Reads an expression; `None` for a text in another notation.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect();
        let parts: Vec<Option<Part>> = split(&text).iter().map(|piece| part(piece)).collect();
        parts.iter().any(Option::is_some).then_some(Self(parts))
    }

    /// The only part that trains, or the one with the actor's name.
    pub(super) fn trained(&self) -> Option<&Part> {
        let parts: Vec<&Part> = self.0.iter().map(Option::as_ref).collect::<Option<Vec<_>>>()?;
        let trained: Vec<&Part> =
            parts.into_iter().filter(|part| part.engine != Engine::Generation).collect();
        match trained[..] {
            [one] => Some(one),
            _ => trained.into_iter().find(|part| part.name.as_deref() == Some("actor")),
        }
    }
}

/// Pieces between `+` and `|` outside brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut pieces) = (0_u32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            // Without brackets the sections of experts have their names.
            '|' if text[at + 1..].starts_with("ffn:") => {}
            '+' | '|' if depth == 0 => {
                pieces.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    pieces
}

fn part(text: &str) -> Option<Part> {
    let (head, sizes) = match text.split_once([':', '.']) {
        Some((head, _)) if head.starts_with('(') || head == "attn" => ("", text),
        Some((head, sizes)) => (head, sizes),
        None if matches!(text, "cpu" | "eval") => (text, ""),
        None => ("", text),
    };
    let (engine, name) = match head.split_once('[') {
        Some((engine, name)) => (engine, Some(name.trim_end_matches(']').to_owned())),
        None => (head, None),
    };
    let sizes = sizes.trim_start_matches('(').trim_end_matches(')');
    let (attention, experts) = match sizes.split_once("|ffn:") {
        Some((attention, experts)) => (attention.strip_prefix("attn:")?, Some(experts)),
        None => (sizes, None),
    };
    let all = dimensions(attention)?;
    let of = |list: &[(char, u64)], letter: char| list.iter().find(|(c, _)| *c == letter).map(|(_, n)| *n);
    let experts = match experts {
        Some(text) => Some(dimensions(text)?),
        None => None,
    };
    let expert = experts.as_ref().map_or_else(|| of(&all, 'e'), |list| of(list, 'e')).unwrap_or(1);
    let pipeline = of(&all, 'p').unwrap_or(1);
    let engine = match engine {
        "megatron" => Engine::Megatron,
        "sglang" | "vllm" | "cpu" | "eval" => Engine::Generation,
        // Without a name: AReaL takes Megatron where FSDP has no such dimension.
        "" if pipeline > 1 || expert > 1 => Engine::Megatron,
        "fsdp" | "" => Engine::Fsdp,
        _ => Engine::Other,
    };
    if all.is_empty() && engine != Engine::Generation {
        return None;
    }
    Some(Part {
        engine,
        name,
        data: of(&all, 'd').unwrap_or(1),
        tensor: of(&all, 't').unwrap_or(1),
        pipeline,
        context: of(&all, 'c').unwrap_or(1),
        expert,
        expert_tensor: experts.as_ref().map(|list| of(list, 't').unwrap_or(1)),
    })
}

/// Letters with numbers: `d4p2t2`. `None` for anything else.
fn dimensions(text: &str) -> Option<Vec<(char, u64)>> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(letter) = rest.chars().next() {
        let number: String = rest.chars().skip(1).take_while(char::is_ascii_digit).collect();
        if !"dptce".contains(letter) {
            return None;
        }
        found.push((letter, number.parse().ok().filter(|&n| n > 0)?));
        rest = &rest[1 + number.len()..];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Option<(Engine, [u64; 5], u64)> {
        let allocation = Allocation::of(text)?;
        let part = allocation.trained()?;
        let sizes = [part.data, part.tensor, part.pipeline, part.context, part.expert];
        Some((part.engine, sizes, part.devices()))
    }

    #[test]
    fn the_trained_part_has_its_sizes() {
        for (text, expected) in [
            ("sglang.d4+fsdp.d4", (Engine::Fsdp, [4, 1, 1, 1, 1], 4)),
            ("sglang:d4p1t1+d4p1t1", (Engine::Fsdp, [4, 1, 1, 1, 1], 4)),
            ("vllm:d2t4+megatron:d2p2t2e4", (Engine::Megatron, [2, 2, 2, 1, 4], 8)),
            ("\"fsdp:d4c2\"", (Engine::Fsdp, [4, 1, 1, 2, 1], 8)),
            ("sglang:d8+megatron:(attn:d4p2t2c2|ffn:d2p2t4e4)", (Engine::Megatron, [4, 2, 2, 2, 4], 32)),
            ("sglang:d4t1+d2p2t2", (Engine::Megatron, [2, 2, 2, 1, 1], 8)),
            ("sglang[rollout]:d4+fsdp[actor]:d2+fsdp[critic]:d2", (Engine::Fsdp, [2, 1, 1, 1, 1], 2)),
            ("sglang:d4|fsdp:d4", (Engine::Fsdp, [4, 1, 1, 1, 1], 4)),
            ("archon:d8", (Engine::Other, [8, 1, 1, 1, 1], 8)),
        ] {
            assert_eq!(sizes(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_notations_are_not_guessed() {
        for text in ["sglang.d4p1m2+d1p2m2", "sglang:d4", "fsdp:d4+fsdp:d4", "", "equal", "sglang:d4+cpu"] {
            assert_eq!(sizes(text), None, "{text}");
        }
    }
}
