//! Objects behind addresses: `s3://`, `gs://`, `az://`, `http://` and `https://`.
//!
//! Responsible for: listing and streaming objects with bounded memory, repeated requests, and errors with the address, the status and a
//! remedy. Connects only to the addresses that it is given, and to the source of credentials that the environment names. Does not interpret
//! content.

mod address;
mod blocks;
mod failure;
mod listing;
mod profile;
mod reader;
mod runtime;
mod store;
mod writing;

pub use listing::{Found, find};
pub use reader::{Failure, Object, Reader};
pub use writing::write;
