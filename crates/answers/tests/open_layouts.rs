//! A layout left open is close to what a search finds.
//!
//! Responsible for: the step time of default layouts against the fastest of the search's default space, for
//! models and sizes of published trainings. `agreement` compares entry points on one layout.

use railwright_answers::{ClosedForm, NoTexts, estimate, resolve};
use railwright_calculator::intervals::difference_band;
use railwright_spec::cluster::ClusterSpec;
use railwright_spec::plan::PlanSpec;
use railwright_spec::run::{ModelSpec, RunSpec};
use railwright_tuner::search::{Options, Search, Space};

#[test]
fn open_layouts_are_as_fast_as_searched_ones() {
    for (model, cluster, devices) in [
        ("llama-3-8b", "dgx-h100", 64),
        ("llama-3-70b", "dgx-h100", 256),
        ("llama-3.1-405b", "dgx-h100", 16_384),
        ("gpt3-175b", "dgx-a100", 1_024),
        ("mixtral-8x7b", "dgx-h100", 64),
        ("qwen3-235b-a22b", "dgx-b200", 512),
        ("deepseek-v3", "h800", 2_048),
        ("kimi-k2", "gb200-nvl72", 1_024),
    ] {
        let mut spec = RunSpec::default();
        spec.model = ModelSpec { name: Some(model.to_owned()), ..ModelSpec::default() };
        spec.cluster = ClusterSpec {
            preset: Some(cluster.to_owned()),
            devices: Some(devices),
            ..ClusterSpec::default()
        };
        let open = resolve(spec, &NoTexts).unwrap_or_else(|refused| panic!("{model}: {refused}"));
        let run = open.run.clone();
        let chosen = estimate(open, &ClosedForm).expect("an estimate").estimate;
        let space = Space::new(&PlanSpec::default(), &run.model, &run.cluster).expect("a space");
        let options = Options { keep: 1, ..Options::default() };
        let search = Search::new(&run.model, &run.cluster, space, options).expect("a search");
        let fastest = search.outcome(&search.run()).candidates.into_iter().next().expect("one fits");
        let ratio = chosen.step_time / fastest.step_time;
        let tie = difference_band(&run.plan.software);
        assert!(ratio.ln() <= tie, "{model} on {devices} {cluster}: {ratio:.3} x, {:?}", run.plan);
        // The first layouts differ in what search allows beyond a default: it is never slower.
        assert!(ratio > 0.999, "{model} on {devices} {cluster}: {ratio:.3} x, {:?}", run.plan);
    }
}
