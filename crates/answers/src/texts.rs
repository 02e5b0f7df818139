//! Interface for files named in a question: a front end reads them, this crate never does.

use railwright_spec::problem::Problem;

/// Texts of files by path.
pub trait Texts {
    /// Text of a calibration or a cluster file.
    fn text(&self, path: &str) -> Result<String, Problem>;

    /// Text of a model's `config.json`; by default read like any other.
    fn model_config(&self, path: &str) -> Result<String, Problem> {
        self.text(path)
    }

    /// True if a file exists at a path.
    fn is_file(&self, path: &str) -> bool;
}

/// For questions without files: every path is rejected.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTexts;

impl Texts for NoTexts {
    fn text(&self, path: &str) -> Result<String, Problem> {
        Err(Problem::new("files cannot be read in this context").in_file(path))
    }

    fn is_file(&self, _: &str) -> bool {
        false
    }
}
