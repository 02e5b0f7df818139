//! Versions of torchtitan by their keys.
//!
//! Responsible for: the dates at which keys came and left, as data, and keys that the version of a file
//! lacks. Knows no values.

/// Keys that came after the first release, with the dates of commits, which compare as text.
/// Source: history of `config_manager.py` and `config/job_config.py` in pytorch/torchtitan.
const SINCE: &[(&str, &str)] = &[
    ("parallelism.context_parallel_rotate_method", "2024-12-11"),
    ("parallelism.fsdp_reshard_after_forward", "2025-02-06"),
    ("parallelism.pipeline_parallel_layers_per_stage", "2025-04-07"),
    ("parallelism.pipeline_parallel_microbatch_size", "2025-04-07"),
    ("training.global_batch_size", "2025-06-05"),
    ("parallelism.expert_parallel_degree", "2025-07-08"),
    ("parallelism.module_fqns_per_model_part", "2025-07-30"),
    ("parallelism.pipeline_parallel_first_stage_less_layers", "2025-07-30"),
    ("parallelism.pipeline_parallel_last_stage_less_layers", "2025-07-30"),
    ("parallelism.expert_tensor_parallel_degree", "2025-08-13"),
];

/// Beginnings of keys that left, with the dates of commits.
const UNTIL: &[(&str, &str)] = &[
    ("training.tensor_parallel_degree", "2025-03-18"),
    ("training.data_parallel_", "2025-03-18"),
    ("experimental.context_parallel_", "2025-03-18"),
    ("experimental.pipeline_parallel_", "2025-03-18"),
    ("training.batch_size", "2025-06-05"),
    ("parallelism.pipeline_parallel_split_points", "2025-10-13"),
];

fn since(path: &str) -> Option<&'static str> {
    SINCE.iter().find(|(key, _)| *key == path).map(|(_, date)| *date)
}

/// Tests whether a file with some keys, by their names in the file, is of a version that lacks a key: another
/// key had left before this one came, or at the same time.
pub(crate) fn lacks<'a>(names: impl Iterator<Item = &'a str>, path: &str) -> bool {
    let until = |name: &str| UNTIL.iter().find(|(key, _)| name.starts_with(key)).map(|(_, date)| *date);
    let Some(since) = since(path) else { return false };
    names.filter_map(until).min().is_some_and(|until| since >= until)
}

/// Tests whether no key of a file is as late as a given key, so that its version may lack it.
pub(crate) fn is_latest<'a>(mut names: impl Iterator<Item = &'a str>, path: &str) -> bool {
    since(path)
        .is_some_and(|date| !names.any(|name| name != path && since(name).is_some_and(|own| own >= date)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration of January 2025 has neither a global batch nor the section `parallelism`.
    #[test]
    fn keys_later_than_the_file_are_lacking() {
        let old = ["training.batch_size", "training.tensor_parallel_degree"];
        assert!(lacks(old.into_iter(), "training.global_batch_size"));
        assert!(!lacks(old.into_iter(), "parallelism.context_parallel_rotate_method"));
        let later = ["training.local_batch_size", "parallelism.tensor_parallel_degree"];
        assert!(!lacks(later.into_iter(), "training.global_batch_size"));
        assert!(is_latest(later.into_iter(), "parallelism.module_fqns_per_model_part"));
        let known = ["parallelism.expert_tensor_parallel_degree"];
        assert!(!is_latest(known.into_iter(), "parallelism.module_fqns_per_model_part"));
    }
}
