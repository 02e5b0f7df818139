//! Objects of an address: one object, or all below a prefix.
//!
//! Responsible for: one request for a single object, and a paged list for a prefix. The caller orders and
//! selects, as for folders. Rejects more objects than the caller's limit.

use crate::address::Address;
use crate::failure;
use crate::reader::{Meta, Object, probe};
use crate::{runtime, store};
use futures_util::StreamExt as _;
use object_store::path::Path;
use railwright_spec::Scheme;
use railwright_spec::problem::Problem;

/// Objects of an address.
#[derive(Clone, Debug)]
pub enum Found {
    /// A single object.
    One(Object),
    /// All objects below a prefix, in the order of the store, each with its path below the prefix.
    Below(Vec<(String, Object)>),
}

/// Finds the objects of an address. Fails if there are more than `most`.
pub fn find(text: &str, most: usize) -> Result<Found, Problem> {
    let address = Address::read(text)?;
    if address.is_prefix() {
        return below(&address, most).map(Found::Below);
    }
    match probe(&address) {
        Ok(object) => Ok(Found::One(object)),
        Err(Some(problem)) => Err(problem),
        // Web servers have no prefixes, so a missing file is an error.
        Err(None) if address.scheme == Scheme::Http => Err(failure::missing(&address)),
        Err(None) => {
            let all = below(&address.with_key(&format!("{}/", address.key)), most)?;
            if all.is_empty() { Err(failure::missing(&address)) } else { Ok(Found::Below(all)) }
        }
    }
}

/// Objects below a prefix.
fn below(address: &Address, most: usize) -> Result<Vec<(String, Object)>, Problem> {
    let store = store::of(address)?;
    let prefix: Path = address.path()?;
    let mut list = store.list(Some(&prefix).filter(|prefix| !prefix.as_ref().is_empty()));
    let start = address.key.trim_end_matches('/').len();
    let mut all = Vec::new();
    loop {
        let Some(next) = runtime::wait(list.next())? else { return Err(failure::late(address)) };
        let Some(meta) = next else { return Ok(all) };
        let meta = meta.map_err(|error| failure::problem(&error, address))?;
        let key = meta.location.as_ref();
        if all.len() == most {
            return Err(Problem::new(format!("more than {most} objects"))
                .in_file(address.shown())
                .hint("pass a longer prefix"));
        }
        let place = key.get(start..).unwrap_or(key).trim_start_matches('/').to_owned();
        all.push((place, Object::new(address.with_key(key), Meta { size: meta.size, etag: meta.e_tag })));
    }
}
