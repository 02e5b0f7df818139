//! The columns of real traces agree with the waterfall.

use super::*;
use crate::profile::{Finding, OneByOne, Options, Subject, profile};
use crate::readers::{self, Keep, Recording};
use railwright_step::columns::{ArrowKind, Class};

fn job(names: &[&str]) -> (Job, Joined) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/");
    let ranks = names.iter().map(|name| {
        let bytes = std::fs::read(format!("{folder}{name}")).expect("a fixture");
        let bytes = readers::inflate(&bytes).expect("inflated");
        let reader = readers::detect(&bytes).expect("a reader");
        match reader.read(name, &bytes, Keep::default()).expect("a trace").pop() {
            Some(Recording::Rank(trace)) => *trace,
            other => panic!("{other:?}"),
        }
    });
    let mut job = Job::new(ranks.collect());
    let joined = crate::joined::join(&mut job, &crate::joined::JoinOptions::default());
    (job, joined)
}

const GLOO: [&str; 4] = [
    "generated_torch215_gloo_pp2dp2/rank0_step5.pt.trace.json.gz",
    "generated_torch215_gloo_pp2dp2/rank1_step5.pt.trace.json.gz",
    "generated_torch215_gloo_pp2dp2/rank2_step5.pt.trace.json.gz",
    "generated_torch215_gloo_pp2dp2/rank3_step5.pt.trace.json.gz",
];

fn answer(job: &Job, joined: &Joined, question: &Question) -> Columns {
    let options = Options::default();
    let profile = profile(job, joined, &options, &OneByOne).expect("a profile");
    let findings = &profile.report.findings;
    columns(job, joined, &options.tables, &profile.windows, findings, question, &OneByOne).expect("columns")
}

#[test]
fn tracks_are_sorted_apart_and_the_device_accounts_for_every_nanosecond() {
    let (job, joined) = job(&GLOO);
    let columns = answer(&job, &joined, &Question::default());
    assert!(columns.duration_ns > 0);
    for track in &columns.tracks {
        let ends = track.starts.iter().zip(&track.lengths).map(|(start, length)| start + length);
        assert!(track.lengths.iter().all(|length| *length > 0), "{}: an empty span", track.name);
        assert!(ends.zip(&track.starts[1..]).all(|(end, next)| end <= *next), "{} overlaps", track.name);
    }
    let devices: Vec<&Track> = columns.tracks.iter().filter(|track| track.name == "device").collect();
    assert_eq!(devices.len(), 4);
    for device in devices {
        assert_eq!(device.busy(), columns.duration_ns, "rank {}", device.rank);
    }
    let passes: Vec<&Track> = columns.tracks.iter().filter(|track| track.name == "passes").collect();
    assert_eq!(passes.len(), 4, "two stages of two replicas have passes");
    assert!(passes.iter().all(|track| track.micro_batch.iter().any(|batch| *batch >= 0)));
    assert_eq!(columns.bubbles.len(), 4);
}

#[test]
fn one_rank_alone_is_the_same_and_the_others_are_named() {
    let (job, joined) = job(&GLOO);
    let all = answer(&job, &joined, &Question::default());
    let one = answer(&job, &joined, &Question { ranks: vec![2], ..Question::default() });
    assert_eq!(one.hidden_ranks, [0, 1, 3]);
    let of_all: Vec<_> = all.tracks.iter().filter(|track| track.rank == 2).collect();
    assert_eq!(of_all.len(), one.tracks.len());
    for (a, b) in of_all.into_iter().zip(&one.tracks) {
        assert_eq!((&a.name, &a.starts, &a.lengths), (&b.name, &b.starts, &b.lengths));
    }
    // Several ranks have the order of the selection, each once.
    let two = answer(&job, &joined, &Question { ranks: vec![3, 1, 3], ..Question::default() });
    let mut order: Vec<u32> = two.tracks.iter().map(|track| track.rank).collect();
    order.dedup();
    assert_eq!((order, two.hidden_ranks), (vec![3, 1], vec![0, 2]));
    let question = Question { ranks: vec![9], ..Question::default() };
    let options = Options::default();
    let windows = profile(&job, &joined, &options, &OneByOne).expect("a profile").windows;
    assert!(columns(&job, &joined, &options.tables, &windows, &[], &question, &OneByOne).is_err());
}

#[test]
fn findings_point_to_spans_that_are_there() {
    let (job, joined) = job(&GLOO);
    let columns = answer(&job, &joined, &Question::default());
    assert!(!columns.marks.is_empty(), "a gloo job on processors has findings");
    for mark in &columns.marks {
        let Some(track) = mark.track else { continue };
        let track = &columns.tracks[track as usize];
        let span = mark.span.expect("a span") as usize;
        assert_eq!((track.starts[span], track.lengths[span]), (mark.at, mark.length), "{}", mark.id);
    }
    assert!(columns.marks.iter().any(|mark| mark.track.is_some()), "none has a place");
}

#[test]
fn the_place_of_a_finding_is_that_of_its_subject() {
    let (job, joined) = job(&GLOO);
    let columns = answer(&job, &joined, &Question::default());
    let marked = |subject: Subject| {
        // A rank in a sentence is no place.
        let message = "rank 1 is a straggler".to_owned();
        let finding = Finding { id: "straggler".to_owned(), message, subject, ..Finding::default() };
        let mark = marks::of(&columns, &[finding]).remove(0);
        let track = mark.track.map(|track| &columns.tracks[track as usize]);
        let shown = track.zip(mark.span).map(|(track, span)| {
            let span = span as usize;
            let class = Class::ALL[usize::from(track.colours[span])];
            (track.rank, columns.names[track.names[span] as usize].as_str(), class)
        });
        (mark.rank, shown)
    };
    assert_eq!(marked(Subject::default()), (None, None));
    let (rank, shown) = marked(Subject::of_ranks([3, 2], [Class::Waiting]));
    let (of, _, class) = shown.expect("a place");
    assert!(rank == Some(3) && [2, 3].contains(&of) && class == Class::Waiting, "{shown:?}");
    // The kernel comes before the classes, on the ranks of the subject.
    let compute = Subject::of_ranks([2], Subject::COMPUTE);
    let (_, name, _) = marked(compute.clone()).1.expect("a place");
    let kernels = vec!["not recorded".to_owned(), name.to_owned()];
    let shown = marked(Subject { kernels, ..Subject::of_ranks([2], [Class::Waiting]) }).1;
    assert_eq!(shown.map(|shown| (shown.0, shown.1)), Some((2, name)));
    // A rank without such a span is at least visible.
    let shown = marked(Subject::of_ranks([1], [Class::Expert])).1.expect("a place");
    assert_eq!(shown.0, 1);
    // A rank that is not drawn has no place, and is still known.
    assert_eq!(marked(Subject::of_ranks([9], Subject::COMPUTE)), (Some(9), None));
}

#[test]
fn little_room_merges_and_is_marked() {
    let (job, joined) = job(&GLOO);
    let columns = answer(&job, &joined, &Question { most_spans: 100, host: true, ..Question::default() });
    assert!(columns.tracks.iter().all(|track| track.len() <= 102));
    assert!(columns.merged > 0);
    let left: usize = columns.tracks.iter().map(Track::len).sum();
    assert_eq!(columns.spans, left as u64 + columns.merged);
    let device = columns.tracks.iter().find(|track| track.name == "device").expect("a device");
    assert_eq!(device.busy(), columns.duration_ns, "merging loses no time");
    assert!(device.colours.iter().all(|colour| usize::from(*colour) < Class::ALL.len()));
}

#[test]
fn the_critical_path_accounts_for_every_nanosecond_and_goes_through_the_straggler() {
    // Rank 2 is idle for 50 ms in every forward pass of step 3; the others wait for it.
    let (job, joined) = job(&GLOO);
    let columns = answer(&job, &joined, &Question { step: Some(3), ..Question::default() });
    let sum: i64 = columns.critical_parts.iter().map(|part| part.time_ns).sum();
    assert_eq!(sum, columns.duration_ns, "{:?}", columns.critical_parts);
    assert!(!columns.critical.is_empty());
    let mut before = i64::MIN;
    let mut of = std::collections::BTreeMap::new();
    for [track, span] in &columns.critical {
        let track = &columns.tracks[*track as usize];
        assert_eq!(track.name, "device");
        let start = track.starts[*span as usize];
        assert!(start >= before, "the path goes backwards");
        before = start;
        *of.entry(track.rank).or_insert(0) += track.lengths[*span as usize];
    }
    let most = of.iter().max_by_key(|(_, time)| **time).expect("a rank");
    assert_eq!(*most.0, 2, "{:?}", columns.critical_parts);
}

#[test]
fn the_critical_path_goes_through_ranks_that_are_not_shown() {
    let (job, joined) = job(&GLOO);
    let question = Question { step: Some(3), ranks: vec![1], ..Question::default() };
    let (all, one) = (
        answer(&job, &joined, &Question { ranks: Vec::new(), ..question.clone() }),
        answer(&job, &joined, &question),
    );
    // The path does not depend on the displayed ranks.
    let sums = |columns: &Columns| {
        let mut parts: Vec<(String, i64)> = columns
            .critical_parts
            .iter()
            .map(|part| (part.name.replace(", not shown", ""), part.time_ns))
            .collect();
        parts.sort();
        parts
    };
    assert_eq!(sums(&all), sums(&one));
    assert!(all.critical_elsewhere.is_empty());
    let hidden = one.critical_parts.iter().find(|part| part.name.starts_with("rank 2, not shown: "));
    assert!(hidden.is_some_and(|part| part.time_ns > 100_000_000), "{:?}", one.critical_parts);
    let elsewhere: i64 = one.critical_elsewhere.iter().map(|piece| piece.length).sum();
    let named = one.critical_parts.iter().filter(|part| part.name.contains("not shown"));
    assert_eq!(elsewhere, named.map(|part| part.time_ns).sum::<i64>());
    assert!(one.critical_elsewhere.windows(2).all(|two| two[0].at + two[0].length <= two[1].at));
}

/// Sums of a whole step over some rows.
fn summed(job: &Job, joined: &Joined, question: &Question, rows: &Rows) -> Summed {
    sums(job, joined, &Options::default().tables, question, rows, &OneByOne).expect("sums")
}

#[test]
fn the_sums_of_a_range_agree_with_the_columns() {
    let (job, joined) = job(&GLOO);
    let question = Question { host: true, ..Question::default() };
    let columns = answer(&job, &joined, &question);
    // Every moment of the device once: four ranks are busy for the whole step.
    let device = summed(&job, &joined, &question, &Rows::Some(vec![RowKind::Device], Vec::new()));
    assert_eq!((device.ranks, device.sums.stacks), (4, 4));
    assert_eq!(device.sums.total_ns, 4 * columns.duration_ns);
    assert!((device.sums.tree.share - 1.0).abs() < 1e-9);
    // A row by index is the same as on the timeline, and half of the step is cut at the expected place.
    let half = Window { from: columns.duration_ns / 4, to: columns.duration_ns / 2 };
    for track in columns.tracks.iter().filter(|track| track.counts.is_empty()) {
        let rows = Rows::Some(Vec::new(), vec![track.id as usize]);
        let one = summed(&job, &joined, &Question { window: Some(half), ..question.clone() }, &rows);
        let spans = track.starts.iter().zip(&track.lengths);
        let within: Vec<i64> = spans
            .map(|(start, length)| (start + length).min(half.to) - start.max(&half.from))
            .filter(|time| *time > 0)
            .collect();
        assert_eq!(one.sums.total_ns, within.iter().sum::<i64>(), "{}", track.name);
        assert_eq!(one.sums.count, within.len() as u64, "{}", track.name);
    }
    // Threads nest: times of names include nested rows, the total does not.
    let threads = summed(&job, &joined, &question, &Rows::Some(vec![RowKind::Threads], Vec::new()));
    assert!(threads.sums.rows > threads.sums.stacks);
    let depth = |node: &railwright_step::columns::range::Node| -> usize {
        let mut depth = 0;
        let mut level: Vec<&railwright_step::columns::range::Node> = vec![node];
        while !level.is_empty() {
            depth += 1;
            level = level.iter().flat_map(|node| &node.children).collect();
        }
        depth
    };
    assert!(depth(&threads.sums.tree) > 4, "{}", depth(&threads.sums.tree));
}

#[test]
fn a_range_or_row_that_is_not_there_is_refused() {
    let (job, joined) = job(&GLOO);
    let tables = Options::default().tables;
    let ask = |question: &Question, rows: &Rows| sums(&job, &joined, &tables, question, rows, &OneByOne);
    let outside = Some(Window { from: i64::MAX - 1, to: i64::MAX });
    let far = ask(&Question { window: outside, ..Question::default() }, &Rows::Default).expect_err("outside");
    assert!(far.to_string().contains("outside the step"), "{far}");
    let row = ask(&Question::default(), &Rows::Some(Vec::new(), vec![100_000])).expect_err("no row");
    assert!(row.to_string().contains("unknown row 100000"), "{row}");
}

/// Arrows by kind, as their two ends.
fn arrows(columns: &Columns, kind: ArrowKind) -> Vec<[(&Track, usize); 2]> {
    let all = &columns.arrows;
    let end = |track: u32, span: u32| (&columns.tracks[track as usize], span as usize);
    (0..all.kind.len())
        .filter(|at| all.kind[*at] == kind as u8)
        .map(|at| [end(all.from_track[at], all.from_span[at]), end(all.to_track[at], all.to_span[at])])
        .collect()
}

#[test]
fn bubbles_and_waits_are_tied_to_the_rank_that_came_last() {
    let (job, joined) = job(&GLOO);
    let columns = answer(&job, &joined, &Question { step: Some(3), ..Question::default() });
    assert!(!arrows(&columns, ArrowKind::Message).is_empty(), "stages send each other messages");
    let awaited = arrows(&columns, ArrowKind::Awaited);
    for [(from, _), (to, span)] in &awaited {
        assert_ne!(from.rank, to.rank, "a rank waits for itself");
        let class = Class::ALL[usize::from(to.colours[*span])];
        assert!(matches!(class, Class::Bubble | Class::Waiting), "{class:?} waits");
    }
    // A bubble with an arrow has the pass at its start in its name; the others are counted.
    for [(from, at), (to, span)] in &awaited {
        let name = &columns.names[to.names[*span] as usize];
        if Class::ALL[usize::from(to.colours[*span])] == Class::Bubble {
            let (work, place) =
                name.split_once(", waits for ").expect(name).1.split_once(" of ").expect(name);
            assert_eq!(place, from.group, "{name}");
            assert!(work.starts_with(columns.names[from.names[*at] as usize].as_str()), "{name}");
        }
    }
    for row in &columns.bubbles {
        let all: i64 = row.parts.iter().map(|part| part.time_ns).sum();
        let waits: i64 = row.waits.iter().map(|wait| wait.time_ns).sum();
        assert!(waits + row.no_cause_ns <= all, "{row:?}");
    }
    assert!(columns.bubbles.iter().any(|row| !row.waits.is_empty()), "{:?}", columns.bubbles);
    // Rank 2 is idle in every forward pass of this step, so the others wait longest for it.
    let mut of = std::collections::BTreeMap::new();
    for [(from, _), (to, span)] in &awaited {
        *of.entry(from.rank).or_insert(0) += to.lengths[*span];
    }
    assert_eq!(of.iter().max_by_key(|(_, time)| **time).map(|(rank, _)| *rank), Some(2), "{of:?}");
}
