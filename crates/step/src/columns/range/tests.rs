//! Sums of a range against hand-counted spans, and over random ones.

use super::*;
use proptest::prelude::*;

fn piece(start: i64, end: i64, name: &str, class: Class) -> Piece<'_> {
    Piece { start, end, name, class }
}

const RANGE: Window = Window { from: 10, to: 110 };

#[test]
fn spans_are_cut_to_the_range_and_counted() {
    let rows = vec![vec![
        piece(0, 20, "gemm", Class::Forward),
        piece(20, 50, "gemm", Class::Forward),
        piece(60, 70, "copy", Class::Copy),
        piece(110, 200, "late", Class::Forward),
    ]];
    let sums = sums(RANGE, &[Stack { name: "stream 7", rows, nested: false }]);
    assert_eq!((sums.rows, sums.stacks, sums.count, sums.total_ns), (1, 1, 3, 50));
    let gemm = &sums.names[0];
    assert_eq!((gemm.name.as_str(), gemm.count, gemm.total_ns, gemm.longest_ns), ("gemm", 2, 40, 30));
    assert_eq!((gemm.mean_ns, gemm.share), (20.0, 0.4));
    assert_eq!(sums.names.len(), 2, "what begins where the range ends is outside");
    let row = &sums.tree.children[0];
    assert_eq!((row.name.as_str(), row.total_ns), ("stream 7", 50));
    let classes: Vec<(&str, i64)> = row.children.iter().map(|n| (n.name.as_str(), n.total_ns)).collect();
    assert_eq!(classes, [("forward", 40), ("copy", 10)]);
}

#[test]
fn nested_spans_are_distinguished_and_a_recursion_counts_once() {
    let host = Class::Host;
    let rows = vec![
        vec![piece(10, 60, "linear", host)],
        vec![piece(20, 50, "linear", host)],
        vec![piece(25, 35, "launch", host), piece(40, 45, "launch", host)],
    ];
    let sums = sums(RANGE, &[Stack { name: "thread 1", rows, nested: true }]);
    let of = |name: &str| sums.names.iter().find(|one| one.name == name).expect("a name");
    assert_eq!((of("linear").count, of("linear").total_ns, of("linear").self_ns), (2, 50, 35));
    assert_eq!((of("launch").count, of("launch").total_ns, of("launch").self_ns), (2, 15, 15));
    let outer = &sums.tree.children[0].children[0];
    assert_eq!((outer.total_ns, outer.count), (50, 1));
    assert_eq!(outer.children[0].children[0].total_ns, 15);
    assert_eq!(sums.total_ns, 50);
}

#[test]
fn a_rare_name_is_folded_without_losing_time() {
    let names: Vec<String> = (0..40).map(|at| format!("kernel {at}")).collect();
    let mut row: Vec<Piece<'_>> = vec![piece(0, 1_000_000, "large", Class::Forward)];
    row.extend(
        names
            .iter()
            .zip(0..)
            .map(|(name, at)| piece(1_000_000 + at * 10, 1_000_000 + at * 10 + 5, name, Class::Forward)),
    );
    let range = Window { from: 0, to: 2_000_000 };
    let sums = sums(range, &[Stack { name: "device", rows: vec![row], nested: false }]);
    let class = &sums.tree.children[0].children[0];
    assert_eq!(class.children.len(), 2);
    assert_eq!((class.children[1].name.as_str(), class.children[1].count), ("40 smaller", 40));
    assert_eq!(class.total_ns, 1_000_200);
}

proptest! {
    #[test]
    fn the_tree_and_the_table_hold_the_same_time(
        lengths in prop::collection::vec((1i64..40, 0i64..20, 0usize..4), 0..60),
        from in 0i64..500, length in 1i64..800,
    ) {
        let mut now = 0;
        let row: Vec<Piece<'_>> = lengths.iter().map(|(length, gap, name)| {
            let start = now + gap;
            now = start + length;
            piece(start, now, ["a", "b", "c", "d"][*name], Class::Forward)
        }).collect();
        let range = Window { from, to: from + length };
        let busy: i64 = row.iter().map(|p| (p.end.min(range.to) - p.start.max(range.from)).max(0)).sum();
        let sums = sums(range, &[Stack { name: "stream", rows: vec![row], nested: false }]);
        prop_assert_eq!(sums.total_ns, busy);
        prop_assert_eq!(sums.tree.total_ns, busy);
        prop_assert_eq!(sums.names.iter().map(|name| name.total_ns).sum::<i64>(), busy);
        prop_assert!(sums.names.iter().map(|name| name.share).sum::<f64>() <= 1.0 + 1e-9);
    }
}

#[test]
fn classes_are_named_as_answers_write_them() {
    for class in Class::ALL {
        assert_eq!(serde_json::to_value(class).expect("JSON"), class.name());
    }
}

#[test]
fn spans_of_a_thread_that_overlap_without_nesting_count_every_moment_once() {
    let host = Class::Host;
    // As recorded by gloo: the receive starts within the send and ends after it.
    let rows = vec![
        vec![piece(10, 100, "step", host)],
        vec![piece(20, 50, "send", host)],
        vec![piece(40, 80, "receive", host)],
    ];
    let sums = sums(RANGE, &[Stack { name: "thread 1", rows, nested: true }]);
    let of = |name: &str| {
        let one = sums.names.iter().find(|one| one.name == name).expect("a name");
        (one.total_ns, one.self_ns)
    };
    assert_eq!((of("step"), of("send"), of("receive")), ((90, 30), (30, 20), (40, 40)));
    let step = &sums.tree.children[0].children[0];
    assert_eq!(
        (step.total_ns, step.children.len()),
        (90, 2),
        "the receive belongs to the step, not to the send"
    );
}

proptest! {
    #[test]
    fn a_thread_is_busy_for_as_long_as_any_of_its_rows(
        spans in prop::collection::vec((0usize..3, 1i64..40, 0i64..30), 0..60),
        from in 0i64..300, length in 1i64..500,
    ) {
        let mut rows: Vec<Vec<Piece<'_>>> = vec![Vec::new(); 3];
        for (row, length, gap) in spans {
            let start = rows[row].last().map_or(0, |last| last.end) + gap;
            rows[row].push(piece(start, start + length, ["a", "b", "c"][row], Class::Host));
        }
        let range = Window { from, to: from + length };
        let runs = |at: i64| rows.iter().flatten().any(|one| one.start <= at && at < one.end);
        let busy = (range.from..range.to).filter(|at| runs(*at)).count() as i64;
        let sums = sums(range, &[Stack { name: "thread", rows: rows.clone(), nested: true }]);
        prop_assert_eq!((sums.total_ns, sums.tree.total_ns), (busy, busy));
        prop_assert!(sums.names.iter().all(|name| (0..=name.total_ns).contains(&name.self_ns)));
    }
}
