//! Commands that list and show the bundled catalogues, keys and topics.

pub(crate) mod clusters;
pub(crate) mod explain;
pub(crate) mod gpus;
pub(crate) mod keys;
pub(crate) mod models;
