//! Connections held open to block others.

mod support;

use railwright_server::Settings;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::{Answer, Running};

/// True if the other side has closed.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(1))).expect("a time-out");
    matches!(stream.read(&mut [0; 256]), Ok(0) | Err(_)) && {
        stream.set_nonblocking(true).expect("set");
        !matches!(stream.read(&mut [0; 256]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    }
}

#[test]
fn six_hundred_silent_connections_block_no_client() {
    let server = Running::new();
    // A third sends nothing, a third never ends its header, a third reconnects after each eviction.
    let mut held: Vec<TcpStream> = (0..600)
        .map(|n| {
            let mut stream = server.connect();
            if n % 3 == 1 {
                let _ = stream.write_all(b"GET /0123/ HTTP/1.1\r\nX: ");
            }
            stream
        })
        .collect();
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let begin = Instant::now();
        server.is_well();
        slowest = slowest.max(begin.elapsed());
        for stream in held.iter_mut().skip(2).step_by(30) {
            *stream = server.connect();
        }
    }
    assert!(slowest < Duration::from_secs(1), "a question took {slowest:?}");
    drop(held);
    server.is_well();
}

#[test]
fn a_client_without_the_token_is_disconnected_soon() {
    let server = Running::with(Settings { introduction: Duration::from_millis(200), ..Settings::default() });
    let mut silent = server.connect();
    let mut dripping = server.connect();
    let begin = Instant::now();
    for _ in 0..100 {
        // Slow single bytes do not extend the limit.
        let _ = dripping.write_all(b"G");
        std::thread::sleep(Duration::from_millis(20));
        if is_closed(&mut silent) && is_closed(&mut dripping) {
            break;
        }
    }
    assert!(begin.elapsed() < Duration::from_secs(2), "they were still there after {:?}", begin.elapsed());
    // Repeated rejected requests do not extend it either.
    let mut stranger = server.connect();
    let asks = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port);
    stranger.write_all(asks.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    let _ = stranger.read_to_end(&mut answer);
    let answer = Answer::parse(&answer);
    assert_eq!((answer.status, answer.header("connection")), (404, Some("close")));
    // An authenticated question may take longer than that.
    assert_eq!(server.post("/api/v1/wait", r#"{"arguments": {"ms": 500}}"#).status, 200);
}

#[test]
fn connections_with_the_token_are_kept_and_have_an_end() {
    let idle = Duration::from_millis(700);
    let server = Running::with(Settings {
        introduction: Duration::from_millis(100),
        idle,
        strangers: 2,
        guests: 2,
        ..Settings::default()
    });
    let ask =
        format!("GET /{}/api/v1/start HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.token, server.port);
    let begin = |stream: &mut TcpStream| {
        stream.write_all(ask.as_bytes()).expect("sent");
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).expect("an answer");
        String::from_utf8_lossy(&piece[..count]).into_owned()
    };
    let (mut one, mut two) = (server.connect(), server.connect());
    assert!(begin(&mut one).starts_with("HTTP/1.1 200") && begin(&mut two).starts_with("HTTP/1.1 200"));
    // Unauthenticated connections come and go; authenticated ones stay beyond the grace period.
    let _strangers: Vec<TcpStream> = (0..10).map(|_| server.connect()).collect();
    std::thread::sleep(Duration::from_millis(300));
    assert!(begin(&mut one).starts_with("HTTP/1.1 200"), "a guest was let go");
    // The limit is two.
    let mut three = server.connect();
    assert!(begin(&mut three).starts_with("HTTP/1.1 503"));
    // Idle connections are closed for others.
    std::thread::sleep(idle + Duration::from_millis(500));
    assert_eq!(two.read(&mut [0; 16]).expect("closed"), 0);
    let mut four = server.connect();
    assert!(begin(&mut four).starts_with("HTTP/1.1 200"));
}
