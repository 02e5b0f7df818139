//! Texts of a question: files, and a model's configuration passed as a value.

use railwright_answers::Texts;
use railwright_spec::problem::Problem;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longest text in bytes.
const LIMIT: u64 = 64 << 20;

/// Path of a configuration passed as a value.
pub(crate) const GIVEN: &str = "<config>";

/// Files on disk, and a configuration passed as a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Text of the configuration; `None` without one.
    pub(crate) config: Option<String>,
}

impl Texts for Given {
    fn text(&self, path: &str) -> Result<String, Problem> {
        let cannot = |error: std::io::Error| Problem::new(format!("cannot read: {error}")).in_file(path);
        let mut text = String::new();
        let read = File::open(path).map_err(cannot)?.take(LIMIT + 1).read_to_string(&mut text);
        if read.map_err(cannot)? as u64 > LIMIT {
            return Err(Problem::new("the file is too large: the limit is 64 MiB").in_file(path));
        }
        Ok(text)
    }

    fn model_config(&self, path: &str) -> Result<String, Problem> {
        match &self.config {
            Some(text) if path == GIVEN => Ok(text.clone()),
            _ => self.text(path),
        }
    }

    fn is_file(&self, path: &str) -> bool {
        Path::new(path).is_file()
    }
}
