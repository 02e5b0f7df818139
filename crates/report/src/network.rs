//! Tables of answers about networks, a file for each command.

pub mod failures;
pub mod layers;
pub mod placement;
pub mod sites;
pub mod waits;
