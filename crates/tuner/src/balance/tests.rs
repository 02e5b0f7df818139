//! Results compared with every possible division, and the original division compared with measured runs.

use super::*;
use proptest::prelude::*;
use railwright_spec::plan::{PlanSpec, Schedule, validate};
use railwright_spec::{cluster, model};

fn run(name: &str, layers: usize, vocabulary: u64, spec: PlanSpec, devices: u64) -> (Model, Cluster, Plan) {
    let mut model = model::by_name(name).expect("known");
    model.layers.truncate(layers);
    let scale = vocabulary as f64 / model.vocabulary as f64;
    model.vocabulary = vocabulary;
    for weight in model.embedding.iter_mut().chain(&mut model.head) {
        weight.rows = (weight.rows as f64 * scale).round() as u64;
    }
    let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
    let spec = PlanSpec { uneven_stages: Some(true), ..spec };
    let plan = spec.resolve(&model, &cluster).expect("sound");
    assert_eq!(validate(&model, &cluster, &plan), []);
    (model, cluster, plan)
}

/// All divisions of `layers` among `chunks`, with non-empty inner ones.
fn divisions(layers: u64, chunks: usize, first: bool) -> Vec<Vec<u64>> {
    if chunks == 1 {
        return vec![vec![layers]];
    }
    (u64::from(!first)..=layers)
        .flat_map(|n| {
            divisions(layers - n, chunks - 1, false).into_iter().map(move |rest| [vec![n], rest].concat())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_answer_is_the_best_of_all_divisions(
        which in 0..5_usize,
        layers in 6..11_usize,
        vocabulary in 1..5_u64,
        micro_batches in 4..12_u64,
        mixture: bool,
        choose: bool,
        room in 0.0..1.5_f64,
    ) {
        let (schedule, virtual_stages) = [
            (Schedule::OneForwardOneBackward, 1),
            (Schedule::Gpipe, 1),
            (Schedule::ZbH1, 1),
            (Schedule::OneForwardOneBackward, 2),
            (Schedule::ZbV, 2),
        ][which];
        let stages = if virtual_stages == 2 { 2 } else { 4 };
        let spec = PlanSpec {
            pipeline_parallel: Some(stages),
            virtual_stages: Some(virtual_stages),
            schedule: Some(schedule),
            micro_batches: Some(micro_batches * stages),
            sequence_length: Some(4096),
            ..PlanSpec::default()
        };
        let name = if mixture { "mixtral-8x7b" } else { "llama-3-8b" };
        let (model, mut cluster, plan) = run(name, layers, vocabulary * 65_536, spec, 8);
        let options = Options { recompute: choose, ..Options::default() };
        let machine = Machine::new(&cluster);
        let chunks = (stages * virtual_stages) as usize;
        let start = layers_per_chunk(&model, &plan, Costing::new(&model, &cluster, &plan, &machine).expect("priced").stage_split);
        let as_it_is = division(&model, &cluster, &plan, &machine, &start, &options).expect("priced");
        cluster.accelerator.memory = as_it_is.memory * (0.9 + room);
        let machine = Machine::new(&cluster);
        let mut pricer = Pricer::new(&model, &cluster, &plan, &machine, &options).expect("known");
        let mut best: Option<Seconds> = None;
        for division in divisions(layers as u64, chunks, true) {
            if let Some((step, _)) = pricer.price(&division).expect("priced") {
                best = Some(best.map_or(step, |best| best.min(step)));
            }
        }
        let answer = solve(&model, &cluster, &plan, &options).expect("priced");
        match (answer.best, best) {
            (None, None) => {}
            (Some(found), Some(best)) => {
                prop_assert!((found.step_time / best - 1.0).abs() < 1e-9, "{:?} {:?} {best:?}", found.layers, found.step_time);
            }
            (found, best) => prop_assert!(false, "{found:?} {best:?}"),
        }
    }
}

#[test]
fn one_stage_has_nothing_to_balance() {
    let (model, cluster, plan) =
        run("llama-3-8b", 32, 128_256, PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() }, 8);
    let problem = solve(&model, &cluster, &plan, &Options::default()).expect_err("one stage");
    assert!(problem.message.contains("only one stage"), "{}", problem.message);
}

/// Llama 3 405B removed one layer from each end (its paper, section 3.3.2); the solver also assigns fewer
/// layers to the ends.
#[test]
fn heavy_ends_get_fewer_layers() {
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(16),
        global_batch: Some(512),
        ..PlanSpec::default()
    };
    let (model, cluster, plan) = run("llama-3.1-405b", 126, 128_256, spec, 1024);
    for recompute in [false, true] {
        let plan = if recompute {
            plan.clone()
        } else {
            Plan { recompute: Recompute::Full { layers: None }, ..plan.clone() }
        };
        let answer =
            solve(&model, &cluster, &plan, &Options { recompute, ..Options::default() }).expect("priced");
        let best = answer.best.expect("fits");
        assert_eq!(best.layers.iter().sum::<u64>(), 126);
        assert!(best.layers[15] < 8 && best.fits, "{:?}", best.layers);
        // Two modules and whole layers are coarse: the bound has fractions of layers.
        let most = if recompute { 0.1 } else { 0.02 };
        assert!(answer.gap.is_some_and(|gap| gap < most), "{:?}", answer.gap);
    }
}

/// Measured runs with heavy ends. The BigScience sweeps have a vocabulary of 250,880 and equal layers on all
/// stages. In the zero-bubble tables the first and last stage of a pipeline have one layer fewer.
///
/// The original division must have the measured step, as evidence for the balanced one.
#[test]
fn the_division_as_it_is_takes_what_was_measured() {
    use railwright_calculator::validation;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/evidence/measured_runs.csv");
    let text = std::fs::read_to_string(path).expect("the repository's evidence");
    let (mut errors, mut same, mut published) = (Vec::new(), 0, 0);
    for (cells, case) in validation::cases(&text, path).expect("reads") {
        let Ok(case) = case else { continue };
        let notes = cells.text("notes").unwrap_or_default().to_owned();
        let pipeline = case.plan.pipeline_parallel;
        let heavy = notes.contains("uniform layer partition") && case.model.vocabulary > 200_000;
        let fewer =
            notes.contains("first and last stage hold one layer fewer") && case.plan.virtual_stages == 1;
        if pipeline < 2 || !(heavy || fewer) || cells.text("status") != Some("ok") {
            continue;
        }
        let devices = case.cluster.devices;
        let tokens = case.plan.tokens_per_step();
        let Some(measured) = validation::row::step_time(&cells, tokens, devices) else { continue };
        let machine = Machine::new(&case.cluster);
        // The fit is irrelevant here: the runs ran.
        let options = Options { probability: 1e-6, recompute: false };
        let split =
            Costing::new(&case.model, &case.cluster, &case.plan, &machine).expect("known").stage_split;
        let layers = layers_per_chunk(&case.model, &case.plan, split);
        let before = division(&case.model, &case.cluster, &case.plan, &machine, &layers, &options);
        errors.push((before.expect("priced").step_time.get() / measured - 1.0).abs());
        if fewer && case.plan.schedule == Schedule::OneForwardOneBackward {
            let answer = solve(&case.model, &case.cluster, &case.plan, &options).expect("priced");
            published += 1;
            same += usize::from(answer.gain.is_some_and(|gain| gain < 0.01));
        }
    }
    assert!(errors.len() > 60, "{}", errors.len());
    errors.sort_by(f64::total_cmp);
    let error = errors[errors.len() / 2];
    assert!(error < 0.05, "median error {error} of {} runs", errors.len());
    // The manual layouts of the zero-bubble pipelines match the solver's, or are within a hundredth.
    assert!(published >= 6 && same * 4 >= published * 3, "{same} of {published}");
}

/// With two kinds of device, layers are in proportion to speed: the answer is the best of all divisions, and
/// stages on the slow kind have fewer layers.
#[test]
fn stages_on_slow_devices_get_fewer_layers() {
    let model = model::by_name("llama-3-8b").expect("known");
    let mut spec =
        cluster::ClusterSpec { preset: Some("dgx-h100".into()), devices: Some(16), ..Default::default() };
    spec.pools = Some(cluster::Pools(vec![cluster::PoolSpec { name: "dgx-a100".into(), devices: 8 }]));
    let cluster = spec.resolve().expect("sound");
    let spec = PlanSpec {
        tensor_parallel: Some(4),
        pipeline_parallel: Some(4),
        global_batch: Some(64),
        sequence_length: Some(4096),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("sound");
    let answer =
        solve(&model, &cluster, &plan, &Options { probability: 0.5, recompute: false }).expect("priced");
    let best = answer.best.expect("fits");
    assert!(
        best.layers[1] > best.layers[2] && best.layers[1] as f64 > 1.5 * best.layers[3] as f64,
        "{:?}",
        best.layers
    );
    assert!(best.step_time < answer.before.step_time * 0.85, "{:?}", answer.gain);
    let machine = Machine::new(&cluster);
    let options = Options { probability: 0.5, recompute: false };
    // Neighbours of the answer are no faster.
    for (from, to) in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))).filter(|(from, to)| from != to)
    {
        let mut layers = best.layers.clone();
        layers[from] -= 1;
        layers[to] += 1;
        let other = division(&model, &cluster, &plan, &machine, &layers, &options).expect("priced");
        assert!(!other.fits || other.step_time >= best.step_time, "{layers:?}");
    }
}
