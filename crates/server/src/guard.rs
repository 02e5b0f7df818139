//! Access control: token, host, origin, and security headers.
//!
//! Threats: a page on another site can make a browser send requests to this machine. A name that later
//! resolves to it (DNS rebinding) can make them look same-origin. Measures: an unguessable first path
//! segment; a check of `Host`; no requests that the browser marks as cross-site; no header that allows
//! another site to read a response.

use crate::token::random;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Token and names of this server.
#[derive(Debug)]
pub(crate) struct Guard {
    token: String,
    /// One-time ticket that leads to the token, with its time of issue.
    ticket: Mutex<Option<(String, Instant)>>,
    hosts: [String; 2],
    origins: [String; 2],
}

/// Reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: &'static str,
}

/// Lifetime of a ticket, longer than the start of a browser.
const TICKET: Duration = Duration::from_secs(60);

/// Admission of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Authenticated: the path after the token, with its query.
    Path(String),
    /// Valid ticket: redirected to the web UI.
    Ticket,
}

const FOREIGN_HOST: Refusal = Refusal {
    status: StatusCode::MISDIRECTED_REQUEST,
    message: "this server accepts only 127.0.0.1 and localhost with its port",
};
const FOREIGN_SITE: Refusal =
    Refusal { status: StatusCode::FORBIDDEN, message: "requests from other sites are rejected" };
const NO_TOKEN: Refusal = Refusal {
    status: StatusCode::NOT_FOUND,
    message: "not found: use the URL that `railwright serve` printed, which begins with a token",
};

impl Guard {
    /// Guard with a token; `None`: a new one of 128 random bits.
    pub(crate) fn new(port: u16, token: Option<String>) -> std::io::Result<Self> {
        let token = token.map_or_else(random, Ok)?;
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let origins = hosts.clone().map(|host| format!("http://{host}"));
        Ok(Self { token, ticket: Mutex::new(None), hosts, origins })
    }

    /// The token.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// One-time ticket for the web UI. Other users of the machine can see command lines, so a browser is not
    /// started with the token.
    pub(crate) fn ticket(&self) -> std::io::Result<String> {
        let word = random()?;
        *self.ticket.lock().unwrap_or_else(PoisonError::into_inner) = Some((word.clone(), Instant::now()));
        Ok(word)
    }

    fn takes_ticket(&self, word: &str) -> bool {
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = ticket.as_ref().is_some_and(|(ticket, since)| {
            same(word.as_bytes(), ticket.as_bytes()) && since.elapsed() < TICKET
        });
        if holds {
            *ticket = None;
        }
        holds
    }

    /// Admits a request, or returns the reason for its rejection.
    pub(crate) fn admit<B>(&self, request: &Request<B>) -> Result<Admission, Refusal> {
        self.host(request)?;
        let path = request.uri().path_and_query().map_or("", |p| p.as_str());
        let path = path.strip_prefix('/').unwrap_or(path);
        let end = path.find(['/', '?']).unwrap_or(path.len());
        let (token, rest) = path.split_at(end);
        if !same(token.as_bytes(), self.token.as_bytes()) {
            self.site(request, rest)?;
            let is_ticket = request.method() == Method::GET && rest == "/" && self.takes_ticket(token);
            return if is_ticket { Ok(Admission::Ticket) } else { Err(NO_TOKEN) };
        }
        self.site(request, rest)?;
        Ok(Admission::Path(rest.to_owned()))
    }

    fn host<B>(&self, request: &Request<B>) -> Result<(), Refusal> {
        let known = |name: &str| self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name));
        let mut named = request.headers().get_all(header::HOST).iter();
        let host = named.next().and_then(|host| host.to_str().ok());
        // Two `Host` headers are ambiguous; an absolute URL has its own host.
        let other = request.uri().authority().is_some_and(|authority| !known(authority.as_str()));
        if named.next().is_some() || other || !host.is_some_and(known) {
            return Err(FOREIGN_HOST);
        }
        Ok(())
    }

    fn site<B>(&self, request: &Request<B>, rest: &str) -> Result<(), Refusal> {
        let headers = request.headers();
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        if let Some(origin) = text(header::ORIGIN)
            && !self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin))
        {
            return Err(FOREIGN_SITE);
        }
        match text(HeaderName::from_static("sec-fetch-site")) {
            None | Some("same-origin" | "none") => Ok(()),
            // Links from other pages are allowed; reading responses and calling the API are not.
            Some(_)
                if request.method() == Method::GET
                    && !rest.starts_with("/api/")
                    && text(HeaderName::from_static("sec-fetch-mode")) == Some("navigate")
                    && text(HeaderName::from_static("sec-fetch-dest")) == Some("document") =>
            {
                Ok(())
            }
            Some(_) => Err(FOREIGN_SITE),
        }
    }
}

/// Constant-time comparison of two texts.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && std::hint::black_box(a.iter().zip(b).fold(0, |or, (a, b)| or | (a ^ b))) == 0
}

/// Content security policy: own scripts, styles and requests, and generated images. Nothing from other
/// origins, no frames.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
    font-src 'self'; connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Adds the security headers of every response.
pub(crate) fn harden(headers: &mut HeaderMap) {
    let strict = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in strict {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    // Responses without a cache policy are not cached.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, headers: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).expect("a request")
    }

    fn guard() -> Guard {
        Guard::new(4000, None).expect("random bits")
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, two) = (guard(), guard());
        assert_eq!(one.token.len(), 32);
        assert!(one.token.bytes().all(|b| b.is_ascii_hexdigit()));
        assert_ne!(one.token, two.token);
    }

    #[test]
    fn the_path_behind_the_token_is_handed_on() {
        let guard = guard();
        let own = [("host", "127.0.0.1:4000")];
        let ask = |rest: &str| guard.admit(&request(&format!("/{}{rest}", guard.token), &own));
        for rest in ["/api/v1/estimate?a=b", "/", "", "?x"] {
            assert_eq!(ask(rest), Ok(Admission::Path(rest.to_owned())));
        }
        assert_eq!(ask("0/"), Err(NO_TOKEN));
        let cut = &guard.token[1..];
        for path in ["/", "/api/v1/start", &format!("/{cut}/"), &format!("//{}/", guard.token)] {
            assert_eq!(guard.admit(&request(path, &own)), Err(NO_TOKEN), "{path}");
        }
        let mut wrong = guard.token.clone().into_bytes();
        wrong[31] = if wrong[31] == b'0' { b'1' } else { b'0' };
        let wrong = String::from_utf8(wrong).expect("ASCII");
        assert_eq!(guard.admit(&request(&format!("/{wrong}/"), &own)), Err(NO_TOKEN));
    }

    #[test]
    fn a_ticket_is_good_once() {
        let guard = guard();
        let own = [("host", "127.0.0.1:4000")];
        let go = |word: &str, rest: &str| guard.admit(&request(&format!("/{word}{rest}"), &own));
        assert_eq!(go("", "/"), Err(NO_TOKEN));
        let old = guard.ticket().expect("random bits");
        let ticket = guard.ticket().expect("random bits");
        assert_ne!(ticket, guard.token);
        assert_eq!(go(&old, "/"), Err(NO_TOKEN), "a newer one was made");
        assert_eq!(go(&ticket, "/api/v1/start"), Err(NO_TOKEN));
        assert_eq!(go(&ticket, "/"), Ok(Admission::Ticket));
        assert_eq!(go(&ticket, "/"), Err(NO_TOKEN), "it was taken");
        let late = guard.ticket().expect("random bits");
        let long_ago = Instant::now().checked_sub(TICKET);
        guard.ticket.lock().expect("a lock").as_mut().expect("a ticket").1 = long_ago.expect("a time");
        assert_eq!(go(&late, "/"), Err(NO_TOKEN), "it is too old");
    }

    #[test]
    fn only_its_own_names_are_hosts() {
        let guard = guard();
        let path = format!("/{}/", guard.token);
        for host in ["127.0.0.1:4000", "localhost:4000", "LOCALHOST:4000"] {
            assert!(guard.admit(&request(&path, &[("host", host)])).is_ok(), "{host}");
        }
        for host in [
            "127.0.0.1",
            "localhost",
            "127.0.0.1:4001",
            "evil.example:4000",
            "localhost:4000.evil.example",
            "",
        ] {
            assert_eq!(guard.admit(&request(&path, &[("host", host)])), Err(FOREIGN_HOST), "{host}");
        }
        assert_eq!(guard.admit(&request(&path, &[])), Err(FOREIGN_HOST));
        let two = [("host", "127.0.0.1:4000"), ("host", "evil.example")];
        assert_eq!(guard.admit(&request(&path, &two)), Err(FOREIGN_HOST));
        let whole = format!("http://evil.example{path}");
        assert_eq!(guard.admit(&request(&whole, &[("host", "127.0.0.1:4000")])), Err(FOREIGN_HOST));
    }

    #[test]
    fn other_sites_may_link_and_nothing_else() {
        let guard = guard();
        let ask = |rest: &str, more: &[(&str, &str)]| {
            let mut headers = vec![("host", "127.0.0.1:4000")];
            headers.extend(more);
            guard.admit(&request(&format!("/{}{rest}", guard.token), &headers)).map(|_| ())
        };
        assert_eq!(ask("/api/v1/start", &[("origin", "http://127.0.0.1:4000")]), Ok(()));
        assert_eq!(ask("/api/v1/start", &[("sec-fetch-site", "same-origin")]), Ok(()));
        for origin in ["http://evil.example", "null", "http://127.0.0.1:4001", "https://127.0.0.1:4000"] {
            assert_eq!(ask("/api/v1/start", &[("origin", origin)]), Err(FOREIGN_SITE), "{origin}");
        }
        let link = [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(ask("/", &link), Ok(()));
        assert_eq!(ask("/api/v1/start", &link), Err(FOREIGN_SITE));
        let frame =
            [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
        assert_eq!(ask("/", &frame), Err(FOREIGN_SITE));
        assert_eq!(ask("/", &[("sec-fetch-site", "same-site")]), Err(FOREIGN_SITE));
    }
}
