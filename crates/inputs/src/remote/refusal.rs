//! Objects of a build without network connections: there are none.

use railwright_spec::problem::Problem;
use std::convert::Infallible;
use std::io::{Read, Result, Seek, SeekFrom};

/// Writes an object: nowhere.
pub(super) fn write(path: &str, _: Vec<u8>) -> std::result::Result<(), Problem> {
    Err(Problem::new("addresses cannot be written").in_file(path))
}

/// The objects of an address: none.
pub(super) fn find(path: &str) -> std::result::Result<(Vec<Object>, bool), Problem> {
    Err(Problem::new("addresses cannot be read").in_file(path))
}

/// No object.
#[derive(Clone, Debug)]
pub(crate) struct Object(Infallible);

impl Object {
    pub(crate) fn address(&self) -> &str {
        match self.0 {}
    }

    pub(crate) fn shown(&self) -> String {
        match self.0 {}
    }

    pub(crate) fn size(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn open(&self) -> std::result::Result<Reader, Problem> {
        match self.0 {}
    }
}

/// No failure.
#[derive(Clone, Debug)]
pub(crate) struct Failure(Infallible);

impl Failure {
    pub(crate) fn problem(&self) -> Option<&Problem> {
        match self.0 {}
    }
}

/// No stream.
#[derive(Debug)]
pub(crate) struct Reader(Infallible);

impl Reader {
    pub(crate) fn failure(&self) -> Failure {
        match self.0 {}
    }
}

impl Read for Reader {
    fn read(&mut self, _: &mut [u8]) -> Result<usize> {
        match self.0 {}
    }
}

impl Seek for Reader {
    fn seek(&mut self, _: SeekFrom) -> Result<u64> {
        match self.0 {}
    }
}
