//! Validation of a timeline.
//!
//! Responsible for: every rule that the analyses rely on. Repairs nothing.

use crate::{Dependency, Step};
use railwright_spec::human;
use railwright_spec::problem::Problem;

/// Maximum number of reported problems.
const MOST: usize = 20;

impl Step {
    /// Problems of the timeline; empty if it is valid. Rules: spans of a stream in order without overlap,
    /// inside the window, with existing names, collectives and groups; dependencies between existing
    /// spans, the first of which ends before the second starts; memory events by time, with a total that
    /// is never negative.
    pub fn validate(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for rank in &self.ranks {
            for stream in &rank.streams {
                let place = || format!("rank {}, {}", rank.rank.0, stream.kind.name());
                let mut last = self.start;
                for (n, span) in stream.spans.iter().enumerate() {
                    if problems.len() >= MOST {
                        return problems;
                    }
                    let name = self.names.get(span.name);
                    let mut tell = |what: &str| {
                        problems.push(Problem::new(format!("{}: span {n} (`{name}`) {what}", place())));
                    };
                    if span.end < span.start {
                        tell("ends before it starts");
                    }
                    if n > 0 && span.start < last {
                        tell("starts before the previous one ends");
                    }
                    if span.start < self.start || span.end > self.end {
                        tell("is outside the step");
                    }
                    if span.name.0 as usize >= self.names.len() {
                        tell("has an unknown name");
                    }
                    if span.collective.is_some_and(|c| c.0 as usize >= self.collectives.len()) {
                        tell("has an unknown collective");
                    }
                    last = span.end;
                }
            }
            problems.extend(
                rank.memory
                    .problems()
                    .into_iter()
                    .map(|what| Problem::new(format!("rank {}, memory: {what}", rank.rank.0))),
            );
        }
        let unknown = self.collectives.iter().filter(|c| c.group.0 as usize >= self.groups.len()).count();
        if unknown > 0 {
            problems.push(Problem::new(format!(
                "unknown group of {}",
                human::several(unknown as u64, "collective")
            )));
        }
        problems.extend(self.dependencies.iter().filter_map(|d| self.dependency_problem(d)));
        problems.truncate(MOST);
        problems
    }

    fn dependency_problem(&self, dependency: &Dependency) -> Option<Problem> {
        let (from, to) = (self.span(dependency.from), self.span(dependency.to));
        match (from, to) {
            (Some(from), Some(to)) if from.end > to.start => Some(Problem::new(format!(
                "`{}` starts before the end of its dependency `{}`",
                self.names.get(to.name),
                self.names.get(from.name)
            ))),
            (Some(_), Some(_)) => None,
            _ => Some(Problem::new("a dependency names a span that does not exist")),
        }
    }
}
