//! Remote objects: `s3://`, `gs://`, `az://`, `http://` and `https://`.
//!
//! Responsible for: listing and streaming objects with bounded memory, retries, and errors with address,
//! status and remedy. Connects only to the given addresses, and to the credential source named by the
//! environment. Independent of the content.
//!
//! ```
//! // Objects below a prefix, or one object; each is read as a stream. An address of a different kind is an error, before any connection.
//! assert!(railwright_remote::find("ftp://host/trace.json", 100).is_err());
//! ```

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
