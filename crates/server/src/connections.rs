//! Connections: accepted on localhost only, and closed gracefully.

use crate::app::App;
use crate::clients::{Client, Clients};
use crate::desk::Backend;
use crate::guard::Guard;
use crate::job_table::Jobs;
use crate::pools::WorkerPools;
use crate::routes;
use crate::settings::Settings;
use crate::uploads::Uploads;
use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

/// Maximum bytes of a request head.
const HEAD: usize = 64 << 10;
/// Stack size in bytes of a thread that answers a question: that of the main thread.
const STACK: usize = 8 << 20;
/// Time allowed for unresponsive work before the program exits.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// A bound server that does not accept connections yet.
#[derive(Debug)]
pub struct Server {
    settings: Settings,
    listener: TcpListener,
    guard: Guard,
    uploads: Uploads,
    port: u16,
    end: watch::Sender<bool>,
}

/// Handle that stops a server from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Stops the server. True if it was already stopping.
    pub fn stop(&self) -> bool {
        self.0.send_replace(true)
    }
}

impl Server {
    /// Binds to localhost.
    pub fn bind(settings: Settings) -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port)))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let guard = Guard::new(port, settings.token.clone())?;
        let uploads = Uploads::new()?;
        Ok(Self { settings, listener, guard, uploads, port, end: watch::Sender::new(false) })
    }

    /// URL of the web UI, with the token.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.guard.token())
    }

    /// URL that opens the web UI once, to start a browser: other users of the machine can see command lines.
    pub fn ticket(&self) -> std::io::Result<String> {
        Ok(format!("http://127.0.0.1:{}/{}/", self.port, self.guard.ticket()?))
    }

    /// Handle that stops the server.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.end.clone())
    }

    /// Serves until stopped.
    pub fn run(self, desk: Arc<dyn Backend>) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_stack_size(STACK)
            .thread_name("railwright-serve")
            .enable_io()
            .enable_time()
            .build()?;
        let ended = runtime.block_on(self.serve(desk));
        runtime.shutdown_timeout(LAST_MOMENT);
        ended
    }

    async fn serve(self, desk: Arc<dyn Backend>) -> std::io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        desk.uploads(self.uploads.folder());
        let mut end = self.end.subscribe();
        let app = Arc::new(App {
            pools: WorkerPools::new(&self.settings),
            held: AtomicUsize::new(0),
            jobs: Jobs::default(),
            guard: self.guard,
            uploads: self.uploads,
            end: self.end.subscribe(),
            settings: self.settings,
            desk,
        });
        let routes = routes::routes(Arc::clone(&app));
        let clients = Clients::new(app.settings.strangers, app.settings.guests);
        // Held by every connection: it closes after the last one.
        let (alive, mut all_gone) = mpsc::channel::<Infallible>(1);
        loop {
            let next = async {
                let place = clients.place().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                next = next => next,
                _ = end.wait_for(|end| *end) => break,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (app, routes, alive) = (Arc::clone(&app), routes.clone(), alive.clone());
                    let client = clients.enter(place);
                    tokio::spawn(async move {
                        connection(stream, &client, app, routes).await;
                        drop(alive);
                    });
                }
                // Out of file descriptors, or closed by the client: retry after a pause.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        drop((listener, alive));
        app.jobs.stop_all();
        let _ = tokio::time::timeout(app.settings.grace, all_gone.recv()).await;
        Ok(())
    }
}

/// Serves one connection. Its errors do not affect others.
async fn connection(stream: TcpStream, client: &Client, app: Arc<App>, routes: Router) {
    // Responses are small and needed immediately.
    let _ = stream.set_nodelay(true);
    let (introduction, idle) = (app.settings.introduction, app.settings.idle);
    let mut end = app.end.clone();
    let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        let (app, routes) = (Arc::clone(&app), routes.clone());
        async move { Ok::<_, Infallible>(routes::respond(&app, client, routes, request.map(Body::new)).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    tokio::select! {
        _ = served.as_mut() => {}
        () = client.has_to_go(introduction) => {}
        () = ended(&mut end) => {
            served.as_mut().graceful_shutdown();
            let _ = served.await;
        }
    }
}

/// Waits until the server stops.
async fn ended(end: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped, which also stops the server.
    let _ = end.wait_for(|end| *end).await.map(|_| ());
}
