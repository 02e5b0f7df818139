//! Refused launch files, for draws of public files.

use railwright_launch::{Context, read_with};

/// The problems of a launch file, one per line. Panics if it is read.
pub(crate) fn refused(text: &str, file: &str) -> String {
    let problems = read_with(text, file, &Context::default()).expect("a launch file").expect_err("a problem");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
