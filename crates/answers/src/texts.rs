//! The door to texts that a question names: a front end reads them, this crate never does.

use railwright_spec::problem::Problem;

/// Gives the texts that a question names by their paths.
pub trait Texts {
    /// The text of a calibration or a cluster file.
    fn text(&self, path: &str) -> Result<String, Problem>;

    /// The text of a model's `config.json`; by default read like any other.
    fn model_config(&self, path: &str) -> Result<String, Problem> {
        self.text(path)
    }

    /// Whether there is a file at a path.
    fn is_file(&self, path: &str) -> bool;
}

/// For questions that name no file: every path is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTexts;

impl Texts for NoTexts {
    fn text(&self, path: &str) -> Result<String, Problem> {
        Err(Problem::new("files are not read here").in_file(path))
    }

    fn is_file(&self, _: &str) -> bool {
        false
    }
}
