//! The page: the files of `web/dist`, inside the program; a debug build reads them from the disk at each
//! request.
//!
//! Responsible for: finding one file by its path inside `dist`. Serves nothing: `railwright-server` does.
//!
//! ```
//! assert!(railwright_web::find("no/such/file.js").is_none());
//! ```

pub use rust_embed::EmbeddedFile;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "dist"]
#[allow_missing = true]
struct Page;

/// The file at `path` (such as `index.html`, relative to `dist`) with its hash. None if there is no such
/// file, or if the path has empty or hidden parts, a backslash, `:` or NUL.
pub fn find(path: &str) -> Option<EmbeddedFile> {
    let plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':', '\0']);
    if path.split('/').all(plain) { Page::get(path) } else { None }
}
