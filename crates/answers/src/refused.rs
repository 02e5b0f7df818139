//! Rejected questions with all their problems.

use railwright_spec::problem::Problem;

/// All problems of a question, at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused(pub Vec<Problem>);

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl From<Vec<Problem>> for Refused {
    fn from(problems: Vec<Problem>) -> Self {
        Self(problems)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}
