//! Jobs: long-running questions with progress.
//!
//! Responsible for: one thread per job, progress as server-sent events, cancellation. A job continues without
//! listeners; its result is kept for a while, so that a reloaded page can read it. Rejects more concurrent
//! jobs than the settings allow.

use crate::app::App;
use crate::desk::{Question, Reply};
use crate::job_table::Job;
use crate::{Progress, Watch, replies};
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use futures_core::Stream;
use railwright_spec::problem::Problem;
use serde_json::json;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Minimum interval of progress messages: at most ten per second.
const PACE: Duration = Duration::from_millis(100);
/// Interval of keep-alive lines.
const HEARTBEAT: Duration = Duration::from_secs(15);

fn unknown() -> Response<Body> {
    let problem = Problem::new("unknown job").hint("only recent jobs are kept");
    replies::problem(StatusCode::NOT_FOUND, problem)
}

/// Starts a job.
pub(crate) fn start(app: &Arc<App>, question: Question) -> Response<Body> {
    let watch = Arc::new(Watch::default());
    let (tell, end) = watch::channel(None);
    let number = {
        let mut table = app.jobs.table();
        let running = table.jobs.values().filter(|job| job.end.borrow().is_none()).count();
        if running >= app.settings.jobs {
            let problem = Problem::new(format!("{running} jobs are already running"))
                .hint("stop one, or wait until one ends");
            return replies::problem(StatusCode::TOO_MANY_REQUESTS, problem);
        }
        let ended: Vec<u64> =
            table.jobs.iter().filter(|(_, job)| job.end.borrow().is_some()).map(|(at, _)| *at).collect();
        for number in ended.iter().take((ended.len() + 1).saturating_sub(app.settings.remembered)) {
            table.jobs.remove(number);
        }
        table.last += 1;
        let number = table.last;
        table.jobs.insert(number, Job { watch: Arc::clone(&watch), end });
        number
    };
    let desk = Arc::clone(&app.desk);
    let work = tokio::task::spawn_blocking(move || desk.ask(&question, &watch));
    tokio::spawn(async move {
        let reply = work.await.unwrap_or_else(|_| Reply::Broken(replies::bug()));
        tell.send_replace(Some(Arc::new(reply)));
    });
    replies::value(StatusCode::ACCEPTED, &json!({ "job": number.to_string() }))
}

/// Stops a job. Its result is then partial.
pub(crate) fn stop(app: &Arc<App>, number: &str) -> Response<Body> {
    let Some(job) = app.jobs.find(number) else { return unknown() };
    job.watch.stop();
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Events of a job as a stream.
pub(crate) fn events(app: &Arc<App>, number: &str) -> Response<Body> {
    let Some(job) = app.jobs.find(number) else { return unknown() };
    let (send, lines) = mpsc::channel(8);
    let ended = app.end.clone();
    tokio::spawn(follow(job, send, ended));
    let mut response = Response::new(Body::from_stream(Lines(lines)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Sends events until the job ends or the client disconnects.
async fn follow(job: Job, send: mpsc::Sender<Bytes>, mut ended: watch::Receiver<bool>) {
    let mut progress = job.watch.follow();
    let mut end = job.end;
    let mut sent = Progress::default();
    loop {
        let news = progress.borrow_and_update().clone();
        if news != sent {
            if send.send(progress_event(&news)).await.is_err() {
                return;
            }
            sent = news;
        }
        let reply = end.borrow().clone();
        if let Some(reply) = reply {
            let _ = send.send(end_event(&reply)).await;
            return;
        }
        // Rate limit first: updates in between are merged.
        tokio::select! {
            () = tokio::time::sleep(PACE) => {}
            _ = end.wait_for(Option::is_some) => continue,
            _ = ended.wait_for(|ended| *ended) => {}
        }
        tokio::select! {
            changed = progress.changed() => if changed.is_err() { return },
            changed = end.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(HEARTBEAT) => {
                if send.send(Bytes::from_static(b": still here\n\n")).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn progress_event(progress: &Progress) -> Bytes {
    let Progress { done, total, message, best } = progress;
    event("progress", &json!({ "done": done, "total": total, "message": message, "best": best }).to_string())
}

fn end_event(reply: &Reply) -> Bytes {
    match reply {
        Reply::Answer { outcome, media, body, command, notes } => {
            let text = String::from_utf8_lossy(body);
            let answer =
                if *media == replies::JSON { text.trim_end().to_owned() } else { json!(text).to_string() };
            let (outcome, command, notes) = (json!(outcome.name()), json!(command), json!(notes));
            let about = format!("\"outcome\":{outcome},\"command\":{command},\"notes\":{notes}");
            event("answer", &format!("{{{about},\"answer\":{answer}}}"))
        }
        Reply::Problems { problems, command } => {
            event("problems", &json!({ "problems": problems, "command": command }).to_string())
        }
        Reply::Unknown(problem) | Reply::Broken(problem) => {
            event("problems", &json!({ "problems": [problem] }).to_string())
        }
    }
}

/// Formats an event; each line of its data is a line of the stream.
fn event(name: &str, data: &str) -> Bytes {
    let mut text = format!("event: {name}\n");
    for line in data.lines() {
        // Writing to a String is infallible.
        let _ = writeln!(text, "data: {line}");
    }
    text.push('\n');
    Bytes::from(text)
}

/// Body with the messages of a channel.
struct Lines(mpsc::Receiver<Bytes>);

impl Stream for Lines {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|item| item.map(Ok))
    }
}
