//! Reading a trace from a stream: windows instead of the whole file in memory.
//!
//! Responsible for: keeping just enough bytes for one event. A failing stream (a truncated `.gz`) is no
//! error: content before the failure is kept, and the report contains the failure.

use super::parser::{LONGEST, Parser};
use crate::RankTrace;
use crate::readers::Keep;
use crate::trace::DamageKind;
use railwright_spec::problem::Problem;
use std::io::Read;

/// Bytes read at a time: small enough for the cache, large enough to amortize calls of the decompressor.
const WINDOW: usize = 1 << 20;

/// Reads a trace from a stream of inflated bytes.
pub(super) fn read(label: &str, source: &mut dyn Read, keep: Keep) -> Result<Vec<RankTrace>, Problem> {
    read_by(label, source, keep, WINDOW)
}

/// Reads a trace in windows of `window` bytes, which grow if one event needs more.
pub(super) fn read_by(
    label: &str,
    source: &mut dyn Read,
    keep: Keep,
    window: usize,
) -> Result<Vec<RankTrace>, Problem> {
    let mut parser = Parser::new(label, keep);
    let mut buffer = vec![0; window];
    let mut filled = 0;
    let mut broken = None;
    loop {
        let mut ended = false;
        while filled < buffer.len() {
            match source.read(&mut buffer[filled..]) {
                Ok(0) => {
                    ended = true;
                    break;
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    broken = Some(error);
                    ended = true;
                    break;
                }
            }
        }
        if let Some(error) = &broken {
            // Reported first: the truncated event is a consequence.
            let place = parser.offset + filled as u64;
            parser
                .fill
                .report
                .note(DamageKind::Truncated, place, || format!("the stream ended early: {error}"));
        }
        let done = parser.feed(&buffer[..filled], ended);
        if ended {
            break;
        }
        buffer.copy_within(done..filled, 0);
        filled -= done;
        if filled == buffer.len() {
            if filled >= 2 * LONGEST {
                return Err(Problem::new("an event exceeds the size limit").in_file(label));
            }
            buffer.resize(buffer.len() * 2, 0);
        }
    }
    if let Some(error) = broken.filter(|_| parser.offset == 0) {
        return Err(Problem::new(format!("it could not be read: {error}")).in_file(label));
    }
    parser.end()
}
