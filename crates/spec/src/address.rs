//! Addresses of remote files, accepted wherever a path is.
//!
//! Responsible for: their schemes, and the part shown in reports. Opens no connections.

/// Kinds of object stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Amazon S3 and stores with an S3 interface.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure Blob Storage.
    Az,
    /// A web server.
    Http,
}

const PREFIXES: [(&str, Scheme); 5] = [
    ("s3://", Scheme::S3),
    ("gs://", Scheme::Gs),
    ("az://", Scheme::Az),
    ("http://", Scheme::Http),
    ("https://", Scheme::Http),
];

impl Scheme {
    /// Scheme of an address, and the address after its prefix; `None` for a local path.
    pub fn of(path: &str) -> Option<(Self, &str)> {
        PREFIXES.iter().find_map(|&(prefix, scheme)| Some((scheme, path.strip_prefix(prefix)?)))
    }
}

/// True if a path is the address of a remote object or prefix.
pub fn is_address(path: &str) -> bool {
    Scheme::of(path).is_some()
}

/// Path as shown in reports: a web address without its query, which may be a signature. Keys of object stores
/// may contain any character.
pub fn without_query(path: &str) -> &str {
    match Scheme::of(path) {
        Some((Scheme::Http, _)) => path.split(['?', '#']).next().unwrap_or(path),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_have_a_query() {
        assert!(!is_address("traces/s3") && !is_address("file:///x") && is_address("az://a/b"));
        assert_eq!(Scheme::of("https://host/x"), Some((Scheme::Http, "host/x")));
        assert_eq!(without_query("https://host/a.json?sig=x#y"), "https://host/a.json");
        // In patterns `?` stands for one character.
        for path in ["s3://traces/rank?.json", "runs/what?.json"] {
            assert_eq!(without_query(path), path);
        }
    }
}
