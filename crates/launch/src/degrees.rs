//! Names of parallel sizes that mean the same in most programs, as data.

/// Keys of a plan, and names of arguments and settings for each.
pub(crate) const DEGREES: &[(&str, &[&str])] = &[
    (
        "plan.tensor_parallel",
        &[
            "tensor_model_parallel_size",
            "tensor_parallel_size",
            "tensor_parallel_degree",
            "tensor_parallel_world_size",
            "tp_size",
            "tp_degree",
            "tp",
        ],
    ),
    (
        "plan.pipeline_parallel",
        &[
            "pipeline_model_parallel_size",
            "pipeline_parallel_size",
            "pipeline_parallel_degree",
            "pipe_parallel_size",
            "pp_size",
            "pp_degree",
            "pp",
        ],
    ),
    ("plan.context_parallel", &["context_parallel_size", "context_parallel_degree", "cp_size", "cp_degree"]),
    (
        "plan.expert_parallel",
        &[
            "expert_model_parallel_size",
            "expert_parallel_size",
            "expert_parallel_degree",
            "ep_size",
            "ep_degree",
        ],
    ),
    (
        "plan.expert_tensor_parallel",
        &["expert_tensor_parallel_size", "expert_tensor_parallel_degree", "etp_size"],
    ),
];
