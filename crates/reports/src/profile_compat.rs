//! `profile --compat hta`: the tables of another tool, for comparison with existing reports.

use railwright_profiler::hta::{HtaTables, IdleCause};
use railwright_report::document::{Cell, Column, Document, Table};
use railwright_report::{Answer, Terminal};

/// Tables in the format of HTA.
pub struct Shown(pub HtaTables);

impl Answer for Shown {
    const KIND: &'static str = "profile_hta";

    type Json<'a> = &'a HtaTables;

    fn json(&self) -> &HtaTables {
        &self.0
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let all = &self.0;
        let signed = |value: i64| Cell::number(value.to_string(), value as f64);
        let whole = |value: usize| Cell::number(value.to_string(), value as f64);
        let rank = |value: u32| Cell::number(value.to_string(), f64::from(value));
        let float = |value: f64| Cell::number(format!("{value:.2}"), value);
        let maybe = |value: Option<f64>| value.map_or_else(Cell::default, float);
        let mut put = |heading: &str, columns: &[&str], rows: Vec<Vec<Cell>>| {
            let words = ["kernel type", "name", "cause"];
            let columns = columns
                .iter()
                .map(|name| if words.contains(name) { Column::words(name) } else { Column::numbers(name) })
                .collect();
            document.heading(heading);
            document.table(Table { columns, rows });
        };
        put(
            "temporal breakdown (us)",
            &["rank", "idle", "compute", "non compute", "kernel", "idle %", "compute %", "non compute %"],
            all.temporal
                .iter()
                .map(|r| {
                    let times = [r.idle_time, r.compute_time, r.non_compute_time, r.kernel_time];
                    let shares = [r.idle_percent, r.compute_percent, r.non_compute_percent];
                    let cells = times.into_iter().map(signed).chain(shares.into_iter().map(float));
                    std::iter::once(rank(r.rank)).chain(cells).collect()
                })
                .collect(),
        );
        put(
            "communication under computation",
            &["rank", "overlap %"],
            all.overlap.iter().map(|r| vec![rank(r.rank), maybe(r.overlap_percent)]).collect(),
        );
        put(
            "kernel types (us)",
            &["kernel type", "sum", "%"],
            all.kernel_types
                .iter()
                .map(|r| vec![r.kernel_type.as_str().into(), signed(r.sum), float(r.percent)])
                .collect(),
        );
        put(
            "kernels (us)",
            &["rank", "kernel type", "name", "sum", "max", "min", "mean", "deviation"],
            all.kernels
                .iter()
                .map(|r| {
                    let t = r.time;
                    let head = [rank(r.rank), r.kernel_type.as_str().into(), r.name.as_str().into()];
                    let times =
                        [signed(t.sum), signed(t.max), signed(t.min), float(t.mean), float(t.deviation)];
                    head.into_iter().chain(times).collect()
                })
                .collect(),
        );
        put(
            "idle streams (us)",
            &["rank", "stream", "cause", "idle", "share"],
            all.idle
                .iter()
                .map(|r| {
                    let cause = match r.idle_category {
                        IdleCause::HostWait => "host_wait",
                        IdleCause::KernelWait => "kernel_wait",
                        IdleCause::Other => "other",
                    };
                    vec![
                        rank(r.rank),
                        rank(r.stream),
                        cause.into(),
                        signed(r.idle_time),
                        maybe(r.idle_time_ratio),
                    ]
                })
                .collect(),
        );
        put(
            "launches (us)",
            &[
                "rank",
                "pairs",
                "calls",
                "kernels",
                "delay",
                "median delay",
                "longest delay",
                "short kernels",
                "slow calls",
                "long delays",
            ],
            all.launches
                .iter()
                .map(|r| {
                    vec![
                        rank(r.rank),
                        whole(r.pairs),
                        signed(r.cpu_duration),
                        signed(r.gpu_duration),
                        signed(r.launch_delay),
                        float(r.launch_delay_median),
                        signed(r.launch_delay_max),
                        whole(r.short_kernels),
                        whole(r.slow_calls),
                        whole(r.long_delays),
                    ]
                })
                .collect(),
        );
        put(
            "queues (kernels launched but not started)",
            &["rank", "stream", "changes", "mean", "deviation", "min", "25%", "50%", "75%", "max"],
            all.queues
                .iter()
                .map(|r| {
                    let head = [rank(r.rank), rank(r.stream), whole(r.count)];
                    let lengths = [r.mean, r.deviation, r.min, r.quarter, r.median, r.three_quarters, r.max];
                    head.into_iter().chain(lengths.into_iter().map(float)).collect()
                })
                .collect(),
        );
        document
    }
}
