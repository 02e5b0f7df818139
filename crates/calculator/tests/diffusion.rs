//! Diffusion transformers: published step times that no constant was fitted to, and the cost of a prompt.
//!
//! MLPerf Training 5.1, benchmark flux1 (mlcommons/training_results_v5.1, NVIDIA, NeMo 25.09, commit
//! 4da2d1cd): `train_step_time` of the first block in `result_0.txt`. FLUX.1 schnell on 256 image and 256
//! prompt positions, MXFP8, full-iteration CUDA graphs. Micro-batch and tensor parallelism are in the names
//! of the configurations; the sharding is not published, and FSDP is named in a comment of one of them.

use railwright_calculator::estimate::estimate_run;
use railwright_spec::problem::Problem;
use railwright_spec::run;

/// Cluster, GPUs, tensor parallelism, sequences of a micro-batch and of a step, measured seconds.
const FLUX: &[(&str, u64, u64, u64, u64, f64)] = &[
    ("gb200-nvl72", 16, 1, 32, 512, 0.5643),
    ("gb300-nvl72", 16, 1, 64, 1024, 0.9237),
    ("gb300-nvl72", 72, 1, 32, 2304, 0.5105),
    ("gb300-nvl72", 512, 4, 16, 2048, 0.1723),
];

fn none(path: &str) -> Result<String, Problem> {
    Err(Problem::new("no file is read here").in_file(path))
}

fn step_time(model: &str, cluster: &str, gpus: u64, plan: &str) -> f64 {
    let text = format!(
        "[model]\nname = \"{model}\"\n[cluster]\npreset = \"{cluster}\"\ngpus = {gpus}\n[plan]\n{plan}"
    );
    let (run, _) = run::parse(&text, "run.toml")
        .expect("a run file")
        .resolve_valid(none)
        .unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    estimate_run(&run).expect("priced").step_time.get()
}

#[test]
fn published_steps_of_flux() {
    let mut ratios = Vec::new();
    for &(cluster, gpus, tensor, micro, batch, measured) in FLUX {
        let plan = format!(
            "software = \"megatron-core-2025+cuda-graphs\"\nsharding = \"fsdp\"\nprecision = \"mxfp8\"\nsequence_length = 512\n\
             tensor_parallel = {tensor}\nmicro_batch = {micro}\nglobal_batch = {batch}\n"
        );
        ratios.push(step_time("flux.1-schnell", cluster, gpus, &plan) / measured);
    }
    // A fifth, as far as other publications of Blackwell are left out.
    assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.22), "{ratios:.3?}");
}

/// The prompt's keys and values are 512 positions at any length of the video, so twice the positions take
/// twice the matrix time at most, and attention four times.
#[test]
fn prompts_do_not_grow_with_the_video() {
    let plan = |positions: u64| {
        format!(
            "sequence_length = {positions}\nglobal_batch = 8\nmicro_batch = 1\ntensor_parallel = 1\nsharding = \"fsdp\"\n"
        )
    };
    let time = |positions| step_time("wan2.1-t2v-1.3b", "dgx-h100", 8, &plan(positions));
    let (short, long) = (time(8_190), time(16_380));
    assert!(long > 2.0 * short && long < 4.0 * short, "{short} and {long}");
}
