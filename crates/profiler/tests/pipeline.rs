//! Pipeline reports of recorded jobs, compared with derived answers
//! (`fixtures/traces/reference/truth/CASES.csv`).

use crate::schedule;
use crate::support;
use railwright_profiler::passes::PassKind;
use railwright_profiler::passes::Passes;
use railwright_profiler::pipeline::{Cause, Certainty, PipelinePage, Question, page};
use schedule::Made;

fn primus(step: Option<u32>) -> PipelinePage {
    page(support::primus(), &Question { step, ..Question::default() }).expect("a page")
}

fn bubbles_are(page: &PipelinePage, truth: &[f64], tolerance: f64) {
    assert_eq!(page.stages.len(), truth.len());
    for (stage, truth) in page.stages.iter().zip(truth) {
        assert!(
            (stage.bubble - truth).abs() <= tolerance,
            "stage {}: {}, not {truth}",
            stage.stage,
            stage.bubble
        );
    }
}

/// Rows primus_pp8_bubble and megatronapp_pp4_bubble.
#[test]
fn bubbles_of_stages() {
    let page = primus(None);
    bubbles_are(&page, &[0.363, 0.354, 0.329, 0.314, 0.297, 0.274, 0.271, 0.178], 0.003);
    assert!((page.ideal_bubble.unwrap() - 7.0 / 23.0).abs() < 1e-12);
    // Shares of the job's step: the last stage ends its own step earlier, but does not work during the rest.
    let of_job: Vec<f64> = page.stages.iter().map(|stage| stage.bubble_of_step).collect();
    assert!(page.stages.iter().all(|stage| stage.bubble_of_step >= stage.bubble - 1e-9), "{of_job:?}");
    assert!((0.29..0.32).contains(&of_job[7]), "{of_job:?}");
    let megatron = page_of_megatron();
    bubbles_are(&megatron, &[0.534, 0.554, 0.546, 0.255], 0.01);
    // Four chunks on each stage, eight micro-batches.
    assert_eq!((megatron.shape.virtual_pipeline, megatron.shape.micro_batches), (4, 8));
    assert!((megatron.ideal_bubble.unwrap() - 3.0 / 35.0).abs() < 1e-12);
}

fn page_of_megatron() -> PipelinePage {
    page(support::megatron_app(), &Question::default()).expect("a page")
}

/// Row primus_pp8_decomposition.
#[test]
fn the_parts_of_a_step() {
    let page = primus(None);
    let truth = [64.6, 28.3, 4.9, 0.9, 1.1, 0.0, 0.0, 0.2];
    for ((name, part), truth) in page.typical.parts().into_iter().zip(truth) {
        let share = part as f64 / page.typical.total as f64 * 100.0;
        assert!((share - truth).abs() <= 0.5, "{name}: {share} %, not {truth}");
    }
    let shown = page.shown.parts;
    assert_eq!(shown.parts().iter().map(|p| p.1).sum::<i64>(), shown.total, "a step's parts sum to it");
}

/// Rows primus_pp8_step11, 15, 16 and 18: place of the stall, its excess and its cost, in milliseconds.
#[test]
fn stalls_and_their_costs() {
    for (step, stage, micro_batch, excess, cost) in
        [(11, 0, 7, 283.0, 0.0), (15, 1, 4, 244.5, 3.0), (16, 2, 8, 258.6, 218.0), (18, 3, 10, 280.2, 248.0)]
    {
        let page = primus(Some(step));
        let [stall] = &page.shown.stalls[..] else { panic!("step {step}: {:?}", page.shown.stalls) };
        assert_eq!((stall.step, stall.stage, stall.micro_batch), (step, stage, Some(micro_batch)));
        assert_eq!(stall.kind, PassKind::Forward);
        assert!((stall.excess as f64 / 1e6 - excess).abs() <= 5.0, "step {step}: {stall:?}");
        assert!((stall.cost as f64 / 1e6 - cost).abs() <= 15.0, "step {step}: {stall:?}");
        // It is outlined at its position only.
        let outlined: Vec<_> = page
            .shown
            .rows
            .iter()
            .flat_map(|row| {
                row.boxes.iter().filter(|b| b.stall.is_some()).map(|b| (row.stage, b.micro_batch))
            })
            .collect();
        assert_eq!(outlined, [(stage, Some(micro_batch))]);
        let waited: i64 = page.shown.rows.iter().map(|row| row.causes.get(Cause::Stall)).sum();
        assert!(waited > 0 || stall.cost == 0, "step {step}: others wait for what costs");
        // Others may wait and catch up again (step 15); in one case no rank waits at all.
        assert_eq!(waited == 0, step == 11, "step {step}: {waited}");
    }
    // By default the report shows the step with the largest loss, not the start of the job.
    assert_eq!(primus(None).shown.step, 18);
    let quiet = primus(Some(9)).shown;
    assert!(quiet.stalls.is_empty() && quiet.rows.iter().all(|row| row.causes.get(Cause::Stall) == 0));
}

#[test]
fn every_nanosecond_of_every_row_is_a_pass_or_a_bubble() {
    for page in [primus(None), primus(Some(1)), page_of_megatron()] {
        for row in &page.shown.rows {
            let busy: i64 = row.boxes.iter().map(|b| b.end - b.start).sum();
            assert_eq!(busy + row.causes.total(), page.shown.measured, "stage {}", row.stage);
            let mut edges: Vec<(i64, i64)> = row.boxes.iter().map(|b| (b.start, b.end)).collect();
            edges.extend(row.bubbles.iter().map(|b| (b.start, b.end)));
            edges.sort_unstable();
            assert!(edges.windows(2).all(|w| w[0].1 == w[1].0), "stage {}", row.stage);
        }
    }
}

#[test]
fn verdicts_name_the_last_stage_and_the_stalls() {
    let page = primus(None);
    let ids: Vec<_> = page.verdicts.iter().map(|v| v.id).collect();
    assert_eq!(ids, ["pipeline-last-stage", "pipeline-stalls"], "{:?}", page.verdicts);
    assert!(
        page.verdicts[1].message.starts_with("2 of 4 stalls cost 450 ms in total in 4 steps")
            && page.start == Some(1)
            && page.verdicts[1].message.contains("in step 1, the first)"),
        "{:?}",
        page.verdicts
    );
    // Four ranks stall once each, for about the same time.
    let in_turn = "They occur on ranks 0-3 in different steps for 242 ms to 282 ms: hosts that pause in turn";
    assert!(page.verdicts[1].message.contains(in_turn), "{:?}", page.verdicts);
}

#[test]
fn what_depends_on_a_stage_that_was_not_recorded_has_no_price() {
    let mut passes = support::primus();
    passes.passes.retain(|pass| pass.stage != 4);
    let part = page(passes, &Question::default()).expect("a page");
    assert_eq!((part.extent().as_str(), &part.missing_stages[..]), ("7 of 8 stages", &[4][..]));
    assert_eq!(primus(None).extent(), "8 stages");
    let reported = |id: &str| part.verdicts.iter().find(|v| v.id == id);
    let stalls = reported("pipeline-stalls").expect("stalls are there all the same");
    assert!(stalls.cost == 0 && stalls.message.contains("their cost is unknown"), "{stalls:?}");
    for id in ["pipeline-messages", "pipeline-no-straggler"] {
        assert_eq!(reported(id), None);
    }
}

#[test]
fn questions_without_an_answer_list_what_exists() {
    let wrong = |step, replica| {
        page(support::primus(), &Question { step, replica, ..Question::default() }).unwrap_err()
    };
    assert_eq!(wrong(Some(99), None).hint.as_deref(), Some("steps go from 1 to 20"));
    assert!(wrong(None, Some(3)).message.contains("no replica 3"));
    assert!(page(Passes::default(), &Question::default()).is_err());
}

/// Row generated_stall: rank 2 sleeps 50 ms in every forward pass of step 3.
#[test]
fn passes_of_traces() {
    use railwright_profiler::joined::{JoinOptions, join};
    use railwright_profiler::pipeline::from_job;
    let files: Vec<String> =
        (0..4).map(|r| format!("generated_torch215_gloo_pp2dp2/rank{r}_step5.pt.trace.json.gz")).collect();
    let mut job = support::job(&files);
    let joined = join(&mut job, &JoinOptions::default());
    let passes = from_job::passes(&job, &joined).expect("passes");
    assert_eq!(
        (passes.shape.pipeline_parallel, passes.shape.data_parallel, passes.shape.micro_batches),
        (2, 2, 4)
    );
    let page = page(passes, &Question { step: Some(3), ..Question::default() }).expect("a page");
    let forward: Vec<_> = page.shown.stalls.iter().filter(|s| s.kind == PassKind::Forward).collect();
    let mut batches: Vec<_> = forward.iter().filter_map(|s| s.micro_batch).collect();
    batches.sort_unstable();
    assert_eq!(batches, [0, 1, 2, 3]);
    for stall in forward {
        assert_eq!((stall.step, stall.rank, stall.stage), (3, 2, 0));
        assert!((stall.excess as f64 / 1e6 - 50.0).abs() <= 5.0, "{stall:?}");
        assert!(stall.cost > 45_000_000, "nothing else was slow enough to hide it: {stall:?}");
    }
    // A shared machine has disturbances of its own, but no other pass is that late.
    assert!(page.stalls.iter().all(|s| s.excess < 25_000_000 || (s.step, s.rank) == (3, 2)));
    assert_eq!(page.verdicts.iter().filter(|v| v.id == "pipeline-stalls").count(), 1);
    assert!(page.verdicts.iter().all(|v| v.id != "pipeline-slow-worker"), "{:?}", page.verdicts);
}

/// The last chunk of the last stage also has the output layer: a single median over both chunks would hide
/// it.
#[test]
fn imbalance_of_an_interleaved_schedule_counts_every_chunk() {
    let made = Made { stages: 4, chunks: 2, micro_batches: 8, steps: 6, hop: 1_000_000 };
    let (passes, _) = made.record(|_, stage, chunk, back, _| {
        let heavy = if (stage, chunk) == (3, 1) { 3 } else { 1 };
        heavy * if back { 20_000_000 } else { 10_000_000 }
    });
    let page = page(passes, &Question::default()).expect("a page");
    let times: Vec<(i64, i64)> = page.stages.iter().map(|s| (s.forward, s.backward)).collect();
    assert_eq!(times[0], (20_000_000, 40_000_000));
    assert_eq!(times[3], (40_000_000, 80_000_000));
    let reported = page.verdicts.iter().find(|v| v.id == "pipeline-last-stage").expect("the last stage");
    // 120 ms compared with a mean of (3 x 60 + 120) / 4 = 75 ms.
    assert!(reported.message.contains("60.0% longer"), "{}", reported.message);
}

/// The parts of the critical path add up to the step, it goes forward in time, and the slow stage has most of
/// it.
#[test]
fn the_critical_path_of_a_pipeline() {
    let made = Made { stages: 4, chunks: 1, micro_batches: 8, steps: 5, hop: 1_000_000 };
    let (passes, _) = made.record(|_, stage, _, back, _| {
        let heavy = if stage == 2 { 2 } else { 1 };
        heavy * if back { 20_000_000 } else { 10_000_000 }
    });
    for page in [page(passes, &Question::default()).expect("a page"), primus(Some(16))] {
        let path = &page.shown.critical;
        let parts: i64 = path.ranks.iter().map(|r| r.compute + r.communication + r.waiting).sum();
        assert_eq!(parts + path.outside, page.shown.measured, "{path:?}");
        assert!(path.passes.windows(2).all(|two| two[0].end <= two[1].start && two[0].start <= two[0].end));
        let columns = railwright_profiler::pipeline::columns::columns(&page, 50_000);
        assert!(columns.critical.len() > path.passes.len() / 2, "{}", columns.critical.len());
        let sum: i64 = columns.critical_parts.iter().map(|part| part.time_ns).sum();
        assert_eq!(sum, page.shown.measured);
    }
    let (passes, _) = made.record(|_, stage, _, back, _| {
        let heavy = if stage == 2 { 2 } else { 1 };
        heavy * if back { 20_000_000 } else { 10_000_000 }
    });
    let page = page(passes, &Question::default()).expect("a page");
    assert_eq!(page.shown.critical.ranks[0].rank, 2, "{}", page.shown.critical.words);
}

/// A bubble waits for the pass whose result the next pass of its rank needs; after the last pass, for the
/// last one of the pipeline.
#[test]
fn bubbles_name_the_pass_that_they_wait_for() {
    let made = Made { stages: 4, chunks: 1, micro_batches: 8, steps: 5, hop: 1_000_000 };
    let (passes, _) = made.record(|_, _, _, back, _| if back { 20_000_000 } else { 10_000_000 });
    let page = page(passes, &Question::default()).expect("a page");
    let awaited = |stage: usize, first: bool| {
        let bubbles = page.shown.rows[stage].bubbles.iter().filter(|bubble| bubble.cause == Cause::Schedule);
        let one = if first { bubbles.clone().next() } else { bubbles.clone().next_back() };
        let pass = one.and_then(|bubble| bubble.awaited).expect("a pass");
        (pass.kind, pass.micro_batch, pass.stage)
    };
    assert_eq!(awaited(3, true), (PassKind::Forward, Some(0), 2));
    assert_eq!(awaited(0, true), (PassKind::Backward, Some(0), 1));
    assert_eq!(awaited(3, false), (PassKind::Backward, Some(7), 0));
    let columns = railwright_profiler::pipeline::columns::columns(&page, 50_000);
    assert!(
        columns.names.iter().any(|name| name == "bubble: schedule, waits for forward 0 of stage 2, rank 2"),
        "{:?}",
        columns.names
    );
    assert!(columns.arrows.kind.len() > 8, "{}", columns.arrows.kind.len());
    let longest = &columns.bubbles[0].waits[0];
    assert_eq!((longest.name.as_str(), longest.micro_batch, longest.stage), ("backward", Some(0), 1));
    // No rank waits for itself, and no more time has a pass than there is.
    for (row, shown) in columns.bubbles.iter().zip(&page.shown.rows) {
        assert!(row.waits.iter().all(|wait| wait.rank != row.rank), "{row:?}");
        let known: i64 = row.waits.iter().map(|wait| wait.time_ns).sum();
        assert!(known <= shown.causes.total() - shown.causes.outside, "{row:?}");
    }
}

/// With a stage missing, the time that it would have absorbed is unknown: costs are upper bounds or excluded.
#[test]
fn what_was_not_recorded_makes_costs_bounds() {
    let whole = primus(None);
    assert_eq!(whole.bounds_only, None);
    let mut passes = support::primus();
    passes.passes.retain(|p| p.stage != 3);
    let page = page(passes, &Question::default()).expect("a page");
    assert_eq!(page.bounds_only.as_deref(), Some("1 of 8 stages was not recorded"));
    assert!(page.verdicts.iter().all(|v| v.certainty != Certainty::Replayed), "{:?}", page.verdicts);
    let stage = page.verdicts.iter().find(|v| v.id == "pipeline-last-stage").expect("the last stage");
    assert!(stage.message.contains("at most") && stage.message.contains("1 of 8"), "{}", stage.message);
    // The bound covers the result of the whole job, and of every replay.
    assert!(stage.cost > whole.typical.imbalance, "{} {}", stage.cost, whole.typical.imbalance);
    let what_if = &whole.what_if;
    assert!(what_if.stages.iter().chain(&what_if.kinds).all(|share| share.saved <= share.at_most));
}

/// An unrecorded rank leaves its stage with fewer ranks than the others.
#[test]
fn a_missing_rank_of_a_stage_makes_costs_bounds() {
    let made = Made { stages: 4, chunks: 1, micro_batches: 8, steps: 5, hop: 1_000_000 };
    let (one, _) = made.record(|_, stage, _, back, _| {
        (if stage == 2 { 2 } else { 1 }) * if back { 20_000_000 } else { 10_000_000 }
    });
    let mut both = one.clone();
    both.passes.extend(one.passes.iter().map(|p| railwright_profiler::passes::Pass {
        rank: p.rank + 4,
        replica: 1,
        ..*p
    }));
    both.sort();
    let whole = page(both.clone(), &Question::default()).expect("a page");
    assert_eq!(whole.bounds_only, None);
    both.passes.retain(|p| p.rank != 5);
    let page = page(both, &Question::default()).expect("a page");
    assert_eq!(page.bounds_only.as_deref(), Some("1 rank of these stages was not recorded"));
    let slow = page.verdicts.iter().find(|v| v.id == "pipeline-slow-stage").expect("stage 2 is slow");
    assert_eq!(slow.certainty, Certainty::AtMost);
    // 8 micro-batches of 60 ms compared with a mean of (3 x 30 + 60) / 4 = 37.5 ms.
    assert_eq!(slow.cost, 180_000_000);
}

/// One slow transfer is one stall with one cost, however many ranks took part in it; its consequences
/// elsewhere are no stalls of their own.
#[test]
fn a_slow_collective_is_one_stall_of_all_its_ranks() {
    use railwright_profiler::passes::Pass;
    let made = Made { stages: 2, chunks: 1, micro_batches: 4, steps: 6, hop: 0 };
    let (one, _) = made.record(|_, _, _, back, _| if back { 20_000_000 } else { 10_000_000 });
    let mut passes = one.clone();
    // Two replicas: ranks 0 and 1 of the first, 2 and 3 of the second.
    passes.passes.extend(one.passes.iter().map(|p| Pass { rank: p.rank + 2, replica: 1, ..*p }));
    let mut met = [0, 0];
    for step in one.step_numbers() {
        let end = |rank: u32| {
            let of = one.passes.iter().filter(|p| p.step == step && p.rank == rank);
            of.map(|p| p.end).max().unwrap_or_default()
        };
        // In step 3 the gradient transfer of stage 1 takes 60 ms more, on both of its ranks; rank 1 entered 5
        // ms late.
        let slow = step == 3;
        let late = |rank: u32| if rank == 1 && slow { 5_000_000 } else { 0 };
        let reduced = |stage: u32, slow: i64| end(stage) + late(stage) + 4_000_000 + slow;
        // A collective of all ranks follows.
        let all = |slow: i64| reduced(0, 0).max(reduced(1, slow)) + 1_000_000;
        let extra = if slow { 60_000_000 } else { 0 };
        if slow {
            met = [all(0), all(extra)];
        }
        for rank in 0..4 {
            let stage = rank % 2;
            let until = reduced(stage, if stage == 1 { extra } else { 0 });
            let of = |kind, start, end| Pass {
                step,
                rank,
                stage,
                replica: rank / 2,
                shard: 0,
                kind,
                micro_batch: None,
                chunk: 0,
                start,
                end,
            };
            passes.passes.push(of(PassKind::GradientReduce, end(stage) + late(rank), until));
            passes.passes.push(of(PassKind::GradientClip, until, all(extra)));
        }
    }
    passes.shape.data_parallel = 2;
    let page = page(passes, &Question::default()).expect("a page");
    assert_eq!(page.stall_count, 1, "{:#?}", page.stalls);
    let stall = &page.stalls[0];
    assert_eq!((stall.step, stall.kind, stall.stage), (3, PassKind::GradientReduce, 1));
    assert_eq!((&stall.ranks[..], stall.passes), (&[1, 3][..], 2));
    assert_eq!((stall.excess, stall.cost), (60_000_000, met[1] - met[0]), "{stall:?}");
    assert_eq!(page.steps[3].stall_cost, stall.cost);
    assert!(page.verdicts.iter().any(|v| v.message.starts_with("1 stall cost 4")), "{:?}", page.verdicts);
}

/// All ranks are idle in the middle of every step, in no pass and before no message: the replay lacks this
/// time.
#[test]
fn a_replay_that_is_off_gives_no_verdict() {
    let made = Made { stages: 4, chunks: 1, micro_batches: 8, steps: 5, hop: 1_000_000 };
    let recorded = || {
        made.record(|_, stage, _, back, _| {
            let heavy = if stage == 2 { 2 } else { 1 };
            heavy * if back { 20_000_000 } else { 10_000_000 }
        })
    };
    let (mut passes, _) = recorded();
    let exact = page(passes.clone(), &Question::default()).expect("a page");
    assert!(!exact.is_inconclusive() && exact.verdicts.iter().all(|v| v.id != "pipeline-inconclusive"));
    for step in 0..5 {
        let of_step = || passes.passes.iter().filter(|pass| pass.step == step);
        let (from, to) = (of_step().map(|p| p.start).min(), of_step().map(|p| p.end).max());
        let middle = i64::midpoint(from.unwrap_or(0), to.unwrap_or(0));
        for pass in passes.passes.iter_mut().filter(|pass| pass.step == step && pass.start > middle) {
            pass.start += 40_000_000;
            pass.end += 40_000_000;
        }
    }
    let off = page(passes, &Question::default()).expect("a page");
    let ids: Vec<_> = off.verdicts.iter().map(|v| v.id).collect();
    assert!(off.is_inconclusive(), "{} of {}", off.replay_error, off.median_step);
    assert_eq!(ids, ["pipeline-inconclusive"]);
}
