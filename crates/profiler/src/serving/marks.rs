//! Data in the annotation of one step of an inference server.
//!
//! Responsible for: names as in the servers' sources and traces. Excludes names that only resemble them.
//!
//! Sources of the names: vLLM `Worker.annotate_profile` (`execute_context_9(8155)_generation_37(37)`) and its
//! detailed form (`execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489...)`:
//! `sq` are tokens of queries, `sk` of keys); SGLang `build_step_span_name` (`step[EXTEND bs=15 toks=15360]`,
//! `step[DECODE bs=32]`) and its first form (`step[mixed bs=8 ext=512 dec=7]`); ATOM (`prefill[bs=2
//! tok=16384]`); TensorRT-LLM `PyExecutor._forward_step` (`[Executor] _forward_step 7: 1 ctx reqs, 512 ctx
//! tokens, 31 gen reqs`). Older servers write none; with recorded stacks, the Python function of a step marks
//! it ([`call`]).

use serde::Serialize;

/// Kind of step of an inference server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Only prompts.
    Prefill,
    /// One token of each running request.
    Decode,
    /// Prompts and running requests in one batch.
    Mixed,
    /// Several drafted tokens of each running request, verified by the model.
    Verify,
    /// Drafting of tokens for speculative decoding.
    Draft,
    /// No request: a step that keeps ranks synchronous.
    Idle,
    /// Another kind named by the annotation, or a step without one.
    Other,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Prefill, Self::Decode, Self::Mixed, Self::Verify, Self::Draft, Self::Idle, Self::Other];

    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Mixed => "mixed",
            Self::Verify => "verify",
            Self::Draft => "draft",
            Self::Idle => "idle",
            Self::Other => "other",
        }
    }
}

/// Server that wrote an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Server {
    /// vLLM, or a server with its annotations.
    Vllm,
    /// SGLang.
    Sglang,
    /// ATOM.
    Atom,
    /// TensorRT-LLM.
    TensorrtLlm,
}

impl Server {
    /// Display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vLLM",
            Self::Sglang => "SGLang",
            Self::Atom => "ATOM",
            Self::TensorrtLlm => "TensorRT-LLM",
        }
    }
}

/// One step from its annotation. `None` for numbers that were not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepMark {
    /// Server that wrote it.
    pub server: Server,
    /// Mode of the step: prefill, decode or both.
    pub mode: Mode,
    /// Requests in prefill.
    pub context_requests: Option<u64>,
    /// Prompt tokens computed in this step.
    pub context_tokens: Option<u64>,
    /// Requests in decode.
    pub generation_requests: Option<u64>,
    /// Tokens computed for requests in decode.
    pub generation_tokens: Option<u64>,
}

/// Data of a step's annotation; `None` for other names.
pub fn mark(name: &str) -> Option<StepMark> {
    vllm(name).or_else(|| bracketed(name)).or_else(|| tensorrt_llm(name))
}

/// Functions that execute one step, by server: the end of a file's path, and the name of the function.
const CALLS: [(Server, &str, &str); 4] = [
    (Server::Vllm, "vllm/v1/worker/gpu_model_runner.py", "execute_model"),
    (Server::Vllm, "vllm/worker/model_runner.py", "execute_model"),
    (Server::Sglang, "sglang/srt/managers/tp_worker.py", "forward_batch_generation"),
    (Server::TensorrtLlm, "tensorrt_llm/_torch/pyexecutor/py_executor.py", "_forward_step"),
];

/// Step of a server from the Python function that executes it, such as
/// `vllm/v1/worker/gpu_model_runner.py(1002): execute_model`. The frame contains neither the mode nor tokens.
/// `None` for other functions.
pub fn call(name: &str) -> Option<StepMark> {
    let (place, function) = name.rsplit_once("): ")?;
    let (file, line) = place.rsplit_once('(')?;
    if line.is_empty() || !line.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let is_it = |&&(_, path, own): &&(Server, &str, &str)| own == function && file.ends_with(path);
    CALLS.iter().find(is_it).map(|&(server, ..)| StepMark {
        server,
        mode: Mode::Other,
        context_requests: None,
        context_tokens: None,
        generation_requests: None,
        generation_tokens: None,
    })
}

/// Mode of a batch, from its requests.
fn by_requests(context: u64, generation: u64) -> Mode {
    match (context > 0, generation > 0) {
        (true, true) => Mode::Mixed,
        (true, false) => Mode::Prefill,
        (false, true) => Mode::Decode,
        (false, false) => Mode::Idle,
    }
}

/// Integer at the beginning of a text, and the rest.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text.get(..end)?.parse().ok()?, text.get(end..)?))
}

/// Reads `9(8155)` or `9(sq8155sk8430sqsq1sqsk2)`: requests, tokens, the rest.
fn counted(text: &str) -> Option<(u64, u64, &str)> {
    let (requests, rest) = number(text)?;
    let (inner, rest) = rest.strip_prefix('(')?.split_once(')')?;
    let tokens = number(inner.strip_prefix("sq").unwrap_or(inner))?.0;
    Some((requests, tokens, rest))
}

fn vllm(name: &str) -> Option<StepMark> {
    let rest = name.strip_prefix("execute_")?;
    let rest = number(rest).and_then(|(_, rest)| rest.strip_prefix('_')).unwrap_or(rest);
    let (context_requests, context_tokens, rest) = counted(rest.strip_prefix("context_")?)?;
    let (generation_requests, generation_tokens, _) = counted(rest.strip_prefix("_generation_")?)?;
    Some(StepMark {
        server: Server::Vllm,
        mode: by_requests(context_requests, generation_requests),
        context_requests: Some(context_requests),
        context_tokens: Some(context_tokens),
        generation_requests: Some(generation_requests),
        generation_tokens: Some(generation_tokens),
    })
}

/// Reads `step[EXTEND bs=2 toks=4096]` and `prefill[bs=2 tok=16384]`.
fn bracketed(name: &str) -> Option<StepMark> {
    let (head, inner) = name.strip_suffix(']')?.split_once('[')?;
    let (server, kind, fields) = match head {
        "step" => {
            let (kind, fields) = inner.split_once(' ').unwrap_or((inner, ""));
            (Server::Sglang, kind, fields)
        }
        "prefill" | "decode" | "mixed" => (Server::Atom, head, inner),
        _ => return None,
    };
    let field = |keys: &[&str]| {
        let mut pairs = fields.split_ascii_whitespace().filter_map(|field| field.split_once('='));
        pairs.find_map(|(key, value)| keys.contains(&key).then(|| value.parse::<u64>().ok()).flatten())
    };
    let batch = field(&["bs"]);
    let tokens = field(&["toks", "tok", "tokens"]);
    if server == Server::Atom && batch.is_none() {
        return None;
    }
    let kind = kind.to_ascii_lowercase();
    let none = StepMark {
        server,
        mode: Mode::Other,
        context_requests: None,
        context_tokens: None,
        generation_requests: None,
        generation_tokens: None,
    };
    Some(match kind.as_str() {
        "extend" | "prefill" | "split_prefill" | "dllm_extend" => StepMark {
            mode: Mode::Prefill,
            context_requests: batch,
            context_tokens: tokens.or_else(|| field(&["ext", "c_sq"])),
            ..none
        },
        // A request in decode computes one token.
        "decode" => StepMark {
            mode: Mode::Decode,
            generation_requests: batch,
            generation_tokens: tokens.or(batch),
            ..none
        },
        "mixed" => StepMark {
            mode: Mode::Mixed,
            context_requests: field(&["c"]),
            context_tokens: field(&["ext", "c_sq"]),
            generation_requests: field(&["g", "dec"]),
            generation_tokens: field(&["g_sq", "dec"]),
            ..none
        },
        "target_verify" | "verify" => {
            StepMark { mode: Mode::Verify, generation_requests: batch, generation_tokens: tokens, ..none }
        }
        "draft_extend" | "draft_extend_v2" | "draft" => {
            StepMark { mode: Mode::Draft, generation_requests: batch, generation_tokens: tokens, ..none }
        }
        "idle" | "dummy_first" => StepMark { mode: Mode::Idle, ..none },
        _ if server == Server::Sglang && batch.is_some() => none,
        _ => return None,
    })
}

fn tensorrt_llm(name: &str) -> Option<StepMark> {
    let rest = name.strip_prefix("[Executor] _forward_step")?;
    let (_, fields) = rest.split_once(':')?;
    let field = |unit: &str| {
        let mut parts = fields.split(',').filter_map(|part| part.trim().split_once(' '));
        parts.find_map(|(value, what)| (what == unit).then(|| value.parse::<u64>().ok()).flatten())
    };
    let (context, generation) = (field("ctx reqs")?, field("gen reqs")?);
    Some(StepMark {
        server: Server::TensorrtLlm,
        mode: by_requests(context, generation),
        context_requests: Some(context),
        context_tokens: field("ctx tokens"),
        generation_requests: Some(generation),
        generation_tokens: field("gen tokens"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_of_servers_are_read() {
        use Mode::{Decode, Draft, Idle, Mixed, Other, Prefill, Verify};
        for (name, mode, numbers) in [
            ("execute_context_9(8155)_generation_37(37)", Mixed, [Some(9), Some(8155), Some(37), Some(37)]),
            (
                "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)",
                Mixed,
                [Some(9), Some(8155), Some(37), Some(37)],
            ),
            (
                "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
                Decode,
                [Some(0), Some(0), Some(32), Some(32)],
            ),
            ("execute_context_0(0)_generation_0(0)", Idle, [Some(0); 4]),
            ("step[EXTEND bs=15 toks=15360]", Prefill, [Some(15), Some(15360), None, None]),
            (
                "step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]",
                Prefill,
                [Some(2), Some(12), None, None],
            ),
            ("step[DECODE bs=32]", Decode, [None, None, Some(32), Some(32)]),
            ("step[decode bs=4]", Decode, [None, None, Some(4), Some(4)]),
            ("step[mixed bs=8 ext=512 dec=7]", Mixed, [None, Some(512), Some(7), Some(7)]),
            (
                "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 g_sq=1 g_sk=12]",
                Mixed,
                [Some(1), Some(5), Some(1), Some(1)],
            ),
            ("step[TARGET_VERIFY bs=3]", Verify, [None, None, Some(3), None]),
            ("step[DRAFT_EXTEND bs=3]", Draft, [None, None, Some(3), None]),
            ("step[IDLE bs=0]", Idle, [None; 4]),
            ("step[PREBUILT bs=1]", Other, [None; 4]),
            ("prefill[bs=2 tok=16384]", Prefill, [Some(2), Some(16384), None, None]),
            ("decode[bs=64 tok=64]", Decode, [None, None, Some(64), Some(64)]),
            (
                "[Executor] _forward_step 7: 1 ctx reqs, 512 ctx tokens, 31 gen reqs",
                Mixed,
                [Some(1), Some(512), Some(31), None],
            ),
            ("[Executor] _forward_step: 0 ctx reqs, 32 gen reqs", Decode, [Some(0), None, Some(32), None]),
        ] {
            let found = mark(name).unwrap_or_else(|| panic!("{name} is the annotation of a step"));
            let found_numbers = [
                found.context_requests,
                found.context_tokens,
                found.generation_requests,
                found.generation_tokens,
            ];
            assert_eq!((found.mode, found_numbers), (mode, numbers), "{name}");
        }
        for name in [
            "ProfilerStep#4",
            "step_12",
            "step[0]",
            "execute_context_menu",
            "execute_model",
            "prefill[layers]",
            "decode",
            "execute_context_1(x)_generation_1(1)",
            "[Executor] _forward_step",
            "",
        ] {
            assert_eq!(mark(name), None, "{name}");
        }
    }

    #[test]
    fn functions_that_execute_a_step_mark_it() {
        for (name, server) in [
            ("vllm/v1/worker/gpu_model_runner.py(1002): execute_model", Some(Server::Vllm)),
            (
                "/opt/venv/lib/python3.12/site-packages/vllm/v1/worker/gpu_model_runner.py(9): execute_model",
                Some(Server::Vllm),
            ),
            ("sglang/srt/managers/tp_worker.py(210): forward_batch_generation", Some(Server::Sglang)),
            ("vllm/v1/worker/gpu_worker.py(263): execute_model", None),
            ("vllm/v1/worker/gpu_model_runner.py(488): _prepare_inputs", None),
            ("vllm/v1/worker/gpu_model_runner.py(x): execute_model", None),
            ("execute_model", None),
        ] {
            assert_eq!(call(name).map(|mark| mark.server), server, "{name}");
        }
    }
}
