//! Addresses: scheme, container and key.
//!
//! Responsible for: parsing and formatting. Keys of object stores are taken literally; paths of web servers
//! are percent-encoded. Rejects addresses with a password.

use object_store::path::Path;
use railwright_spec::problem::Problem;
use railwright_spec::{Scheme, without_query};
use url::Url;

/// An address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    /// Part before the key: `s3://bucket/`, `https://host:port/`.
    pub(crate) base: String,
    /// Bucket or container; for a web server, the origin with the query.
    pub(crate) container: String,
    /// Decoded key, without a leading slash.
    pub(crate) key: String,
    /// Query of a web address, with its question mark, as in a presigned address.
    query: String,
}

impl Address {
    /// Parses an address.
    pub(crate) fn read(text: &str) -> Result<Self, Problem> {
        let wrong = |message: String| Problem::new(message).in_file(without_query(text));
        let Some((scheme, rest)) = Scheme::of(text) else {
            return Err(wrong("not an address".to_owned())
                .hint("addresses begin with `s3://`, `gs://`, `az://`, `http://` or `https://`"));
        };
        if scheme == Scheme::Http {
            return Self::of_web(text, &wrong);
        }
        let (container, key) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = &text[..text.len() - rest.len()];
        if container.is_empty() {
            return Err(wrong("the address has no bucket".to_owned())
                .hint(format!("write it as `{prefix}BUCKET/PREFIX`")));
        }
        Ok(Self {
            scheme,
            base: format!("{prefix}{container}/"),
            container: container.to_owned(),
            key: key.to_owned(),
            query: String::new(),
        })
    }

    fn of_web(text: &str, wrong: &dyn Fn(String) -> Problem) -> Result<Self, Problem> {
        let url = Url::parse(text).map_err(|error| wrong(format!("invalid address: {error}")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Problem::new("the address contains a user name or a password")
                .in_file(format!("{}/", url.origin().ascii_serialization()))
                .hint("reports contain addresses: use a presigned address or an object store"));
        }
        let key = Path::from_url_path(url.path())
            .map_err(|error| wrong(format!("invalid address: {error}")))?
            .to_string();
        let slash = if url.path().ends_with('/') && !key.is_empty() { "/" } else { "" };
        let base = format!("{}/", url.origin().ascii_serialization());
        let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
        let container = format!("{base}{query}");
        Ok(Self { scheme: Scheme::Http, base, container, key: key + slash, query })
    }

    /// Key in the form of the store.
    pub(crate) fn path(&self) -> Result<Path, Problem> {
        Path::parse(&self.key).map_err(|_| {
            Problem::new("this key cannot be read: it has an empty part, `.` or `..`").in_file(self.shown())
        })
    }

    /// Address of a different key in the same container.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// Address as text; [`Address::read`] restores it.
    pub(crate) fn text(&self) -> String {
        self.shown() + &self.query
    }

    /// Address for messages: without its query, which may be a signature.
    pub(crate) fn shown(&self) -> String {
        if self.scheme != Scheme::Http {
            return format!("{}{}", self.base, self.key);
        }
        let mut url = self.base.clone();
        let parts = self.key.split('/').map(|part| {
            url::form_urlencoded::byte_serialize(part.as_bytes()).collect::<String>().replace('+', "%20")
        });
        url.push_str(&parts.collect::<Vec<_>>().join("/"));
        url
    }

    /// True for the address of a prefix: a container, or a key that ends in a slash.
    pub(crate) fn is_prefix(&self) -> bool {
        self.key.is_empty() || self.key.ends_with('/')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_taken_as_typed_and_web_paths_are_decoded() {
        let read = |text: &str| Address::read(text).unwrap_or_else(|e| panic!("{e}"));
        let s3 = read("s3://traces/run 1/rank%20.json");
        assert_eq!((s3.container.as_str(), s3.key.as_str()), ("traces", "run 1/rank%20.json"));
        assert_eq!(s3.text(), "s3://traces/run 1/rank%20.json");
        assert!(read("gs://bucket").is_prefix() && read("az://c/a/").is_prefix() && !s3.is_prefix());
        let web = read("https://host:8443/a%20b/c.json?X-Signature=secret");
        assert_eq!((web.key.as_str(), web.base.as_str()), ("a b/c.json", "https://host:8443/"));
        assert_eq!(web.shown(), "https://host:8443/a%20b/c.json");
        assert_eq!(web.text(), "https://host:8443/a%20b/c.json?X-Signature=secret");
        assert_eq!(read("http://host/run/").key, "run/");
        assert_eq!(s3.with_key("x/y").text(), "s3://traces/x/y");
    }

    #[test]
    fn wrong_addresses_are_refused_without_their_secrets() {
        let wrong = |text: &str| Address::read(text).expect_err("refused").to_string();
        assert!(wrong("s3:///key").contains("no bucket"));
        assert!(wrong("http://:x").contains("invalid address"));
        let message = wrong("https://me:hidden@host/x?y=hidden");
        assert!(message.contains("password") && !message.contains("hidden"), "{message}");
        assert!(Address::read("s3://b/a//c").and_then(|a| a.path()).is_err());
    }
}
