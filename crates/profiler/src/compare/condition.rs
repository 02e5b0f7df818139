//! Conditions for automatic checks: `step_time>+3%`.
//!
//! Responsible for: reading a condition, and checking a comparison against it. Rejects figures that a
//! comparison does not have.

use super::{Comparison, Difference};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// A condition on a change from the first to the second.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Condition {
    /// Text as given.
    pub text: String,
    /// The figure's name.
    pub figure: String,
    /// True for a lower limit: the change must be above it. False for an upper limit.
    pub above: bool,
    /// The limit.
    pub limit: Limit,
}

/// Reference of a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// A share of the first value.
    Relative(f64),
    /// A time in nanoseconds.
    #[serde(rename = "time_ns")]
    Time(f64),
}

/// Result of a condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The condition.
    pub condition: Condition,
    /// The figure on both sides.
    pub difference: Difference,
    /// True if the condition is met.
    pub met: bool,
    /// True if the change exceeds the noise; `None` if the noise is unknown.
    pub significant: Option<bool>,
}

impl Verdict {
    /// Adds the significance of the change, if known: an insignificant change meets no condition.
    #[must_use]
    pub fn with_significance(self, significant: Option<bool>) -> Self {
        Self { met: self.met && significant != Some(false), significant, ..self }
    }
}

impl Condition {
    /// Reads `FIGURE>+3%`, `FIGURE>+5ms`, `FIGURE<-2%`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = |message: String| {
            Problem::new(message).in_file("--fail-if").hint(
                "use a metric, `>` or `<`, and a change in % or in time, such as `step_time>+3%` or \
                    `host>+2ms`",
            )
        };
        let at = text
            .find(['>', '<'])
            .ok_or_else(|| wrong(format!("`{text}` is not a condition: it has neither `>` nor `<`")))?;
        let figure = text[..at].trim().to_ascii_lowercase().replace('-', "_");
        let change = text[at + 1..].trim();
        let digits = change.trim_start_matches('+');
        let cut = digits
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e')))
            .unwrap_or(digits.len());
        let (number, unit) = digits.split_at(cut);
        let value: f64 = number
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| wrong(format!("`{change}` is not a change")))?;
        let limit = match unit.trim() {
            "%" => Limit::Relative(value / 100.0),
            "ns" => Limit::Time(value),
            "us" | "\u{b5}s" => Limit::Time(value * 1e3),
            "ms" => Limit::Time(value * 1e6),
            "s" => Limit::Time(value * 1e9),
            "" => return Err(wrong(format!("`{change}` has no unit"))),
            other => return Err(wrong(format!("`{other}` is not a unit of a change (%, ns, us, ms, s)"))),
        };
        if figure.is_empty() {
            return Err(wrong(format!("`{text}` has no metric")));
        }
        Ok(Self { text: text.to_owned(), figure, above: text[at..].starts_with('>'), limit })
    }

    /// Checks the condition against a comparison.
    pub fn check(&self, comparison: &Comparison) -> Result<Verdict, Problem> {
        self.check_figures(&comparison.figures)
    }

    /// Checks the condition against figures of any comparison.
    pub fn check_figures(&self, figures: &[Difference]) -> Result<Verdict, Problem> {
        let names = figures.iter().map(|figure| figure.name.as_str());
        let difference =
            figures.iter().find(|d| d.name == self.figure).cloned().ok_or_else(|| {
                let all = format!("metrics are {}", names.clone().collect::<Vec<_>>().join(", "));
                Problem::new(format!("unknown metric `{}`", self.figure))
                    .in_file("--fail-if")
                    .hint(did_you_mean(&self.figure, names, &all))
            })?;
        let change = match self.limit {
            // An increase from zero exceeds any share.
            Limit::Relative(_) => {
                difference.relative.unwrap_or(if difference.change > 0.0 { f64::INFINITY } else { 0.0 })
            }
            Limit::Time(_) => difference.change,
        };
        let (Limit::Relative(limit) | Limit::Time(limit)) = self.limit;
        let met = if self.above { change > limit } else { change < limit };
        Ok(Verdict { condition: self.clone(), difference, met, significant: None })
    }
}

impl Limit {
    /// Formats the limit.
    pub fn human(self) -> String {
        match self {
            Self::Relative(share) => format!("{:+}%", share * 100.0),
            Self::Time(nanoseconds) => human::seconds(Seconds::new(nanoseconds * 1e-9)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(first: f64, second: f64) -> Comparison {
        let step = Difference::new("step_time", first, second);
        Comparison {
            step_time: step.clone(),
            recorded: Vec::new(),
            labels: Vec::new(),
            families: Vec::new(),
            kernels: Vec::new(),
            operators: Vec::new(),
            figures: vec![step, Difference::new("host", 0.0, 5.0)],
            warnings: Vec::new(),
        }
    }

    #[test]
    fn conditions_are_read_and_checked() {
        let met = |text: &str, first: f64, second: f64| {
            Condition::parse(text).unwrap().check(&comparison(first, second)).unwrap().met
        };
        assert!(met("step_time>+3%", 100.0, 103.5) && !met("step_time>+3%", 100.0, 102.9));
        assert!(met("step-time > 1ms", 1e6, 2.1e6) && !met("step_time>1ms", 1e6, 1.9e6));
        assert!(met("step_time<-2%", 100.0, 97.0) && !met("step_time<-2%", 100.0, 99.0));
        assert!(met("host>+50%", 1.0, 1.0));
        let verdict = Condition::parse("step_time>1%").unwrap().check(&comparison(100.0, 103.0)).unwrap();
        let held = |significant| verdict.clone().with_significance(significant).met;
        assert!(held(None) && held(Some(true)) && !held(Some(false)));
        for bad in ["step_time", "step_time>", "step_time>3", "step_time>3 parsecs", ">3%", "step_time>nan%"]
        {
            let problem = Condition::parse(bad).unwrap_err();
            assert!(problem.hint.is_some(), "{bad}");
        }
        let problem = Condition::parse("step_tiem>1%").unwrap().check(&comparison(1.0, 1.0)).unwrap_err();
        assert_eq!(problem.hint.as_deref(), Some("did you mean `step_time`?"));
    }
}
