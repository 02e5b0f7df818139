//! The paper's figures as SVG.
//!
//! Responsible for: names and titles of the files. Does not compute: everything comes from the report or is
//! the traffic's closed form.

pub use super::figure::Figure;
use super::report::{RailOnlyReport, WORKLOADS};
use super::traffic::traffic;
use super::{Parameters, cost, schemes};
use crate::picture::{Bars, Curve, Heat, Lines, Part, bars, heat, lines};
use railwright_spec::Portable as _;
use railwright_spec::quantity::Seconds;

/// All figures.
pub fn figures(report: &RailOnlyReport) -> Vec<Figure> {
    let mut all = vec![
        pairs(report),
        shares(report),
        terms(report),
        batch(report),
        times(report),
        savings(report),
        parts(report),
    ];
    all.extend([schemes::path(), schemes::classes(2), schemes::classes(4)]);
    all.extend([16384, 32768, 65536].map(|devices| domains(report, devices)));
    all.extend(heat_maps());
    all.sort_by(|a, b| a.file.cmp(&b.file));
    all
}

fn named(file: &str, svg: String) -> Figure {
    Figure { file: format!("{file}.svg"), svg }
}

fn pairs(report: &RailOnlyReport) -> Figure {
    let rows = report.workloads.iter().map(|row| {
        let t = &row.traffic;
        let share = |class: &super::traffic::Class| class.partners / t.others * 100.0;
        Part {
            name: row.workload.to_owned(),
            values: [t.model_parallel, t.data_in_domain, t.data_on_rails].iter().map(share).collect(),
        }
    });
    let chart = Bars {
        title: "Figure 3: pairs of devices with traffic".to_owned(),
        across: "% of all pairs, N = 32768, K = 256".to_owned(),
        series: ["model parallel", "data in domain", "data on rails"].map(str::to_owned).to_vec(),
        bars: rows.collect(),
    };
    named("figure-3-pairs", bars(&chart))
}

fn shares(report: &RailOnlyReport) -> Figure {
    let rows = report.workloads.iter().map(|row| {
        let t = &row.traffic;
        let totals = [t.model_parallel, t.data_in_domain, t.data_on_rails].map(|class| class.total().get());
        let all: f64 = totals.iter().sum();
        Part { name: row.workload.to_owned(), values: totals.map(|bytes| bytes / all * 100.0).to_vec() }
    });
    let chart = Bars {
        title: "Figure 3b: bytes by kind of traffic".to_owned(),
        across: "% of all bytes, N = 32768, K = 256".to_owned(),
        series: ["model parallel", "data in domain", "data on rails"].map(str::to_owned).to_vec(),
        bars: rows.collect(),
    };
    named("figure-3b-bytes", bars(&chart))
}

fn terms(report: &RailOnlyReport) -> Figure {
    let rows = report.workloads.iter().flat_map(|row| {
        let it = &row.rail_only;
        let part = |name: String, values: [f64; 4]| Part { name, values: values.to_vec() };
        // Model traffic stays on its rail, so that further layers carry nothing.
        let real = |network: &str| {
            part(
                format!("{}, {network}", row.workload),
                [it.compute, it.model_parallel_time, it.data_in_domain, it.data_on_rails].map(Seconds::get),
            )
        };
        let inside = row.ideal - it.compute - it.model_parallel_time;
        let best = part(
            format!("{}, ideal", row.workload),
            [it.compute.get(), it.model_parallel_time.get(), inside.get(), 0.0],
        );
        [real("full Clos"), real("trimmed Clos"), real("rail-only"), best]
    });
    let chart = Bars {
        title: "Figure 5: iteration time by term on four networks".to_owned(),
        across: "seconds, N = 32768, K = 256".to_owned(),
        series: ["compute", "model parallel", "data in domain", "data on rails"].map(str::to_owned).to_vec(),
        bars: rows.collect(),
    };
    named("figure-5-terms", bars(&chart))
}

fn domains(report: &RailOnlyReport, devices: u64) -> Figure {
    let rows: Vec<_> = report.domain_sweep.iter().filter(|row| row.devices == devices).collect();
    let mut places: Vec<String> =
        rows.first().map(|row| row.domains.iter().map(ToString::to_string).collect()).unwrap_or_default();
    places.push("ideal".to_owned());
    let curve = |row: &&super::report::SweepRow| Curve {
        name: row.workload.to_owned(),
        values: row.times.iter().map(|t| t.map(Seconds::get)).chain([Some(row.ideal.get())]).collect(),
    };
    let chart = Lines {
        title: format!("Figure 7: iteration time by size of the scale-up domain, N = {devices}"),
        across: "accelerators of a scale-up domain".to_owned(),
        places,
        up: "seconds".to_owned(),
        curves: rows.iter().map(curve).collect(),
    };
    named(&format!("figure-7-{devices}"), lines(&chart))
}

fn batch(report: &RailOnlyReport) -> Figure {
    let chart = Lines {
        title: "Figure 8: PaLM 540B relative to the ideal network, N = 32768".to_owned(),
        across: "accelerators of a scale-up domain".to_owned(),
        places: super::report::DOMAINS.map(|d| d.to_string()).to_vec(),
        up: "% of the ideal".to_owned(),
        curves: report
            .batch_sweep
            .iter()
            .map(|row| Curve {
                name: format!("{} sequences", row.sequences),
                values: row.relative.iter().map(|r| Some(r * 100.0)).collect(),
            })
            .collect(),
    };
    named("figure-8-batch", lines(&chart))
}

/// Figure 8a: time over the batch.
fn times(report: &RailOnlyReport) -> Figure {
    let chart = Lines {
        title: "Figure 8a: PaLM 540B, iteration time, N = 32768".to_owned(),
        across: "accelerators of a scale-up domain".to_owned(),
        places: super::report::DOMAINS.map(|d| d.to_string()).to_vec(),
        up: "seconds".to_owned(),
        curves: report
            .batch_sweep
            .iter()
            .map(|row| Curve {
                name: format!("{} sequences", row.sequences),
                values: row.times.iter().map(|time| Some(time.get())).collect(),
            })
            .collect(),
    };
    named("figure-8a-time", lines(&chart))
}

/// Table 2 as bars: switches, in proportion to which they fail (section 5).
fn parts(report: &RailOnlyReport) -> Figure {
    let rows = report.costs.iter().flat_map(|row| {
        let name = |network: &str| format!("{} devices, radix {}, {network}", row.devices, row.radix);
        [("Clos", &row.clos), ("rail-only", &row.rail_only)]
            .map(|(network, counts)| Part { name: name(network), values: vec![counts.switches as f64] })
    });
    let chart = Bars {
        title: "Table 2: switches, and with them failures of switches".to_owned(),
        across: "switches, K = 256".to_owned(),
        series: vec!["switches".to_owned()],
        bars: rows.collect(),
    };
    named("table-2-switches", bars(&chart))
}

fn savings(report: &RailOnlyReport) -> Figure {
    let places = report.price_ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    let chart = Lines {
        title: "Table 2: cost that rail-only saves, K = 256".to_owned(),
        across: format!("price ratio of switch port to transceiver (paper: {:.2})", cost::PAPER_RATIO),
        places,
        up: "% saved".to_owned(),
        curves: report
            .costs
            .iter()
            .filter(|row| row.devices == 32768)
            .map(|row| Curve {
                name: format!("radix {}", row.radix),
                values: row.savings.iter().map(|s| Some(s * 100.0)).collect(),
            })
            .collect(),
    };
    named("table-2-savings", lines(&chart))
}

/// Figure 4: the first two domains, every device with every other. Groups are whole cluster sizes here.
fn heat_maps() -> Vec<Figure> {
    WORKLOADS
        .iter()
        .enumerate()
        .filter_map(|(index, &(name, model, tokens))| {
            let p = Parameters::paper(model, tokens, 32768.0, 256.0);
            let t = traffic(&p);
            let domain = p.domain as u32;
            // The power of two next to the optimum divides the domain.
            let group = 2_u32.pow((t.model_parallel.partners + 1.0).portable_log2().round() as u32);
            let bytes = move |from: u32, to: u32| {
                let same_domain = from / domain == to / domain;
                match (from == to, same_domain) {
                    (true, _) => 0.0,
                    (_, true) if from / group == to / group => t.model_parallel.bytes.get(),
                    (_, true) if from % group == to % group => t.data_in_domain.bytes.get(),
                    (_, false) if from % domain == to % domain => t.data_on_rails.bytes.get(),
                    _ => 0.0,
                }
            };
            let title = format!("Figure 4: {name}, two domains of 256, model-parallel groups of {group}");
            let svg = heat(&Heat { title, side: 2 * domain, first: 0, per_cell: 1, bytes: &bytes })?;
            Some(named(&format!("figure-4-{}", index + 1), svg))
        })
        .collect()
}
