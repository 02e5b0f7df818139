//! The list of all writers, and the writer of a framework.

use crate::writer::{Lost, Writer};
use crate::{Format, accelerate, deepspeed, maxtext, megatron, nanotron, nemo, torchtitan, trainers};
use railwright_spec::run::Run;

/// Settings of a run that a framework cannot express, by the name of its writer (`megatron`, `torchtitan`,
/// ...); empty if the exported files match the priced run, `None` for an unknown writer. An entry `model`
/// means that nothing can be written.
pub fn expressible(run: &Run, framework: &str) -> Option<Vec<Lost>> {
    let writer = writers().iter().find(|writer| writer.name() == framework)?;
    Some(writer.write(run).inexpressible().cloned().collect())
}

/// Every writer.
pub fn writers() -> &'static [&'static dyn Writer] {
    &[
        &megatron::FlagsWriter,
        &torchtitan::TorchtitanWriter,
        &deepspeed::DeepspeedWriter,
        &nanotron::NanotronWriter,
        &nemo::BridgeWriter,
        &accelerate::AccelerateWriter,
        &maxtext::MaxTextWriter,
        &trainers::LlamaFactoryWriter,
        &trainers::AxolotlWriter,
    ]
}

/// The writer of a text's framework. Trainers on Hugging Face models share a format, not their keys: `None`
/// for those without a writer.
pub fn writer_of(format: Format, text: &str) -> Option<&'static dyn Writer> {
    if format == Format::HfTrainer {
        return trainers::writer_of(text);
    }
    writers().iter().copied().find(|writer| writer.format() == format)
}

#[cfg(test)]
mod tests {
    use super::writers;
    use crate::framework_of;
    use crate::writer::{TRAIN_ADAPTERS, WRAP_ANY_MODEL};

    #[test]
    fn writers_that_train_adapters_are_known_by_name() {
        let names: Vec<_> = writers().iter().filter(|w| w.trains_adapters()).map(|w| w.name()).collect();
        assert_eq!(names, TRAIN_ADAPTERS);
        let wrapping = writers().iter().filter(|writer| writer.wraps_any_model());
        let mut names: Vec<&str> = wrapping.map(|writer| writer.name()).collect();
        names.sort_unstable_by_key(|name| *name != "deepspeed");
        assert_eq!(names, WRAP_ANY_MODEL);
    }

    #[test]
    fn frameworks_of_generations_have_writers() {
        let all: Vec<_> = writers().iter().map(|writer| writer.name()).collect();
        for software in ["megatron-core-2026", "fsdp1-2023", "nanotron-2024", "maxtext-tpu", "torchtune-2025"]
        {
            let framework = framework_of(software).expect("a framework");
            assert!(all.contains(&framework), "{software}: {framework}");
        }
        assert_eq!(framework_of("unknown"), None);
    }
}
