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
        "less than half is no explanation"
    );
}
