//! XPUTimer: gauges in Prometheus' text form, with the kernel speed of each rank and whether it hangs.
//!
//! Responsible for: reading any gauge with its labels, the GEMM rate of ranks relative to peers in the same
//! size class, and hang flags. Excludes counters of the exporter itself.

use super::super::log::median_of;
use railwright_spec::problem::Problem;
use serde::Serialize;
use std::collections::BTreeMap;

/// One gauge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gauge {
    /// Its name without the prefix (`MM_KERNEL_FLOPS`).
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its value.
    pub value: f64,
}

impl Gauge {
    /// Rank of the gauge.
    pub fn rank(&self) -> Option<u32> {
        self.labels.get("rank")?.parse().ok()
    }
}

const PREFIX: &str = "XPU_TIMER_";

/// Tests whether bytes look like XPUTimer metrics.
pub fn matches(head: &[u8]) -> bool {
    memchr::memmem::find(head, PREFIX.as_bytes())
        .is_some_and(|at| at == 0 || head[at - 1] == b'\n' || head[at - 1] == b' ')
        && memchr::memmem::find(head, b"gauge").is_some()
}

/// Reads `name{a="b",c="d"} 1.5`, with the escapes of the text form.
fn gauge(line: &str) -> Option<Gauge> {
    let rest = line.strip_prefix(PREFIX)?;
    let (name, rest) = rest.split_once('{')?;
    let mut labels = BTreeMap::new();
    let mut rest = rest;
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(value) = rest.strip_prefix('}') {
            let value: f64 = value.split_whitespace().next()?.parse().ok()?;
            return value.is_finite().then(|| Gauge { name: name.to_owned(), labels, value });
        }
        let (label, after) = rest.split_once("=\"")?;
        let (mut text, mut escaped, mut end) = (String::new(), false, None);
        for (at, c) in after.char_indices() {
            match (escaped, c) {
                (true, 'n') => text.push('\n'),
                (false, '\\') => {
                    escaped = true;
                    continue;
                }
                (false, '"') => {
                    end = Some(at);
                    break;
                }
                (_, c) => text.push(c),
            }
            escaped = false;
        }
        labels.insert(label.to_owned(), text);
        rest = &after[end? + 1..];
    }
}

/// Reads a file; lines that look like gauges and cannot be read are counted.
pub fn read(label: &str, text: &str) -> Result<(Vec<Gauge>, u64), Problem> {
    let (mut gauges, mut damaged) = (Vec::new(), 0);
    for line in text.lines().filter(|line| line.starts_with(PREFIX)) {
        match gauge(line) {
            Some(gauge) => gauges.push(gauge),
            None => damaged += 1,
        }
    }
    if gauges.is_empty() {
        return Err(Problem::new("no readable XPUTimer gauge").in_file(label));
    }
    Ok((gauges, damaged))
}

/// A rank compared with its peers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankSpeed {
    /// Rank.
    pub rank: u32,
    /// GEMM rate relative to the median of all ranks in the same size class, mean over classes; `None`
    /// without one.
    pub matrix_product_speed: Option<f64>,
    /// Rate of its communication relative to the median of all ranks in the same size class; `None` without
    /// one.
    pub communication_speed: Option<f64>,
    /// True if it is flagged as hanging.
    pub hangs: bool,
    /// Queued work.
    pub queued: Option<f64>,
}

/// Maximum ratio to the median of its peers for a slow rank; healthy nodes differ by less than 10%.
const SLOW: f64 = 0.9;

impl RankSpeed {
    /// Tests whether its GEMMs are slow compared with its peers'.
    pub fn slow_chip(&self) -> bool {
        self.matrix_product_speed.is_some_and(|speed| speed < SLOW)
    }

    /// Tests whether its communication is slow compared with its peers'. Rates include waiting, so this is a
    /// bound.
    pub fn slow_link(&self) -> bool {
        self.communication_speed.is_some_and(|speed| speed < SLOW)
    }
}

/// Results of the metrics.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metrics {
    /// The ranks in order.
    pub ranks: Vec<RankSpeed>,
    /// True if all ranks are flagged: the job hangs. Otherwise some ranks wait.
    pub all_hang: bool,
    /// Number of unreadable gauges.
    pub damaged: u64,
}

/// Analyses the gauges of all ranks.
pub fn judge(gauges: &[Gauge], damaged: u64) -> Metrics {
    let mut ranks: BTreeMap<u32, RankSpeed> = BTreeMap::new();
    for gauge in gauges {
        let Some(rank) = gauge.rank() else { continue };
        let entry = ranks.entry(rank).or_insert_with(|| RankSpeed {
            rank,
            matrix_product_speed: None,
            communication_speed: None,
            hangs: false,
            queued: None,
        });
        match gauge.name.as_str() {
            "COMMON_HANG" => entry.hangs |= gauge.value > 0.0,
            "COMMON_WORK_QUEUE_SIZE" => entry.queued = Some(gauge.value),
            _ => {}
        }
    }
    for (rank, speed) in speeds(gauges, |name| name == "MM_KERNEL_FLOPS") {
        if let Some(entry) = ranks.get_mut(&rank) {
            entry.matrix_product_speed = Some(speed);
        }
    }
    for (rank, speed) in speeds(gauges, |name| name.starts_with("COLL_KERNEL") && name.ends_with("BANDWIDTH"))
    {
        if let Some(entry) = ranks.get_mut(&rank) {
            entry.communication_speed = Some(speed);
        }
    }
    let ranks: Vec<RankSpeed> = ranks.into_values().collect();
    Metrics { all_hang: !ranks.is_empty() && ranks.iter().all(|r| r.hangs), ranks, damaged }
}

/// Gauges of every rank relative to the median of the same gauge and class, if at least three ranks have it.
fn speeds(gauges: &[Gauge], wanted: impl Fn(&str) -> bool) -> BTreeMap<u32, f64> {
    let mut classes: BTreeMap<Vec<&str>, Vec<(u32, f64)>> = BTreeMap::new();
    for gauge in gauges.iter().filter(|g| wanted(&g.name) && g.value > 0.0) {
        let Some(rank) = gauge.rank() else { continue };
        let class = ["operation", "dtype", "level", "algorithm"]
            .map(|l| gauge.labels.get(l).map_or("", String::as_str));
        classes
            .entry([&[gauge.name.as_str()][..], &class[..]].concat())
            .or_default()
            .push((rank, gauge.value));
    }
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for members in classes.values().filter(|m| m.len() >= 3) {
        let Some(middle) = median_of(&members.iter().map(|m| m.1).collect::<Vec<_>>()) else { continue };
        for &(rank, value) in members {
            let (sum, count) = sums.entry(rank).or_default();
            *sum += value / middle;
            *count += 1.0;
        }
    }
    sums.into_iter().map(|(rank, (sum, count))| (rank, sum / count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real() -> (Vec<Gauge>, u64) {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/traces/xpu_timer_metrics/normal_xpu_timer_metric_0.prom.gz"
        );
        let mut text = String::new();
        let bytes = std::fs::read(path).expect("a fixture");
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text)
            .expect("text");
        assert!(matches(text.as_bytes()));
        read(path, &text).expect("gauges")
    }

    #[test]
    fn real_metrics_of_a_healthy_node() {
        let (gauges, damaged) = real();
        // `grep -c ^XPU_TIMER` counts 170 lines: 26 of each of five kernel gauges and 8 of each of five
        // common ones.
        assert_eq!((gauges.len(), damaged), (170, 0));
        let metrics = judge(&gauges, damaged);
        assert_eq!(metrics.ranks.iter().map(|r| r.rank).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
        assert!(!metrics.all_hang && metrics.ranks.iter().all(|r| !r.hangs));
        assert!(metrics.ranks.iter().all(|r| (0.9..1.1).contains(&r.matrix_product_speed.unwrap_or(1.0))));
    }

    #[test]
    fn a_hang_and_a_slow_chip_are_seen() {
        let (mut gauges, _) = real();
        for gauge in &mut gauges {
            if gauge.name == "COMMON_HANG" {
                gauge.value = 1.0;
            }
            if gauge.name == "MM_KERNEL_FLOPS" && gauge.rank() == Some(3) {
                gauge.value *= 0.8;
            }
        }
        let metrics = judge(&gauges, 0);
        assert!(metrics.all_hang);
        let speed = metrics.ranks[3].matrix_product_speed.expect("measured");
        assert!((0.75..0.85).contains(&speed), "{speed}");
        let slow: Vec<u32> = metrics.ranks.iter().filter(|rank| rank.slow_chip()).map(|r| r.rank).collect();
        assert_eq!(slow, [3]);
    }

    #[test]
    fn hostile_lines_are_counted() {
        let text = "XPU_TIMER_A{rank=\"1\"} 2\nXPU_TIMER_A{rank=\"1} 2\nXPU_TIMER_A{rank=\"\\\"\"} nan\nXPU_TIMER_B\n";
        let (gauges, damaged) = read("x", text).expect("one");
        assert_eq!((gauges.len(), damaged), (1, 3));
    }
}
