//! Times of the iterations of a log.
//!
//! Responsible for: the report lines of any age, lines of several ranks run together, restarts, warm-up, and
//! ramps of the batch. Uses no averages: one evaluation or checkpoint in the middle must not change the
//! result.

use crate::Measured;

/// Text that every iteration report contains.
pub(crate) const MARK: &str = "elapsed time per iteration (ms):";

/// A mebibyte, printed as MB by Megatron.
const MEBIBYTE: f64 = 1_048_576.0;

/// A log's measurements.
#[derive(Debug)]
pub(crate) struct Read {
    /// Measurements.
    pub(crate) report: Measured,
    /// Sequences per step of the iterations that were kept.
    pub(crate) batch: Option<u64>,
    /// The line of the last one.
    pub(crate) line: Option<usize>,
}

/// One report.
#[derive(Clone, Debug)]
struct Report {
    iteration: u64,
    seconds: f64,
    tflops: Option<f64>,
    batch: Option<u64>,
    line: usize,
    /// Reports of the same start before this one.
    since_start: usize,
    /// Iterations that it averages over.
    weight: u64,
}

/// Reads the reports after a line; `None` without any. A start is detected by a dump of arguments, or by
/// iterations that begin again.
pub(crate) fn read(text: &str, behind: usize) -> Option<Read> {
    let (mut reports, mut starts): (Vec<Report>, u64) = (Vec::new(), 0);
    let mut is_new = true;
    let (mut allocated, mut reserved): (Option<f64>, Option<f64>) = (None, None);
    let mut since_start = 0;
    for (index, line) in text.lines().enumerate().skip(behind) {
        is_new |= begins_dump(line);
        if line.contains("memory (MB)") {
            raise(&mut allocated, values(line, "max allocated:"));
            raise(&mut reserved, values(line, "max reserved:"));
        }
        if !line.contains(MARK) {
            continue;
        }
        for part in pieces(line) {
            let Some(mut report) = parse(part, index + 1) else { continue };
            let before = reports.last().map(|last| last.iteration);
            if before == Some(report.iteration) && !is_new {
                // Another rank's copy of the same report.
                continue;
            }
            match before {
                Some(before) if report.iteration > before && !is_new => {
                    since_start += 1;
                    report.weight = report.iteration - before;
                }
                _ => {
                    starts += 1;
                    since_start = 0;
                }
            }
            is_new = false;
            report.since_start = since_start;
            reports.push(report);
        }
    }
    // The first report of a start averages over as many iterations as the second.
    for index in 1..reports.len() {
        if reports[index].since_start == 1 {
            reports[index - 1].weight = reports[index].weight.min(reports[index - 1].iteration.max(1));
        }
    }
    let last = reports.last()?.clone();
    // Up to a tenth of a start, five reports at most, is warm-up; the first report always is.
    let shortest = (reports.len() as u64 / starts.max(1) / 10).clamp(1, 5) as usize;
    let same_batch = |report: &&Report| report.batch == last.batch;
    let mut kept: Vec<&Report> =
        reports.iter().filter(same_batch).filter(|r| r.since_start >= shortest).collect();
    if kept.is_empty() {
        kept = reports.iter().filter(same_batch).collect();
    }
    let times: Vec<(f64, u64)> = kept.iter().map(|report| (report.seconds, report.weight)).collect();
    let rates: Vec<(f64, u64)> =
        kept.iter().filter_map(|report| Some((report.tflops?, report.weight))).collect();
    let iterations =
        |reports: &mut dyn Iterator<Item = &Report>| reports.map(|report| report.weight).sum::<u64>();
    let report = Measured {
        reported: iterations(&mut reports.iter()),
        starts,
        left_out: iterations(&mut reports.iter().filter(same_batch)) - iterations(&mut kept.iter().copied()),
        other_batch: iterations(&mut reports.iter().filter(|report| !same_batch(report))),
        step_time: quantile(&times, 0.5)?,
        step_time_range: (quantile(&times, 0.1)?, quantile(&times, 0.9)?),
        tokens_per_step: None,
        tflops_per_device: quantile(&rates, 0.5),
        allocated: allocated.map(|mebibytes| mebibytes * MEBIBYTE),
        reserved: reserved.map(|mebibytes| mebibytes * MEBIBYTE),
    };
    Some(Read { report, batch: last.batch, line: Some(last.line) })
}

/// The parts of a line with one report each: the lines of two ranks may have run together.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let counts =
        |at: usize| line[at + "iteration ".len()..].trim_start().starts_with(|c: char| c.is_ascii_digit());
    let mut starts: Vec<usize> =
        line.match_indices("iteration ").map(|(at, _)| at).filter(|at| counts(*at)).collect();
    if starts.is_empty() {
        starts.push(0);
    }
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([line.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &line[start..end]).filter(|piece| piece.contains(MARK))
}

fn parse(piece: &str, line: usize) -> Option<Report> {
    let seconds = value(piece, MARK)? / 1000.0;
    let sound = seconds.is_finite() && seconds > 0.0 && seconds < 1e6;
    let iteration = value(piece, "iteration ")?;
    let tflops =
        ["throughput per GPU (TFLOP/s/GPU):", "TFLOPs:"].into_iter().find_map(|mark| value(piece, mark));
    let report = Report {
        iteration: (0.0..1e12).contains(&iteration).then_some(iteration as u64)?,
        seconds,
        tflops: tflops.filter(|rate| *rate > 0.0 && *rate < 1e5),
        batch: value(piece, "global batch size:").filter(|n| (1.0..1e9).contains(n)).map(|n| n as u64),
        line,
        since_start: 0,
        weight: 1,
    };
    sound.then_some(report)
}

/// The number after a mark.
fn value(text: &str, mark: &str) -> Option<f64> {
    let rest = text[text.find(mark)? + mark.len()..].trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && !".eE+-".contains(c)).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The largest number after any of a line's marks.
fn values(line: &str, mark: &str) -> Option<f64> {
    line.match_indices(mark).filter_map(|(at, _)| value(&line[at..], mark)).max_by(f64::total_cmp)
}

fn raise(most: &mut Option<f64>, found: Option<f64>) {
    if let Some(found) = found.filter(|found| found.is_finite() && *found >= 0.0) {
        *most = Some(most.map_or(found, |most| most.max(found)));
    }
}

/// A quantile of weighted values.
fn quantile(values: &[(f64, u64)], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = sorted.iter().map(|(_, weight)| *weight as f64).sum();
    let mut seen = 0.0;
    sorted
        .iter()
        .find(|(_, weight)| {
            seen += *weight as f64;
            seen >= share * total
        })
        .map(|(value, _)| *value)
}

pub(super) fn begins_dump(line: &str) -> bool {
    line.contains("- arguments -") && line.contains("-----------")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(iteration: u64, ms: f64, batch: u64) -> String {
        format!(
            "[2024-04-06 02:55:45] iteration {iteration:8}/ 100 | consumed samples: 256 | elapsed time per iteration (ms): {ms} | \
             throughput per GPU (TFLOP/s/GPU): 231.9 | global batch size: {batch} | lm loss: 2E+00 |"
        )
    }

    #[test]
    fn the_first_report_of_each_start_is_warm_up() {
        let text = [
            line(1, 9000.0, 8),
            line(2, 1000.0, 8),
            line(3, 1100.0, 8),
            line(2, 8000.0, 8),
            line(3, 1200.0, 8),
        ]
        .join("\n");
        let read = read(&text, 0).expect("reports");
        assert_eq!((read.report.starts, read.report.reported, read.report.left_out), (2, 5, 2));
        assert_eq!((read.report.step_time, read.batch), (1.1, Some(8)));
        assert_eq!(read.report.tflops_per_device, Some(231.9));
    }

    #[test]
    fn ramps_prefixes_and_lines_run_together() {
        let joined = format!("3: {}{}", line(11, 500.0, 64), line(12, 510.0, 64));
        let text = [
            line(1, 90.0, 8),
            line(2, 80.0, 8),
            joined,
            line(12, 510.0, 64),
            line(13, 520.0, 64),
            "iteration 14/ 100 | elapsed time per iteration (ms): 5".to_owned(),
        ];
        let read = read(&text.join("\n"), 0).expect("reports");
        assert_eq!(read.batch, None);
        let whole = super::read(&text[..5].join("\n"), 0).expect("reports");
        assert_eq!((whole.batch, whole.report.step_time), (Some(64), 0.5));
        // Iteration 11 represents the nine since 2; iterations 1 and 2 have another batch.
        let counts = |read: &Read| (read.report.reported, read.report.left_out, read.report.other_batch);
        assert_eq!(counts(&whole), (13, 0, 2));
    }

    #[test]
    fn reports_of_ten_iterations_are_counted_as_ten() {
        let text: Vec<String> =
            [(10, 8), (20, 8), (30, 64), (40, 64), (50, 64)].map(|(n, batch)| line(n, 100.0, batch)).to_vec();
        let report = read(&text.join("\n"), 0).expect("reports").report;
        assert_eq!((report.reported, report.left_out, report.other_batch), (50, 0, 20));
        // A run that was resumed and counts on: a start, and its first report is warm-up.
        let dump = "------------------------ arguments ------------------------".to_owned();
        let text = [line(10, 900.0, 8), line(20, 100.0, 8), dump, line(30, 900.0, 8), line(40, 110.0, 8)];
        let report = read(&text.join("\n"), 0).expect("reports").report;
        assert_eq!((report.starts, report.reported, report.left_out), (2, 40, 20));
        assert_eq!(report.step_time_range, (0.1, 0.11));
        let behind = read(&text.join("\n"), 3).expect("reports").report;
        assert_eq!((behind.starts, behind.reported, behind.step_time), (1, 20, 0.11));
    }

    #[test]
    fn memory_is_the_most_of_any_rank() {
        let text = format!(
            "[Rank 0] (after 1 iterations) memory (MB) | allocated: 10.5 | max allocated: 20.5 | reserved: 30.0 | max reserved: 40.0\n\
             [Rank 1] (after 1 iterations) memory (MB) | allocated: 1 | max allocated: 25 | reserved: 3 | max reserved: 39\n{}",
            line(5, 100.0, 8)
        );
        let report = read(&text, 0).expect("reports").report;
        assert_eq!((report.allocated, report.reserved), (Some(25.0 * MEBIBYTE), Some(40.0 * MEBIBYTE)));
    }
}
