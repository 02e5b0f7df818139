//! Schedules compared with the published bubbles and memory factors.

use super::*;

pub(super) fn seconds(value: f64) -> Seconds {
    Seconds::new(value)
}

pub(super) fn even(count: u64, forward: f64, input: f64, weight: f64) -> Vec<ChunkCost> {
    let cost = ChunkCost {
        forward: seconds(forward),
        backward_input: seconds(input),
        backward_weight: seconds(weight),
        ..ChunkCost::default()
    };
    vec![cost; count as usize]
}

const ALL: [(Schedule, u64); 8] = [
    (Schedule::Gpipe, 1),
    (Schedule::Gpipe, 2),
    (Schedule::OneForwardOneBackward, 1),
    (Schedule::OneForwardOneBackward, 3),
    (Schedule::ZbH1, 1),
    (Schedule::ZbH2, 1),
    (Schedule::ZbV, 2),
    (Schedule::DualPipe, 1),
];

#[test]
fn every_small_shape_finishes_and_the_fast_path_agrees() {
    let mut workspace = Workspace::default();
    for (schedule, virtual_stages) in ALL {
        for stages in [1, 2, 3, 4, 6, 8] {
            if schedule == Schedule::DualPipe && stages == 3 {
                continue;
            }
            for micro_batches in [1, 2, 3, 5, 8, 9, 16, 31, 64, 65, 128] {
                for (transfer, overlap_transfer) in [(0.0, true), (0.3, true), (0.3, false)] {
                    let mut chunks = even(schedule.chunk_count(stages, virtual_stages), 1.0, 1.1, 0.9);
                    chunks[0].forward = seconds(1.2);
                    chunks.last_mut().expect("a chunk").backward_weight = seconds(1.7);
                    for chunk in &mut chunks {
                        chunk.recompute = seconds(0.25);
                        chunk.fused_saving = seconds(0.1);
                    }
                    let pipeline = Pipeline {
                        schedule,
                        stages,
                        virtual_stages,
                        micro_batches,
                        chunks: &chunks,
                        transfer: seconds(transfer),
                        overlap_transfer,
                    };
                    let name = format!(
                        "{schedule:?} p{stages} v{virtual_stages} m{micro_batches} {transfer} {overlap_transfer}"
                    );
                    let slow = simulate(&pipeline).expect(&name);
                    let fast = workspace.summarize(&pipeline).expect(&name);
                    let (slow, fast) = (slow.duration.get(), fast.duration.get());
                    assert!((slow - fast).abs() <= 1e-9 * slow, "{name}: engine {slow}, fast path {fast}");
                }
            }
        }
    }
}

fn pipeline(schedule: Schedule, shape: [u64; 3], chunks: &[ChunkCost]) -> Pipeline<'_> {
    let [stages, virtual_stages, micro_batches] = shape;
    Pipeline {
        schedule,
        stages,
        virtual_stages,
        micro_batches,
        chunks,
        transfer: Seconds::ZERO,
        overlap_transfer: true,
    }
}

fn idle(schedule: Schedule, shape: [u64; 3], stage_cost: &closed_form::StageCost) -> (f64, PipelineSummary) {
    let count = schedule.chunk_count(shape[0], shape[1]);
    let per_stage = (count / shape[0]) as f64;
    let chunks = even(
        count,
        stage_cost.forward.get() / per_stage,
        stage_cost.backward_input.get() / per_stage,
        stage_cost.backward_weight.get() / per_stage,
    );
    let summary = summarize(&pipeline(schedule, shape, &chunks)).expect("a valid pipeline");
    let work =
        shape[2] as f64 * (stage_cost.forward + stage_cost.backward_input + stage_cost.backward_weight).get();
    (summary.duration.get() - work, summary)
}

fn cost(forward: f64, input: f64, weight: f64) -> closed_form::StageCost {
    closed_form::StageCost {
        forward: seconds(forward),
        backward_input: seconds(input),
        backward_weight: seconds(weight),
    }
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "found {found}, expected {expected}");
}

#[test]
fn gpipe_and_1f1b_idle_for_p_minus_one_micro_batches() {
    let cost = cost(1.0, 1.25, 0.75);
    for schedule in [Schedule::Gpipe, Schedule::OneForwardOneBackward] {
        for (p, m) in [(4, 8), (8, 64), (16, 128), (5, 3)] {
            let (found, summary) = idle(schedule, [p, 1, m], &cost);
            near(found, closed_form::one_forward_one_backward(p, &cost).get());
            // (p-1)/(m+p-1) of the step.
            near(found / summary.duration.get(), (p - 1) as f64 / (m + p - 1) as f64);
        }
    }
}

#[test]
fn interleaving_divides_the_bubble() {
    let cost = cost(1.0, 1.0, 1.0);
    for (p, v, m) in [(4, 2, 8), (8, 4, 64), (16, 8, 128), (4, 3, 4), (2, 2, 6)] {
        near(
            idle(Schedule::OneForwardOneBackward, [p, v, m], &cost).0,
            closed_form::interleaved(p, v, m, &cost).get(),
        );
    }
}

#[test]
fn zb_h1_bubble_is_a_third_of_1f1b() {
    for (cost, share) in [(cost(1.0, 1.0, 1.0), 1.0 / 3.0), (cost(1.0, 1.2, 0.8), 1.4 / 3.0)] {
        for (p, m) in [(4, 8), (8, 32), (16, 128)] {
            let (_, summary) = idle(Schedule::ZbH1, [p, 1, m], &cost);
            let found = summary.duration.get() - m as f64 * 3.0;
            near(found, closed_form::zb_h1(p, &cost).get());
            near(found, share * closed_form::one_forward_one_backward(p, &cost).get());
        }
    }
}

#[test]
fn a_step_of_every_schedule_is_valid_and_adds_up() {
    for (schedule, virtual_stages) in ALL {
        for (transfer, overlap_transfer) in [(0.0, true), (0.02, true), (0.02, false), (1.3, true)] {
            let mut chunks = even(schedule.chunk_count(4, virtual_stages), 1.0, 1.1, 0.9);
            for chunk in &mut chunks {
                chunk.recompute = seconds(0.25);
            }
            let pipeline = Pipeline {
                transfer: seconds(transfer),
                overlap_transfer,
                ..pipeline(schedule, [4, virtual_stages, 9], &chunks)
            };
            let timeline = simulate(&pipeline).expect("a timeline");
            let mut step = railwright_step::Step::new("test");
            let mut detail =
                Detail { message: railwright_spec::quantity::Bytes::new(1e6), ..Detail::default() };
            detail.chunks = vec![
                ChunkParts {
                    activations: railwright_spec::quantity::Bytes::new(10.0),
                    ..ChunkParts::default()
                };
                chunks.len()
            ];
            write_step(&mut step, &pipeline, &timeline, &detail).expect("a step");
            assert_eq!(step.validate(), [], "{schedule:?} {transfer} {overlap_transfer}");
            for rank in railwright_step::breakdown::breakdown(&step).ranks {
                let sum: railwright_step::Time = rank.parts.iter().map(|(_, time)| *time).sum();
                assert_eq!(sum, step.duration());
            }
            let summary = summarize(&pipeline).expect("a summary");
            for (peak, in_flight) in railwright_step::memory::peaks(&step).iter().zip(&summary.in_flight) {
                assert_eq!(peak.bytes, 10 * in_flight.peak.cast_signed(), "{schedule:?}");
            }
            // The parts of the path sum to the step, and it consists of compute except for transfers.
            let path = railwright_step::critical_path::critical_path(&step);
            let sum: railwright_step::Time = path.parts.iter().map(|(_, time)| *time).sum();
            assert_eq!(sum, step.duration());
            assert!(path.crossings > 0);
        }
    }
}

#[test]
fn a_remainder_of_micro_batches_costs_at_most_its_closed_form() {
    let cost = cost(1.0, 1.0, 1.0);
    for (p, v, m) in [(4, 2, 6), (4, 2, 7), (8, 4, 20), (8, 3, 17), (4, 2, 3), (16, 4, 136)] {
        let (found, _) = idle(Schedule::OneForwardOneBackward, [p, v, m], &cost);
        let least = closed_form::one_forward_one_backward(p, &cost).get() / v as f64;
        let most = closed_form::interleaved(p, v, m, &cost).get();
        assert!(found > least && found <= most + 1e-9, "p{p} v{v} m{m}: {least} < {found} <= {most}");
    }
}

#[test]
fn zb_h2_and_zb_v_stages_have_no_bubble_of_their_own() {
    for (p, m) in [(4, 8), (8, 32), (16, 128)] {
        let work = m as f64 * 3.0;
        let even = cost(1.0, 1.0, 1.0);
        near(idle(Schedule::ZbH2, [p, 1, m], &even).1.cycle.get(), work);
        near(idle(Schedule::ZbV, [p, 2, m], &even).1.cycle.get(), work);
        let uneven = cost(1.0, 1.2, 0.8);
        let (_, summary) = idle(Schedule::ZbH2, [p, 1, m], &uneven);
        near(summary.cycle.get() - work, closed_form::zb_h2(p, &uneven).get());
        // The last stage starts p-1 forwards late, which an isolated step includes: forwards of half a stage
        // in the V.
        near(idle(Schedule::ZbH2, [p, 1, m], &even).0, (p - 1) as f64);
        near(idle(Schedule::ZbV, [p, 2, m], &even).0, (p - 1) as f64 / 2.0);
    }
}

#[test]
fn dual_pipe_bubble_is_the_published_one() {
    for (p, m) in [(4, 8), (8, 32), (16, 64), (16, 128)] {
        let even = cost(1.0, 1.0, 1.0);
        near(
            idle(Schedule::DualPipe, [p, 1, m], &even).0,
            closed_form::dual_pipe(p, &even, seconds(3.0)).get(),
        );
        // With other ratios part of the published idle time is filled.
        let uneven = cost(1.0, 1.2, 0.8);
        let published = closed_form::dual_pipe(p, &uneven, seconds(3.0)).get();
        let found = idle(Schedule::DualPipe, [p, 1, m], &uneven).0;
        assert!(found <= published + 1e-9 && found >= 0.9 * published, "p{p}: {found} of {published}");
    }
}

#[test]
fn live_activations_are_the_published_ones() {
    let cost = cost(1.0, 1.0, 1.0);
    let peaks = |schedule, shape| -> Vec<u64> {
        idle(schedule, shape, &cost).1.in_flight.iter().map(|stage| stage.peak).collect()
    };
    // 1F1B: min(m, p - s); all of them with fewer micro-batches than stages.
    assert_eq!(peaks(Schedule::OneForwardOneBackward, [8, 1, 64]), [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(peaks(Schedule::OneForwardOneBackward, [4, 1, 2]), [2, 2, 2, 1]);
    for stage in 0..8 {
        let expected = closed_form::one_forward_one_backward_in_flight(8, 64, stage);
        assert_eq!(peaks(Schedule::OneForwardOneBackward, [8, 1, 64])[stage as usize], expected);
    }
    assert_eq!(peaks(Schedule::Gpipe, [4, 1, 32]), [32; 4]);
    // Interleaving: 1 + (p-1)/(pv) times the p micro-batches of 1F1B, counted in chunks of 1/v.
    for (p, v, m) in [(4, 2, 16), (8, 4, 64), (16, 8, 128), (12, 3, 120)] {
        let first = peaks(Schedule::OneForwardOneBackward, [p, v, m])[0];
        near(first as f64 / (p * v) as f64, closed_form::interleaved_memory_factor(p, v));
    }
    // ZB-H1 has the worst stage of 1F1B everywhere, ZB-H2 about twice that; ZB-V 2p chunks of half a stage;
    // DualPipe p + 1 (Qi et al. 2023, table 1; DeepSeek-V3 report, table 2).
    assert_eq!(peaks(Schedule::ZbH1, [8, 1, 64]), [8; 8]);
    assert_eq!(peaks(Schedule::ZbH2, [8, 1, 64]), [15; 8]);
    assert_eq!(peaks(Schedule::ZbV, [8, 2, 64]), [16; 8]);
    assert_eq!(peaks(Schedule::DualPipe, [8, 1, 64]), [9; 8]);
}

#[test]
fn exposed_transfers_cost_1f1b_two_exchanges_a_micro_batch() {
    let chunks = even(4, 1.0, 1.0, 1.0);
    let with = |transfer, overlap_transfer, micro_batches| {
        let free = pipeline(Schedule::OneForwardOneBackward, [4, 1, micro_batches], &chunks);
        let pipeline = Pipeline { transfer: seconds(transfer), overlap_transfer, ..free };
        summarize(&pipeline).expect("valid").duration.get()
    };
    // In the steady state a middle stage sends an activation and a gradient per micro-batch; its inputs
    // arrive meanwhile.
    near(with(0.1, false, 101) - with(0.1, false, 100), 3.2);
    near(with(0.0, false, 101) - with(0.0, false, 100), 3.0);
    assert!(with(0.1, true, 100) < with(0.1, false, 100));
}

#[test]
fn what_cannot_run_is_refused_with_a_reason() {
    let chunks = even(4, 1.0, 1.0, 1.0);
    let good = pipeline(Schedule::OneForwardOneBackward, [4, 1, 8], &chunks);
    let refused = |pipeline: Pipeline| summarize(&pipeline).expect_err("refused").message;
    assert!(refused(Pipeline { stages: 0, ..good }).contains("at least one stage"));
    assert!(refused(Pipeline { stages: 2, ..good }).contains("costs for 4"));
    assert!(refused(Pipeline { schedule: Schedule::ZbV, ..good }).contains("2 virtual stages"));
    assert!(refused(Pipeline { micro_batches: u64::MAX, ..good }).contains("passes"));
    assert!(refused(Pipeline { transfer: seconds(f64::NAN), ..good }).contains("transfer"));
    assert!(
        refused(Pipeline { schedule: Schedule::DualPipe, stages: 3, ..good })
            .contains("an even number of stages")
    );
    let bad = even(4, 1.0, -1.0, 1.0);
    assert!(refused(Pipeline { chunks: &bad, ..good }).contains("virtual stage 0"));
    assert!(operations(&good, 4).is_err() && in_flight(&good, 4).is_err());
}
