//! Properties of the replay of any job, on synthetic jobs.

use crate::schedule;
use proptest::prelude::*;
use railwright_profiler::passes::{Pass, PassKind};
use railwright_profiler::pipeline::{Cause, Question, page, picture};
use railwright_profiler::replay::{Delays, Replay, Runner, Subset};
use schedule::Made;

fn made() -> impl Strategy<Value = Made> {
    (2_u32..7, 1_u32..4, 1_u32..5, 3_u32..5).prop_map(|(stages, chunks, rounds, steps)| Made {
        stages,
        chunks,
        // Interleaved schedules take micro-batches in rounds of as many as there are stages.
        micro_batches: stages * rounds,
        steps,
        hop: 0,
    })
}

/// A reproducible pseudo-random number.
fn noise(of: [u32; 5]) -> i64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for n in of {
        state = (state ^ u64::from(n)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
    }
    (state % 1000) as i64
}

proptest! {
    #![proptest_config(railwright_cases::cases(48))]

    /// An ideal schedule is replayed exactly, and its bubble is (p - 1) / (v m + p - 1).
    #[test]
    fn ideal_schedules_have_the_ideal_bubble(made in made(), forward in 1_000_000_i64..9_000_000) {
        let (passes, took) = made.record(|_, _, _, back, _| if back { 2 * forward } else { forward });
        let (p, v, m) = (i64::from(made.stages), i64::from(made.chunks), i64::from(made.micro_batches));
        let work = m * v * 3 * forward;
        prop_assert_eq!(took[0], work + (p - 1) * 3 * forward);
        let page = page(passes, &Question::default()).expect("a page");
        prop_assert_eq!(page.shown.expected_duration, took[0]);
        prop_assert_eq!(page.typical.work, work);
        let ideal = page.ideal_bubble.expect("a shape");
        prop_assert!((ideal - (p - 1) as f64 / (v * m + p - 1) as f64).abs() < 1e-12);
        for stage in &page.stages {
            prop_assert!((stage.bubble - ideal).abs() < 1e-9);
        }
        prop_assert!(page.steps.iter().all(|s| s.measured == s.replayed));
        prop_assert!((page.what_if.slowdown.slowdown - 1.0).abs() < 1e-6);
        for row in &page.shown.rows {
            prop_assert_eq!(row.causes.get(Cause::Schedule), row.causes.total());
        }
        prop_assert_eq!(page.verdicts[0].id, "pipeline-no-straggler");
    }

    /// For any durations of passes, replays with and without delays reproduce the recorded step if only passes take time.
    #[test]
    fn replays_give_back_what_was_recorded(made in made(), seed in 0_u32..1000) {
        let (passes, took) = made.record(|step, stage, chunk, back, batch| {
            1_000_000 + 1000 * noise([seed + step, stage, chunk, u32::from(back), batch])
        });
        let replay = Replay::new(&passes).expect("a replay");
        let mut runner = Runner::default();
        for (at, took) in took.iter().enumerate() {
            prop_assert_eq!(replay.time(at, Delays::Dropped, |p| replay.duration(p), &mut runner), *took);
            prop_assert_eq!(replay.time(at, Delays::Kept, |p| replay.duration(p), &mut runner), *took);
        }
        // Removing nothing changes nothing, a cost is never negative, and longer passes never make a step shorter.
        let nothing = Subset { ranks: vec![77], ..Subset::default() };
        prop_assert!(replay.cost_of_excess(&nothing).iter().all(|c| c.1 == 0));
        for stage in 0..made.stages {
            let of_stage = Subset { stages: vec![stage], ..Subset::default() };
            prop_assert!(replay.cost_of_excess(&of_stage).iter().all(|c| c.1 >= 0));
            let longer = |p: usize| replay.duration(p) + if replay.passes()[p].stage == stage { 5000 } else { 0 };
            prop_assert!(replay.time(0, Delays::Kept, longer, &mut runner) >= took[0]);
        }
        let all = replay.what_if_ideal(Subset::default(), &[1, 2]).1;
        prop_assert!((all.recovered - 1.0).abs() < 1e-9 || all.saved == 0);
    }

    /// An injected stall is found, and its cost is the delay of the step.
    #[test]
    fn injected_stalls_are_found_and_priced(made in made(), seed in 0_u32..1000, share in 2_i64..60) {
        let usual = |back: bool| if back { 4_000_000 } else { 2_000_000 };
        let (_, without) = made.record(|_, _, _, back, _| usual(back));
        let pick = |of: u32, most: u32| (noise([seed, of, 3, 4, 5]) as u32) % most;
        let at = (pick(0, made.steps), pick(1, made.stages), pick(2, made.chunks), pick(3, 2) == 1, pick(4, made.micro_batches));
        let excess = usual(at.3) / 2 + without[0] / 200 + share * 100_000;
        let (passes, with) = made.record(|step, stage, chunk, back, batch| {
            usual(back) + if (step, stage, chunk, back, batch) == at { excess } else { 0 }
        });
        let page = page(passes, &Question::default()).expect("a page");
        prop_assert_eq!(page.stalls.len(), 1);
        let stall = &page.stalls[0];
        prop_assert_eq!((stall.step, stall.stage, stall.chunk, stall.micro_batch), (at.0, at.1, at.2, Some(at.4)));
        prop_assert_eq!(stall.excess, excess);
        prop_assert_eq!(stall.cost, with[at.0 as usize] - without[0]);
        for row in &page.shown.rows {
            let busy: i64 = row.boxes.iter().map(|b| b.end - b.start).sum();
            prop_assert_eq!(busy + row.causes.total(), page.shown.measured);
        }
    }

    /// The same for recordings with messages. A receive after a late pass is posted late because of it, even in the other direction.
    #[test]
    fn stalls_between_messages_cost_what_the_step_lost(
        stages in 2_u32..7, rounds in 1_u32..4, seed in 0_u32..1000, share in 2_i64..60,
    ) {
        let made = Made { stages, chunks: 1, micro_batches: stages * rounds, steps: 5, hop: 0 };
        let usual = |back: bool| if back { 4_000_000 } else { 2_000_000 };
        let (_, without) = made.record(|_, _, _, back, _| usual(back));
        let pick = |of: u32, most: u32| (noise([seed, of, 3, 4, 5]) as u32) % most;
        let at = (pick(0, made.steps), pick(1, stages), pick(2, 2) == 1, pick(3, made.micro_batches));
        let excess = usual(at.2) / 2 + without[0] / 200 + share * 100_000;
        let (passes, with) = made.record_with_messages(|step, stage, back, batch| {
            usual(back) + if (step, stage, back, batch) == at { excess } else { 0 }
        });
        let page = page(passes, &Question::default()).expect("a page");
        prop_assert!(page.steps.iter().all(|s| s.measured == s.replayed));
        prop_assert_eq!(page.stalls.len(), 1);
        let stall = &page.stalls[0];
        prop_assert_eq!((stall.step, stall.stage, stall.micro_batch), (at.0, at.1, Some(at.3)));
        prop_assert_eq!(stall.excess, excess);
        prop_assert_eq!(stall.cost, with[at.0 as usize] - without[0]);
    }

    /// The latency of unrecorded messages is recovered.
    #[test]
    fn latencies_are_fitted(mut made in made(), hop in 200_000_i64..900_000) {
        made.hop = hop;
        let (passes, took) = made.record(|_, _, _, back, _| if back { 20_000_000 } else { 10_000_000 });
        let replay = Replay::new(&passes).expect("a replay");
        prop_assert_eq!(replay.gaps().hop, hop);
        prop_assert!(replay.replayed().iter().all(|s| s.replayed == took[0]));
    }
}

/// A chart of 16 stages and 64 micro-batches is readable: every pass is drawn once, wide enough to be
/// visible.
#[test]
fn large_pages_are_drawn_whole() {
    let made = Made { stages: 16, chunks: 1, micro_batches: 64, steps: 3, hop: 100_000 };
    let (passes, _) = made.record(|step, stage, _, back, batch| {
        let stall = if (step, stage, back, batch) == (1, 5, false, 30) { 90_000_000 } else { 0 };
        if back { 20_000_000 } else { 10_000_000 + stall }
    });
    let page = page(passes, &Question::default()).expect("a page");
    let drawn = picture::draw(&page, &picture::Options::default());
    assert_eq!(drawn.matches("<rect class=\"f\"").count(), 2 * 16 * 64 + 1, "both schedules and the legend");
    assert_eq!(drawn.matches("<rect class=\"o\"").count(), 1, "one stall is outlined");
    assert!(drawn.len() < 2_000_000, "{} bytes", drawn.len());
    if let Ok(file) = std::env::var("RAILWRIGHT_DRAW") {
        std::fs::write(file, drawn).expect("a file");
    }
}

/// A slow reduction on all stages of a step is one stall, although the stages reduce in turn; different
/// excesses are different stalls.
#[test]
fn reductions_slow_on_all_stages_are_one_stall() {
    const MS: i64 = 1_000_000;
    let made = Made { stages: 4, chunks: 1, micro_batches: 8, steps: 5, hop: 0 };
    let (mut passes, _) = made.record_with_messages(|_, _, back, _| if back { 40 * MS } else { 20 * MS });
    // Stages end 40 ms apart, longer than any of their reductions.
    let longer = |step: u32, stage: u32| match (step, stage) {
        (2, _) => 20 * MS + i64::from(stage) * MS / 10,
        (3, 1) => 25 * MS,
        (3, 2) => 15 * MS,
        _ => 0,
    };
    for (step, stage) in (0..made.steps).flat_map(|step| (0..4).map(move |stage| (step, stage))) {
        let of = passes.passes.iter().filter(|p| (p.step, p.stage) == (step, stage));
        let last = *of.max_by_key(|p| p.end).expect("passes");
        let (start, end) = (last.end, last.end + 10 * MS + longer(step, stage));
        passes.passes.push(Pass { kind: PassKind::GradientReduce, micro_batch: None, start, end, ..last });
    }
    let replicas: Vec<Pass> =
        passes.passes.iter().map(|p| Pass { replica: 1, rank: p.rank + 4, ..*p }).collect();
    passes.passes.extend(replicas);
    passes.shape.data_parallel = 2;
    passes.sort();
    let page = page(passes, &Question::default()).expect("a page");
    let mut reported: Vec<_> = page.stalls.iter().map(|s| (s.step, s.ranks.clone(), s.cost / MS)).collect();
    reported.sort();
    // The first stage ends last: only its reduction delays the step.
    assert_eq!(reported, [(2, (0..8).collect(), 20), (3, vec![1, 5], 0), (3, vec![2, 6], 0)]);
}
