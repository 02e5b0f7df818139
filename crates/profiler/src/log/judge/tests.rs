//! A real log, and synthetic logs with known properties.

use super::*;

fn real() -> TrainingLog {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/traces/logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz"
    );
    let mut text = String::new();
    let bytes = std::fs::read(path).expect("a fixture");
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text).expect("text");
    TrainingLog::read(&text)
}

fn line(iteration: u64, ms: f64) -> String {
    format!(
        " [2026-01-02 03:04:05.000000] iteration {iteration:8}/ 1000 | consumed samples: 1 | elapsed time per iteration (ms): {ms:.1} | throughput per GPU (TFLOP/s/GPU): {:.1} | learning rate: 1E-4 | global batch size:   128 | lm loss: 2.0E+00 | number of skipped iterations:   0 | number of nan iterations:   0 |\n",
        400_000.0 / ms
    )
}

/// Repeating noise of half a percent.
fn noise(at: u64) -> f64 {
    1.0 + 0.005 * ((at * 7919 % 101) as f64 / 50.0 - 1.0)
}

fn judged(text: &str) -> Judged {
    judge(&TrainingLog::read(text), &Known { peak: Some(989e12), ..Known::default() }).expect("a judgement")
}

#[test]
fn a_real_log_is_read_whole() {
    // `grep -c "elapsed time"` counts 213 reports of 10 iterations each.
    let log = real();
    assert_eq!(log.reports.len(), 213);
    assert!(log.reports.iter().all(|r| r.weight == 10), "{:?}", log.reports.iter().find(|r| r.weight != 10));
    assert_eq!(log.reports[1].seconds, 0.4732);
    assert_eq!(log.reports[0].timers["forward-compute"], Timer { min_ms: 340.72, max_ms: 340.72 });
    let judged = judge(&log, &Known::default()).expect("a judgement");
    assert_eq!((judged.iterations, judged.starts), (2130, 1));
    // Reports after the first five have a median of 607.75 ms (computed separately). The run becomes slower,
    // so the last level is above it.
    let middle = median(&log.reports[5..].iter().map(|r| r.seconds).collect::<Vec<_>>());
    assert_eq!(middle, Some(0.60775));
    assert!(
        judged.segments.windows(2).all(|pair| pair[0].seconds < pair[1].seconds),
        "{:?}",
        judged.segments
    );
    assert!((judged.step_time - 0.6297).abs() < 1e-9, "{}", judged.step_time);
    // One in a hundred reports of ten iterations contains a pause of five seconds.
    let pause = judged.pause.expect("a period");
    assert_eq!(pause.period, 100);
    assert!((4.5..5.5).contains(&pause.lost), "{}", pause.lost);
    // `grep -c "validation loss at iteration"`: 21, each before a slow report.
    assert_eq!(pause.causes(), "evaluation");
    assert_eq!(judged.warnings[0].id, "trace-unknown-mfu");
}

use crate::log::report::Timer;

#[test]
fn slow_steps_are_found_with_what_they_cost() {
    let text: String =
        (1..=300).map(|i| line(i, 1000.0 * noise(i) + if i == 150 { 800.0 } else { 0.0 })).collect();
    let judged = judged(&text);
    assert_eq!(judged.slow.len(), 1);
    assert_eq!(judged.slow[0].iteration, 150);
    assert!((judged.slow[0].lost - 0.8).abs() < 0.01);
    assert_eq!((judged.pause, judged.segments.len()), (None, 1));
    assert!((judged.segments[0].mfu.expect("known") - 400.0 / 989.0).abs() < 0.002);
}

#[test]
fn pauses_that_come_again_have_their_period() {
    let slow = |i: u64| if i.is_multiple_of(25) { 300.0 } else { 0.0 };
    let text: String = (1..=300).map(|i| line(i, 1000.0 * noise(i) + slow(i))).collect();
    let pause = judged(&text).pause.expect("a period");
    assert_eq!((pause.period, pause.count), (25, 12));
    assert!((pause.lost - 0.3).abs() < 0.01);
    assert_eq!(pause.causes(), "");
    // Lines of planned work explain pauses only where they and the slow reports coincide.
    let with = |every: u64, mark: &str| -> String {
        let before = |i: u64| if i.is_multiple_of(every) { format!("{mark} {i}\n") } else { String::new() };
        (1..=300).map(|i| before(i) + &line(i, 1000.0 * noise(i) + slow(i))).collect()
    };
    let causes = |text: &str| judged(text).pause.expect("a period").causes();
    assert_eq!(causes(&with(25, " saving checkpoint at iteration")), "checkpoint");
    assert_eq!(causes(&with(25, " validation loss at iteration")), "evaluation");
    assert_eq!(causes(&with(5, " validation loss at iteration")), "");
    assert_eq!(causes(&with(100, " validation loss at iteration")), "");
}

#[test]
fn a_jump_of_the_level_is_dated() {
    let text: String = (1..=400).map(|i| line(i, if i < 200 { 1000.0 } else { 1080.0 } * noise(i))).collect();
    let judged = judged(&text);
    assert_eq!(judged.segments.len(), 2, "{:?}", judged.segments);
    assert!((195..=205).contains(&judged.segments[1].from));
    assert!((judged.step_time - 1.08).abs() < 0.005);
    assert_eq!(judged.slow, []);
}

#[test]
fn a_steady_run_is_steady() {
    let text: String = (1..=400).map(|i| line(i, 1000.0 * noise(i))).collect();
    let judged = judged(&text);
    assert_eq!((judged.segments.len(), judged.slow.len(), judged.restarts.len()), (1, 0, 0));
    assert!(judged.drift.expect("enough").abs() < 0.002);
}

#[test]
fn drift_is_measured() {
    let text: String =
        (1..=400).map(|i| line(i, 1000.0 * noise(i) * (1.0 + 0.02 * i as f64 / 400.0))).collect();
    let drift = judged(&text).drift.expect("enough");
    assert!((drift - 0.02).abs() < 0.003, "{drift}");
}

#[test]
fn a_restart_costs_what_is_done_twice() {
    let mut text: String = (1..=120).map(|i| line(i, 1000.0)).collect();
    text.push_str("------------------------ arguments ------------------------\n");
    text.extend((101..=200).map(|i| line(i, 1000.0)));
    let judged = judged(&text);
    assert_eq!(judged.starts, 2);
    let restart = judged.restarts[0];
    assert_eq!((restart.before, restart.from, restart.repeated), (120, 101, 20));
    assert!((restart.lost - 20.0).abs() < 1e-9);
}

#[test]
fn timers_and_stragglers_of_newer_logs() {
    let text = format!(
        "{}(min, max) time across ranks (ms):\n    forward-backward ...............................: (900.10, 950.20)\n    optimizer ......................................: (20.00, 21.00)\n0: MnRtt/Rnk: 13.4/7 | MxRtt/Rnk: 15.9/3 | MnPwr/Rnk: 600.1/2 | MxPwr/Rnk: 690.2/5\n",
        line(1, 1000.0)
    );
    let log = TrainingLog::read(&text);
    assert_eq!(log.reports[0].timers["forward-backward"], Timer { min_ms: 900.1, max_ms: 950.2 });
    assert_eq!(log.reports[0].timers.len(), 2);
    let round = log.stragglers.iter().find(|s| s.measure == "Rtt").expect("a straggler line");
    assert_eq!((round.lowest, round.highest), ((13.4, 7), (15.9, 3)));
}

#[test]
fn torchtitan_and_deepspeed_lines() {
    let titan = "[titan] 2026-01-02 03:04:05,678 - root - INFO - step:  1  loss: 12.2  memory: 30.00GiB(37.5%)  tps: 1,000  tflops: 50.1  mfu: 5.0%\n\
                 [titan] 2026-01-02 03:04:25,678 - root - INFO - step: 11  loss: 11.0  memory: 40.00GiB(50%)  tps: 8,000  tflops: 401.2  mfu: 40.6%\n\
                 [titan] 2026-01-02 03:04:45,678 - root - INFO - step: 21  loss: 10.0  memory: 40.00GiB(50%)  tps: 8,000  tflops: 401.2  mfu: 40.6%\n";
    let log = TrainingLog::read(titan);
    assert_eq!(log.reports.len(), 3);
    assert_eq!(
        (log.reports[1].tflops, log.reports[1].mfu, log.reports[1].weight),
        (Some(401.2), Some(0.406), 10)
    );
    assert_eq!(log.reports[2].seconds, 2.0);
    let deep = TrainingLog::read("steps: 10 loss: 2.5 iter time (s): 0.850 samples/sec: 301.2\n");
    assert_eq!((deep.reports[0].iteration, deep.reports[0].seconds), (10, 0.85));
}

#[test]
fn hostile_lines_cost_nothing() {
    let text = "iteration 18446744073709551615/ 1 | elapsed time per iteration (ms): 1e309 |\niteration 5 | elapsed time per iteration (ms): -3 |\n(min, max) time across ranks (ms):\n..: (\nMnRtt/Rnk: /\n";
    let log = TrainingLog::read(text);
    assert_eq!((log.reports.len(), log.unreadable.len()), (0, 2));
    assert_eq!(judge(&log, &Known::default()), None);
}
