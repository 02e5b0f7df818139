//! The list of all readers.

use crate::reader::Reader;
use crate::{
    accelerate, deepspeed, gptneox, maxtext, megatron, nanotron, nemo, olmo, pretrainers, primus, rl,
    torchtitan, torchtune, trainers,
};

/// Every reader. If two find evidence of equal strength, the earlier one is used.
pub fn readers() -> &'static [&'static dyn Reader] {
    &[
        &megatron::LogReader,
        // Recipes in Python contain flags of Megatron in their comments.
        &nemo::BridgeReader,
        &nemo::NemoReader,
        &torchtitan::TorchtitanReader,
        &olmo::OlmoReader,
        &rl::RlReader,
        &trainers::TrainersReader,
        &torchtune::TorchtuneReader,
        &pretrainers::PretrainersReader,
        &primus::PrimusReader,
        &gptneox::NeoxReader,
        &megatron::ModelArgsReader,
        &megatron::ScriptReader,
        &megatron::CommandReader,
        &megatron::YamlReader,
        &deepspeed::DeepspeedReader,
        &nanotron::NanotronReader,
        &accelerate::AccelerateReader,
        &maxtext::MaxTextReader,
    ]
}
