//! How much a timeline shows of a pass.

/// How much a timeline shows of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Families of operators and collectives, unless there are too many passes.
    #[default]
    Automatic,
    /// One span for each pass.
    Passes,
    /// Families of operators and collectives.
    Operators,
    /// Every layer with its operators and collectives.
    Layers,
}

/// How much is shown, once it is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    Passes,
    Operators,
    Layers,
}
