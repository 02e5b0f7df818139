//! What a rule is: identifier, description, and the function that finds its problem.

use super::context::Context;
use crate::profile::Finding;

/// A rule that detects one kind of problem.
pub trait Rule: Sync {
    /// Identifier of its findings in `railwright explain`.
    fn id(&self) -> &'static str;
    /// Problem that the rule detects, in one line.
    fn title(&self) -> &'static str;
    /// Definition, threshold, cost estimate and remedies.
    fn text(&self) -> &'static str;
    /// Applies the rule.
    fn find(&self, context: &Context<'_>) -> Vec<Finding>;
    /// Advice for a trace of an inference server.
    fn inference(&self) -> Inference {
        Inference::Same
    }
}

/// Advice of a rule for a trace of an inference server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inference {
    /// The same as for training.
    Same,
    /// Specific advice.
    Advice(&'static str),
    /// No finding: the rule is about gradients, optimizers, or steps that should be equal.
    Silent,
}
