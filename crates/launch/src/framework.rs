//! The framework of a software generation.

/// The writer for a software generation, such as `megatron` for `megatron-core-2026`; `None` without a
/// writer.
pub fn framework_of(software: &str) -> Option<&'static str> {
    /// Prefixes of generation identifiers, with their writers.
    const STARTS: &[(&str, &str)] = &[
        ("megatron-deepspeed", "deepspeed"),
        ("megatron", "megatron"),
        ("torchtitan", "torchtitan"),
        ("deepspeed", "deepspeed"),
        ("nanotron", "nanotron"),
        ("fsdp", "accelerate"),
        ("torchtune", "accelerate"),
        ("maxtext", "maxtext"),
    ];
    STARTS.iter().find(|(start, _)| software.starts_with(start)).map(|(_, name)| *name)
}
