//! Analyses of a step small enough to check by hand, and of random ones.

use proptest::prelude::*;
use railwright_spec::quantity::{Bytes, MicroBatch, Rank, Seconds, Stage};
use railwright_step::breakdown::{Label, breakdown};
use railwright_step::bubbles::bubbles;
use railwright_step::build::{Part, TimedPass, write_pass};
use railwright_step::critical_path::critical_path;
use railwright_step::{
    Activity, Collective, CollectiveKind, DependencyKind, Dimension, MemoryKind, OperatorFamily, Phase, Span,
    Step, StreamKind, Time, chrome, svg,
};

const DATA: StreamKind = StreamKind::Communication(Dimension::Data, 0);
const TENSOR: StreamKind = StreamKind::Communication(Dimension::Tensor, 0);

fn span(step: &mut Step, times: (i64, i64), activity: Activity, phase: Phase) -> Span {
    let name = step.names.intern(phase.name());
    let (start, end) = (Time(times.0), Time(times.1));
    Span { start, end, activity, phase, name, micro_batch: Some(MicroBatch(0)), ..Span::default() }
}

fn compute(step: &mut Step, rank: usize, start: i64, end: i64, phase: Phase) -> railwright_step::SpanRef {
    let span = span(step, (start, end), Activity::Compute, phase);
    step.push(rank, StreamKind::Compute, span).expect("a rank")
}

/// Two stages of one micro batch, in picoseconds:
///
/// ```text
/// stage 0  F 0-10 ........ B 30-45, 45-50  data 45-70        O 70-80
/// stage 1  ....... F 10-20 B 20-28        tensor 12-14      O 70-75
/// ```
fn two_stages() -> Step {
    let mut step = Step::new("two \"stages\" <&>");
    let (a, b) = (step.add_rank(Rank(0), Stage(0)), step.add_rank(Rank(8), Stage(1)));
    let f0 = compute(&mut step, a, 0, 10, Phase::Forward);
    let f1 = compute(&mut step, b, 10, 20, Phase::Forward);
    let b1 = compute(&mut step, b, 20, 28, Phase::Backward);
    let b0 = compute(&mut step, a, 30, 45, Phase::Backward);
    compute(&mut step, a, 45, 50, Phase::Backward);
    let group = step.group(&[Rank(0), Rank(1)]);
    let collective =
        Collective { kind: CollectiveKind::ReduceScatter, group, bytes: Bytes::new(64.0), peer: None };
    let collective = Some(step.add_collective(collective));
    let reduce = span(&mut step, (45, 70), Activity::Communication(Dimension::Data), Phase::Optimizer);
    let reduce = step.push(a, DATA, Span { collective, bytes: 64, ..reduce }).expect("a rank");
    let tensor = span(&mut step, (12, 14), Activity::Communication(Dimension::Tensor), Phase::Forward);
    step.push(b, TENSOR, tensor).expect("a rank");
    let o0 = compute(&mut step, a, 70, 80, Phase::Optimizer);
    compute(&mut step, b, 70, 75, Phase::Optimizer);
    step.depend(f0, f1, DependencyKind::Message);
    step.depend(b1, b0, DependencyKind::Message);
    step.depend(b0, reduce, DependencyKind::Stream);
    step.depend(reduce, o0, DependencyKind::Stream);
    step.ranks[a].memory.push(Time(0), MemoryKind::Parameters, 1000);
    step.ranks[a].memory.push(Time(5), MemoryKind::Activations, 24);
    step.ranks[a].memory.push(Time(50), MemoryKind::Activations, -24);
    step
}

#[test]
fn every_moment_has_one_label() {
    let step = two_stages();
    assert_eq!(step.validate(), []);
    let found = breakdown(&step);
    let zero = &found.ranks[0];
    let expected = [
        (Label::Compute(Phase::Forward), Time(10)),
        (Label::Compute(Phase::Backward), Time(20)),
        (Label::Compute(Phase::Optimizer), Time(10)),
        // 45-50 is overlapped with the backward pass.
        (Label::Exposed(Dimension::Data), Time(20)),
        (Label::Bubble, Time(20)),
    ];
    assert_eq!(zero.parts, expected);
    let one = &found.ranks[1];
    assert_eq!(one.get(Label::Bubble), Time(10 + 22));
    // From the end of the pipeline at 50 to the optimizer, and after it.
    assert_eq!(one.get(Label::Idle), Time(20 + 5));
    assert_eq!(one.get(Label::Exposed(Dimension::Tensor)), Time::ZERO);
}

#[test]
fn bubbles_have_their_place() {
    let rows = bubbles(&two_stages());
    assert_eq!((rows[0].fill, rows[0].steady, rows[0].drain), (Time(0), Time(20), Time(0)));
    assert_eq!((rows[1].fill, rows[1].steady, rows[1].drain), (Time(10), Time(0), Time(22)));
    assert_eq!(rows[1].fraction, 32.0 / 50.0);
    assert_eq!(rows[1].longest[0], (Time(28), Time(50)));
}

#[test]
fn the_critical_path_goes_through_both_stages() {
    let step = two_stages();
    let path = critical_path(&step);
    let names: Vec<_> =
        path.spans.iter().map(|at| (at.rank, step.span(*at).expect("a span").start.0)).collect();
    assert_eq!(names, [(0, 0), (1, 10), (1, 20), (0, 30), (0, 45), (0, 70)]);
    assert_eq!(path.parts[0], (Label::Exposed(Dimension::Data), Time(25)));
    assert_eq!(path.crossings, 2);
    assert_eq!(path.parts.iter().map(|(_, time)| *time).sum::<Time>(), step.duration());
}

/// A gap of the compute stream without a recorded dependency, from 10 to 16: two exchanges fill 10-15, of
/// which 12-14 twice.
#[test]
fn gaps_of_the_critical_path_are_the_communication_that_fills_them() {
    let mut step = Step::new("one rank");
    let rank = step.add_rank(Rank(0), Stage(0));
    compute(&mut step, rank, 0, 10, Phase::Forward);
    compute(&mut step, rank, 16, 20, Phase::Forward);
    for (stream, dimension, times) in
        [(TENSOR, Dimension::Tensor, (10, 14)), (DATA, Dimension::Data, (12, 15))]
    {
        let span = span(&mut step, times, Activity::Communication(dimension), Phase::Forward);
        step.push(rank, stream, span).expect("a rank");
    }
    let expected = [
        (Label::Compute(Phase::Forward), Time(14)),
        (Label::Exposed(Dimension::Tensor), Time(4)),
        (Label::Exposed(Dimension::Data), Time(1)),
        (Label::Idle, Time(1)),
    ];
    assert_eq!(critical_path(&step).parts, expected);
}

#[test]
fn overlap_and_broken_references_are_reported() {
    let mut step = two_stages();
    let early = span(&mut step, (5, 8), Activity::Compute, Phase::Forward);
    let at = step.push(0, StreamKind::Compute, early).expect("a rank");
    step.depend(at, railwright_step::SpanRef { rank: 9, stream: 0, span: 0 }, DependencyKind::Launch);
    step.depend(at, railwright_step::SpanRef { rank: 0, stream: 0, span: 0 }, DependencyKind::Launch);
    let messages: Vec<String> = step.validate().into_iter().map(|p| p.message).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[0].contains("starts before the previous one ends"));
    assert!(
        messages[1].contains("does not exist")
            && messages[2].contains("starts before the end of its dependency")
    );
}

#[test]
fn the_trace_is_json_that_perfetto_reads() {
    let step = two_stages();
    let text = chrome::to_string(&step, chrome::Options::default());
    assert_eq!(text, chrome::to_string(&step, chrome::Options::default()));
    let trace: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let of = |phase: &str| events.iter().filter(|e| e["ph"] == phase).collect::<Vec<_>>();
    assert_eq!(of("X").len(), 9);
    assert_eq!((of("s").len(), of("f").len()), (2, 2));
    assert_eq!(of("C").len(), 3);
    assert_eq!(of("C")[1]["args"]["activations"], 24);
    let reduce = of("X").into_iter().find(|e| e["cat"] == "data").expect("the reduction");
    assert_eq!(reduce["ts"], 0.000045);
    assert_eq!(reduce["dur"], 0.000025);
    assert_eq!(reduce["args"]["collective"], "reduce_scatter");
    assert_eq!(reduce["args"]["group_size"], 2);
    let sort: Vec<_> = of("M").into_iter().filter(|e| e["name"] == "process_sort_index").collect();
    assert_eq!((&sort[1]["pid"], &sort[1]["args"]["sort_index"]), (&8.into(), &1.into()));
    // Each arrow binds to a running span of its thread.
    for end in of("s").into_iter().chain(of("f")) {
        let time = end["ts"].as_f64().expect("a time");
        let under_way = of("X").into_iter().any(|e| {
            let start = e["ts"].as_f64().expect("a time");
            let inside = start <= time && time < start + e["dur"].as_f64().expect("a duration");
            inside && e["pid"] == end["pid"] && e["tid"] == end["tid"]
        });
        assert!(under_way, "{end}");
    }
}

#[test]
fn the_picture_stands_alone() {
    let picture = svg::pipeline(&two_stages(), &svg::Options::default());
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("prefers-color-scheme:dark"));
    assert!(picture.contains("<title>two &quot;stages&quot; &lt;&amp;&gt;</title>"));
    assert_eq!(picture.matches("class=\"forward\"").count(), 2 + 1, "two passes and the legend");
    for forbidden in ["<script", "href", "NaN", "inf"] {
        assert!(!picture.contains(forbidden), "{forbidden}");
    }
    // An empty step is also drawn.
    assert!(svg::pipeline(&Step::default(), &svg::Options::default()).contains("</svg>"));
}

#[test]
fn parts_fill_their_pass() {
    let mut step = Step::new("parts");
    let rank = step.add_rank(Rank(0), Stage(0));
    let names = ["norm", "all_gather", "product", "prefetch"].map(|name| step.names.intern(name));
    let parts = [
        Part::compute(names[0], OperatorFamily::Norm, Seconds::new(1e-12)),
        Part::communication(names[1], Dimension::Tensor, Seconds::new(2e-12), false, None),
        Part::communication(names[3], Dimension::Data, Seconds::new(30e-12), true, None),
        Part::compute(names[2], OperatorFamily::MatrixProduct, Seconds::new(4e-12)),
    ];
    let pass = TimedPass {
        rank,
        phase: Phase::Forward,
        micro_batch: None,
        chunk: None,
        start: Time(100),
        end: Time(170),
    };
    let (first, last) = write_pass(&mut step, &pass, names[0], &parts).expect("spans");
    assert_eq!(step.span(first).map(|s| (s.start, s.end)), Some((Time(100), Time(110))));
    assert_eq!(step.span(last).map(|s| (s.start, s.end)), Some((Time(130), Time(170))));
    let hidden = step.ranks[0].streams[2].spans.get(0).expect("the prefetch");
    assert_eq!((hidden.start, hidden.end), (Time(130), Time(160)));
    step.start = Time(100);
    assert_eq!(step.validate(), []);
}

proptest! {
    #[test]
    fn parts_of_any_step_add_up(
        spans in proptest::collection::vec((0usize..3, 0usize..5, 0i64..50, 0i64..50, 0usize..7), 0..60),
    ) {
        let mut step = Step::new("random");
        for rank in 0..3 {
            step.add_rank(Rank(rank), Stage(rank));
        }
        let streams = [
            (StreamKind::Compute, Activity::Compute),
            (DATA, Activity::Communication(Dimension::Data)),
            (TENSOR, Activity::Communication(Dimension::Tensor)),
            (StreamKind::Copy(0), Activity::Copy),
            (StreamKind::Host(0), Activity::Host),
        ];
        for (rank, stream, gap, length, phase) in spans {
            let (kind, activity) = streams[stream];
            let start = step.stream_end(rank, kind).unwrap_or_default().0 + gap;
            let row = span(&mut step, (start, start + length), activity, Phase::ALL[phase]);
            step.push(rank, kind, row);
        }
        prop_assert_eq!(step.validate(), []);
        for rank in breakdown(&step).ranks {
            let sum: Time = rank.parts.iter().map(|(_, time)| *time).sum();
            prop_assert_eq!(sum, step.duration());
        }
        let path = critical_path(&step);
        prop_assert_eq!(path.parts.iter().map(|(_, time)| *time).sum::<Time>(), step.duration());
        let text = chrome::to_string(&step, chrome::Options::default());
        prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }
}
