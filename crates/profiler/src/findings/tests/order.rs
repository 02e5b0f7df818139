//! Order of findings.

use super::*;

#[test]
fn varying_steps_follow_the_pauses_that_explain_them() {
    let order = |costs: [(&str, f64); 3]| {
        let finding =
            |(id, cost): (&str, f64)| Finding { id: id.to_owned(), cost: Some(cost), ..Finding::default() };
        let mut found: Vec<Finding> = costs.into_iter().map(finding).collect();
        put_causes_first(&mut found);
        found.into_iter().map(|finding| finding.id).collect::<Vec<_>>()
    };
    let of = |pauses: f64| order([("varying-steps", 81.0), ("host-pauses", pauses), ("memory-bound", 3.0)]);
    assert_eq!(of(80.0), ["host-pauses", "varying-steps", "memory-bound"]);
    assert_eq!(
        of(40.0),
        ["varying-steps", "host-pauses", "memory-bound"],
        "less than half is not an explanation"
    );
}

#[test]
fn upper_bounds_follow_the_replayed_delay_that_explains_them() {
    let order = |straggler: f64, certainty: Option<Certainty>| {
        let finding = |id: &str, cost: f64, certainty: Option<Certainty>| Finding {
            id: id.to_owned(),
            cost: Some(cost),
            certainty,
            ..Finding::default()
        };
        let bound = Some(Certainty::AtMost);
        let mut found = [
            finding("memory-bound", 40.0, None),
            finding("exposed-data", 30.0, bound),
            finding("straggler", straggler, certainty),
        ];
        put_causes_first(&mut found);
        found.map(|finding| finding.id)
    };
    assert_eq!(order(20.0, None), ["memory-bound", "straggler", "exposed-data"]);
    assert_eq!(order(10.0, None), ["memory-bound", "exposed-data", "straggler"], "less than half");
    let both = order(20.0, Some(Certainty::AtMost));
    assert_eq!(both, ["memory-bound", "exposed-data", "straggler"], "both are bounds");
}
