//! Recorded collectives and their groups.
//!
//! Responsible for: converting the recorder's fields to [`CollectiveCall`] and [`RankGroup`]. Does not infer
//! a group's dimension.

use super::arguments::Words;
use super::numbers;
use super::places::Places;
use crate::trace::{CollectiveCall, RankGroup};
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Groups that a trace lists or names, each once by its name and ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    list: Vec<RankGroup>,
    places: Places,
    /// Index of a group by its fields as written: the same fields occur thousands of times.
    known: BTreeMap<Vec<u8>, Option<u32>>,
    /// Number of ranks generated from starts, strides and sizes. It is limited, because damaged values could
    /// exhaust the memory.
    claimed: usize,
}

/// Maximum number of generated ranks over all groups.
const CLAIMS: usize = 1 << 22;

impl Groups {
    /// Adds a group from the head of the trace.
    pub(super) fn list(&mut self, group: RankGroup) {
        match self.places.named(&group.name) {
            Some(at) => {
                self.places.forget(at, &self.list[at as usize]);
                self.places.add(at, &group);
                self.list[at as usize] = group;
            }
            None => {
                self.push(group);
            }
        }
        self.known.clear();
    }

    fn push(&mut self, group: RankGroup) -> u32 {
        let at = self.list.len() as u32;
        self.places.add(at, &group);
        self.list.push(group);
        at
    }

    /// The groups in the order of their occurrence.
    pub(super) fn into_list(self) -> Vec<RankGroup> {
        self.list
    }

    fn find(&mut self, words: &Words<'_>) -> Option<u32> {
        let key = [
            words.group_name,
            words.group_description,
            words.group_ranks,
            words.group_size,
            words.group_start,
            words.group_stride,
        ]
        .join(&0);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let place = self.place(words);
        self.known.insert(key, place);
        place
    }

    fn place(&mut self, words: &Words<'_>) -> Option<u32> {
        let size = numbers::small(words.group_size);
        let listed = ranks(words.group_ranks).filter(|r| !r.is_empty());
        let ranks = listed.or_else(|| {
            let room = CLAIMS.saturating_sub(self.claimed);
            let made = stride(words, size.filter(|&s| s as usize <= room))?;
            self.claimed += made.len();
            Some(made)
        });
        let name = text(words.group_name);
        let description = description(&text(words.group_description));
        if name.is_empty() && ranks.is_none() {
            return None;
        }
        if let Some(at) = self.places.of(&name, ranks.as_ref()) {
            let group = &mut self.list[at as usize];
            self.places.forget(at, group);
            group.ranks = group.ranks.take().or(ranks);
            group.size = group.size.or(size);
            group.description = group.description.take().or(description);
            self.places.add(at, group);
            return Some(at);
        }
        let size = size.or(ranks.as_ref().map(|r| r.len() as u32));
        Some(self.push(RankGroup { name, description, ranks, size }))
    }
}

/// Call described by an event's fields.
pub(super) fn call(words: &Words<'_>, groups: &mut Groups) -> CollectiveCall {
    let label = text(words.label);
    let element = Some(text(words.element)).filter(|e| !e.is_empty());
    let kind = kind(&label);
    let peer = match kind {
        Some(CollectiveKind::Send) => words.destination,
        Some(CollectiveKind::Receive) => words.source,
        _ => &[],
    };
    CollectiveCall {
        kind,
        elements_in: numbers::whole(words.elements_in),
        elements_out: numbers::whole(words.elements_out),
        element_bytes: element.as_deref().and_then(element_bytes),
        element,
        group: groups.find(words),
        sequence: numbers::whole(words.sequence),
        peer: numbers::small(peer),
        label,
    }
}

/// Call described by an annotation of gloo (`gloo:all_reduce`), with shapes and types of its inputs as
/// written.
pub(super) fn annotated(name: &str, shapes: &[u8], types: &[u8]) -> CollectiveCall {
    let label = name.rsplit(':').next().unwrap_or_default().to_owned();
    let product = |shape: &Vec<u64>| shape.iter().try_fold(1u64, |all, &size| all.checked_mul(size));
    let elements = serde_json::from_slice::<Vec<Vec<u64>>>(shapes).ok().and_then(|shapes| {
        let mut whole = shapes.iter().filter(|shape| !shape.is_empty()).map(product);
        whole.try_fold(0u64, |sum, elements| sum.checked_add(elements?))
    });
    let element = serde_json::from_slice::<Vec<String>>(types).ok().and_then(|t| t.into_iter().next());
    let element = element.filter(|e| !e.is_empty());
    CollectiveCall {
        kind: kind(&label),
        elements_in: elements,
        elements_out: elements,
        element_bytes: element.as_deref().and_then(element_bytes),
        element,
        label,
        ..CollectiveCall::default()
    }
}

/// Words in labels. Reduce-scatter precedes reduce, so that the longer word decides.
const WORDS: [(&str, CollectiveKind); 12] = [
    ("reducescatter", CollectiveKind::ReduceScatter),
    ("allreduce", CollectiveKind::AllReduce),
    ("allgather", CollectiveKind::AllGather),
    ("alltoall", CollectiveKind::AllToAll),
    ("broadcast", CollectiveKind::Broadcast),
    ("barrier", CollectiveKind::Barrier),
    ("recv", CollectiveKind::Receive),
    ("receive", CollectiveKind::Receive),
    ("send", CollectiveKind::Send),
    ("gather", CollectiveKind::AllGather),
    ("scatter", CollectiveKind::Broadcast),
    ("reduce", CollectiveKind::Reduce),
];

/// Kind of collective in a label, in the spellings of PyTorch, its backends and kernels.
pub(super) fn kind(label: &str) -> Option<CollectiveKind> {
    let plain: String = label.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
    if plain.contains("send") && plain.contains("recv") {
        return None;
    }
    WORDS.iter().find(|(word, _)| plain.contains(word)).map(|&(_, kind)| kind)
}

/// Bytes of an element, from the name of its type (`Float`, `BFloat16`, `c10::Half`, `float`, ...).
pub(super) fn element_bytes(name: &str) -> Option<u32> {
    let plain = name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase();
    Some(match plain.as_str() {
        "byte" | "char" | "bool" | "int8" | "uint8" | "signed char" | "unsigned char" => 1,
        plain if plain.starts_with("float8") => 1,
        "half" | "bfloat16" | "float16" | "short" | "int16" | "uint16" | "short int" => 2,
        "float" | "float32" | "int" | "int32" | "uint32" => 4,
        "double" | "float64" | "long" | "int64" | "uint64" | "long int" | "complexfloat" => 8,
        "complexdouble" => 16,
        _ => return None,
    })
}

/// A description, unless it is marked as missing.
pub(super) fn description(text: &str) -> Option<String> {
    (!text.is_empty() && text != "undefined").then(|| text.to_owned())
}

/// Ranks from a list such as `[0, 1]`; `None` if it was truncated with `...`.
pub(super) fn ranks(text: &[u8]) -> Option<Vec<u32>> {
    let inner = text.trim_ascii().strip_prefix(b"[")?.strip_suffix(b"]")?;
    if inner.trim_ascii().is_empty() {
        return Some(Vec::new());
    }
    inner.split(|&b| b == b',').map(numbers::small).collect()
}

/// Ranks from start, stride and number. An implausible size gives `None`.
fn stride(words: &Words<'_>, size: Option<u32>) -> Option<Vec<u32>> {
    let (start, step) = (numbers::small(words.group_start)?, numbers::small(words.group_stride)?);
    let size = size.filter(|&s| s > 1 && s <= 1 << 20 && step > 0)?;
    (0..size).map(|i| i.checked_mul(step)?.checked_add(start)).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_every_spelling_have_a_kind() {
        for (label, wanted) in [
            ("allreduce", Some(CollectiveKind::AllReduce)),
            ("_reduce_scatter_base", Some(CollectiveKind::ReduceScatter)),
            ("_allgather_base", Some(CollectiveKind::AllGather)),
            ("all_to_allv", Some(CollectiveKind::AllToAll)),
            ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", Some(CollectiveKind::AllReduce)),
            ("ncclDevKernel_SendRecv", None),
            ("recv", Some(CollectiveKind::Receive)),
            ("wait", None),
        ] {
            assert_eq!(kind(label), wanted, "{label}");
        }
    }

    #[test]
    fn groups_are_known_by_name_and_ranks() {
        let mut groups = Groups::default();
        groups.list(RankGroup {
            name: "13".into(),
            description: None,
            ranks: Some(vec![0, 1]),
            size: Some(2),
        });
        let words = Words {
            label: b"allreduce",
            elements_in: b"6144",
            element: b"Float",
            group_name: b"13",
            group_description: b"undefined",
            group_ranks: b"[0, 1]",
            group_size: b"2",
            ..Words::default()
        };
        let known = call(&words, &mut groups);
        assert_eq!((known.group, known.element_bytes, known.elements_in), (Some(0), Some(4), Some(6144)));
        // A truncated list is unusable; start, stride and size are complete.
        let cut = Words {
            group_name: b"7",
            group_ranks: b"[0, 8, 16, ...]",
            group_size: b"40",
            group_start: b"0",
            group_stride: b"8",
            ..words
        };
        let call = call(&cut, &mut groups);
        let groups = groups.into_list();
        let ranks = groups[call.group.unwrap_or_default() as usize].ranks.clone().unwrap_or_default();
        assert_eq!((ranks.len(), ranks[39], groups.len()), (40, 312, 2));
    }

    #[test]
    fn gloo_records_shapes_instead_of_numbers() {
        let call = annotated("gloo:all_reduce", b"[[256, 256], []]", br#"["float", ""]"#);
        assert_eq!(
            (call.kind, call.elements_in, call.element_bytes),
            (Some(CollectiveKind::AllReduce), Some(65536), Some(4))
        );
    }
}
