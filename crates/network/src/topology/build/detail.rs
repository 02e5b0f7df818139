//! Resolution of the nodes of a Clos.

/// Resolution of the nodes of a Clos.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Every switch and every link.
    #[default]
    Links,
    /// The spines of a pod as one node, and the cores as one node. The upward links of a leaf or a pod are
    /// one link of their sum. Equivalent to packet spraying on a healthy tree, with far fewer links.
    Pooled,
    /// Spines and cores that are equivalent despite failed cables are one node each (`parted`); packets are
    /// sprayed.
    Parted,
}
