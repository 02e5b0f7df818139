//! Remote objects as seekable streams.
//!
//! Responsible for: range requests that grow from a block to some mebibytes; prefetch of the next range;
//! retries of interrupted transfers; a check that all ranges are of one version. At most two ranges are in
//! memory. Without range requests, the object is read from the start.

use crate::address::Address;
use crate::blocks::{self, BLOCK};
use crate::{failure, runtime, store};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectStore};
use railwright_spec::problem::Problem;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Maximum length of a range in bytes.
const PART: u64 = 4 << 20;
/// Growth factor of the range length.
const GROWTH: u64 = 8;
/// Attempts per range on servers without versions. With a version, the store resumes an interrupted transfer
/// itself.
const ATTEMPTS: u32 = 4;
/// Pause after the first interruption; it doubles.
const PAUSE: Duration = Duration::from_millis(100);

/// Size and version of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) size: u64,
    pub(crate) etag: Option<String>,
}

/// An existing object.
#[derive(Clone, Debug)]
pub struct Object {
    address: Address,
    text: String,
    meta: Meta,
}

impl Object {
    pub(crate) fn new(address: Address, meta: Meta) -> Self {
        Self { text: address.text(), address, meta }
    }

    /// Address.
    pub fn address(&self) -> &str {
        &self.text
    }

    /// Address for messages and reports: without the query, which may be a signature.
    pub fn shown(&self) -> String {
        self.address.shown()
    }

    /// Length in bytes.
    pub fn size(&self) -> u64 {
        self.meta.size
    }

    /// Opens the object. The first request is sent at the first read.
    pub fn open(&self) -> Result<Reader, Problem> {
        let source = Source {
            store: store::of(&self.address)?,
            path: self.address.path()?,
            address: self.address.clone(),
            meta: self.meta.clone(),
        };
        Ok(Reader {
            source: Arc::new(source),
            text: self.text.clone(),
            at: 0,
            part: (0, Bytes::new()),
            length: BLOCK,
            next: None,
            whole: None,
            failure: Failure::default(),
        })
    }
}

/// Requests the first block of an object, which also gives its size. `Err(None)`: it does not exist.
pub(crate) fn probe(address: &Address) -> Result<Object, Option<Problem>> {
    let (store, path) = (store::of(address)?, address.path()?);
    let first = async {
        let options = GetOptions { range: Some(GetRange::Bounded(0..BLOCK)), ..GetOptions::default() };
        let result = match store.get_opts(&path, options).await {
            Err(error) if failure::refuses_parts(&error) => {
                return store
                    .get_opts(&path, GetOptions::default())
                    .await
                    .map(|result| (meta(&result), None));
            }
            other => other?,
        };
        let meta = meta(&result);
        // An interrupted block is requested again by the first read.
        Ok((meta, result.bytes().await.ok()))
    };
    let (meta, block) = match runtime::wait(first)? {
        None => return Err(Some(failure::late(address))),
        Some(Err(error)) if failure::is_missing(&error) => return Err(None),
        Some(Err(error)) => return Err(Some(failure::problem(&error, address))),
        Some(Ok(found)) => found,
    };
    let object = Object::new(address.clone(), meta);
    if let Some(block) = block.filter(|block| block.len() as u64 == object.size().min(BLOCK)) {
        blocks::keep(&object.text, &object.meta, &block);
    }
    Ok(object)
}

fn meta(result: &GetResult) -> Meta {
    Meta { size: result.meta.size, etag: result.meta.e_tag.clone() }
}

/// Reason why a stream ended early. Parsers take an early end for a truncated file, so the caller checks
/// this.
#[derive(Clone, Debug, Default)]
pub struct Failure(Arc<OnceLock<Problem>>);

impl Failure {
    /// Problem of the stream; `None` if it ended regularly.
    pub fn problem(&self) -> Option<&Problem> {
        self.0.get()
    }
}

/// Source of the ranges.
struct Source {
    store: Arc<dyn ObjectStore>,
    path: Path,
    address: Address,
    meta: Meta,
}

/// Response to a range request.
enum Part {
    Whole(Bytes),
    /// The server does not support range requests.
    Refused,
}

impl Source {
    /// Requests one range, with retries after interruptions.
    async fn part(&self, range: Range<u64>) -> Result<Part, Problem> {
        let wanted = range.end - range.start;
        let attempts = if self.meta.etag.is_some() { 1 } else { ATTEMPTS };
        let mut pause = PAUSE;
        for attempt in 1..=attempts {
            // Weak tags are invalid for ranges (RFC 9110, 13.1.1).
            let strong = self.meta.etag.clone().filter(|etag| !etag.starts_with("W/"));
            let options = GetOptions {
                range: Some(GetRange::Bounded(range.clone())),
                if_match: strong,
                ..GetOptions::default()
            };
            let result = match self.store.get_opts(&self.path, options).await {
                Ok(result) => result,
                Err(error) if failure::refuses_parts(&error) => return Ok(Part::Refused),
                Err(error) => return Err(failure::problem(&error, &self.address)),
            };
            self.same(&result)?;
            if let Ok(bytes) = result.bytes().await
                && bytes.len() as u64 == wanted
            {
                return Ok(Part::Whole(bytes));
            }
            if attempt < attempts {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
        }
        Err(failure::cut(&self.address, range.start, self.meta.size))
    }

    /// Fails if the response is of a different version of the object.
    fn same(&self, result: &GetResult) -> Result<(), Problem> {
        let is_other =
            |one: &Option<String>, other: &Option<String>| one.is_some() && other.is_some() && one != other;
        if result.meta.size != self.meta.size || is_other(&result.meta.e_tag, &self.meta.etag) {
            return Err(failure::changed(&self.address));
        }
        Ok(())
    }

    /// Stream of the whole object from byte `from` on. The time limit applies to each piece, because the
    /// skipped part may be long.
    fn whole(&self, from: u64) -> Result<Pieces, Problem> {
        let late = || failure::late(&self.address);
        let result = runtime::wait(self.store.get_opts(&self.path, GetOptions::default()))?;
        let result = result.ok_or_else(late)?.map_err(|error| failure::problem(&error, &self.address))?;
        self.same(&result)?;
        let mut stream = result.into_stream();
        let mut skip = from;
        while skip > 0 {
            let Some(Ok(piece)) = runtime::wait(stream.next())?.ok_or_else(late)? else {
                return Err(failure::cut(&self.address, from - skip, self.meta.size));
            };
            let left = (piece.len() as u64).saturating_sub(skip);
            skip = skip.saturating_sub(piece.len() as u64);
            if left > 0 {
                let rest = piece.slice(piece.len() - left as usize..);
                return Ok(Pieces {
                    at: from,
                    stream: futures_util::stream::iter([Ok(rest)]).chain(stream).boxed(),
                });
            }
        }
        Ok(Pieces { at: from, stream })
    }
}

/// Rest of an object, in pieces.
struct Pieces {
    at: u64,
    stream: BoxStream<'static, object_store::Result<Bytes>>,
}

/// A pending range request.
type Fetching = JoinHandle<Result<Part, Problem>>;

/// Seekable stream of an object.
pub struct Reader {
    source: Arc<Source>,
    text: String,
    at: u64,
    /// Range in memory: offset of its first byte, and its bytes.
    part: (u64, Bytes),
    /// Length of the next range in bytes.
    length: u64,
    next: Option<(Range<u64>, Fetching)>,
    whole: Option<Pieces>,
    failure: Failure,
}

impl Reader {
    /// Handle to the problem of this stream, valid after the stream is passed on.
    pub fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// Length of the object in bytes.
    pub fn size(&self) -> u64 {
        self.source.meta.size
    }

    /// Bytes in memory from the current position on.
    fn held(&self) -> &[u8] {
        let (from, bytes) = &self.part;
        self.at
            .checked_sub(*from)
            .and_then(|skip| bytes.get(usize::try_from(skip).ok()?..))
            .unwrap_or_default()
    }

    /// Fetches the range at the current position.
    fn fill(&mut self) -> Result<(), Problem> {
        if self.whole.is_some() {
            return self.fill_from_whole();
        }
        if self.at == 0
            && let Some(block) = blocks::kept(&self.text, &self.source.meta)
        {
            self.part = (0, block);
            return Ok(());
        }
        let late = || failure::late(&self.source.address);
        let fetched = match self.next.take() {
            Some((ahead, part)) if ahead.start == self.at => {
                let part = runtime::wait(part)?.ok_or_else(late)?;
                part.map_err(|error| Problem::new(format!("cannot be read: {error}")))?
            }
            other => {
                if let Some((_, part)) = other {
                    part.abort();
                }
                let range = self.at..(self.at + self.length).min(self.size());
                runtime::wait(self.source.part(range))?.ok_or_else(late)?
            }
        };
        let Part::Whole(bytes) = fetched? else {
            return self.fill_from_whole();
        };
        if self.at == 0 {
            let block = bytes.len().min(usize::try_from(BLOCK).unwrap_or(usize::MAX));
            blocks::keep(&self.text, &self.source.meta, &bytes.slice(..block));
        }
        self.length = (self.length * GROWTH).min(PART);
        let end = self.at + bytes.len() as u64;
        // Prefetch only for readers that continue after the first range.
        if end < self.size() && self.at > 0 {
            let ahead = end..(end + self.length).min(self.size());
            let (source, part) = (Arc::clone(&self.source), ahead.clone());
            let task = runtime::runtime()?.spawn(async move { source.part(part).await });
            self.next = Some((ahead, task));
        }
        self.part = (self.at, bytes);
        Ok(())
    }

    /// Reads the next piece of a stream of the whole object; an interrupted stream restarts.
    fn fill_from_whole(&mut self) -> Result<(), Problem> {
        let late = |source: &Source| failure::late(&source.address);
        let mut pause = PAUSE;
        for _ in 0..ATTEMPTS {
            let mut pieces = match self.whole.take() {
                Some(pieces) if pieces.at == self.at => pieces,
                _ => self.source.whole(self.at)?,
            };
            if let Some(Ok(bytes)) = runtime::wait(pieces.stream.next())?.ok_or_else(|| late(&self.source))? {
                pieces.at += bytes.len() as u64;
                self.whole = Some(pieces);
                self.part = (self.at, bytes);
                return Ok(());
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        Err(failure::cut(&self.source.address, self.at, self.size()))
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.at >= self.size() {
            return Ok(0);
        }
        while self.held().is_empty() {
            if let Err(problem) = self.fill() {
                let problem = self.failure.0.get_or_init(|| problem).clone();
                return Err(io::Error::other(problem));
            }
        }
        let held = self.held();
        let count = held.len().min(buffer.len());
        buffer[..count].copy_from_slice(&held[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.size().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let target = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        if target != self.at {
            self.length = BLOCK;
        }
        self.at = target;
        Ok(target)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some((_, part)) = self.next.take() {
            part.abort();
        }
    }
}
