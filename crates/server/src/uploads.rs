//! Files uploaded by the web UI: kept in a private temporary folder until the server ends.
//!
//! Responsible for: names by content, safe names, size limits, and removal. Independent of the format.

use crate::desk::UPLOAD;
use crate::{Settings, replies};
use axum::body::Body;
use axum::http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use railwright_spec::problem::Problem;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

/// Prefix of an incomplete file; no upload has such a name.
const PART: &str = ".part";
/// Bytes of a digest in a handle: 80 bits, so that two different files never share one by accident.
const DIGEST: usize = 10;
/// Longest stored name in bytes.
const LONGEST: usize = 120;

/// Folder of uploads, removed on drop.
#[derive(Debug)]
pub(crate) struct Uploads {
    folder: PathBuf,
    last: AtomicU64,
    bytes: AtomicU64,
}

impl Drop for Uploads {
    fn drop(&mut self) {
        // Files that cannot be removed are in the system's temporary folder.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Uploads {
    /// Creates the folder, accessible only by this user.
    pub(crate) fn new() -> std::io::Result<Self> {
        let mut bits = [0_u8; 8];
        getrandom::fill(&mut bits).map_err(|error| std::io::Error::other(error.to_string()))?;
        let name = format!("railwright-{:016x}", u64::from_ne_bytes(bits));
        let folder = std::env::temp_dir().join(name);
        make_private(&folder)?;
        Ok(Self { folder, last: AtomicU64::new(0), bytes: AtomicU64::new(0) })
    }

    /// Path of the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stores a file under its content, so that a link never means another file: the same content has the
    /// same handle on every server.
    pub(crate) async fn keep(&self, name: &str, body: Body, settings: &Settings) -> Response<Body> {
        let name = harmless(name);
        match self.store(&name, body, settings).await {
            Ok((digest, bytes)) => {
                let path = format!("{UPLOAD}{digest}/{name}");
                let about = json!({ "path": path, "name": name, "bytes": bytes });
                replies::value(StatusCode::CREATED, &about)
            }
            Err((status, problem)) => replies::problem(status, problem),
        }
    }

    /// Lists the handles of the stored files, so that a link to a file of another server is noticed.
    pub(crate) async fn present(&self) -> Response<Body> {
        let mut paths = Vec::new();
        if let Ok(mut folders) = tokio::fs::read_dir(&self.folder).await {
            while let Ok(Some(folder)) = folders.next_entry().await {
                let Ok(mut files) = tokio::fs::read_dir(folder.path()).await else { continue };
                while let Ok(Some(file)) = files.next_entry().await {
                    let (digest, name) = (folder.file_name(), file.file_name());
                    paths.push(format!("{UPLOAD}{}/{}", digest.to_string_lossy(), name.to_string_lossy()));
                }
            }
        }
        paths.sort_unstable();
        replies::value(StatusCode::OK, &json!({ "paths": paths }))
    }

    async fn store(
        &self,
        name: &str,
        mut body: Body,
        settings: &Settings,
    ) -> Result<(String, u64), (StatusCode, Problem)> {
        let failed = |error: std::io::Error| {
            (StatusCode::INSUFFICIENT_STORAGE, Problem::new(format!("the file cannot be stored: {error}")))
        };
        let number = self.last.fetch_add(1, Ordering::SeqCst);
        let part = self.folder.join(format!("{PART}-{number}"));
        let mut file = File::create_new(&part).await.map_err(failed)?;
        let mut held = Held { uploads: self, part: &part, bytes: 0, kept: false };
        let mut digest = Sha256::new();
        loop {
            let frame = tokio::time::timeout(settings.patience, body.frame()).await.map_err(|_| {
                (StatusCode::REQUEST_TIMEOUT, Problem::new("the upload is incomplete: timeout"))
            })?;
            let Some(frame) = frame else { break };
            let frame =
                frame.map_err(|_| (StatusCode::BAD_REQUEST, Problem::new("the upload is truncated")))?;
            let Some(data) = frame.data_ref() else { continue };
            let length = data.len() as u64;
            held.bytes += length;
            let all = self.bytes.fetch_add(length, Ordering::SeqCst) + length;
            if held.bytes > settings.upload_bytes || all > settings.all_upload_bytes {
                let problem = Problem::new(format!(
                    "a file has at most {} bytes, and all of them together {}",
                    settings.upload_bytes, settings.all_upload_bytes
                ));
                let hint = "pass larger files at the start: `railwright serve FOLDER`";
                return Err((StatusCode::PAYLOAD_TOO_LARGE, problem.hint(hint)));
            }
            digest.update(data);
            file.write_all(data).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)?;
        let digest = written(&digest.finalize()[..DIGEST]);
        let folder = self.folder.join(&digest);
        match make_private(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        let place = folder.join(name);
        // The same file again: the first copy stays, with its time stamp.
        if !tokio::fs::try_exists(&place).await.map_err(failed)? {
            // A question may arrive as soon as the name exists.
            tokio::fs::rename(&part, place).await.map_err(failed)?;
            held.kept = true;
        }
        Ok((digest, held.bytes))
    }
}

/// Digest in hexadecimal digits.
fn written(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Reserved bytes and incomplete file, released unless the file is kept, even if the client disconnects.
struct Held<'a> {
    uploads: &'a Uploads,
    part: &'a Path,
    bytes: u64,
    kept: bool,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_file(self.part);
            self.uploads.bytes.fetch_sub(self.bytes, Ordering::SeqCst);
        }
    }
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Sanitizes a name: one path component, without characters that have a meaning in paths, shells or
/// terminals.
fn harmless(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain =
        |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '=') { c } else { '_' };
    let name: String = last.trim_start_matches('.').chars().map(plain).collect();
    // The suffix determines the format, so the start is cut.
    let mut from = name.len().saturating_sub(LONGEST);
    while !name.is_char_boundary(from) {
        from += 1;
    }
    let name = name[from..].trim_start_matches(['.', '-']);
    if name.is_empty() { "file".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere() {
        for (name, kept) in [
            ("config.json", "config.json"),
            ("../../etc/passwd", "passwd"),
            ("..", "file"),
            (".", "file"),
            ("", "file"),
            ("a/..\\..\\b c.toml", "b_c.toml"),
            ("-rf", "rf"),
            (".bashrc", "bashrc"),
            ("trace \u{202e}gz.json", "trace__gz.json"),
            ("nul\0byte", "nul_byte"),
            ("größe.json", "größe.json"),
        ] {
            assert_eq!(harmless(name), kept, "{name}");
        }
        let long = harmless(&format!("{}.json.gz", "ü".repeat(300)));
        assert!(long.len() <= LONGEST && long.ends_with(".json.gz"), "{long}");
    }

    #[test]
    fn the_folder_goes_with_the_value() {
        let uploads = Uploads::new().expect("a folder");
        let folder = uploads.folder().to_owned();
        std::fs::write(folder.join("x"), "y").expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = folder.metadata().expect("a folder").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        drop(uploads);
        assert!(!folder.exists());
    }
}
