//! A training log as metrics, for a dashboard that follows a run.

use railwright_profiler::log::{Framework, Judged};
use railwright_report::Metric;

/// Gauges of the log in its present state.
pub(super) fn metrics(file: &str, framework: Option<Framework>, log: &Judged) -> Vec<Metric> {
    let mut labels = vec![("file", file.to_owned())];
    if let Some(framework) = framework {
        labels.push(("framework", framework.name().to_owned()));
    }
    let last = log.segments.last();
    let count = |value: u64| Some(value as f64);
    let one = |name, help, value| Metric::one(name, help, &labels, value);
    let mut all = vec![
        one(
            "railwright_log_step_time_seconds",
            "Typical step time at the last batch size.",
            Some(log.step_time),
        ),
        one(
            "railwright_log_step_time_noise_ratio",
            "Half of the interquartile range of step times over the typical step time.",
            (log.reports > 1).then_some(log.noise),
        ),
        one(
            "railwright_log_mfu_ratio",
            "Model FLOPs utilization of the last level.",
            last.and_then(|s| s.mfu),
        ),
        one(
            "railwright_log_model_flops_per_second",
            "Model FLOP/s per device at the last level.",
            last.and_then(|segment| segment.tflops).map(|tflops| tflops * 1e12),
        ),
        one("railwright_log_iterations", "Iterations covered by reports.", count(log.iterations)),
        one("railwright_log_starts", "Starts of the run in this log.", Some(f64::from(log.starts))),
        one(
            "railwright_log_repeated_iterations",
            "Iterations repeated after restarts.",
            count(log.restarts.iter().map(|restart| restart.repeated).sum()),
        ),
        one("railwright_log_skipped_iterations", "Iterations whose update was skipped.", count(log.skipped)),
        one("railwright_log_slow_ratio", "Share of the time that slow steps add.", Some(log.slow_share)),
        one(
            "railwright_log_memory_reserved_bytes",
            "Largest memory reserved by the allocator.",
            log.reserved,
        ),
    ];
    let timers = log.timers.iter().map(|(name, slowest, _)| {
        let labels = labels.iter().cloned().chain([("timer", name.clone())]);
        (labels.collect(), *slowest)
    });
    all.push(Metric {
        name: "railwright_log_timer_seconds",
        help: "Median of a timer of the framework, slowest rank.",
        samples: timers.collect(),
    });
    all
}
