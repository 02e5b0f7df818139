//! Logs of `fixtures/logs`, compared with their known times.

use super::super::{Framework, Judged, Known, TimesFrom, TrainingLog, judge};

/// The parsed log of a fixture, and its verdict.
fn read(name: &str) -> (TrainingLog, Option<Judged>) {
    let path = format!("{}/../../fixtures/logs/{name}", env!("CARGO_MANIFEST_DIR"));
    let log = TrainingLog::read(&std::fs::read_to_string(path).expect("a fixture"));
    let judged = judge(&log, &Known::default());
    (log, judged)
}

fn close(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 1e-9, "found {found}, wanted {wanted}");
}

#[test]
fn every_framework_is_known_by_its_lines() {
    let cases = [
        ("nanotron.log", Framework::Nanotron, 12, 11.5),
        ("nemo2.log", Framework::Nemo, 12, 2.11),
        ("nemo1_bar.log", Framework::Nemo, 10, 24.0),
        ("maxtext.log", Framework::Maxtext, 12, 5.104),
        ("torchtitan.log", Framework::Torchtitan, 12, 4.97),
        ("mindspeed.log", Framework::Megatron, 12, 12.355),
    ];
    for (name, framework, reports, seconds) in cases {
        let (log, judged) = read(name);
        assert_eq!((log.framework, log.reports.len()), (Some(framework), reports), "{name}");
        assert_eq!((log.times_from(), log.unreadable.len()), (TimesFrom::Reports, 0), "{name}");
        let found = judged.expect("a verdict").step_time;
        assert!((found / seconds - 1.0).abs() < 1e-6, "{name}: {found} instead of {seconds}");
    }
}

#[test]
fn figures_of_a_line_are_taken() {
    let (nanotron, _) = read("nanotron.log");
    let report = &nanotron.reports[4];
    assert_eq!((report.iteration, report.batch, report.tflops), (5, Some(128), Some(305.0)));
    close(report.tokens_per_second.expect("a rate"), 5700.0);
    let (nemo, _) = read("nemo2.log");
    assert_eq!((nemo.reports[3].iteration, nemo.reports[3].batch), (3, Some(64)));
    assert_eq!(nemo.reports[3].loss, Some(10.4));
    // The bar rounds `global_step` to `1e+3`; its own counter continues.
    let (bar, _) = read("nemo1_bar.log");
    assert_eq!(bar.reports.iter().map(|r| r.iteration).collect::<Vec<_>>(), (994..1004).collect::<Vec<_>>());
    assert_eq!(bar.reports[5].seconds, 30.0);
    let (maxtext, _) = read("maxtext.log");
    assert_eq!((maxtext.reports[0].iteration, maxtext.reports[2].seconds), (0, 5.108));
    assert_eq!(maxtext.reports[2].tflops, Some(179.894));
    let (mindspeed, _) = read("mindspeed.log");
    assert_eq!(mindspeed.reserved, Some(49_152.0 * 1_048_576.0));
    assert_eq!(mindspeed.reports[0].batch, Some(128));
}

#[test]
fn colours_and_copies_of_ranks_do_not_count() {
    let (log, _) = read("torchtitan.log");
    let report = &log.reports[3];
    assert_eq!((report.iteration, report.tokens_per_second, report.mfu), (4, Some(3300.0), Some(0.1932)));
    assert_eq!(report.at.as_deref(), Some("2026-11-20 09:00:28,910"));
}

#[test]
fn without_a_clock_tokens_make_the_time() {
    let (mut log, judged) = read("torchtitan_no_clock.log");
    assert!(judged.is_none() && log.reports.len() == 12);
    log.take_tokens(16_384.0);
    assert_eq!(log.times_from(), TimesFrom::TokensPerSecond);
    let judged = judge(&log, &Known::default()).expect("a verdict");
    close(judged.step_time, 16_384.0 / 3305.0);
}

#[test]
fn a_trainer_has_the_times_of_its_progress_bar() {
    let (log, judged) = read("hf_trainer.log");
    assert_eq!((log.framework, log.times_from()), (Some(Framework::Trainer), TimesFrom::ProgressBar));
    // A report every 10 steps of 2.13 s, shown in whole seconds by the bar; the evaluation at step 100 takes
    // 30 s.
    assert!(log.reports.iter().all(|report| report.weight == 10 && report.batch == Some(64)));
    let judged = judged.expect("a verdict");
    assert!((judged.step_time - 2.13).abs() < 0.05, "{}", judged.step_time);
    assert_eq!(judged.slow.iter().map(|slow| slow.iteration).collect::<Vec<_>>(), [100]);
    assert!((judged.slow[0].lost - 30.0).abs() < 1.5, "{:?}", judged.slow);
}

#[test]
fn a_trainer_without_a_bar_has_one_mean_or_nothing() {
    let (lines, judged) = read("hf_trainer_lines.log");
    assert_eq!((lines.times_from(), lines.reports.len()), (TimesFrom::Nothing, 20));
    assert!(judged.is_none());
    let (state, judged) = read("trainer_state.json");
    assert_eq!((state.times_from(), state.reports.len()), (TimesFrom::WholeRun, 1));
    let report = &state.reports[0];
    assert_eq!((report.weight, report.batch, report.loss), (200, Some(64), Some(1.996)));
    close(judged.expect("a verdict").step_time, 465.9 / 200.0);
    // The summary on the console has three digits; the announced number of steps makes it exact.
    let summary = "  Total optimization steps = 200\n{'loss': 2.1, 'learning_rate': 1e-05, 'epoch': 0.5}\n\
        {'train_runtime': 465.9, 'train_samples_per_second': 27.474, 'train_steps_per_second': 0.429, 'train_loss': 1.9, 'epoch': 1.0}\n";
    let log = TrainingLog::read(summary);
    close(log.reports[0].seconds, 465.9 / 200.0);
    let log = TrainingLog::read(summary.split_once('\n').map_or("", |(_, rest)| rest));
    close(log.reports[0].seconds, 1.0 / 0.429);
}

#[test]
fn damaged_lines_are_no_reports() {
    let lines = [
        "iteration: 5 / 15 | elapsed_time_per_iteration_ms: K | tokens_per_sec: 1K",
        "train_step_timing in s: nan | global_step: 3",
        "train_step_timing in s=2.1]",
        "completed step: x, seconds: 5",
        "completed step: 4, seconds: -5",
        "{'loss': , 'epoch': 0.1}",
        "{'train_runtime': 0, 'train_steps_per_second': 0}",
        "{\"log_history\": [{\"train_runtime\": 1e999}], \"epoch\": 1}",
        "{\"log_history\": [{\"train_runtime\": 5.0, \"step\": 0}], \"epoch\": 1}",
        "{\"log_history\": 5, \"epoch\": 1}",
    ];
    for line in lines {
        assert!(TrainingLog::read(line).reports.iter().all(|report| report.seconds.is_nan()), "{line}");
    }
    // Python writes numbers that are invalid in JSON.
    let state = "{\"epoch\": 1.0, \"log_history\": [{\"loss\": NaN, \"step\": 10}, {\"step\": 10, \"train_loss\": NaN, \"train_runtime\": 20.0}]}";
    close(TrainingLog::read(state).reports[0].seconds, 2.0);
}

#[test]
fn cut_and_overwritten_logs_do_not_panic() {
    let folder = format!("{}/../../fixtures/logs", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a fixture");
        for at in (0..bytes.len()).step_by(211) {
            let mut other = bytes.clone();
            for (offset, byte) in b"e9<[K/'\r-".iter().enumerate() {
                if let Some(place) = other.get_mut(at + 3 * offset) {
                    *place = *byte;
                }
            }
            for text in [&bytes[..at], &bytes[at..], &other[..]] {
                let mut log = TrainingLog::read(&String::from_utf8_lossy(text));
                log.take_tokens(1e4);
                log.take_batch(64);
                let judged = judge(&log, &Known::default());
                assert!(judged.is_none_or(|judged| judged.step_time > 0.0));
                assert!(log.rounding().is_finite());
            }
        }
    }
}
