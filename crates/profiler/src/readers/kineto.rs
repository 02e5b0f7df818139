//! Chrome's trace format as PyTorch's profiler (Kineto) writes it, in every dialect since 2021, and as other
//! tools do.
//!
//! Responsible for: one pass over the file in windows (`parser`), without a tree of it: head, events, and the
//! rest after them. After damage, reading continues at the next readable event, and the report lists the
//! losses with their positions.

mod arguments;
mod category;
mod collective;
mod event;
mod fill;
mod finish;
mod head;
mod merged;
mod numbers;
mod parser;
mod places;
mod rows;
mod stream;
#[cfg(test)]
mod tests;

use super::{Keep, Reader, Recording};
use crate::RankTrace;
use crate::job::{FileIdentity, Standing};
use parser::{BOM, Parser};
use railwright_spec::problem::Problem;
use std::io::Read;

/// The reader of Chrome's trace format.
pub(super) struct Kineto;

impl Reader for Kineto {
    fn name(&self) -> &'static str {
        "PyTorch profiler"
    }

    fn matches(&self, head: &[u8]) -> bool {
        let head = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
        match head.first() {
            Some(b'{') => {
                memchr::memmem::find(head, b"\"traceEvents\"").is_some()
                    || memchr::memmem::find(head, b"\"schemaVersion\"").is_some()
                    || memchr::memmem::find(head, b"\"deviceProperties\"").is_some()
            }
            Some(b'[') => {
                memchr::memmem::find(head, b"\"ph\"").is_some()
                    && memchr::memmem::find(head, b"\"ts\"").is_some()
            }
            _ => false,
        }
    }

    fn standing(&self, head: &[u8]) -> Standing {
        // The rank field of an export is not a rank.
        if memchr::memmem::find(head, crate::perfetto::MARKS_SIGN.as_bytes()).is_some() {
            Standing::Beside
        } else {
            Standing::Part
        }
    }

    fn clue(&self, head: &[u8]) -> FileIdentity {
        head::clue(head)
    }

    fn read(&self, label: &str, bytes: &[u8], keep: Keep) -> Result<Vec<Recording>, Problem> {
        let mut parser = Parser::new(label, keep);
        parser.feed(bytes, true);
        parser.end().map(recordings)
    }

    fn read_stream(&self, label: &str, source: &mut dyn Read, keep: Keep) -> Result<Vec<Recording>, Problem> {
        stream::read(label, source, keep).map(recordings)
    }
}

fn recordings(traces: Vec<RankTrace>) -> Vec<Recording> {
    traces.into_iter().map(|trace| Recording::Rank(Box::new(trace))).collect()
}
