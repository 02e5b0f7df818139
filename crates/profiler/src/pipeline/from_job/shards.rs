//! Passes that several ranks of a stage share.
//!
//! Responsible for: one start for the parts of a pass on the ranks of its tensor and context group. They meet
//! in every collective of the pass. A rank with a late launch therefore delays all of them, from the start of
//! the first part. Ends are not moved: the last collective ends the parts together.

use crate::passes::{Pass, PassKind};
use std::collections::BTreeMap;

/// Key of a pass over several ranks: step, stage, replica, kind, chunk, micro-batch.
type Shared = (u32, u32, u32, PassKind, u32, Option<u32>);

const fn shared(pass: &Pass) -> Shared {
    (pass.step, pass.stage, pass.replica, pass.kind, pass.chunk, pass.micro_batch)
}

/// Moves the start of every part of a shared pass to that of the first one, or to the end of its rank's
/// previous work. The host may launch other work late along with its part, such as the previous update or
/// loading. That work then precedes the pass, as on the other ranks.
pub(super) fn begin_together(passes: &mut [Pass]) {
    let mut first: BTreeMap<Shared, (i64, u32)> = BTreeMap::new();
    for pass in passes.iter().filter(|pass| pass.kind.is_compute()) {
        let group = first.entry(shared(pass)).or_insert((pass.start, 0));
        *group = (group.0.min(pass.start), group.1 + 1);
    }
    passes.sort_by_key(|pass| (pass.rank, pass.start, pass.end));
    for of_rank in passes.chunk_by_mut(|a, b| a.rank == b.rank) {
        let mut free = i64::MIN;
        for at in 0..of_rank.len() {
            if !of_rank[at].kind.is_compute() {
                continue;
            }
            if let Some(&(start, 2..)) = first.get(&shared(&of_rank[at])) {
                let begin = start.max(free).min(of_rank[at].start);
                if begin < of_rank[at].start {
                    let end = of_rank[at].end;
                    bring_forward(of_rank, begin, end);
                }
                of_rank[at].start = begin;
            }
            free = of_rank[at].end;
        }
    }
}

/// Moves local passes of a rank that began between `begin` and `end` before `begin`, in sequence.
fn bring_forward(of_rank: &mut [Pass], begin: i64, end: i64) {
    let is_local = |pass: &Pass| {
        matches!(pass.kind, PassKind::Optimizer | PassKind::DataLoading | PassKind::Other)
            && (begin..end).contains(&pass.start)
    };
    let mut until = begin;
    for pass in of_rank.iter_mut().rev().filter(|pass| is_local(pass)) {
        let length = pass.end - pass.start;
        (pass.start, pass.end) = (until - length, until);
        until -= length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(rank: u32, kind: PassKind, micro_batch: u32, start: i64, end: i64) -> Pass {
        Pass {
            step: 0,
            rank,
            stage: 0,
            replica: 0,
            shard: rank,
            kind,
            micro_batch: Some(micro_batch),
            chunk: 0,
            start,
            end,
        }
    }

    #[test]
    fn a_late_rank_begins_with_its_group_but_not_before_it_is_free() {
        let forward = PassKind::Forward;
        let mut passes = vec![
            pass(0, forward, 0, 0, 10),
            pass(1, forward, 0, 1, 10),
            // Rank 1 launches its part 40 late.
            pass(0, forward, 1, 10, 60),
            pass(1, forward, 1, 50, 60),
            // Rank 0 began while rank 1 still ran the previous pass.
            pass(1, PassKind::Backward, 0, 60, 75),
            pass(0, PassKind::Backward, 1, 70, 90),
            pass(1, PassKind::Backward, 1, 80, 90),
        ];
        begin_together(&mut passes);
        let starts: Vec<(u32, i64, i64)> = passes.iter().map(|p| (p.rank, p.start, p.end)).collect();
        assert_eq!(
            starts,
            [(0, 0, 10), (0, 10, 60), (0, 70, 90), (1, 0, 10), (1, 10, 60), (1, 60, 75), (1, 75, 90)]
        );
    }

    #[test]
    fn an_update_that_was_launched_late_with_its_pass_comes_before_it() {
        let optimizer =
            |start, end| Pass { micro_batch: None, ..pass(1, PassKind::Optimizer, 0, start, end) };
        let mut passes = vec![
            pass(0, PassKind::Forward, 0, 10, 60),
            optimizer(45, 47),
            optimizer(47, 50),
            pass(1, PassKind::Forward, 0, 50, 60),
        ];
        begin_together(&mut passes);
        let of_rank: Vec<(i64, i64)> =
            passes.iter().filter(|p| p.rank == 1).map(|p| (p.start, p.end)).collect();
        assert_eq!(of_rank, [(5, 7), (7, 10), (10, 60)]);
        // The same, within an earlier-launched pass.
        let mut passes = vec![
            pass(0, PassKind::Forward, 0, 10, 60),
            pass(1, PassKind::Forward, 0, 44, 60),
            optimizer(47, 50),
        ];
        begin_together(&mut passes);
        let of_rank: Vec<(i64, i64)> =
            passes.iter().filter(|p| p.rank == 1).map(|p| (p.start, p.end)).collect();
        assert_eq!(of_rank, [(10, 60), (7, 10)]);
    }

    #[test]
    fn a_pass_of_one_rank_stays() {
        let mut passes = vec![pass(0, PassKind::Forward, 0, 5, 10), pass(0, PassKind::Forward, 1, 30, 40)];
        let before = passes.clone();
        begin_together(&mut passes);
        assert_eq!(passes, before);
    }
}
