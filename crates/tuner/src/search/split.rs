//! Assignment of layers to virtual stages.

/// Assignment of layers to virtual stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Split {
    /// The same number on each; requires that layers divide.
    Even,
    /// As even as possible, with fewer at the two ends (Llama 3 405B).
    ShortEnds,
    /// The last one has fewer layers, by the cost of the head.
    LightHead,
    /// The split of the plan.
    Given,
}
