//! Properties of any pipeline: passes of a stage do not overlap, every input exists before its use, and the
//! fast path agrees with the engine.

use proptest::prelude::*;
use railwright_calculator::schedule::{
    ChunkCost, OperationKind, Pipeline, PipelineTimeline, TimedOperation, Workspace, in_flight, operations,
    simulate,
};
use railwright_spec::plan::Schedule;
use railwright_spec::quantity::Seconds;

#[derive(Clone, Debug)]
struct Case {
    schedule: Schedule,
    stages: u64,
    virtual_stages: u64,
    micro_batches: u64,
    chunks: Vec<ChunkCost>,
    transfer: Seconds,
    overlap_transfer: bool,
}

impl Case {
    fn pipeline(&self) -> Pipeline<'_> {
        Pipeline {
            schedule: self.schedule,
            stages: self.stages,
            virtual_stages: self.virtual_stages,
            micro_batches: self.micro_batches,
            chunks: &self.chunks,
            transfer: self.transfer,
            overlap_transfer: self.overlap_transfer,
        }
    }
}

fn cost() -> impl Strategy<Value = ChunkCost> {
    // Few values, so that ties and repetition occur; and arbitrary ones.
    let time = || prop_oneof![Just(1.0), Just(2.0), 0.5..2.0f64];
    (time(), time(), time(), prop_oneof![Just(0.0), 0.0..1.0f64], 0.0..0.4f64).prop_map(|(f, b, w, r, s)| {
        ChunkCost {
            forward: Seconds::new(f),
            backward_input: Seconds::new(b),
            backward_weight: Seconds::new(w),
            recompute: Seconds::new(r),
            fused_saving: Seconds::new(s),
        }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let schedule = prop_oneof![
        Just(Schedule::Gpipe),
        Just(Schedule::OneForwardOneBackward),
        Just(Schedule::ZbH1),
        Just(Schedule::ZbH2),
        Just(Schedule::ZbV),
        Just(Schedule::DualPipe),
    ];
    let shape = (schedule, 1..=9u64, 1..=4u64, prop_oneof![1..=24u64, 25..=200u64]);
    let shape = shape.prop_map(|(schedule, stages, v, m)| match schedule {
        Schedule::Gpipe | Schedule::OneForwardOneBackward => (schedule, stages, v, m),
        Schedule::ZbV => (schedule, stages, 2, m),
        Schedule::DualPipe => (schedule, if stages % 2 == 1 { stages + 1 } else { stages }, 1, m),
        Schedule::ZbH1 | Schedule::ZbH2 => (schedule, stages, 1, m),
    });
    let costs = shape.prop_flat_map(|(schedule, stages, v, m)| {
        let count = schedule.chunk_count(stages, v) as usize;
        let uneven = proptest::collection::vec(cost(), count);
        // As in models: all equal except the first and the last.
        let ends = (cost(), cost(), cost()).prop_map(move |(first, middle, last)| {
            let mut chunks = vec![middle; count];
            chunks[0] = first;
            chunks[count - 1] = last;
            chunks
        });
        let chunks = prop_oneof![uneven, ends, cost().prop_map(move |c| vec![c; count])];
        (Just((schedule, stages, v, m)), chunks, prop_oneof![Just(0.0), 0.0..3.0f64], any::<bool>())
    });
    costs.prop_map(
        |((schedule, stages, virtual_stages, micro_batches), chunks, transfer, overlap_transfer)| Case {
            schedule,
            stages,
            virtual_stages,
            micro_batches,
            chunks,
            transfer: Seconds::new(transfer),
            overlap_transfer,
        },
    )
}

const NOTHING: f64 = 1e-9;

fn hands_back(kind: OperationKind) -> bool {
    matches!(kind, OperationKind::Backward | OperationKind::BackwardInput)
}

/// Checks that each pass occurs once, on its stage, in sequence, with inputs before uses.
fn check_timeline(case: &Case, timeline: &PipelineTimeline) -> Result<(), TestCaseError> {
    let (m, count) = (case.micro_batches as usize, case.chunks.len());
    let blank = vec![f64::NAN; m * count];
    let (mut forward, mut back, mut weight) = (blank.clone(), blank.clone(), blank);
    for (stage, passes) in timeline.stages.iter().enumerate() {
        let order = operations(&case.pipeline(), stage as u64).expect("checked");
        prop_assert_eq!(order, passes.iter().map(|p| p.operation).collect::<Vec<_>>());
        let mut free = 0.0;
        for pass in passes {
            let TimedOperation { operation, start, end, receive_start, send_end, .. } = *pass;
            prop_assert!(receive_start.get() >= free - NOTHING, "overlap on stage {}: {:?}", stage, pass);
            prop_assert!(receive_start <= start && start <= end && end <= send_end, "{:?}", pass);
            free = send_end.get();
            let (chunk, micro_batch) = (u64::from(operation.chunk), u64::from(operation.micro_batch));
            let home = case.schedule.stage_of(case.stages, case.micro_batches, chunk, micro_batch);
            prop_assert_eq!(home, stage as u64);
            let made = match operation.kind {
                OperationKind::Forward => &mut forward,
                OperationKind::Backward | OperationKind::BackwardInput => &mut back,
                OperationKind::BackwardWeight => &mut weight,
                OperationKind::Recompute => continue,
            };
            let made = &mut made[operation.chunk as usize * m + operation.micro_batch as usize];
            prop_assert!(made.is_nan(), "twice: {:?}", pass);
            *made = pass.output_end.get();
        }
    }
    prop_assert!(forward.iter().chain(&back).all(|end| end.is_finite()), "a pass is missing");
    let recompute = |chunk: u32| case.chunks[chunk as usize].recompute.get() > 0.0;
    for (stage, passes) in timeline.stages.iter().enumerate() {
        for (n, pass) in passes.iter().enumerate() {
            let (chunk, micro_batch) = (pass.operation.chunk as usize, pass.operation.micro_batch as usize);
            let input = match pass.operation.kind {
                OperationKind::Forward if chunk > 0 => forward[(chunk - 1) * m + micro_batch],
                kind if kind == OperationKind::Recompute
                    || (hands_back(kind) && !recompute(chunk as u32)) =>
                {
                    let own = forward[chunk * m + micro_batch];
                    if chunk + 1 < count { own.max(back[(chunk + 1) * m + micro_batch]) } else { own }
                }
                OperationKind::BackwardWeight => back[chunk * m + micro_batch],
                _ => 0.0,
            };
            let travels = if pass.source.is_some() { case.transfer.get() } else { 0.0 };
            // The second half of a fused pair starts after the first one, but its input existed at the start
            // of the pair.
            let fused = n > 0 && passes[n - 1].output_end > passes[n - 1].end;
            prop_assert!(
                pass.start.get() >= input + travels - NOTHING || fused,
                "stage {}: {:?} before its input at {}",
                stage,
                pass,
                input + travels
            );
        }
    }
    if matches!(case.schedule, Schedule::ZbH1 | Schedule::ZbH2 | Schedule::ZbV) {
        prop_assert!(weight.iter().all(|end| end.is_finite()), "a weight gradient is missing");
    }
    Ok(())
}

proptest! {
    #![proptest_config(railwright_cases::cases(400))]

    #[test]
    fn timelines_are_possible_and_the_fast_path_agrees(case in case()) {
        let pipeline = case.pipeline();
        let timeline = simulate(&pipeline).expect("every order can finish");
        check_timeline(&case, &timeline)?;

        let mut workspace = Workspace::default();
        let summary = workspace.summarize(&pipeline).expect("valid").clone();
        let scale = timeline.duration.get();
        let near = |a: Seconds, b: Seconds| (a - b).get().abs() <= 1e-9 * scale;
        prop_assert!(near(summary.duration, timeline.duration), "{:?} {:?}", summary.duration, timeline.duration);
        let mut gradients = summary.gradients_ready.iter();
        for (stage, passes) in timeline.stages.iter().enumerate() {
            let of = |wanted: fn(OperationKind) -> bool| passes.iter().filter(move |p| wanted(p.operation.kind));
            let busy: Seconds = passes.iter().map(|p| p.end - p.start).sum();
            prop_assert!(near(summary.busy[stage], busy), "busy {:?} {:?}", summary.busy[stage], busy);
            prop_assert!(near(summary.start[stage], passes[0].start));
            let end = passes.iter().map(|p| p.send_end).fold(Seconds::ZERO, Seconds::max);
            prop_assert!(near(summary.end[stage], end), "end {:?} {:?}", summary.end[stage], end);
            let first = of(hands_back).next().expect("a backward pass").output_end;
            prop_assert!(near(summary.first_backward_end[stage], first));
            let last = of(hands_back).next_back().expect("a backward pass").output_end;
            prop_assert!(near(summary.last_backward_end[stage], last));
            prop_assert!(summary.last_backward_start[stage] <= last);
            let blocked: Seconds = passes.iter().map(|p| p.send_end - p.end + (p.start - p.receive_start)).sum();
            prop_assert!(near(summary.transfer[stage], blocked), "{:?} {:?}", summary.transfer[stage], blocked);
            prop_assert_eq!(&summary.in_flight[stage], &in_flight(&pipeline, stage as u64).expect("valid"));
            for chunk in case.schedule.local_chunks(case.stages, case.virtual_stages, stage as u64) {
                let ready = passes
                    .iter()
                    .filter(|p| u64::from(p.operation.chunk) == chunk)
                    .filter(|p| matches!(p.operation.kind, OperationKind::Backward | OperationKind::BackwardWeight))
                    .map(|p| p.end)
                    .fold(Seconds::ZERO, Seconds::max);
                let found = *gradients.next().expect("one for each chunk");
                // A chunk without micro-batches (DualPipe with one) has no ready time to compare.
                prop_assert!(near(found, ready) || ready == Seconds::ZERO, "gradients {:?} {:?}", found, ready);
            }
            // No stage ends before its own work, and the step not before any stage.
            prop_assert!(summary.duration.get() >= busy.get() * (1.0 - 1e-9));
        }
        // Nor before the first micro-batch has passed all stages in both directions.
        let saved = if case.schedule == Schedule::DualPipe { 2.0 } else { 0.0 };
        let there_and_back: f64 = case.chunks.iter().map(|c| {
            (c.forward + c.recompute + c.backward_input).get() - saved * c.fused_saving.get()
        }).sum();
        prop_assert!(summary.duration.get() >= there_and_back * (1.0 - 1e-9));

        // A workspace used for other shapes has the same results.
        let again = workspace.summarize(&pipeline).expect("valid");
        prop_assert_eq!(again, &summary);
    }

    #[test]
    fn slower_is_never_faster(case in case(), which in any::<prop::sample::Index>(), by in 0.01..1.0f64) {
        let before = simulate(&case.pipeline()).expect("valid").duration;
        let mut slower = case.clone();
        let chunk = which.index(slower.chunks.len());
        slower.chunks[chunk].backward_input += Seconds::new(by);
        let after = simulate(&slower.pipeline()).expect("valid").duration;
        prop_assert!(after.get() >= before.get() * (1.0 - 1e-12), "{:?} then {:?}", before, after);
    }
}
