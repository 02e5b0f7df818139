//! Detection of communication by name.
//!
//! Responsible for: the editable table of names ([`NameTable`], shipped as
//! `data/communication_kernels.toml`), the operation of a name, and likely communication kernels that are not
//! in the table ([`unknown`]). Excludes compute.

pub mod table;
pub mod unknown;

pub use table::{Class, Classes, NameTable};
pub use unknown::{UnknownKernel, unknown_kernels};
