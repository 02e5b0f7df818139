//! `estimate --svg` and `memory --svg`: breakdown of the step time and of the memory of each stage, as bars.
//!
//! Responsible for: parts of a result as bars of a chart. Does not compute: lengths are values of the report.

use railwright_calculator::estimate::{Estimate, Part};
use railwright_calculator::memory::MemoryReport;
use railwright_network::picture::{Bars, Part as Bar, bars};
use railwright_report::words;
use railwright_spec::human;
use std::collections::BTreeMap;

/// Time is in milliseconds below this length of a step, in seconds.
const SHORT: f64 = 10.0;
/// Parts within parts of less than this share of the step have no bar.
const SMALLEST: f64 = 0.005;

/// The parts of the step on the critical stage, one bar each, the parts of a part beneath it.
pub fn breakdown(estimate: &Estimate) -> String {
    let (scale, unit) = if estimate.time.time.get() < SHORT { (1e3, "ms") } else { (1.0, "s") };
    let bar = |part: &Part, indent: &str| Bar {
        name: format!("{indent}{} {}", part.title, human::percent(part.share)),
        values: vec![part.time.get() * scale],
    };
    let mut shown = Vec::new();
    for part in estimate.time.children.iter().filter(|part| part.time.get() > 0.0) {
        shown.push(bar(part, ""));
        shown.extend(
            part.children.iter().filter(|inner| inner.share >= SMALLEST).map(|inner| bar(inner, "of it ")),
        );
    }
    bars(&Bars {
        title: format!(
            "{} on {} devices of {}: step of {}",
            estimate.model.name,
            human::whole(estimate.cluster.devices),
            estimate.cluster.name,
            human::seconds(estimate.step_time)
        ),
        across: format!("time on the critical stage, {unit}"),
        series: vec!["time".to_owned()],
        bars: shown,
    })
}

/// Memory of each stage at its peak, one bar per stage, one colour per kind.
pub fn memory(title: &str, report: &MemoryReport) -> String {
    const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
    let mut kinds: Vec<String> = Vec::new();
    let stages: Vec<BTreeMap<String, f64>> = report
        .stages
        .iter()
        .map(|stage| {
            let mut sums = BTreeMap::new();
            for item in &stage.items {
                let kind = words(item.kind);
                if !kinds.contains(&kind) {
                    kinds.push(kind.clone());
                }
                *sums.entry(kind).or_insert(0.0) += item.bytes.get() / GIB;
            }
            sums
        })
        .collect();
    let bar = |(stage, sums): (usize, &BTreeMap<String, f64>)| Bar {
        name: format!("stage {stage}"),
        values: kinds.iter().map(|kind| sums.get(kind).copied().unwrap_or(0.0)).collect(),
    };
    bars(&Bars {
        title: title.to_owned(),
        across: format!("memory at the peak, GiB (device: {})", human::bytes(report.device_memory)),
        series: kinds.clone(),
        bars: stages.iter().enumerate().map(bar).collect(),
    })
}
