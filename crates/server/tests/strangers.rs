//! Rejected requests, unknown URLs, and security headers of every response.

mod support;

use support::Running;

#[test]
fn without_the_token_there_is_nothing() {
    let server = Running::new();
    let host = format!("Host: 127.0.0.1:{}\r\nConnection: close\r\n", server.port);
    let mut wrong = server.token.clone().into_bytes();
    wrong[0] = if wrong[0] == b'0' { b'1' } else { b'0' };
    let wrong = String::from_utf8(wrong).expect("ASCII");
    let upper = server.token.to_uppercase();
    let encoded = server.token.bytes().fold(String::new(), |text, b| format!("{text}%{b:02x}"));
    for path in [
        "/".to_owned(),
        "/api/v1/start".to_owned(),
        format!("/{wrong}/"),
        format!("/{wrong}/api/v1/start"),
        format!("/{}", &server.token[..31]),
        format!("/{}0/", server.token),
        format!("//{}/", server.token),
        format!("/x/../{}/", server.token),
        format!("/{encoded}/"),
        format!("/?{}", server.token),
    ] {
        let answer = server.raw(format!("GET {path} HTTP/1.1\r\n{host}\r\n").as_bytes());
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            answer.text().starts_with(
                "not found: use the URL that `railwright serve` printed, which begins with a token"
            ),
            "{path}: {}",
            answer.text()
        );
    }
    if upper != server.token {
        let answer = server.raw(format!("GET /{upper}/ HTTP/1.1\r\n{host}\r\n").as_bytes());
        assert_eq!(answer.status, 404);
    }
    assert_eq!(server.desk.asked.load(std::sync::atomic::Ordering::SeqCst), 0);
    server.is_well();
}

#[test]
fn other_names_for_this_machine_are_refused() {
    let server = Running::new();
    let ask = |host: &str| {
        let token = &server.token;
        server
            .raw(format!("GET /{token}/api/v1/start HTTP/1.1\r\n{host}Connection: close\r\n\r\n").as_bytes())
            .status
    };
    let port = server.port;
    assert_eq!(ask(&format!("Host: localhost:{port}\r\n")), 200);
    for host in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: 127.0.0.1:{}\r\n", port ^ 1),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
        format!("Host: [::1]:{port}\r\n"),
    ] {
        assert_eq!(ask(&host), 421, "{host}");
    }
    // HTTP/1.0 has no Host header.
    let old = server.raw(format!("GET /{}/api/v1/start HTTP/1.0\r\n\r\n", server.token).as_bytes());
    assert_eq!(old.status, 421);
    server.is_well();
}

#[test]
fn other_sites_are_refused() {
    let server = Running::new();
    let ask = |headers: &str| {
        let head = server.head("POST", "/api/v1/echo");
        server.raw(format!("{head}{headers}Content-Length: 2\r\n\r\n{{}}").as_bytes())
    };
    assert_eq!(ask(&format!("Origin: http://127.0.0.1:{}\r\n", server.port)).status, 200);
    assert_eq!(ask("Sec-Fetch-Site: same-origin\r\n").status, 200);
    for headers in [
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n",
    ] {
        let answer = ask(headers);
        assert_eq!(answer.status, 403, "{headers}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    // The preflight request of a browser is rejected.
    let head = server.head("OPTIONS", "/api/v1/echo");
    let asked = "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n";
    let answer = server.raw(format!("{head}{asked}\r\n").as_bytes());
    assert_eq!(answer.status, 403);
    assert!(
        !answer.headers.iter().any(|(name, _)| name.starts_with("access-control")),
        "{:?}",
        answer.headers
    );
    server.is_well();
}

#[test]
fn paths_lead_nowhere_else() {
    let server = Running::new();
    for path in [
        "/../../../../etc/passwd",
        "/assets/../../../../../etc/passwd",
        "/assets/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/assets/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%252f..%252f..%252f..%252fetc%252fpasswd",
        "/assets/..%5c..%5c..%5cetc%5cpasswd",
        "/%2fetc%2fpasswd",
        "//etc/passwd",
        "/assets/%00",
        "/../src/lib.rs",
        "/..%2f..%2fCargo.toml",
        "/.gitkeep",
        "/api/v1/../../../etc/passwd",
        "/api/v1/uploads/../../etc/passwd",
    ] {
        let answer = server.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
        assert!(!answer.text().contains("root:") && !answer.text().contains("[package]"), "{path}");
    }
    server.is_well();
}

#[test]
fn every_answer_is_strict() {
    let server = Running::new();
    let host = format!("Host: 127.0.0.1:{}\r\nConnection: close\r\n", server.port);
    let stranger = server.raw(format!("GET / HTTP/1.1\r\n{host}\r\n").as_bytes());
    let page = server.get("/");
    assert_eq!(page.status, 200);
    for answer in [
        &stranger,
        &page,
        &server.get("/api/v1/start"),
        &server.get("/assets/nothing.js"),
        &server.post("/api/v1/echo", "{}"),
    ] {
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(
            policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe-eval") && !policy.contains("script-src 'self' 'unsafe-inline'"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
    assert_eq!(server.post("/api/v1/echo", "{}").header("cache-control"), Some("no-store"));
    let bare = server.get("");
    assert_eq!((bare.status, bare.header("location")), (307, Some(format!("/{}/", server.token).as_str())));
}

#[test]
fn the_page_is_not_sent_twice() {
    let server = Running::new();
    let page = server.get("/");
    // Without a built web UI there is no ETag.
    let Some(tag) = page.header("etag") else { return };
    let head = server.head("GET", "/");
    let again = server.raw(format!("{head}If-None-Match: W/{tag}\r\n\r\n").as_bytes());
    assert_eq!((again.status, again.body.len()), (304, 0));
    let other = server.raw(format!("{head}If-None-Match: \"other\"\r\n\r\n").as_bytes());
    assert_eq!(other.status, 200);
}

#[test]
fn only_this_machine_is_listened_to() {
    let server = Running::new();
    // Every address in 127.0.0.0/8 is this machine; the server binds to one of them only.
    assert!(std::net::TcpStream::connect(("127.0.0.2", server.port)).is_err());
    server.is_well();
}

#[test]
fn a_browser_is_started_without_the_token() {
    let server = Running::new();
    let host = format!("Host: 127.0.0.1:{}\r\nConnection: close\r\n", server.port);
    let (_, ticket) = server.ticket.split_once(&format!(":{}", server.port)).expect("an address");
    assert!(!ticket.contains(&server.token));
    let go = || server.raw(format!("GET {ticket} HTTP/1.1\r\n{host}\r\n").as_bytes());
    let first = go();
    assert_eq!((first.status, first.header("location")), (307, Some(format!("/{}/", server.token).as_str())));
    assert_eq!(first.header("cache-control"), Some("no-store"));
    assert_eq!(go().status, 404, "it was good twice");
}
