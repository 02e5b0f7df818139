//! Writing of objects.
//!
//! Responsible for: atomic replacement of an object, as provided by stores. Rejects web servers.

use crate::address::Address;
use crate::{failure, runtime, store};
use object_store::ObjectStoreExt as _;
use railwright_spec::Scheme;
use railwright_spec::problem::Problem;

/// Writes an object, replacing an existing one.
pub fn write(text: &str, bytes: Vec<u8>) -> Result<(), Problem> {
    let address = Address::read(text)?;
    let wrong = |message: &str, hint: &str| Err(Problem::new(message).in_file(address.shown()).hint(hint));
    if address.scheme == Scheme::Http {
        return wrong(
            "a web server cannot be written to",
            "write to a local path, `s3://`, `gs://` or `az://`",
        );
    }
    if address.is_prefix() {
        return wrong("this address is a prefix", "add the name of the object");
    }
    let (store, path) = (store::of(&address)?, address.path()?);
    let limit = runtime::upload_limit(bytes.len() as u64);
    match runtime::wait_for(limit, store.put(&path, bytes.into()))? {
        Some(done) => done.map(|_| ()).map_err(|error| failure::problem(&error, &address)),
        None => Err(failure::late_after(&address, limit)),
    }
}
