//! A message between two devices, with the input that selects its route.

/// A message between two devices that a network joins without their domains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) draw: Draw,
}

/// Input that selects one of a connection's routes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    /// Into the hash.
    pub(crate) label: u64,
    /// The port, if bytes are striped over ports; else hash or destination choose it, and sprayed packets
    /// use all.
    pub(crate) plane: Option<u64>,
}
