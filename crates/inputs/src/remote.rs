//! Traces at addresses: `s3://`, `gs://`, `az://`, `http://` and `https://`.
//!
//! Responsible for: the objects of an address in the order of a folder of files, and an error for addresses
//! that this build cannot read. A server reads none, because its clients do not pay for the transfer.

#[cfg_attr(not(all(feature = "remote", not(target_family = "wasm"))), path = "remote/refusal.rs")]
mod objects;

use super::access;
pub(crate) use objects::{Failure, Object, Reader};
use railwright_spec::problem::Problem;
pub use railwright_spec::{is_address, without_query};

/// The error for addresses that cannot be read; `None` if they can.
pub fn refused(path: &str) -> Option<Problem> {
    let (message, hint) = if !is_address(path) {
        return None;
    } else if cfg!(target_family = "wasm") {
        ("addresses are not read in the browser", "download the file, and drop it on the web UI")
    } else if access::is_restricted() {
        ("the server reads local paths only", "copy the files to a local folder, or use the command line")
    } else if cfg!(feature = "remote") {
        return None;
    } else {
        (
            "this program was built without remote addresses",
            "released programs have them; from source, omit `--no-default-features`",
        )
    };
    Some(Problem::new(message).in_file(path).hint(hint))
}

/// Tests whether a path is the address of one object, rather than of a prefix, as far as the address shows.
pub fn names_one(path: &str) -> bool {
    is_address(path) && !path.ends_with('/')
}

/// Writes an object.
pub fn write(path: &str, bytes: Vec<u8>) -> Result<(), Problem> {
    refused(path).map_or_else(|| objects::write(path, bytes), Err)
}

/// The objects of an address; true if it is the address of exactly one.
pub(crate) fn find(path: &str) -> Result<(Vec<Object>, bool), Problem> {
    refused(path).map_or_else(|| objects::find(path), Err)
}
