//! Routes: the handler of each URL.

use crate::app::App;
use crate::clients::Client;
use crate::desk::Backend;
use crate::guard::{self, Admission};
use crate::pools::Turn;
use crate::questions::Held;
use crate::{assets, jobs, questions, replies};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header};
use axum::routing::{delete, get, post};
use railwright_spec::problem::Problem;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_service::Service as _;

type Shared = State<Arc<App>>;

/// Routes below the token.
pub(crate) fn routes(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(|headers: HeaderMap| async move { assets::respond("index.html", &headers) }))
        .route("/api/v1/start", get(|State(app): Shared| look(app, Backend::start)))
        .route("/api/v1/traces", get(|State(app): Shared| look(app, Backend::traces)))
        .route("/api/v1/openapi.json", get(|State(app): Shared| async move { replies::bytes(StatusCode::OK, replies::JSON, app.desk.openapi()) }))
        .route("/api/v1/uploads", post(upload).get(|State(app): Shared| async move { app.uploads.present().await }))
        .route("/api/v1/jobs", post(start_job))
        .route("/api/v1/jobs/{job}", delete(|State(app): Shared, Path(job): Path<String>| async move { jobs::stop(&app, &job) }))
        .route("/api/v1/jobs/{job}/events", get(|State(app): Shared, Path(job): Path<String>| async move { jobs::events(&app, &job) }))
        .route("/api/v1/{*command}", post(ask))
        .route("/{*path}", get(|Path(path): Path<String>, headers: HeaderMap| async move { assets::respond(&path, &headers) }))
        .method_not_allowed_fallback(|| async {
            replies::problem(
                StatusCode::METHOD_NOT_ALLOWED,
                Problem::new("method not allowed for this address").hint("use POST"),
            )
        })
        .fallback(|| async { replies::problem(StatusCode::NOT_FOUND, Problem::new("not found")) })
        .layer(CompressionLayer::new().quality(CompressionLevel::Fastest))
        .with_state(app)
}

/// Answers from disk data, on a thread that serves no connections.
async fn look(app: Arc<App>, what: fn(&dyn Backend) -> Value) -> Response<Body> {
    let Some(Turn { _turn, thread }) = app.pools.quick.turn().await else { return questions::busy() };
    let desk = Arc::clone(&app.desk);
    let work = tokio::task::spawn_blocking(move || {
        let value = what(desk.as_ref());
        drop(thread);
        value
    });
    match work.await {
        Ok(value) => replies::value(StatusCode::OK, &value),
        Err(_) => replies::problem(StatusCode::INTERNAL_SERVER_ERROR, replies::bug()),
    }
}

async fn ask(State(app): Shared, Path(command): Path<String>, body: Body) -> Response<Body> {
    let mut held = Held::new(&app);
    match questions::read(Some(&command), body, &mut held).await {
        Ok(question) => questions::answer(&app, question).await,
        Err((status, problem)) => replies::problem(status, problem),
    }
}

async fn start_job(State(app): Shared, body: Body) -> Response<Body> {
    let mut held = Held::new(&app);
    match questions::read(None, body, &mut held).await {
        Ok(question) => jobs::start(&app, question),
        Err((status, problem)) => replies::problem(status, problem),
    }
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
}

async fn upload(
    State(app): Shared,
    headers: HeaderMap,
    Query(named): Query<Named>,
    body: Body,
) -> Response<Body> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > app.settings.upload_bytes) {
        let problem = Problem::new(format!("a file has at most {} bytes", app.settings.upload_bytes));
        return replies::problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            problem.hint("pass larger files at the start: `railwright serve FOLDER`"),
        );
    }
    app.uploads.keep(&named.name, body, &app.settings).await
}

/// Admits a request and answers it.
pub(crate) async fn respond(
    app: &App,
    client: &Client,
    mut routes: Router,
    mut request: Request<Body>,
) -> Response<Body> {
    const TEXT: &str = "text/plain; charset=utf-8";
    let no_address = || replies::bytes(StatusCode::BAD_REQUEST, TEXT, "invalid address\n");
    // Not cached: the next server has another token.
    let lead = |place: String| {
        HeaderValue::from_str(&place).map_or_else(
            |_| no_address(),
            |place| {
                let mut response = replies::bytes(StatusCode::TEMPORARY_REDIRECT, TEXT, "");
                response.headers_mut().insert(header::LOCATION, place);
                response
            },
        )
    };
    let admission = app.guard.admit(&request);
    let is_welcome = admission.is_ok() && client.shows_token();
    let mut response = match admission {
        Err(refusal) => replies::bytes(refusal.status, TEXT, format!("{}\n", refusal.message)),
        Ok(_) if !is_welcome => {
            let message = "too many connections: close some browser tabs\n";
            replies::bytes(StatusCode::SERVICE_UNAVAILABLE, TEXT, message)
        }
        Ok(Admission::Ticket) => lead(format!("/{}/", app.guard.token())),
        // URLs of the web UI are relative to a folder.
        Ok(Admission::Path(rest)) if !rest.starts_with('/') => lead(format!("/{}/{rest}", app.guard.token())),
        Ok(Admission::Path(rest)) => match rest.parse::<Uri>() {
            Ok(uri) => {
                *request.uri_mut() = uri;
                // A router is infallible.
                routes.call(request).await.unwrap_or_else(|never| match never {})
            }
            Err(_) => no_address(),
        },
    };
    if !is_welcome && !client.is_guest() {
        // Unauthenticated clients do not keep connections.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    guard::harden(response.headers_mut());
    response
}
