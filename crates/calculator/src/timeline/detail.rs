//! Level of detail of a timeline.

/// Level of detail of a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Families of operators and collectives, unless there are too many passes.
    #[default]
    Automatic,
    /// One span per pass.
    Passes,
    /// Families of operators and collectives.
    Operators,
    /// Every layer with its operators and collectives.
    Layers,
}

/// Resolved level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    Passes,
    Operators,
    Layers,
}
