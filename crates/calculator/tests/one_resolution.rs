//! Commands and validation agree: each measured run, written as a run file, read through the library's entry
//! points and estimated, has the time of the validation.

use railwright_calculator::costing::Machine;
use railwright_calculator::defaults::resolve_plan;
use railwright_calculator::estimate::estimate_run;
use railwright_calculator::software;
use railwright_calculator::validation::{Machines, cases, evaluate_case};
use railwright_spec::cluster::{self, ClusterSpec};
use railwright_spec::model;
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::problem::Problem;
use railwright_spec::run::{self, ModelSpec, RunSpec};

const RUNS: &str = include_str!("../../../catalog/evidence/measured_runs.csv");

fn none(path: &str) -> Result<String, Problem> {
    Err(Problem::new("no file is read here").in_file(path))
}

#[test]
fn validation_predicts_what_an_estimate_of_the_users_run_gives() {
    let mut machines = Machines::default();
    let (mut compared, mut with_inferred_software) = (0, 0);
    for (cells, case) in cases(RUNS, "measured_runs.csv").expect("the bundled table") {
        let Ok(case) = case else { continue };
        // The catalogue's models, unchanged; others have no name for a run file.
        let known = model::by_name(&case.model.name).is_ok_and(|known| known == case.model);
        if !known || !case.complete {
            continue;
        }
        let mut spec = RunSpec::default();
        spec.model = ModelSpec { name: Some(case.model.name.clone()), ..ModelSpec::default() };
        spec.cluster = ClusterSpec::from_cluster(&case.cluster);
        spec.plan = case.spec.clone();
        let text = spec.to_toml();
        let (run, _) = run::parse(&text, "run.toml")
            .expect("what was written reads")
            .resolve_valid(none)
            .unwrap_or_else(|problems| panic!("{}: {problems:?}\n{text}", case.id));
        assert_eq!(run.plan, case.plan, "line {}: {}", cells.line, case.id);
        let generation = software::by_id(&case.plan.software).expect("known");
        let machine: &Machine = machines.of(&case);
        let validated = evaluate_case(&case, machine, generation).expect("priced").time.total.get();
        let estimated = estimate_run(&run).expect("priced").step_time.get();
        assert!((estimated / validated - 1.0).abs() < 1e-9, "{}: {estimated} and {validated}", case.id);
        compared += 1;
        with_inferred_software += usize::from(
            software::inferred(&case.spec, &case.cluster.accelerator.architecture) == generation.id,
        );
    }
    assert!(compared > 300, "{compared} runs were compared");
    assert!(with_inferred_software > 30, "{with_inferred_software} ran the software that is inferred");
}

/// A chosen layout that is written out keeps its software and its time: a change without effect is not a
/// change.
#[test]
fn a_chosen_layout_written_out_is_the_same_run() {
    let mut with_experts = 0;
    for entry in model::catalogue() {
        let model = model::by_name(entry.name).expect("reads");
        if !model.is_mixture_of_experts() {
            continue;
        }
        for (preset, devices) in [("h800", 256), ("dgx-h100", 64), ("gb200-nvl72", 144)] {
            let cluster = cluster::by_name(preset, devices).expect("a preset");
            let Ok((chosen, Some(_))) = resolve_plan(&PlanSpec::default(), &model, &cluster) else {
                continue;
            };
            let layout = PlanSpec {
                tensor_parallel: Some(chosen.tensor_parallel),
                pipeline_parallel: Some(chosen.pipeline_parallel),
                virtual_stages: Some(chosen.virtual_stages),
                context_parallel: Some(chosen.context_parallel),
                expert_parallel: Some(chosen.expert_parallel),
                layers_per_stage: chosen.layers_per_stage.clone(),
                // A specified layout is known to its user, so it may use memory that a chosen one leaves
                // free.
                recompute: Some(chosen.recompute.clone()),
                ..PlanSpec::default()
            };
            let written = resolve_plan(&layout, &model, &cluster).expect("resolves").0;
            assert_eq!(written.software, chosen.software, "{} on {preset}", model.name);
            assert_eq!(facts(&written), facts(&chosen), "{} on {preset}", model.name);
            with_experts += usize::from(chosen.expert_parallel > 1);
        }
    }
    assert!(with_experts > 20, "{with_experts} layouts spread experts");
}

/// What decides the time of a plan besides its layout.
fn facts(plan: &Plan) -> [String; 3] {
    [
        format!("sharding {:?}", plan.sharding),
        format!("batch {} x {}", plan.micro_batch, plan.global_batch),
        format!("overlap {:?}", plan.overlap),
    ]
}
