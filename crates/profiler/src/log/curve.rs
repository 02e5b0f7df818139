//! Every report of a log as a point over the iterations.
//!
//! Responsible for: time, MFU, loss, gradient norm and learning rate of single reports, few enough to draw,
//! without loss of peaks. Does not smooth: levels come from [`super::judge()`].

use super::judge::Known;
use super::lines::TrainingLog;
use super::report::Report;
use serde::Serialize;

/// A report: its iteration, seconds per iteration, MFU (0 to 1) if known.
pub type Point = (u64, f64, Option<f64>);

/// Reports of a log in their order, at most `limit` of them (at least 2): the fastest and the slowest of each
/// range of reports. Excludes reports without a time.
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

/// Further measures of a log over its iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The training loss.
    Loss,
    /// The norm of the gradients.
    GradientNorm,
    /// The learning rate.
    LearningRate,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Loss, Self::GradientNorm, Self::LearningRate];

    const fn of(self, report: &Report) -> Option<f64> {
        match self {
            Self::Loss => report.loss,
            Self::GradientNorm => report.gradient_norm,
            Self::LearningRate => report.learning_rate,
        }
    }
}

/// A measure over the iterations.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasureCurve {
    /// Measure.
    pub measure: Measure,
    /// Iteration and value of every report that has it, or the extremes of ranges.
    pub points: Vec<(u64, f64)>,
}

/// Reported measures, at most `limit` points each: the lowest and the highest of each range of reports, in
/// their order. Excludes values that are not finite; [`super::Judged::not_a_number`] counts such losses.
pub fn measures(log: &TrainingLog, limit: usize) -> Vec<MeasureCurve> {
    let curves = Measure::ALL.into_iter().map(|measure| {
        let reports = log.reports.iter();
        let points: Vec<(u64, f64)> = reports
            .filter_map(|report| {
                Some((report.iteration, measure.of(report).filter(|value| value.is_finite())?))
            })
            .collect();
        let stretch = if points.len() <= limit { 1 } else { points.len().div_ceil((limit / 2).max(1)) };
        let mut kept = Vec::with_capacity(points.len().min(limit));
        for part in points.chunks(stretch) {
            let by_value = |a: &usize, b: &usize| part[*a].1.total_cmp(&part[*b].1);
            let (low, high) = ((0..part.len()).min_by(by_value), (0..part.len()).max_by(by_value));
            let mut ends: Vec<usize> = low.into_iter().chain(high).collect();
            ends.sort_unstable();
            ends.dedup();
            kept.extend(ends.into_iter().map(|at| part[at]));
        }
        MeasureCurve { measure, points: kept }
    });
    curves.filter(|curve| !curve.points.is_empty()).collect()
}

/// MFU of a report (0 to 1): from the log, otherwise its TFLOP/s over the peak, otherwise `flop_per_sequence
/// · batch / (seconds · devices · peak)`.
fn mfu(report: &Report, known: &Known) -> Option<f64> {
    let tflops = || {
        report
            .tflops
            .or_else(|| known.tflops(report.batch, report.seconds))
            .and_then(|tflops| Some(tflops * 1e12 / known.peak?))
    };
    // No device exceeds its peak: the run or the accelerator is another one.
    report.mfu.or_else(tflops).filter(|mfu| *mfu <= 1.0)
}

#[cfg(test)]
mod tests {
    use super::{Known, Measure, Report, TrainingLog, curve, measures};

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

    #[test]
    fn a_measure_keeps_its_spike_and_one_that_is_not_reported_has_no_curve() {
        let mut log = log(10_000);
        for report in &mut log.reports {
            report.loss = Some(if report.iteration == 4321 { 55.0 } else { 2.0 });
            report.gradient_norm = Some(f64::NAN);
        }
        let curves = measures(&log, 200);
        assert_eq!(curves.len(), 1, "only the loss has values");
        assert_eq!(curves[0].measure, Measure::Loss);
        assert!(curves[0].points.len() <= 200 && curves[0].points.contains(&(4321, 55.0)));
    }

    #[test]
    fn megatron_s_line_has_all_three() {
        let line = " [2026-01-02 03:04:05.000000] iteration        7/ 1000 | consumed samples: 1 | elapsed time per iteration (ms): 900.0 | \
                    learning rate: 1.500E-04 | global batch size:   128 | lm loss: 2.5E+00 | grad norm: 0.75 | number of skipped iterations:   0 |\n";
        let curves = measures(&TrainingLog::read(line), 10);
        let values: Vec<_> = curves.iter().map(|curve| (curve.measure, curve.points.clone())).collect();
        assert_eq!(
            values,
            [
                (Measure::Loss, vec![(7, 2.5)]),
                (Measure::GradientNorm, vec![(7, 0.75)]),
                (Measure::LearningRate, vec![(7, 1.5e-4)]),
            ]
        );
    }
}
