//! The catalogue as text: models, clusters, accelerators, software generations, prices and measured tables.
//!
//! Responsible for: making every file of the catalogue reachable from a published crate. Parses nothing: the
//! crates that use a file read it, and report errors under the paths in this crate's documentation.
//!
//! ```
//! let (name, text) = railwright_catalog::CLUSTERS[0];
//! assert_eq!(name, "aws-p5");
//! assert!(text.contains("[cluster]") || text.contains("accelerator"));
//! ```

/// `catalog/software.toml`: software generations and their features, with the constants of time.
pub const SOFTWARE: &str = include_str!("../software.toml");

/// `catalog/glossary.md`: terms of help, reports and documentation, and words to avoid.
pub const GLOSSARY: &str = include_str!("../glossary.md");

/// `catalog/front_ends.toml`: programs that pass on a part of a generation's choices.
pub const FRONT_ENDS: &str = include_str!("../front_ends.toml");

/// `catalog/memory.toml`: device memory of each software generation.
pub const MEMORY: &str = include_str!("../memory.toml");

/// `catalog/accelerators.csv`: accelerators: rates, memory, links, power and the source of each figure.
pub const ACCELERATORS: &str = include_str!("../accelerators.csv");

/// `catalog/intervals.toml`: intervals of predictions, by class of software.
pub const INTERVALS: &str = include_str!("../intervals.toml");

/// `catalog/differences.toml`: errors of predicted differences between two plans.
pub const DIFFERENCES: &str = include_str!("../differences.toml");

/// `catalog/prices.toml`: rental prices per GPU hour, with source and date.
pub const RENTAL_PRICES: &str = include_str!("../prices.toml");

/// `catalog/operators/gemm.csv`: measured rates of matrix products.
pub const GEMM_RATES: &str = include_str!("../operators/gemm.csv");

/// `catalog/operators/attention.csv`: measured rates of attention kernels.
pub const ATTENTION_RATES: &str = include_str!("../operators/attention.csv");

/// `catalog/collectives/domain.csv`: measured collectives inside a scale-up domain.
pub const COLLECTIVES: &str = include_str!("../collectives/domain.csv");

/// `catalog/collectives/samples.csv`: collectives as measured, before they are distilled to a table.
pub const COLLECTIVE_SAMPLES: &str = include_str!("../collectives/samples.csv");

/// `catalog/evidence/groups.toml`: groups of publications in accuracy tables.
pub const EVIDENCE_GROUPS: &str = include_str!("../evidence/groups.toml");

/// `catalog/network/prices.csv`: prices and power of switches, optics, cables and NICs.
pub const NETWORK_PRICES: &str = include_str!("../network/prices.csv");

/// `catalog/network/failure_rates.csv`: failure rates of parts, with their sources.
pub const FAILURE_RATES: &str = include_str!("../network/failure_rates.csv");

/// `catalog/network/scale_up.csv`: switches and links of published scale-up domains.
pub const SCALE_UP: &str = include_str!("../network/scale_up.csv");

/// `catalog/reliability/interruptions.csv`: interruptions of a published run by cause.
pub const INTERRUPTIONS: &str = include_str!("../reliability/interruptions.csv");

/// `catalog/reliability/clusters.csv`: failure rates of published clusters.
pub const RELIABLE_CLUSTERS: &str = include_str!("../reliability/clusters.csv");

/// `catalog/network/superpod_tables.csv`: switch and cable counts of published reference designs.
pub const SUPERPOD_TABLES: &str = include_str!("../network/superpod_tables.csv");

/// `catalog/network/published_designs.csv`: published network designs.
pub const PUBLISHED_DESIGNS: &str = include_str!("../network/published_designs.csv");

/// `catalog/network/rail_only_targets.csv`: figures that the rail-only paper states.
pub const RAIL_ONLY_CLAIMS: &str = include_str!("../network/rail_only_targets.csv");

/// `catalog/clusters/instances.csv`: instance types of public clouds, their cluster and their price.
pub const INSTANCES: &str = include_str!("../clusters/instances.csv");

/// Names and texts of files in one folder.
macro_rules! files {
    ($folder:literal $suffix:literal $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../", $folder, "/", $name, $suffix)))),*]
    };
}

/// `catalog/families`: descriptions of model families, in the order in which they are read.
pub const FAMILIES: &[(&str, &str)] =
    files!["families" ".toml" "base" "decoders" "encoders" "towers" "diffusion"];

/// `catalog/clusters`: name and text of each cluster.
pub const CLUSTERS: &[(&str, &str)] = files![
    "clusters" ".toml"
    "aws-p5"
    "aws-p5en"
    "aws-p6-b200"
    "aws-p6-b300"
    "azure-nd-h100-v5"
    "dgx-a100"
    "dgx-a100-40gb"
    "dgx-b200"
    "dgx-b300"
    "dgx-h100"
    "dgx-h200"
    "dgx-p100"
    "dgx-v100"
    "dgx2"
    "frontier"
    "gb200-nvl72"
    "gb300-nvl72"
    "gcp-a3-mega"
    "gcp-a3-ultra"
    "gh200-quad"
    "h800"
    "leonardo"
    "mi300x"
    "tpu-v3-pod"
    "tpu-v5e-pod"
    "tpu-v5p-pod"
];

/// `catalog/models`: name and `config.json` of each model.
pub const MODELS: &[(&str, &str)] = files![
    "models" ".json"
    "gpt2"
    "gpt2-medium"
    "gpt2-large"
    "gpt2-xl"
    "gpt-neox-20b"
    "pythia-160m"
    "pythia-1.4b"
    "pythia-6.9b"
    "pythia-12b"
    "falcon-7b"
    "falcon-40b"
    "falcon-180b"
    "opt-125m"
    "opt-66b"
    "opt-175b"
    "bloom-176b"
    "gpt3-175b"
    "mt-nlg-530b"
    "megatron-1t"
    "llama-1-65b"
    "llama-2-7b"
    "llama-2-13b"
    "llama-2-70b"
    "llama-3-8b"
    "llama-3-70b"
    "llama-3.1-405b"
    "llama-3.2-1b"
    "llama-3.2-3b"
    "llama-4-scout-17b-16e"
    "llama-4-maverick-17b-128e"
    "mistral-7b-v0.1"
    "mistral-nemo-12b"
    "mistral-large-123b"
    "mixtral-8x7b"
    "mixtral-8x22b"
    "qwen2.5-0.5b"
    "qwen2.5-1.5b"
    "qwen2.5-3b"
    "qwen2.5-7b"
    "qwen2.5-14b"
    "qwen2.5-32b"
    "qwen2.5-72b"
    "qwen1.5-moe-a2.7b"
    "qwen2-57b-a14b"
    "qwen3-0.6b"
    "qwen3-1.7b"
    "qwen3-4b"
    "qwen3-14b"
    "qwen3-8b"
    "qwen3-32b"
    "qwen3-30b-a3b"
    "qwen3-235b-a22b"
    "qwen3-coder-480b-a35b"
    "qwen3-next-80b-a3b"
    "qwen3.5-27b"
    "qwen3.5-35b-a3b"
    "qwen3.5-122b-a10b"
    "qwen3.5-397b-a17b"
    "deepseek-v2-lite"
    "deepseek-r1-distill-qwen-1.5b"
    "deepseek-v2-236b"
    "deepseek-v3-671b"
    "deepseek-v3.2-685b"
    "deepseek-v4-flash"
    "deepseek-v4-pro"
    "kimi-k2-1t"
    "moonlight-16b-a3b"
    "gpt-oss-20b"
    "gpt-oss-120b"
    "glm-4.5-air-106b-a12b"
    "glm-4.5-355b-a32b"
    "glm-5"
    "gemma-2b"
    "gemma-7b"
    "gemma-2-2b"
    "gemma-2-9b"
    "gemma-2-27b"
    "gemma-3-1b"
    "gemma-3-4b"
    "gemma-3-12b"
    "gemma-3-27b"
    "gemma-4-26b-a4b"
    "phi-2"
    "phi-3-mini-3.8b"
    "phi-4-14b"
    "olmo-7b"
    "olmo-2-1124-7b"
    "olmo-2-1124-13b"
    "olmo-2-0325-32b"
    "olmo-3-32b"
    "olmo-3-7b"
    "olmoe-1b-7b"
    "tinyllama-1.1b"
    "microllama-300m"
    "falcon3-1b"
    "falcon3-3b"
    "falcon3-7b"
    "falcon3-10b"
    "llama-1-13b"
    "llama-1-33b"
    "olmo-1b"
    "opt-1.3b"
    "opt-2.7b"
    "opt-6.7b"
    "opt-13b"
    "opt-30b"
    "bloom-560m"
    "bloom-1.1b"
    "bloom-1.7b"
    "bloom-3b"
    "bloom-7.1b"
    "starcoder-15b"
    "starcoder2-3b"
    "starcoder2-7b"
    "chatglm3-6b"
    "glm-4-9b"
    "yi-6b"
    "qwen1.5-0.5b"
    "qwen1.5-1.8b"
    "qwen1.5-4b"
    "qwen1.5-7b"
    "qwen1.5-14b"
    "baichuan-7b"
    "baichuan-13b"
    "baichuan2-13b"
    "internlm2-1.8b"
    "internlm2-7b"
    "internlm2-20b"
    "baichuan2-7b"
    "seed-oss-36b"
    "starcoder2-15b"
    "smollm2-135m"
    "smollm2-360m"
    "smollm2-1.7b"
    "smollm3-3b"
    "minimax-m2.5-230b-a10b"
    "mimo-7b"
    "ling-1t"
    "nemotron-h-56b"
    "nemotron-3-nano-30b-a3b"
    "nemotron-3-super-120b-a12b"
    "nemotron-4-15b"
    "nemotron-4-340b"
    "mpt-7b"
    "mpt-30b"
    "grok-1-314b"
    "deepseek-llm-67b"
    "yi-34b"
    "aya-23-8b"
    "command-r-35b"
    "deepseek-coder-1.3b"
    "deepseek-coder-33b"
    "deepseek-coder-6.7b"
    "deepseek-moe-16b"
    "granite-3-2b"
    "granite-3-8b"
    "internvl3-14b"
    "internvl3-1b"
    "internvl3-2b"
    "internvl3-8b"
    "llava-1.5-13b"
    "llava-1.5-7b"
    "minicpm-2b"
    "phi-3-medium-14b"
    "qwen2-vl-2b"
    "qwen2-vl-72b"
    "qwen2-vl-7b"
    "yi-9b"
    "codellama-34b"
    "mistral-small-24b"
    "dbrx-132b"
    "gemma-4-31b"
    "llama-1-7b"
    "codellama-7b"
    "codellama-13b"
    "codellama-70b"
    "open-llama-3b"
    "open-llama-7b"
    "open-llama-13b"
    "mistral-7b-v0.2"
    "mistral-7b-v0.3"
    "phi-4-mini-3.8b"
    "phi-1.5"
    "pythia-70m"
    "pythia-410m"
    "pythia-1b"
    "pythia-2.8b"
    "deepseek-llm-7b"
    "qwen3.5-0.8b"
    "qwen3.5-2b"
    "qwen3.5-4b"
    "qwen3.5-9b"
    "qwen2.5-vl-3b"
    "qwen2.5-vl-7b"
    "qwen2.5-vl-32b"
    "qwen2.5-vl-72b"
    "qwen3-vl-2b"
    "qwen3-vl-4b"
    "qwen3-vl-8b"
    "qwen3-vl-32b"
    "qwen3-vl-30b-a3b"
    "qwen3-vl-235b-a22b"
    "nemotron-3-ultra-550b-a55b"
    "nemotron-nano-9b-v2"
    "nemotron-nano-12b-v2"
    "nemotron-h-4b"
    "nemotron-h-8b"
    "nemotron-h-47b"
    "glm-4.7-flash-30b-a3b"
    "dit-xl-2"
    "flux.1-schnell"
    "flux.1-dev"
    "sd3.5-large"
    "qwen-image"
    "hunyuan-video"
    "wan2.1-t2v-1.3b"
    "wan2.1-t2v-14b"
];

/// `examples/runs`: name and text of each bundled run file.
pub const EXAMPLE_RUNS: &[(&str, &str)] =
    files!["examples" ".toml" "llama-3-8b-fsdp" "llama-3.1-405b" "gpt3-175b" "deepseek-v3"];
