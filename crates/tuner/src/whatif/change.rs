//! Parses the text of a change, such as `plan.precision=fp8` or `nic_gbps=800,overlap.tensor=true`.
//!
//! Responsible for: splitting, numbers with the unit in the name, and relative values (`x2`, `+10%`). Does
//! not validate the changed run.

use super::names::{Slow, Target, target};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use railwright_spec::run::{Key, Kind};

/// One or several settings that are applied together.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The text of the user.
    pub name: String,
    pub(super) settings: Vec<Setting>,
}

/// One setting of a change.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    /// A key of a run file with its value, as text.
    Key { key: Key, value: Amount },
    /// A number of servers.
    Nodes(Amount),
    /// A member with its share of the normal rate.
    Slow { what: Slow, index: Option<u64>, rate: f64 },
}

/// A value, or a multiple of the previous one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Amount {
    Is(String),
    Times(f64),
}

impl Change {
    /// Parses `key=value[,key=value]...`. The values of a list may also contain commas: a part without `=`
    /// belongs to the previous one.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let place = |problem: Problem| problem.in_file("--change");
        let mut parts: Vec<String> = Vec::new();
        for part in text.split(',') {
            match parts.last_mut() {
                Some(last) if !part.contains('=') => {
                    last.push(',');
                    last.push_str(part);
                }
                _ => parts.push(part.to_owned()),
            }
        }
        let mut settings = Vec::new();
        for part in &parts {
            settings.push(setting(part).map_err(place)?);
        }
        let mut seen: Vec<String> = Vec::new();
        for setting in &settings {
            if let Setting::Key { key, .. } = setting {
                if seen.contains(&key.path()) {
                    return Err(place(
                        Problem::new(format!("`{}` occurs twice in one change", key.path()))
                            .hint("use one --change option for each value to compare"),
                    ));
                }
                seen.push(key.path());
            }
        }
        let name = parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join(",");
        Ok(Self { name, settings })
    }

    /// All changes combined. Fails with the key that two of them set to different values.
    pub(super) fn together(changes: &[Self]) -> Result<Self, String> {
        let mut settings: Vec<Setting> = Vec::new();
        for setting in changes.iter().flat_map(|change| &change.settings) {
            if settings.contains(setting) {
                continue;
            }
            let rival = settings.iter().find(|known| match (known, setting) {
                (Setting::Key { key: a, .. }, Setting::Key { key: b, .. }) => a.path() == b.path(),
                (Setting::Nodes(_), Setting::Nodes(_)) => true,
                (Setting::Nodes(_), Setting::Key { key, .. })
                | (Setting::Key { key, .. }, Setting::Nodes(_)) => key.path() == "cluster.devices",
                _ => false,
            });
            if rival.is_some() {
                return Err(match setting {
                    Setting::Key { key, .. } => key.path(),
                    _ => "nodes".to_owned(),
                });
            }
            settings.push(setting.clone());
        }
        Ok(Self { name: String::new(), settings })
    }
}

fn setting(text: &str) -> Result<Setting, Problem> {
    let Some((word, value)) = text.split_once('=') else {
        target(text)?;
        let hint = format!("add the value, as in `--change {}=VALUE`", shorten(text.trim()));
        return Err(Problem::new(format!("`{}` has no `=`", shorten(text))).hint(hint));
    };
    let value = value.trim();
    let meaning = target(word)?;
    if value.is_empty() {
        return Err(Problem::new(format!("`{}` has no value", shorten(word.trim()))));
    }
    match meaning {
        Target::Slow { what, index } => {
            let rate = match value.strip_suffix('%') {
                Some(percent) => percent.trim().parse::<f64>().map(|x| x / 100.0),
                None => value.parse(),
            };
            match rate {
                Ok(rate) if rate > 0.0 && rate <= 1.0 => Ok(Setting::Slow { what, index, rate }),
                _ => Err(Problem::new(format!(
                    "`{}`: expected the remaining share of the rate, above 0 and at most 1, found `{}`",
                    shorten(word.trim()),
                    shorten(value)
                ))
                .hint("for example, `slow.rank=0.8` is a device at 80% of its speed")),
            }
        }
        Target::Nodes => Ok(Setting::Nodes(amount(value)?.unwrap_or_else(|| Amount::Is(value.to_owned())))),
        Target::Key { key, unit } => {
            let is_number =
                matches!(key.kind, Kind::Count | Kind::Number | Kind::Quantity(_) | Kind::Amount(_));
            if let Some((first, _)) = value.split_once("..").filter(|_| is_number) {
                let word = shorten(word.trim());
                return Err(Problem::new(format!("`{}` is a range, expected one value", shorten(value)))
                    .hint(format!("repeat --change for each value, as in `--change {word}={first}`")));
            }
            let value = match if is_number { amount(value)? } else { None } {
                Some(times) => times,
                None if !unit.is_empty() && value.parse::<f64>().is_ok() => {
                    Amount::Is(format!("{value} {unit}"))
                }
                None => Amount::Is(value.to_owned()),
            };
            Ok(Setting::Key { key, value })
        }
    }
}

/// Maximum multiple of a value, and its inverse the minimum.
const MOST: f64 = 1e6;

/// Parses `x2`, `*1.5`, `+10%`, `-20%`. `None` if the text is an absolute value.
fn amount(text: &str) -> Result<Option<Amount>, Problem> {
    let (number, is_percent) = match text.strip_prefix(['x', '*']) {
        Some(rest) => (rest, false),
        None => match text.strip_suffix('%').filter(|rest| rest.starts_with(['+', '-'])) {
            Some(percent) => (percent, true),
            None => return Ok(None),
        },
    };
    let wrong = |what: &str| {
        Err(Problem::new(format!("`{}`: {what}", shorten(text))).hint("write `x2`, `x0.5`, `+10%` or `-20%`"))
    };
    let factor = match number.trim().parse::<f64>() {
        Ok(number) if is_percent => 1.0 + number / 100.0,
        Ok(number) => number,
        Err(_) => return wrong("not a factor"),
    };
    if factor.is_nan() {
        wrong("not a factor")
    } else if factor <= 0.0 {
        wrong("a multiple must be above 0")
    } else if (1.0 / MOST..=MOST).contains(&factor) {
        Ok(Some(Amount::Times(factor)))
    } else {
        wrong("a multiple must be between 0.000001 and 1,000,000")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let change = Change::parse(text).expect(text);
        change
            .settings
            .iter()
            .map(|setting| match setting {
                Setting::Key { key, value: Amount::Is(value) } => format!("{} is {value}", key.path()),
                Setting::Key { key, value: Amount::Times(factor) } => {
                    format!("{} times {factor}", key.path())
                }
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn groups_lists_units_and_relative_values() {
        assert_eq!(values("nic_gbps=800"), ["cluster.network.bandwidth is 800 Gbit/s"]);
        assert_eq!(values("nic_gbps=100 GB/s"), ["cluster.network.bandwidth is 100 GB/s"]);
        assert_eq!(
            values("tp=4, layers_per_stage=4,4,3 ,precision=fp8"),
            ["plan.tensor_parallel is 4", "plan.layers_per_stage is 4,4,3", "plan.precision.preset is fp8"]
        );
        assert_eq!(
            values("nic=x2,hbm=+10%"),
            ["cluster.network.bandwidth times 2", "cluster.memory_bandwidth times 1.1"]
        );
        assert_eq!(values("accelerator=x2"), ["cluster.accelerator is x2"]);
        let Setting::Slow { rate, .. } = Change::parse("slow.rank=80%").expect("a share").settings[0] else {
            panic!("not slow")
        };
        assert_eq!(rate, 0.8);
    }

    #[test]
    fn mistakes_are_reported() {
        for text in [
            "",
            "=",
            "tp",
            "tp=",
            "slow.rank=1.2",
            "slow.rank=0",
            "slow.rank=-1",
            "slow.nic=fast",
            "tp=4,tp=8",
            "é=1",
            "nic=x0",
            "nic=x-1",
            "nic=xnan",
            "nic=x1e300",
            "nic=x",
            "hbm=-100%",
            "nodes=x-2",
        ] {
            let problem = Change::parse(text).expect_err(text);
            assert_eq!(problem.place.expect("a place").file, "--change", "{text}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_not_put_together() {
        let all = |texts: &[&str]| {
            let changes: Vec<Change> = texts.iter().map(|text| Change::parse(text).expect(text)).collect();
            Change::together(&changes).map(|change| change.settings.len())
        };
        assert_eq!(all(&["tp=4", "tp=4", "pp=2"]), Ok(2));
        assert_eq!(all(&["tp=4", "tp=8"]), Err("plan.tensor_parallel".to_owned()));
        assert_eq!(all(&["gpus=64", "nodes=4"]), Err("nodes".to_owned()));
    }
}
