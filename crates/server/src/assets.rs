//! Files of the web UI as HTTP responses, with ETags.

use crate::replies;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use railwright_web::find;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Page shown if the web UI was not built.
const NOT_BUILT: &str = "<!doctype html><meta charset=utf-8><title>railwright</title><h1>The web UI was not \
    built</h1><p>This program was compiled without <code>web/dist</code>. Build it with <code>npm ci \
    &amp;&amp; npm run build</code> in <code>web/</code>, then compile again. The API works: see \
    <code>./api/v1/openapi.json</code>.";

/// File of the web UI, by its path in `web/dist`.
pub fn page_file(path: &str) -> Option<Cow<'static, [u8]>> {
    find(path).map(|file| file.data)
}

/// Response with a file of the web UI.
pub(crate) fn respond(path: &str, asked: &HeaderMap) -> Response<Body> {
    let Some(file) = find(path) else {
        return if path == "index.html" {
            replies::bytes(StatusCode::OK, "text/html; charset=utf-8", NOT_BUILT)
        } else {
            replies::bytes(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "there is no such file\n")
        };
    };
    let mut tag = String::from("\"");
    for byte in &file.metadata.sha256_hash()[..16] {
        // Writing to a String is infallible.
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    let known = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    // Compressed responses have a weak ETag.
    let is_known =
        known.flat_map(|list| list.split(',')).any(|one| one.trim().trim_start_matches("W/") == tag);
    let mut response = if is_known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let body = match file.data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        };
        Response::new(Body::from(body))
    };
    let headers = response.headers_mut();
    let media = file.metadata.mimetype();
    let text = media.starts_with("text/") || media.ends_with("javascript") || media.ends_with("json");
    let media = if text { format!("{media}; charset=utf-8") } else { media.to_owned() };
    for (name, value) in [(header::CONTENT_TYPE, media.as_str()), (header::ETAG, &tag)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    // A token may outlive this program, so cached files are revalidated; the ETag makes that cheap.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
