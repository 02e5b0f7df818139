//! Bytes from one device to another.
//!
//! Responsible for: the unit of which classes of flows consist.

/// Bytes between two devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Bytes.
    pub bytes: f64,
}
