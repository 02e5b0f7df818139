//! The links of a message.
//!
//! Responsible for: the result of routing on any network. Does not route.

/// The route of a message: links with its share on each, and the latency in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkPath {
    /// Each link once.
    pub links: Vec<(u32, f64)>,
    /// Until the first byte arrives, seconds.
    pub latency: f64,
}
