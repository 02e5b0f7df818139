//! A figure of the paper.
//!
//! Responsible for: a picture with the name of its file.

/// A figure and the name of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// File name: `figure-7-16384.svg`, ...
    pub file: String,
    /// SVG.
    pub svg: String,
}
