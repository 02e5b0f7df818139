//! Answers and problems as responses.

use crate::desk::{Outcome, Reply};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use railwright_spec::problem::Problem;
use serde_json::{Value, json};

pub(crate) const JSON: &str = "application/json";
/// Characters encoded in headers: control characters, and the percent sign of the encoding.
const HEADER: &AsciiSet = &CONTROLS.add(b'%');
/// Longest encoded text of a header, in bytes.
const LONGEST: usize = 6 << 10;

/// Response with bytes.
pub(crate) fn bytes(status: StatusCode, media: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// Response with a JSON value.
pub(crate) fn value(status: StatusCode, value: &Value) -> Response<Body> {
    bytes(status, JSON, value.to_string())
}

/// Response with problems.
pub(crate) fn problems(status: StatusCode, problems: &[Problem], command: Option<&str>) -> Response<Body> {
    let mut body = json!({ "problems": problems });
    if let Some(command) = command {
        body["command"] = json!(command);
    }
    value(status, &body)
}

/// Response with one problem.
pub(crate) fn problem(status: StatusCode, reported: Problem) -> Response<Body> {
    problems(status, &[reported], None)
}

/// Response to a question.
pub(crate) fn reply(reply: Reply) -> Response<Body> {
    match reply {
        Reply::Answer { outcome, media, body, command, notes } => {
            answer(outcome, media, body, &command, &notes)
        }
        Reply::Problems { problems: reported, command } => {
            problems(StatusCode::UNPROCESSABLE_ENTITY, &reported, Some(&command))
        }
        Reply::Unknown(reported) => problem(StatusCode::NOT_FOUND, reported),
        Reply::Broken(reported) => problem(StatusCode::INTERNAL_SERVER_ERROR, reported),
    }
}

fn answer(
    outcome: Outcome,
    media: &'static str,
    body: Bytes,
    command: &str,
    notes: &[String],
) -> Response<Body> {
    let mut response = bytes(StatusCode::OK, media, body);
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("railwright-outcome"), HeaderValue::from_static(outcome.name()));
    let mut say = |name: &'static str, text: &str| {
        let text = utf8_percent_encode(text, HEADER).to_string();
        if text.len() <= LONGEST
            && let Ok(value) = HeaderValue::from_str(&text)
        {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    say("railwright-command", command);
    // The first notes, as many as fit into a header.
    let fits = (1..=notes.len()).rev().find(|count| json!(notes[..*count]).to_string().len() <= LONGEST / 3);
    if let Some(count) = fits {
        say("railwright-notes", &json!(notes[..count]).to_string());
    }
    response
}

/// Problem of an internal error.
pub(crate) fn bug() -> Problem {
    Problem::new("internal error: this is a bug in railwright")
        .hint("please report it with the request; the server keeps running")
}
