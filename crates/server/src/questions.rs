//! Questions: request bodies to [`Question`]s, and their permits.
//!
//! Responsible for: bounds of size, time and number. An abandoned question is cancelled. Does not compute
//! answers.

use crate::app::App;
use crate::desk::{Question, Reply};
use crate::pools::Turn;
use crate::{Settings, Watch, replies};
use axum::body::Body;
use axum::http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use railwright_spec::problem::Problem;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes of a question in memory, counted until dropped.
pub(crate) struct Held {
    app: Arc<App>,
    bytes: usize,
}

impl Held {
    pub(crate) fn new(app: &Arc<App>) -> Self {
        Self { app: Arc::clone(app), bytes: 0 }
    }

    /// Adds bytes. False if the limit is exceeded.
    fn grow(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        let all = self.app.held.fetch_add(bytes, Ordering::SeqCst) + bytes;
        all <= self.app.settings.all_question_bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.app.held.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

/// Reads a whole body, with limits of size and time.
async fn whole(body: Body, held: &mut Held) -> Result<Vec<u8>, (StatusCode, Problem)> {
    let app = Arc::clone(&held.app);
    let settings: &Settings = &app.settings;
    let refused = |status, message: String| (status, Problem::new(message).in_file("request"));
    let limit = settings.question_bytes;
    let mut body = Limited::new(body, limit);
    let mut bytes = Vec::new();
    loop {
        let frame = tokio::time::timeout(settings.patience, body.frame()).await.map_err(|_| {
            refused(StatusCode::REQUEST_TIMEOUT, "the request is incomplete: timeout".to_owned())
        })?;
        match frame {
            None => return Ok(bytes),
            Some(Ok(frame)) => {
                let data: &[u8] = frame.data_ref().map_or(&[], |data| data);
                if !held.grow(data.len()) {
                    let message = "too many requests at once".to_owned();
                    return Err(refused(StatusCode::SERVICE_UNAVAILABLE, message));
                }
                bytes.extend_from_slice(data);
            }
            Some(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                return Err(refused(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("a request has at most {limit} bytes"),
                ));
            }
            Some(Err(_)) => {
                return Err(refused(StatusCode::BAD_REQUEST, "the request is truncated".to_owned()));
            }
        }
    }
}

/// Reads a question; `command` is from the URL.
pub(crate) async fn read(
    command: Option<&str>,
    body: Body,
    held: &mut Held,
) -> Result<Question, (StatusCode, Problem)> {
    let bytes = whole(body, held).await?;
    Question::read(command, &bytes).map_err(|problem| (StatusCode::BAD_REQUEST, problem.in_file("request")))
}

/// Cancels the work when its request is dropped.
struct Wanted(Arc<Watch>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Response when no question can be accepted.
pub(crate) fn busy() -> Response<Body> {
    let problem = Problem::new("too many requests at once").hint("try again in a moment");
    replies::problem(StatusCode::SERVICE_UNAVAILABLE, problem)
}

/// Answers a question as soon as it has a permit.
pub(crate) async fn answer(app: &Arc<App>, question: Question) -> Response<Body> {
    let pools = &app.pools;
    let pool = if app.desk.is_quick(&question) { &pools.quick } else { &pools.long };
    let Some(Turn { _turn, thread }) = pool.turn().await else { return busy() };
    let watch = Arc::new(Watch::default());
    let wanted = Wanted(Arc::clone(&watch));
    let desk = Arc::clone(&app.desk);
    let seen = Arc::clone(&watch);
    let work = tokio::task::spawn_blocking(move || {
        let reply = desk.ask(&question, &seen);
        drop(thread);
        reply
    });
    let mut end = app.end.clone();
    let longest = app.settings.longest_question;
    let done = tokio::select! {
        done = work => done,
        () = tokio::time::sleep(longest) => {
            let message = format!("this took more than {} s", longest.as_secs());
            return replies::problem(
                StatusCode::GATEWAY_TIMEOUT,
                Problem::new(message).hint("start it as a job: `POST ./api/v1/jobs`"),
            );
        }
        _ = end.wait_for(|end| *end) => {
            return replies::problem(StatusCode::SERVICE_UNAVAILABLE, Problem::new("the server is shutting \
                down"));
        }
    };
    drop(wanted);
    replies::reply(done.unwrap_or_else(|_| Reply::Broken(replies::bug())))
}
