//! Lines of several DeepSpeed versions, with known times.

use super::super::{Known, TimesFrom, TrainingLog, judge};

const CONFIG: &str = "[2024-05-01 10:00:00,000] [INFO] [config.py:1003:print]   train_batch_size ............. 256\n\
    [2024-05-01 10:00:00,000] [INFO] [config.py:1003:print]   train_micro_batch_size_per_gpu  4\n";

/// Duration of step `n` in seconds.
fn seconds(step: u64) -> f64 {
    if step == 70 { 4.0 } else { 2.0 + (step % 3) as f64 / 1000.0 }
}

/// Lines of some steps; each has its rate.
fn rates(steps: impl Iterator<Item = u64>, form: &str) -> String {
    steps
        .map(|step| {
            let rate = 256.0 / seconds(step);
            let place = form.replace("{}", &step.to_string());
            format!(
                "[2024-05-01 10:00:01,500] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped={}, lr=[0.0001, 0.0001], mom=[(0.9, 0.95)]\n\
                 [2024-05-01 10:00:01,501] [INFO] [timer.py:260:stop] {place}, RunningAvgSamplesPerSec=120.5, CurrSamplesPerSec={rate}, MemAllocated=1.5GB, MaxMemAllocated=3.0GB\n",
                step / 50
            )
        })
        .collect::<Vec<String>>()
        .concat()
}

#[test]
fn a_step_takes_its_batch_over_its_rate() {
    for form in ["epoch=0/micro_step=9{}/global_step={}", "0/{}"] {
        let log = TrainingLog::read(&format!("{CONFIG}{}", rates((10..=100).step_by(10), form)));
        assert_eq!(log.times_from(), TimesFrom::SamplesPerSecond, "{form}");
        assert_eq!(
            log.reports.iter().map(|r| r.iteration).collect::<Vec<_>>(),
            (10..=100).step_by(10).collect::<Vec<_>>()
        );
        for report in &log.reports {
            assert!((report.seconds - seconds(report.iteration)).abs() < 1e-9, "{report:?}");
            assert_eq!((report.weight, report.batch, report.start), (10, Some(256), 0));
        }
        assert_eq!(log.reports.iter().map(|r| r.skipped).sum::<u64>(), 2);
        assert_eq!((log.reports[0].line, log.allocated), (4, Some(3.0 * 1_073_741_824.0)));
        let judged = judge(&log, &Known::default()).expect("a judgement");
        assert!((judged.step_time - 2.001).abs() < 2e-3, "{}", judged.step_time);
        assert_eq!(judged.slow.iter().map(|s| s.iteration).collect::<Vec<_>>(), [70]);
        // Loss of the one timed step; the nine before it are unknown.
        assert!((judged.slow[0].lost - 2.0).abs() < 5e-3, "{}", judged.slow[0].lost);
        assert_eq!(judged.iterations, 100);
    }
}

#[test]
fn without_the_batch_a_rate_is_no_time() {
    let text = rates((10..=50).step_by(10), "epoch=0/micro_step={}/global_step={}");
    let mut log = TrainingLog::read(&text);
    assert_eq!((log.times_from(), log.reports.len()), (TimesFrom::Nothing, 5));
    assert!(log.reports.iter().all(|r| r.seconds.is_nan()));
    assert!(judge(&log, &Known::default()).is_none());
    log.take_batch(256);
    assert_eq!(log.times_from(), TimesFrom::SamplesPerSecond);
    assert!((log.reports[1].seconds - seconds(20)).abs() < 1e-9);
    // An average since the start is not the rate of a step.
    let old = "[2022-03-11 02:06:58,985] [INFO] [timer.py:189:stop] 0/40, SamplesPerSec=83.48, MemAllocated=0.26GB, MaxMemAllocated=9.02GB\n";
    let mut log = TrainingLog::read(old);
    log.take_batch(64);
    assert_eq!((log.reports.len(), log.times_from()), (1, TimesFrom::Nothing));
    assert_eq!(log.reports[0].iteration, 40);
}

#[test]
fn timers_of_a_step_are_summed() {
    let breakdown = |forward: &str, backward: &str| -> String {
        (1..=40)
            .map(|step| {
                let own = if step % 10 == 0 {
                    format!("[2024-05-01 10:00:01,500] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0, lr=[0.1], mom=[0.9]\n")
                } else {
                    String::new()
                };
                let micro = format!("[2024-05-01 10:00:01,000] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | {forward}_microstep: 50.00 | {backward}_microstep: 100.00 | {backward}_inner_microstep: 90.00 | {backward}_allreduce_microstep: 10.00 | step_microstep: 0.10\n");
                let whole = format!("[2024-05-01 10:00:02,000] [INFO] [logging.py:96:log_dist] [Rank 0] rank=0 time (ms) | {forward}: 100.00 | {backward}: 200.00 | {backward}_inner: 180.00 | {backward}_allreduce: 20.00 | step: {}.00\n", 50 + step);
                let other = whole.replace("[Rank 0]", "[Rank 3]").replace("100.00", "999.00");
                format!("{own}{micro}[2024-05-01 10:00:01,900] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | optimizer_step: 40.00\n{micro}{whole}{other}")
            })
            .collect::<Vec<String>>()
            .concat()
    };
    for (forward, backward) in [("fwd", "bwd"), ("forward", "backward")] {
        let log = TrainingLog::read(&breakdown(forward, backward));
        assert_eq!((log.times_from(), log.reports.len()), (TimesFrom::Timers, 40));
        for (at, report) in log.reports.iter().enumerate() {
            let step = at as u64 + 1;
            assert_eq!((report.iteration, report.weight, report.start), (step, 1, 0));
            // 100 + 200 + 50 + step ms; the inner timers are parts of the backward pass.
            assert!((report.seconds - (350 + step) as f64 / 1e3).abs() < 1e-12, "{report:?}");
            assert_eq!(report.timers["optimizer_step"].max_ms, 40.0);
            assert!(report.timers.keys().all(|name| !name.ends_with("_microstep")));
        }
    }
}

#[test]
fn a_run_that_begins_again_is_a_restart() {
    let breakdown = |steps: std::ops::RangeInclusive<u64>| -> String {
        steps
            .map(|step| {
                format!(
                    "[2024-05-01 10:00:01,500] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0, lr=[0.1], mom=[0.9]\n\
                     [2024-05-01 10:00:02,000] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | fwd: 100.00 | bwd: 200.00 | step: 50.00\n"
                )
            })
            .collect::<Vec<String>>()
            .concat()
    };
    let judged =
        judge(&TrainingLog::read(&format!("{}{}", breakdown(1..=30), breakdown(21..=50))), &Known::default());
    let judged = judged.expect("a judgement");
    let restart = judged.restarts[0];
    assert_eq!((judged.starts, restart.before, restart.from, restart.repeated), (2, 30, 21, 10));
}

#[test]
fn what_a_framework_around_it_reports_counts_alone() {
    let megatron = " samples/sec: 7.799 | iteration       34/   10000 | elapsed time per iteration (ms): 4103.1 | learning rate: 2.111E-06 |\n";
    let log = TrainingLog::read(&format!("{CONFIG}{}{megatron}", rates(34..35, "0/{}")));
    assert_eq!(
        (log.reports.len(), log.reports[0].seconds, log.times_from()),
        (1, 4.1031, TimesFrom::Reports)
    );
}

#[test]
fn batches_as_logs_print_them() {
    for (line, batch) in [
        ("[config.py:960:print]   train_batch_size ............. 512", Some(512)),
        ("    \"train_batch_size\": 8, ", Some(8)),
        ("train_batch_size = 1024", Some(1024)),
        (
            "[INFO|trainer.py:1017] 2021-10-08 20:03:14,332 >>   Total train batch size (w. parallel, distributed & accumulation) = 48",
            Some(48),
        ),
        ("    \"train_batch_size\": \"auto\",", None),
        ("   train_micro_batch_size_per_gpu ............. 4", None),
        ("train_batch_size is 3", None),
    ] {
        assert_eq!(super::batch(line), batch, "{line}");
    }
}
