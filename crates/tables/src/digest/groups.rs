//! Process groups in the metadata of a digest.
//!
//! Responsible for: ranks at equal distances as start, stride and size, because every rank of a large job
//! lists sets of thousands. Rejects sets larger than any job.

use railwright_profiler::trace::RankGroup;
use serde::{Deserialize, Serialize};

/// Maximum ranks listed by the groups of one digest, so that a file of a few bytes cannot reserve gigabytes.
const MOST: u64 = 1 << 22;

/// A group as written to the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Packed {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ranks: Option<Ranks>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Ranks {
    Strided { start: u32, stride: u32, size: u32 },
    Listed(Vec<u32>),
}

impl Packed {
    pub(super) fn new(group: &RankGroup) -> Self {
        Self {
            name: group.name.clone(),
            description: group.description.clone(),
            ranks: group.ranks.as_deref().map(Ranks::new),
            size: group.size,
        }
    }
}

impl Ranks {
    fn new(ranks: &[u32]) -> Self {
        let listed = || Self::Listed(ranks.to_vec());
        let [start, second, ..] = *ranks else { return listed() };
        let Some(stride) = second.checked_sub(start).filter(|stride| *stride > 0) else { return listed() };
        let regular = ranks.windows(2).all(|pair| pair[0].checked_add(stride) == Some(pair[1]));
        match u32::try_from(ranks.len()) {
            Ok(size) if regular && size > 4 => Self::Strided { start, stride, size },
            _ => listed(),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Strided { size, .. } => u64::from(*size),
            Self::Listed(ranks) => ranks.len() as u64,
        }
    }

    /// Ranks; `None` if they exceed the range of a rank.
    fn list(self) -> Option<Vec<u32>> {
        match self {
            Self::Listed(ranks) => Some(ranks),
            Self::Strided { start, stride, size } => {
                (0..size).map(|k| k.checked_mul(stride)?.checked_add(start)).collect()
            }
        }
    }
}

/// Groups of a digest; `None` if they list more ranks than any job has.
pub(super) fn unpack(packed: Vec<Packed>) -> Option<Vec<RankGroup>> {
    let all = packed.iter().filter_map(|group| group.ranks.as_ref()).map(Ranks::len);
    if all.fold(0, u64::saturating_add) > MOST {
        return None;
    }
    let group = |group: Packed| {
        let ranks = match group.ranks {
            Some(ranks) => Some(ranks.list()?),
            None => None,
        };
        Some(RankGroup { name: group.name, description: group.description, ranks, size: group.size })
    };
    packed.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_back_equal_and_bombs_do_not_open() {
        for ranks in
            [vec![], vec![3], vec![7, 0, 5], (0..2048).map(|k| 5 + 8 * k).collect(), vec![1, 1, 1, 1, 1, 1]]
        {
            let group =
                RankGroup { name: "7".to_owned(), description: None, ranks: Some(ranks), size: Some(9) };
            let text = serde_json::to_string(&[Packed::new(&group)]).expect("JSON");
            assert!(text.len() < 80, "{text}");
            let packed: Vec<Packed> = serde_json::from_str(&text).expect("groups");
            assert_eq!(unpack(packed), Some(vec![group]));
        }
        for bomb in [
            r#"[{"name": "", "ranks": {"start": 0, "stride": 1, "size": 4294967295}}]"#,
            r#"[{"name": "", "ranks": {"start": 9, "stride": 4294967295, "size": 3}}]"#,
        ] {
            assert_eq!(unpack(serde_json::from_str(bomb).expect("groups")), None);
        }
    }
}
