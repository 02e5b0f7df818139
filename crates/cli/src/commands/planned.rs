//! Commands on runs that are modelled: estimates, searches and solvers.

pub(crate) mod balance;
pub(crate) mod check;
pub(crate) mod detect;
pub(crate) mod estimate;
pub(crate) mod export;
pub(crate) mod goodput;
pub(crate) mod memory;
pub(crate) mod recompute;
pub(crate) mod search;
pub(crate) mod sensitivity;
pub(crate) mod size;
pub(crate) mod timeline;
pub(crate) mod tune;
pub(crate) mod validate;
pub(crate) mod values;
pub(crate) mod whatif;
