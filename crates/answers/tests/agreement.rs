//! One run has one result: all entry points agree on step time, memory peak and batch.
//!
//! Responsible for: intervals of every question; library, estimate, fast path, timeline, simulation, what-if,
//! sensitivity, search, memory report and written run files, over the bundled runs and 200 random valid
//! plans. `same_collectives` compares collectives, and `railwright-calculator`'s `one_resolution` compares
//! the validated runs.

#[path = "support/plans.rs"]
mod plans;

use railwright_answers::{
    ClosedForm, Effort, NoTexts, Prepared, Resolved, SearchOptions, Settings, SizeOptions, Texts,
    Unmonitored, estimate, memory, resolve, search, size, whatif,
};
use railwright_calculator::calibration::{Case, Timed, fit};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::defaults::resolve_run;
use railwright_calculator::estimate::{Estimate, Interval, estimate_run};
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::timeline::{Detail, of_evaluation};
use railwright_network::topology::{DesignSpec, Kind, Routing};
use railwright_spec::cluster::{self, Cluster, ClusterSpec};
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, PlanSpec, Recompute};
use railwright_spec::problem::Problem;
use railwright_spec::run::{self, ModelSpec, Run, RunSpec, SoftwareOrigin};
use railwright_tuner::flows::wiring;
use railwright_tuner::search::{Options, Search, Space};
use railwright_tuner::sensitivity::sensitivity;
use railwright_tuner::simulate::{Setting, simulate};

/// Relative rounding error of sums in a different order.
const ROUNDING: f64 = 1e-9;

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// Complete specification of a run on a model of the catalogue.
fn spec_of(model: &Model, cluster: &Cluster, plan: &Plan) -> RunSpec {
    let mut spec = RunSpec::default();
    spec.model = ModelSpec { name: Some(model.name.clone()), ..ModelSpec::default() };
    spec.cluster = ClusterSpec::from_cluster(cluster);
    spec.plan = PlanSpec::from_plan(plan);
    spec
}

fn without_files(path: &str) -> Result<String, Problem> {
    Err(Problem::new("no file is read here").in_file(path))
}

/// Run written to a file and read back, resolved as in the program.
fn resolved(spec: &RunSpec, run: &Run) -> Resolved {
    let text = spec.to_toml();
    let written = run::parse(&text, "run.toml").expect("reads");
    let (read, _) = resolve_run(&written, without_files).unwrap_or_else(|problems| {
        panic!("{problems:?}\n{text}");
    });
    let resolved = resolve(spec.clone(), &NoTexts).unwrap_or_else(|refused| panic!("{refused}\n{text}"));
    assert_eq!(read.plan, run.plan, "{text}");
    assert_eq!(resolved.run.plan, run.plan, "{text}");
    assert_eq!(read.cluster, resolved.run.cluster, "{text}");
    assert_eq!(read.cluster, run.cluster, "{text}");
    resolved
}

/// What a run file leaves open, the library chooses as the program does: the layout, and recompute of a
/// layout that does not fit without.
#[test]
fn the_library_chooses_what_the_program_chooses() {
    for (open, plan) in [
        ("tensor_parallel = 8\nmicro_batch = 4\nsequence_length = 8192", "recompute"),
        ("sequence_length = 8192", "a layout"),
    ] {
        let text = format!(
            "model.name = 'llama-3.1-70b'\ncluster = {{ preset = 'dgx-h100', devices = 64 }}\n[plan]\n{open}\n"
        );
        let spec = run::parse(&text, "run.toml").expect("reads");
        let (run, _) = resolve_run(&spec, without_files).expect("resolves");
        let program = resolve(spec, &NoTexts).expect("resolves").run;
        assert_eq!((&run.plan, &run.cluster), (&program.plan, &program.cluster), "{plan}");
        assert!(run.plan.recompute != Recompute::None || run.plan.tensor_parallel > 1, "{plan}");
        let estimate = estimate_run(&run).expect("priced");
        assert!(estimate.memory.fit.is_possible(), "{plan}: {:?}", run.plan.recompute);
    }
}

/// Compares all entry points on a run; slow ones only if `whole`.
fn check(spec: &RunSpec, run: &Run, whole: bool) -> Estimate {
    let plan = format!("{} {:?}", run.model.name, run.plan);
    let resolved = resolved(spec, run);
    let answer = estimate(resolved.clone(), &ClosedForm).expect("an estimate").estimate;
    let step = answer.step_time;
    assert_eq!(estimate_run(&resolved.run).expect("priced").step_time, step, "library: {plan}");

    let prepared = Prepared::new(resolved.clone());
    let fast = prepared.evaluate(&run.plan).expect("a time");
    assert_eq!(fast.step_time, step, "fast path: {plan}");
    assert!(near(fast.memory.get(), answer.memory.peak.get(), ROUNDING), "memory's fast path: {plan}");
    assert_eq!(fast.fit, answer.memory.fit, "{plan}");

    let report = memory(&resolved, None).expect("a report");
    let worst = report.report.stages[report.report.worst].device;
    assert!(near(worst.get(), answer.memory.peak.get(), ROUNDING), "memory report: {plan}");
    for (row, stage) in answer.memory.stages.iter().zip(&report.report.stages) {
        assert!(
            near(row.device.get(), stage.device.get(), ROUNDING),
            "memory of stage {}: {plan}",
            row.stage
        );
    }

    timeline(run, step.get(), &plan);
    if !whole {
        return answer;
    }
    let sensitive = sensitivity(&resolved.run).expect("differences");
    assert_eq!(sensitive.step_time, step, "sensitivity: {plan}");
    let rehearsed = whatif(resolved, &[], &NoTexts, None).expect("a baseline").answer;
    assert_eq!(rehearsed.before.step_time, step, "what-if: {plan}");
    answer
}

/// A timeline has the length of the step. Zero-bubble steps overlap, so the timeline of one by itself is
/// longer by that time.
fn timeline(run: &Run, step: f64, plan: &str) {
    let machine = Machine::new(&run.cluster);
    let costing = Costing::new(&run.model, &run.cluster, &run.plan, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("possible");
    let beyond = evaluation.overlap_of_steps.get();
    assert!(beyond == 0.0 || beyond > 0.0 && run.plan.schedule.validates_afterwards(), "{beyond}, {plan}");
    let drawn = of_evaluation(&costing, &evaluation, Detail::Passes, &|| Ok(())).expect("drawn");
    let length = drawn.duration().seconds().get();
    assert!(near(length, step + beyond, 1e-6), "timeline: {length} and {step} + {beyond}, {plan}");
}

/// Step time on a network without contention.
fn simulated(run: &Run) -> f64 {
    let design = DesignSpec {
        kind: Some(Kind::RailOptimized),
        routing: Some(Routing::Spray),
        ..DesignSpec::default()
    };
    let wiring = wiring(&run.cluster, &design, &[]).expect("it is built");
    let setting = Setting::on(&wiring);
    simulate(&run.model, &run.cluster, &run.plan, &setting).expect("simulated").closed_form.get()
}

/// Time and memory from a search whose space contains only the run's plan; `None` if the search does not try
/// such a plan.
fn searched(run: &Run) -> Option<(f64, f64)> {
    let specified = PlanSpec::from_plan(&run.plan);
    let space = Space::unlimited(&specified, &run.model, &run.cluster).ok()?;
    let options = Options { keep: 1, fit_probability: 0.0, ..Options::default() };
    let search = Search::new(&run.model, &run.cluster, space, options).ok()?;
    let found = search.outcome(&search.run()).candidates.into_iter().next()?;
    (found.plan == run.plan).then(|| (found.step_time.get(), found.memory.device.get()))
}

#[test]
fn bundled_runs_have_one_answer() {
    for (spec, run) in plans::bundled() {
        let answer = check(&spec, &run, true);
        if let Some((time, memory)) = searched(&run) {
            assert_eq!(time, answer.step_time.get(), "{}", run.model.name);
            assert!(near(memory, answer.memory.peak.get(), ROUNDING), "{}", run.model.name);
        }
    }
}

/// Pseudo-random numbers, equal on all platforms (Steele et al. 2014, SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as u8
    }
}

#[test]
fn random_plans_have_one_answer() {
    let mut numbers = Numbers(15);
    let (mut checked, mut in_space) = (0, 0);
    while checked < 200 {
        let choices: [u8; 20] = std::array::from_fn(|_| numbers.byte());
        let Some((model, cluster, plan)) = plans::random(&choices) else { continue };
        let spec = spec_of(&model, &cluster, &plan);
        let run = resolve(spec.clone(), &NoTexts).unwrap_or_else(|refused| panic!("{refused}: {plan:?}")).run;
        assert_eq!(run.plan, plan);
        checked += 1;
        let whole = checked % 10 == 0;
        let answer = check(&spec, &run, whole);
        if whole {
            assert_eq!(simulated(&run), answer.step_time.get(), "simulation: {plan:?}");
        }
        if let Some((time, memory)) = searched(&run) {
            assert_eq!(time, answer.step_time.get(), "search: {plan:?}");
            assert!(near(memory, answer.memory.peak.get(), ROUNDING), "search's memory: {plan:?}");
            in_space += 1;
        }
    }
    assert!(in_space > 50, "{in_space} of {checked} plans lie in the space of a search");
}

/// The run of an estimate with a model and a cluster alone, and the space of a search for it.
fn silent(name: &str, devices: u64) -> (Run, Space) {
    let mut spec = RunSpec::default();
    spec.model = ModelSpec { name: Some(name.to_owned()), ..ModelSpec::default() };
    let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
    spec.cluster = ClusterSpec::from_cluster(&cluster);
    let run = resolve(spec, &NoTexts).unwrap_or_else(|refused| panic!("{refused}")).run;
    let space = Space::new(&PlanSpec::default(), &run.model, &run.cluster).expect("a space");
    (run, space)
}

/// Models with a published training have its batch and sequence length in both.
#[test]
fn a_published_batch_is_one_batch() {
    for (name, devices, published) in
        [("llama-3.1-405b", 1024, (2048, 8192)), ("deepseek-v3-671b", 2048, (15_360, 4096))]
    {
        let (run, space) = silent(name, devices);
        for plan in [&run.plan, &space.base] {
            assert_eq!((plan.global_batch, plan.sequence_length), published, "{name} on {devices}");
        }
    }
}

/// An unspecified batch is equal for an estimate and for a search, on any number of devices.
#[test]
fn a_silent_batch_is_one_batch() {
    for (name, devices) in [("llama-3-8b", 64), ("llama-3-8b", 4096), ("llama-3.1-70b", 4096)] {
        let (run, space) = silent(name, devices);
        assert_eq!(run.plan.global_batch, space.base.global_batch, "{name} on {devices}");
        assert_eq!(run.plan.sequence_length, space.base.sequence_length, "{name} on {devices}");
        assert_eq!(run.plan.software, space.base.software, "{name} on {devices}");
    }
}

/// A file system with one file: a calibration.
struct Calibrated(String);

impl Texts for Calibrated {
    fn text(&self, _: &str) -> Result<String, Problem> {
        Ok(self.0.clone())
    }

    fn is_file(&self, _: &str) -> bool {
        true
    }
}

/// A run of eight devices with given software settings.
fn spec_of_eight(more: &[&str]) -> RunSpec {
    let mut spec = RunSpec::default();
    let run = [
        "model.name=llama-3-8b",
        "cluster.preset=dgx-h100",
        "cluster.devices=8",
        "plan.tensor_parallel=2",
        "plan.sequence_length=4096",
        "plan.global_batch=64",
        "training.tokens=1T",
    ];
    for setting in run.iter().chain(more) {
        spec.set(setting).expect("known");
    }
    spec
}

/// Runs every command with an interval for one run, and returns their common interval.
fn one_interval(spec: &RunSpec, texts: &dyn Texts) -> Interval {
    let of = |spec: RunSpec| {
        let resolved = resolve(spec, texts).unwrap_or_else(|refused| panic!("{refused}"));
        estimate(resolved, &ClosedForm).expect("priced").estimate.step_time_interval
    };
    let with = |plan: &Plan| {
        let mut whole = spec.clone();
        // Specified overlap and balance would narrow the interval.
        whole.plan = PlanSpec {
            software: spec.plan.software.clone(),
            overlap_gradient_reduce: None,
            overlap_parameter_gather: None,
            overlap_tensor: None,
            overlap_pipeline: None,
            overlap_expert: None,
            expert_imbalance: None,
            ..PlanSpec::from_plan(plan)
        };
        of(whole)
    };
    let resolved = resolve(spec.clone(), texts).unwrap_or_else(|refused| panic!("{refused}"));
    let own = with(&resolved.run.plan);
    assert_eq!(estimate_run(&resolved.run).expect("priced").step_time_interval, own, "library");
    let changed = whatif(resolved, &[], texts, None).expect("a baseline").answer;
    assert_eq!(changed.before.interval, own, "whatif");

    let asked = Settings::new(std::slice::from_ref(spec), &[], texts).expect("settings");
    let effort = Effort { threads: Some(1), ..Effort::default() };
    let wanted = SearchOptions { top: 3, effort: effort.clone(), ..SearchOptions::default() };
    let found = search(&asked, &wanted, &ClosedForm, &Unmonitored).expect("layouts");
    for row in &found.shown {
        assert_eq!(row.ranked.step_time_interval, with(&row.ranked.candidate.plan), "search");
        let written = run::parse(&row.run_file, "run.toml").expect("reads");
        assert_eq!(row.ranked.step_time_interval, of(written), "run file: {}", row.run_file);
    }
    let sized = size(&asked, &SizeOptions { effort, ..SizeOptions::default() }, &ClosedForm, &Unmonitored);
    let rows = sized.expect("sizes").sized.rows;
    assert!(!rows.is_empty() && !found.shown.is_empty());
    for row in rows.iter().filter(|row| row.devices == 8) {
        assert_eq!(row.step_time_interval, with(&row.plan), "size");
    }
    own
}

/// One run has one interval in every result. Without specified software it is the widest; measured step times
/// change it.
#[test]
fn one_run_has_one_interval() {
    let inferred = spec_of_eight(&[]);
    let plan = resolve(inferred.clone(), &NoTexts).expect("a run").run.plan;
    let named = spec_of_eight(&[&format!("plan.software={}", plan.software)]);
    let open = one_interval(&inferred, &NoTexts);
    let known = one_interval(&named, &NoTexts);
    assert!(open.low <= known.low && open.high >= known.high, "{open:?} {known:?}");
    assert!(!open.calibrated && known.calibrated);
    // An assumed generation in a run file remains assumed.
    let assumed =
        spec_of_eight(&[&format!("plan.software={}", SoftwareOrigin::Assumed.written(&plan.software))]);
    assert_eq!(one_interval(&assumed, &NoTexts), open);

    let run = resolve(named, &NoTexts).expect("a run").run;
    let seconds = estimate_run(&run).expect("priced").step_time * 1.1;
    let timed = [Timed { model: &run.model, cluster: &run.cluster, plan: &run.plan, seconds }];
    let case = Case {
        cluster: &run.cluster,
        software: &run.plan.software,
        run: None,
        is_causal: true,
        timed: &timed,
    };
    let texts = Calibrated(fit(&case, &[]).expect("fitted").calibration.to_toml().expect("sound"));
    let with_file = |software: &str| {
        let mut spec = spec_of_eight(&["cluster.calibration=own.toml"]);
        spec.plan.software = (!software.is_empty()).then(|| software.to_owned());
        one_interval(&spec, &texts)
    };
    for software in ["", plan.software.as_str()] {
        let own = with_file(software);
        assert!(own.source.contains("your own measurement of this layout"), "{own:?}");
    }
    // Step times of another generation have no effect.
    let other = with_file("megatron-core-2024");
    assert!(other.source.contains("measured runs of `megatron-core-2024`"), "{other:?}");
}
