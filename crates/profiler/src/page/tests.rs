//! The HTML report: complete, escaped, without external resources.

use super::*;
use crate::profile::Line;
use crate::profile::{KernelRow, RankRow, StepRow};
use crate::waterfall::Parts;
use railwright_step::{OperatorFamily, Phase};

#[test]
fn a_page_is_self_contained_and_escaped() {
    let part = |name: &str, share: f64| Part { name: name.to_owned(), time: 100, mean: 1e6 * share, share };
    let line = |group, name: &str, share| Line {
        group,
        part: part(name, share),
        gpu_hours_per_day: Some(3.0),
        parts: vec![part("a part", share)],
    };
    let row = |rank| RankRow {
        rank,
        host: None,
        shares: vec![0.0, 0.7, 0.3, 0.0, 0.0, 0.0, 0.0],
        waiting: 0.1,
        parts: Parts::default(),
        recorded: crate::waterfall::Totals::default(),
    };
    let report = Report {
        ranks: 2,
        world_size: 8,
        step_time: 1e6,
        utilisation: Some(0.4),
        lines: vec![
            line(Group::Compute, "compute", 0.7),
            line(Group::Communication, "exposed communication", 0.3),
        ],
        steps: vec![
            StepRow { step: "7".to_owned(), duration: 5, groups: vec![0.0; 7], parts: Parts::default() },
            StepRow { step: "8".to_owned(), duration: 6, groups: vec![0.0; 7], parts: Parts::default() },
        ],
        rows: vec![row(0), row(1)],
        kernels: vec![KernelRow {
            name: "void <script>alert(\"x\")</script>&".to_owned(),
            phase: Phase::Forward,
            family: OperatorFamily::Other,
            count: 1,
            duration: 1,
            mean: 1,
            longest: 1,
            per_step: 1.0,
        }],
        ..Report::default()
    };
    let page = page("job <1>", &report);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for outside in ["<script", "http", "url(", "@import", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("job &lt;1&gt;") && page.contains("&lt;script&gt;") && page.contains("40.0%"));
    for tag in ["svg", "table", "details", "ul", "div", "main"] {
        let count = |text: &str| page.matches(text).count();
        assert_eq!(count(&format!("<{tag}")), count(&format!("</{tag}>")), "{tag}");
    }
}
