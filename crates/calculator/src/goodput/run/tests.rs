//! Checkpoints of published runs, and the agreement of a run's share with the result of `goodput`.

use super::super::answer::{Question, goodput};
use super::super::rates::Counts;
use super::{availability, checkpoint_bytes};
use railwright_spec::quantity::Seconds;
use railwright_spec::run::{Run, RunSpec, parse};

const BLOOM: &str = "[model]\nname = \"bloom-176b\"\n[cluster]\npreset = \"dgx-a100\"\ndevices = 384\n[plan]\ntp = 4\npp = 12\n\
    micro_batch = 2\nglobal_batch = 2048\nsequence_length = 2048\n[training]\ntokens = \"366B\"\n";

fn run(text: &str, settings: &[&str]) -> Run {
    let mut spec: RunSpec = parse(text, "run.toml").expect("readable");
    for setting in settings {
        spec.set(setting).expect("readable");
    }
    spec.resolve(|_| Ok(String::new())).expect("possible")
}

/// BLOOM's model card (bigscience/bloom, section "Training"): "Bf16 weights: 329GB. Full checkpoint with
/// optimizer states: 2.3TB", both in binary units, as 176.25e9 x 2 B = 328.3 GiB shows.
#[test]
fn the_checkpoint_of_bloom_has_the_published_size() {
    let run = run(BLOOM, &[]);
    let weights = run.model.parameters().total as f64 * 2.0 / 1024f64.powi(3);
    assert!((weights / 329.0 - 1.0).abs() < 0.005, "{weights}");
    let all = checkpoint_bytes(&run.model, &run.plan).get() / 1024f64.powi(4);
    assert!((all / 2.3 - 1.0).abs() < 0.03, "{all}");
}

#[test]
fn a_run_has_the_goodput_of_its_parts() {
    let usual = run(BLOOM, &[]);
    let availability = |run: &Run| super::availability(run).expect("sound");
    assert_eq!((availability(&usual).share, availability(&usual).failures), (1.0, None));
    let timed = run(BLOOM, &["training.checkpoint_time=\"60 s\"", "training.checkpoint_stall=\"5 s\""]);
    let counts = Counts { devices: 384, hosts: 48, nics: 384 };
    let stall = Some(Seconds::new(5.0));
    let answer = goodput(&Question { stall, ..Question::new(counts, Seconds::new(60.0)) }).expect("sound");
    let found = availability(&timed);
    assert_eq!(found.share, answer.goodput);
    let failures = found.failures.expect("modelled");
    assert!(failures.lowest < found.share && found.share < failures.highest);
    // 41 GB/s write the 2.47 TB in about a minute.
    let stored = run(BLOOM, &["training.storage_bandwidth=\"41 GB/s\"", "training.checkpoint_stall=\"5 s\""]);
    let failures = availability(&stored).failures.expect("modelled");
    assert!((failures.checkpoint.get() / 60.0 - 1.0).abs() < 0.01, "{failures:?}");
    let twice = run(BLOOM, &["training.storage_bandwidth=\"41 GB/s\"", "cluster.devices=768"]);
    assert!(availability(&twice).share < availability(&timed).share);
    let hopeless = run(BLOOM, &["training.checkpoint_time=\"9e6 s\""]);
    let found = availability(&hopeless);
    assert_eq!(found.warning.map(|warning| warning.id), Some("no-progress".into()));
    assert!(found.share <= 1e-3);
}

/// One rule for both: a stall that is longer than its checkpoint is a contradiction, and not a shorter stall.
#[test]
fn a_stall_longer_than_the_checkpoint_is_refused_as_by_goodput() {
    let counts = Counts { devices: 384, hosts: 48, nics: 384 };
    for (checkpoint, stall, is_possible) in [(60.0, 60.0, true), (60.0, 61.0, false)] {
        let of_run = run(
            BLOOM,
            &[
                &format!("training.checkpoint_time=\"{checkpoint} s\""),
                &format!("training.checkpoint_stall=\"{stall} s\""),
            ],
        );
        let question =
            Question { stall: Some(Seconds::new(stall)), ..Question::new(counts, Seconds::new(checkpoint)) };
        assert_eq!(goodput(&question).is_ok(), is_possible);
        let found = availability(&of_run);
        assert_eq!(found.is_ok(), is_possible);
        assert_eq!(crate::money::bill(&of_run, Seconds::new(20.0)).is_ok(), is_possible);
        if let Err(problem) = found {
            assert_eq!(problem.message, goodput(&question).expect_err("contradictory").message);
        }
    }
    // The storage writes the checkpoint in a minute.
    let stored =
        run(BLOOM, &["training.storage_bandwidth=\"41 GB/s\"", "training.checkpoint_stall=\"90 s\""]);
    assert!(availability(&stored).is_err());
}
