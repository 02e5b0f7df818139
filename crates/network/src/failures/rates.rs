//! Failure rates and repair times of parts: a dated table that users override line by line.
//!
//! Responsible for: strict reading of `catalog/network/failure_rates.csv` and of tables that override it, and
//! the line that applies to each class of parts. Does not extrapolate from one part to another: a class uses
//! the line of its own name, or of its family.

use super::brief::{Brief, Flaps, Slow};
use crate::records;
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use serde::Serialize;
use std::collections::BTreeMap;

/// The catalogue's table.
pub const CATALOGUE: &str = railwright_catalog::FAILURE_RATES;
/// Path of [`CATALOGUE`] in the repository.
pub const CATALOGUE_FILE: &str = "catalog/network/failure_rates.csv";

/// Longer tables are not tables of rates.
const LONGEST: usize = 1 << 20;
const COLUMNS: [&str; 14] = [
    "part",
    "fit",
    "mtbf_hours",
    "repair_hours",
    "date",
    "fit_source",
    "repair_source",
    "confidence",
    "flaps_per_month",
    "flap_seconds",
    "reroute_seconds",
    "slow_per_month",
    "slow_hours",
    "slow_kept",
];

/// Parts that the table may name: classes of [`super::classes`], then the families that cover several.
const PARTS: [(&str, &str); 16] = [
    ("domain-link", "domain link"),
    ("domain-switch", "domain switch"),
    ("domain-tray", "domain tray"),
    ("nic", "NIC"),
    ("access-link", "NIC-leaf link"),
    ("leaf", "leaf"),
    ("leaf-spine-link", "leaf-spine link"),
    ("spine", "spine"),
    ("spine-core-link", "spine-core link"),
    ("core", "core"),
    ("core-top-link", "core-top link"),
    ("top", "top switch"),
    ("router", "router"),
    ("local-link", "link within a group"),
    ("global-link", "global link"),
    ("torus-link", "link"),
];
const FAMILIES: [(&str, &[&str]); 2] = [
    ("switch", &["leaf", "spine", "core", "top", "router"]),
    (
        "fabric-link",
        &["leaf-spine-link", "spine-core-link", "core-top-link", "local-link", "global-link", "torus-link"],
    ),
];

/// One line: failure rate and repair time of a part.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// Failures of one part in 10^9 hours.
    pub fit: f64,
    /// Hours until it is repaired.
    pub repair_hours: f64,
    /// Date of reading.
    pub date: String,
    /// Source of the rate.
    pub fit_source: String,
    /// Source of the repair time.
    pub repair_source: String,
    /// `retrieved`, `recalled`, `derived`, or text of the user.
    pub confidence: String,
    /// Flaps and slow parts; none by default.
    #[serde(flatten)]
    pub brief: Brief,
}

impl Rate {
    /// That of a part without a published rate: it never fails.
    pub(super) fn unknown() -> Self {
        Self {
            fit: 0.0,
            repair_hours: 0.0,
            date: String::new(),
            fit_source: "no published rate: set one with --rates".to_owned(),
            repair_source: String::new(),
            confidence: "unknown".to_owned(),
            brief: Brief::default(),
        }
    }

    /// Failures of one part in an hour.
    pub fn per_hour(&self) -> f64 {
        self.fit * 1e-9
    }

    /// Probability that one part is down at a random time: `repair / (time between failures + repair)`.
    pub fn unavailability(&self) -> f64 {
        let down = self.per_hour() * self.repair_hours;
        down / (1.0 + down)
    }
}

/// A table of rates.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Rates {
    lines: BTreeMap<String, Rate>,
}

/// A line that may lack values of the line that it overrides.
#[derive(Debug, Default)]
struct Partial {
    fit: Option<f64>,
    repair_hours: Option<f64>,
    brief: Brief,
    words: [String; 4],
}

impl Rates {
    /// The catalogue's.
    pub fn catalogue() -> Result<Self, Problem> {
        let mut rates = Self::default();
        rates.overlay(CATALOGUE, CATALOGUE_FILE)?;
        Ok(rates)
    }

    /// Overrides values with those of another table: a header with at least `part` and `fit`, `mtbf_hours` or
    /// `repair_hours`, then a line for each part. Values that a line leaves open stay unchanged.
    pub fn overlay(&mut self, text: &str, file: &str) -> Result<(), Problem> {
        for (part, at, line) in read(text, file)? {
            let earlier = self.find(&part).cloned();
            let rate = match (earlier, line.fit, line.repair_hours) {
                (None, None, _) | (None, _, None) => {
                    let problem = Problem::new(format!("`{part}` needs a rate and a repair time"))
                        .in_file(file)
                        .at_offset(text, at);
                    return Err(problem.hint("set `fit` or `mtbf_hours`, and `repair_hours`"));
                }
                (earlier, fit, repair) => {
                    let [date, fit_source, repair_source, confidence] = line.words;
                    let before = earlier.unwrap_or(Rate {
                        fit: 0.0,
                        repair_hours: 0.0,
                        date: String::new(),
                        fit_source: String::new(),
                        repair_source: String::new(),
                        confidence: String::new(),
                        brief: Brief::default(),
                    });
                    let brief = Brief {
                        flaps: line.brief.flaps.or(before.brief.flaps),
                        slow: line.brief.slow.or(before.brief.slow),
                    };
                    Rate {
                        fit: fit.unwrap_or(before.fit),
                        repair_hours: repair.unwrap_or(before.repair_hours),
                        date,
                        fit_source: if fit.is_some() {
                            stated_by(fit_source, file)
                        } else {
                            before.fit_source
                        },
                        repair_source: if repair.is_some() {
                            stated_by(repair_source, file)
                        } else {
                            before.repair_source
                        },
                        confidence,
                        brief,
                    }
                }
            };
            self.lines.insert(part, rate);
        }
        Ok(())
    }

    /// The rate of a class of parts, by the name that [`super::Class::part`] has.
    pub fn of_class(&self, class: &str) -> Option<&Rate> {
        let part = PARTS.iter().find(|(_, known)| *known == class).map(|(part, _)| *part)?;
        self.find(part)
    }

    /// The line of a part, or of its family.
    fn find(&self, part: &str) -> Option<&Rate> {
        self.lines.get(part).or_else(|| {
            let family = FAMILIES.iter().find(|(_, members)| members.contains(&part))?;
            self.lines.get(family.0)
        })
    }
}

fn stated_by(source: String, file: &str) -> String {
    if source.is_empty() { file.to_owned() } else { source }
}

fn read(text: &str, file: &str) -> Result<Vec<(String, usize, Partial)>, Problem> {
    if text.len() > LONGEST {
        return Err(Problem::new("larger than 1 MiB, the limit of failure-rate tables").in_file(file));
    }
    let broken = |error: &csv::Error| records::broken(error, text, file);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| broken(&error))?.clone();
    for (place, name) in header.iter().enumerate() {
        if !COLUMNS.contains(&name) {
            let list = format!("columns are {}", COLUMNS.join(", "));
            return Err(Problem::new(format!("unknown column `{}`", human::shorten(name)))
                .in_file(file)
                .hint(did_you_mean(name, COLUMNS, &list)));
        }
        if header.iter().take(place).any(|earlier| earlier == name) {
            return Err(Problem::new(format!("the column `{name}` occurs twice")).in_file(file));
        }
    }
    if !header.iter().any(|name| name == "part") {
        let hint = format!("a table of failure rates has the header of `{CATALOGUE_FILE}`");
        return Err(Problem::new("the column `part` is missing").in_file(file).hint(hint));
    }
    let mut lines: Vec<(String, usize, Partial)> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| broken(&error))?;
        let at = records::start(text, record.position());
        let cell = |name: &str| {
            let column = header.iter().position(|known| known == name);
            column.and_then(|column| record.get(column)).unwrap_or_default()
        };
        let placed = |problem: Problem| problem.in_file(file).at_offset(text, at);
        let (part, line) = line(&cell).map_err(placed)?;
        if lines.iter().any(|(known, ..)| *known == part) {
            return Err(placed(Problem::new(format!("`{part}` occurs twice"))));
        }
        lines.push((part, at, line));
    }
    Ok(lines)
}

fn line<'a>(cell: &impl Fn(&str) -> &'a str) -> Result<(String, Partial), Problem> {
    let part = cell("part");
    let known: Vec<&str> =
        PARTS.iter().map(|(part, _)| *part).chain(FAMILIES.iter().map(|(family, _)| *family)).collect();
    if !known.contains(&part) {
        let list = format!("parts are {}", known.join(", "));
        return Err(Problem::new(format!("unknown part `{}`", human::shorten(part))).hint(did_you_mean(
            part,
            known.iter().copied(),
            &list,
        )));
    }
    let number = |column: &str, least: f64, most: f64| -> Result<Option<f64>, Problem> {
        let text = cell(column);
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse::<f64>().ok().filter(|n| (least..=most).contains(n));
        number.map(Some).ok_or_else(|| {
            let shown = human::shorten(text);
            Problem::new(format!("`{shown}` is not a number from {least} to {most} in the column `{column}`"))
        })
    };
    let fit = number("fit", 0.0, 1e9)?;
    let between = number("mtbf_hours", 1.0, 1e15)?;
    if fit.is_some() && between.is_some() {
        return Err(Problem::new(format!("`{part}` has both `fit` and `mtbf_hours`"))
            .hint("keep one: fit is failures per 10^9 hours, or 10^9 / mtbf_hours"));
    }
    let words = ["date", "fit_source", "repair_source", "confidence"].map(|name| cell(name).to_owned());
    let partial = Partial {
        fit: fit.or_else(|| between.map(|hours| 1e9 / hours)),
        repair_hours: number("repair_hours", 0.0, 1e6)?,
        brief: brief(part, &number)?,
        words,
    };
    Ok((part.to_owned(), partial))
}

/// Flaps and slow parts of a line: all numbers of one, or none.
fn brief(
    part: &str,
    number: &impl Fn(&str, f64, f64) -> Result<Option<f64>, Problem>,
) -> Result<Brief, Problem> {
    let incomplete = |columns: &str| {
        Problem::new(format!("only some of {columns} are set for `{part}`"))
            .hint(format!("set all of {columns}, or leave all of them empty"))
    };
    let flaps = (number("flaps_per_month", 0.0, 1e6)?, number("flap_seconds", 0.0, 86_400.0)?);
    let reroute_seconds = number("reroute_seconds", 0.0, 86_400.0)?;
    let slow = (
        number("slow_per_month", 0.0, 1e6)?,
        number("slow_hours", 0.0, 1e6)?,
        number("slow_kept", 0.0, 1.0)?,
    );
    Ok(Brief {
        flaps: match flaps {
            (Some(per_month), Some(seconds)) => Some(Flaps { per_month, seconds, reroute_seconds }),
            (None, None) if reroute_seconds.is_none() => None,
            _ => return Err(incomplete("`flaps_per_month` and `flap_seconds`")),
        },
        slow: match slow {
            (Some(per_month), Some(hours), Some(kept)) => Some(Slow { per_month, hours, kept }),
            (None, None, None) => None,
            _ => return Err(incomplete("`slow_per_month`, `slow_hours` and `slow_kept`")),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_has_every_class_with_a_source() {
        let rates = Rates::catalogue().expect("well formed");
        for (_, class) in PARTS.into_iter().filter(|(part, _)| !part.starts_with("domain")) {
            let rate = rates.of_class(class).expect(class);
            assert!(rate.fit > 0.0 && rate.repair_hours > 0.0 && !rate.date.is_empty(), "{class}");
            assert!(rate.fit_source.len() > 20 && !rate.repair_source.is_empty(), "{class}");
        }
        // 0.057% of links between NIC and ToR in a month of 730 hours (10.1145/3651890.3672265).
        let link = rates.of_class("NIC-leaf link").expect("there");
        assert!((link.per_hour() * 730.0 - 0.00057).abs() < 1e-6);
        // 98% of switches survive three months.
        let switch = rates.of_class("core").expect("by its family");
        assert!(((-switch.per_hour() * 2190.0).exp() - 0.98).abs() < 1e-4);
    }

    #[test]
    fn lines_of_a_user_win_and_keep_what_they_leave_open() {
        let mut rates = Rates::catalogue().expect("well formed");
        rates.overlay("part,mtbf_hours\nspine,100000\n", "own.csv").expect("valid");
        let spine = rates.of_class("spine").expect("own").clone();
        assert_eq!((spine.fit, spine.repair_hours, spine.fit_source.as_str()), (1e4, 4.0, "own.csv"));
        assert_eq!(rates.of_class("leaf").expect("the family's").fit, 9224.0);
        rates.overlay("part,repair_hours\nleaf,0.5\n", "own.csv").expect("valid");
        assert_eq!(rates.of_class("leaf").map(|r| (r.fit, r.repair_hours)), Some((9224.0, 0.5)));
        // A family's flaps are those of its members that have none of their own.
        assert_eq!(rates.of_class("core").expect("the family's").brief, Brief::default());
        rates
            .overlay(
                "part,flaps_per_month,flap_seconds,reroute_seconds\nswitch,0.1,8,1\nleaf,,,\n",
                "own.csv",
            )
            .expect("valid");
        let flaps = Flaps { per_month: 0.1, seconds: 8.0, reroute_seconds: Some(1.0) };
        assert_eq!(rates.of_class("core").and_then(|rate| rate.brief.flaps), Some(flaps));
        assert_eq!(rates.of_class("leaf").and_then(|rate| rate.brief.flaps), None);
        let down = Rate { fit: 1e8, repair_hours: 10.0, ..spine }.unavailability();
        assert!((down - 0.5).abs() < 1e-12);
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let error_of = |text: &str| {
            Rates::catalogue().expect("well formed").overlay(text, "own.csv").expect_err("wrong")
        };
        assert_eq!(error_of("part,fit\nlead,3\n").to_string(), "own.csv:2:1: unknown part `lead`");
        assert_eq!(error_of("part,fit\nlead,3\n").hint.as_deref(), Some("did you mean `leaf`?"));
        for (text, message) in [
            ("part,rate\n", "own.csv: unknown column `rate`"),
            ("fit\n3\n", "own.csv: the column `part` is missing"),
            (
                "part,fit\nnic,nan\n",
                "own.csv:2:1: `nan` is not a number from 0 to 1000000000 in the column `fit`",
            ),
            (
                "part,fit\nnic,-1\n",
                "own.csv:2:1: `-1` is not a number from 0 to 1000000000 in the column `fit`",
            ),
            (
                "part,mtbf_hours\nnic,0\n",
                "own.csv:2:1: `0` is not a number from 1 to 1000000000000000 in the column `mtbf_hours`",
            ),
            (
                "part,flaps_per_month\nnic,1\n",
                "own.csv:2:1: only some of `flaps_per_month` and `flap_seconds` are set for `nic`",
            ),
            (
                "part,slow_kept\nnic,1.5\n",
                "own.csv:2:1: `1.5` is not a number from 0 to 1 in the column `slow_kept`",
            ),
            ("part,fit,mtbf_hours\nnic,1,1\n", "own.csv:2:1: `nic` has both `fit` and `mtbf_hours`"),
            ("part,fit\nnic,1\nnic,2\n", "own.csv:3:1: `nic` occurs twice"),
            ("part,fit\nnic\n", "own.csv:2: a line has 1 cells, but the header has 2"),
        ] {
            assert_eq!(error_of(text).to_string(), message);
        }
    }
}
