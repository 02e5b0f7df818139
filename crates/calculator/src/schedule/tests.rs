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
                    let mut chunks = even(chunk_count(schedule, stages, virtual_stages), 1.0, 1.1, 0.9);
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
    let count = chunk_count(schedule, shape[0], shape[1]);
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
            let mut chunks = even(chunk_count(schedule, 4, virtual_stages), 1.0, 1.1, 0.9);
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
                assert_eq!(peak.bytes, 10 * in_flight.peak as i64, "{schedule:?}");
            }
            // What the path is made of adds up, and it does compute on all its way but for transfers.
            let path = railwright_step::critical_path::critical_path(&step);
            let sum: railwright_step::Time = path.parts.iter().map(|(_, time)| *time).sum();
            assert_eq!(sum, step.duration());
            assert!(path.crossings > 0);
        }
    }
}
