//! Which activities communicate, by their names.
//!
//! Responsible for: the editable table of names ([`NameTable`], shipped as `data/communication_kernels.toml`), what kind of
//! communication a name says, and the kernels that look like communication but that the table does not know ([`unknown`]). Refuses to
//! class compute.

mod operation;
pub mod table;
pub mod unknown;

pub use operation::Operation;
pub use table::{Class, Classes, NameTable};
pub use unknown::{UnknownKernel, unknown_kernels};
