//! Numbers of steps in the names of annotations.

/// Number in `ProfilerStep#12` and in the step names of other frameworks.
pub(crate) fn step_number(name: &str) -> Option<u64> {
    let rest = ["ProfilerStep#", "ProfilerStep*", "iteration_", "Iteration ", "train_step_", "step_"]
        .iter()
        .find_map(|start| name.strip_prefix(start))?;
    rest.trim().parse().ok()
}
