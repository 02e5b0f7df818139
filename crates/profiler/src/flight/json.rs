//! Dumps as JSON.
//!
//! Responsible for: telling a dump from other JSON, and parsing it. Refuses damaged JSON, with the place: dumps are small and are written whole.

use railwright_spec::problem::Problem;
use serde_json::Value;

/// Whether bytes look like a dump in JSON.
pub fn matches(head: &[u8]) -> bool {
    let has = |needle: &[u8]| memchr::memmem::find(head, needle).is_some();
    head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
        && has(b"\"entries\"")
        && (has(b"\"pg_config\"") || has(b"\"profiling_name\"") || has(b"\"collective_seq_id\""))
        && !has(b"\"traceEvents\"")
}

/// Parses a dump.
pub(super) fn value(label: &str, bytes: &[u8]) -> Result<Value, Problem> {
    serde_json::from_slice(bytes).map_err(|error| {
        let problem = Problem::new(format!("this flight record cannot be read: {error}")).in_file(label);
        problem.hint(
            "if the job was killed while writing it, the other ranks' dumps still tell what they wait for",
        )
    })
}
