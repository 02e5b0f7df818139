//! Collectives of real jobs, compared with reference answers.
//!
//! Responsible for: every row of the reference tables, and the answers for whole sets. Clocks stay as
//! recorded if the answers are from recorded clocks.

use crate::jobs;
use jobs::{job, table};
use railwright_profiler::clocks::ClockPolicy;
use railwright_profiler::collectives::{CommunicationReport, communication_report};
use railwright_profiler::joined::JoinOptions;

const SETS: [(&str, &str, &str); 5] = [
    ("megatron_tp2_v100", "pt.trace", "megatron_tp2_v100.csv"),
    ("param_dlrm_8r", "pt.trace", "param_dlrm_8r.csv"),
    ("torchrec_v100_4r/resnet18", "pt.trace", "resnet18.csv"),
    ("torchrec_v100_4r/sst_long_a2a_optimizer_3", "pt.trace", "sst_long_a2a_optimizer_3.csv"),
    ("torchrec_v100_4r/sst_long_a2a_optimizer_4", "pt.trace", "sst_long_a2a_optimizer_4.csv"),
];

fn report(folder: &str, part: &str, clocks: ClockPolicy) -> CommunicationReport {
    communication_report(&mut job(folder, part), &JoinOptions { clocks, ..JoinOptions::default() })
}

#[test]
fn every_row_of_the_reference_tables() {
    for (folder, part, csv) in SETS {
        let report = report(folder, part, ClockPolicy::Recorded);
        let (header, rows) = table(csv);
        let mine: Vec<_> = report.collectives.iter().filter(|row| row.communicator.is_some()).collect();
        assert_eq!(mine.len(), rows.len(), "{csv}");
        let column = |name: &str| header.iter().position(|h| h == name);
        for (row, mine) in rows.iter().zip(&mine) {
            let text = |name: &str| column(name).map_or("", |at| row[at].as_str());
            let number = |name: &str| text(name).parse::<f64>().unwrap_or(f64::NAN);
            let place = format!("{csv} row {}", text("idx"));
            assert_eq!(mine.parts.len() as f64, number("ranks_present"), "{place}");
            if mine.complete {
                assert_eq!(mine.last_rank.map(f64::from), Some(number("last_start_rank")), "{place}");
            }
            let near = |ns: i64, us: f64, what: &str| {
                assert!((ns as f64 * 1e-3 - us).abs() <= 0.51, "{place} {what}: {ns} ns, {us} us");
            };
            near(mine.start_spread, number("start_skew_us"), "start spread");
            near(mine.end_spread, number("end_spread_us"), "end spread");
            near(mine.shortest, number("min_dur_us"), "shortest");
            for part in &mine.parts {
                let of = |name: &str| number(&format!("{name}_{}", part.rank));
                near(part.duration, of("dur"), "duration");
                // A wait is at most as long as the rank is in the collective, regardless of the clocks.
                near(part.wait, of("wait").min(of("dur")), "wait");
            }
        }
    }
}

/// Waits and transfers of all ranks in milliseconds.
fn sums(report: &CommunicationReport) -> (Vec<f64>, Vec<f64>, Vec<u32>) {
    let ms = |ns: i64| ns as f64 * 1e-6;
    (
        report.ranks.iter().map(|rank| ms(rank.wait)).collect(),
        report.ranks.iter().map(|rank| ms(rank.transfer)).collect(),
        report.ranks.iter().map(|rank| rank.last).collect(),
    )
}

fn close(mine: &[f64], wanted: &[f64], share: f64, what: &str) {
    assert_eq!(mine.len(), wanted.len(), "{what}");
    for (mine, wanted) in mine.iter().zip(wanted) {
        assert!((mine - wanted).abs() <= share * wanted.abs(), "{what}: {mine} instead of {wanted}");
    }
}

#[test]
fn all_to_alls_of_four_ranks_with_lost_kernels() {
    let report = report("torchrec_v100_4r/sst_long_a2a_optimizer_3", "pt.trace", ClockPolicy::Auto);
    let (wait, transfer, last) = sums(&report);
    close(&wait, &[162.2, 153.4, 10.8, 154.6], 0.01, "wait");
    close(&transfer, &[98.5, 96.9, 97.5, 97.0], 0.01, "transfer");
    assert_eq!((last[2], report.ranks[2].collectives), (18, 31));
    let lost: Vec<u32> = report.ranks.iter().map(|rank| rank.lost).collect();
    assert_eq!(lost, [0, 1, 1, 0]);
    let mut spreads: Vec<i64> =
        report.collectives.iter().filter(|row| row.complete).map(|row| row.end_spread).collect();
    spreads.sort_unstable();
    assert!((spreads[spreads.len() / 2] - 59_000).abs() <= 600, "{spreads:?}");
}

#[test]
fn two_host_bound_ranks() {
    let report = report("torchrec_v100_4r/resnet18", "pt.trace", ClockPolicy::Auto);
    let (wait, _, last) = sums(&report);
    close(&wait[..1], &[7.16], 0.01, "wait of rank 0");
    assert_eq!(last, [0, 12]);
    for rank in &report.ranks {
        let idle = 1.0 - (rank.compute + rank.exposed) as f64 / rank.window as f64;
        assert!((0.92..0.995).contains(&idle), "{idle}");
    }
}

#[test]
fn eight_ranks_in_one_step() {
    let report = report("param_dlrm_8r", "pt.trace", ClockPolicy::Auto);
    let (wait, transfer, last) = sums(&report);
    let wanted = [5580.0, 11125.0, 3280.0, 9571.0, 6370.0, 6041.0, 3342.0, 1534.0];
    for (mine, wanted) in wait.iter().zip(wanted) {
        assert!((mine * 1e3 - wanted).abs() <= 1.0, "{mine} ms instead of {wanted} us");
    }
    assert!(transfer.iter().all(|t| (202.0..=219.0).contains(&(t * 1e3))), "{transfer:?}");
    assert_eq!(last, [0, 0, 0, 0, 1, 2, 0, 5]);
}

#[test]
fn tensor_parallel_without_a_word_about_its_groups() {
    let report = report("megatron_tp2_v100", "pt.trace", ClockPolicy::Auto);
    let (wait, transfer, last) = sums(&report);
    close(&wait[1..], &[48.2], 0.01, "wait of rank 1");
    assert!((0.22..=0.28).contains(&transfer[1]), "{transfer:?}");
    assert_eq!(last, [13, 0]);
    let group = &report.groups[0];
    assert_eq!((group.label.as_str(), group.size, group.ranks.as_str()), ("tensor", 2, "0,1"));
}

#[test]
fn messages_and_sums_of_a_job_without_devices() {
    let report = report("generated_torch215_gloo_pp2dp2", "pt.trace", ClockPolicy::Auto);
    let labels: Vec<(&str, u32, u32)> =
        report.groups.iter().map(|group| (group.label.as_str(), group.size, group.count)).collect();
    assert!(labels.iter().any(|label| label.0 == "pipeline"), "{labels:?}");
    assert!(labels.contains(&("data", 2, 54)), "{labels:?}");
}
