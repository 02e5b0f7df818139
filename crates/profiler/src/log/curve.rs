//! Every report of a log as a point over the iterations.
//!
//! Responsible for: time and MFU of single reports, few enough to draw, so that no peak is lost. Not
//! smoothed: for levels see [`super::judge()`].

use super::judge::Known;
use super::lines::{Report, TrainingLog};

/// A report: its iteration, seconds of an iteration, MFU (0 to 1) if it can be known.
pub type Point = (u64, f64, Option<f64>);

/// The reports of a log in their order, at most `limit` of them (2 at least): of each stretch of reports the fastest and the slowest, in their order.
/// Reports without a time are left out.
pub fn curve(log: &TrainingLog, known: &Known, limit: usize) -> Vec<Point> {
    let timed: Vec<&Report> = log.reports.iter().filter(|report| report.seconds.is_finite()).collect();
    let stretch = if timed.len() <= limit { 1 } else { timed.len().div_ceil((limit / 2).max(1)) };
    let point = |report: &Report| (report.iteration, report.seconds, mfu(report, known));
    let mut points = Vec::with_capacity(timed.len().min(limit.max(2)));
    for reports in timed.chunks(stretch) {
        let by_time = |a: &usize, b: &usize| reports[*a].seconds.total_cmp(&reports[*b].seconds);
        let (fastest, slowest) = ((0..reports.len()).min_by(by_time), (0..reports.len()).max_by(by_time));
        let mut ends: Vec<usize> = fastest.into_iter().chain(slowest).collect();
        ends.sort_unstable();
        ends.dedup();
        points.extend(ends.into_iter().map(|at| point(reports[at])));
    }
    points
}

/// MFU of a report: as logged, else its TFLOP/s over the peak, else `flop_per_sequence · batch / (seconds ·
/// devices · peak)`.
fn mfu(report: &Report, known: &Known) -> Option<f64> {
    let tflops = || {
        report
            .tflops
            .or_else(|| known.tflops(report.batch, report.seconds))
            .and_then(|tflops| Some(tflops * 1e12 / known.peak?))
    };
    report.mfu.or_else(tflops)
}

#[cfg(test)]
mod tests {
    use super::{Known, Report, TrainingLog, curve};

    fn log(count: u64) -> TrainingLog {
        let report = |iteration| Report {
            iteration,
            weight: 1,
            seconds: if iteration == 777 { 9.0 } else { 1.0 + (iteration % 7) as f64 / 100.0 },
            batch: Some(8),
            ..Report::default()
        };
        let mut log = TrainingLog::default();
        log.reports.extend((1..=count).map(report));
        log
    }

    #[test]
    fn a_short_log_is_kept_whole_with_its_mfu() {
        let known = Known { flop_per_sequence: Some(4e12), devices: Some(2.0), peak: Some(32e12) };
        let points = curve(&log(5), &known, 10);
        assert_eq!(points.iter().map(|p| p.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        // 8 sequences of 4 TFLOP in 1.01 s on 2 devices of 32 TFLOP/s.
        assert!((points[0].2.expect("known") - 0.5 / 1.01).abs() < 1e-12);
        assert_eq!(curve(&log(1), &Known::default(), 10), [(1, 1.01, None)]);
    }

    #[test]
    fn a_long_log_keeps_its_peak_and_its_order() {
        let points = curve(&log(100_000), &Known::default(), 100);
        assert!(points.len() <= 100, "{}", points.len());
        assert!(points.contains(&(777, 9.0, None)));
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn reports_without_a_time_are_left_out() {
        let mut broken = log(3);
        broken.reports[1].seconds = f64::NAN;
        assert_eq!(curve(&broken, &Known::default(), 10).len(), 2);
        assert!(curve(&TrainingLog::default(), &Known::default(), 0).is_empty());
    }
}
