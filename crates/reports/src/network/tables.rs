//! Tables of answers about networks, a file for each command.

pub(super) mod failures;
pub(super) mod layers;
pub(super) mod placement;
pub(super) mod sites;
pub(super) mod waits;
