//! Failed requests as problems: failure, status and remedy.
//!
//! Responsible for: one message per kind of failure. Omits texts of the store, which may contain a full
//! address with its signature.

use crate::address::Address;
use crate::runtime::LONGEST;
use object_store::Error;
use railwright_spec::Scheme;
use railwright_spec::problem::Problem;
use std::time::Duration;

/// HTTP status of the response; `None` without a response. The library's type is private, so its text is
/// parsed; a test fixes it.
pub(crate) fn status(error: &Error) -> Option<u16> {
    match error {
        Error::NotFound { .. } => Some(404),
        Error::PermissionDenied { .. } => Some(403),
        Error::Unauthenticated { .. } => Some(401),
        Error::Precondition { .. } => Some(412),
        other => {
            let text = other.to_string();
            text.split_once("status code: ")?.1.get(..3)?.parse().ok()
        }
    }
}

/// True if the object does not exist.
pub(crate) fn is_missing(error: &Error) -> bool {
    status(error) == Some(404)
}

/// True if the server rejects range requests; the file is then read as a whole. 416 is the response to a
/// range of an empty file.
pub(crate) fn refuses_parts(error: &Error) -> bool {
    matches!(error, Error::NotSupported { .. })
        || status(error) == Some(416)
        || error.to_string().contains("non-partial response")
}

/// True if the response lacks the file length, as from servers that generate it. The library's error is
/// private, so its text is parsed; a test fixes it.
fn lacks_length(error: &Error) -> bool {
    innermost(error).to_lowercase().contains("content-length header missing")
}

/// Problem of a failed request.
pub(crate) fn problem(error: &Error, address: &Address) -> Problem {
    let at = |message: String, hint: String| Problem::new(message).in_file(address.shown()).hint(hint);
    match status(error) {
        Some(404) => missing(address),
        Some(code @ (401 | 403)) => {
            at(format!("access is denied (HTTP {code})"), credentials(address.scheme).to_owned())
        }
        Some(412) => changed(address),
        Some(code @ (405 | 501)) => at(
            format!("the server does not support this request (HTTP {code})"),
            "a web server lists folders only with WebDAV: pass the address of each file".to_owned(),
        ),
        Some(code @ (429 | 500..=599)) => {
            at(format!("the server failed, even after retries (HTTP {code})"), "try again later".to_owned())
        }
        Some(code) => {
            at(format!("the server rejected the request (HTTP {code})"), where_to_look(address.scheme))
        }
        None if error.to_string().contains("incorrectly configured region") => at(
            "the bucket is in another region".to_owned(),
            "set `AWS_REGION` to the region of the bucket".to_owned(),
        ),
        None if lacks_length(error) => at(
            "the server does not send the length of the file (`Content-Length`)".to_owned(),
            "copy the file to a local disk first, or serve it as a static file".to_owned(),
        ),
        None => at(format!("cannot be read: {}", innermost(error)), where_to_look(address.scheme)),
    }
}

/// Problem of an address without an object.
pub(crate) fn missing(address: &Address) -> Problem {
    let what = if address.scheme == Scheme::Http { "the path" } else { "the bucket and the key" };
    Problem::new("no file at this address (HTTP 404)").in_file(address.shown()).hint(format!("check {what}"))
}

/// Problem of an object that changed since it was first read.
pub(crate) fn changed(address: &Address) -> Problem {
    Problem::new("the object changed while it was read")
        .in_file(address.shown())
        .hint("run the command again when the upload is complete")
}

/// Problem of a response that timed out.
pub(crate) fn late(address: &Address) -> Problem {
    late_after(address, LONGEST)
}

/// Problem of a response that timed out after another limit.
pub(crate) fn late_after(address: &Address, limit: Duration) -> Problem {
    Problem::new(format!("no response within {} s", limit.as_secs()))
        .in_file(address.shown())
        .hint(where_to_look(address.scheme))
}

/// Problem of a response that ended early at every attempt.
pub(crate) fn cut(address: &Address, from: u64, size: u64) -> Problem {
    Problem::new(format!("the transfer was interrupted at byte {from} of {size}, even after retries"))
        .in_file(address.shown())
        .hint("try again, or copy the file to a local disk first")
}

/// Hint for credentials.
fn credentials(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            "set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or `AWS_PROFILE`; for a public bucket \
            `AWS_SKIP_SIGNATURE=true`"
        }
        Scheme::Gs => {
            "set `GOOGLE_APPLICATION_CREDENTIALS`; for a public bucket `GOOGLE_SKIP_SIGNATURE=true`"
        }
        Scheme::Az => {
            "set `AZURE_STORAGE_ACCOUNT_NAME` and `AZURE_STORAGE_ACCOUNT_KEY` or `AZURE_STORAGE_SAS_KEY`"
        }
        Scheme::Http => "the server requires credentials: use a presigned address or an object store",
    }
}

/// Hint with the settings that select the server.
fn where_to_look(scheme: Scheme) -> String {
    let variables = match scheme {
        Scheme::S3 => "the bucket, `AWS_REGION`, `AWS_ENDPOINT_URL` and the credentials",
        Scheme::Gs => "the bucket and `GOOGLE_APPLICATION_CREDENTIALS`",
        Scheme::Az => "the container, `AZURE_STORAGE_ACCOUNT_NAME` and the credentials",
        Scheme::Http => "the address and the proxy settings",
    };
    format!("check {variables}")
}

/// Innermost cause of an error; the outer ones repeat the address.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    let text = inner.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
