//! Words of findings: times and shares in sentences, names that fit a line.

use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// Formats a time for a sentence; `nanoseconds` per step.
pub(super) fn time(nanoseconds: f64) -> String {
    human::seconds(Seconds::new(nanoseconds / 1e9))
}

/// Formats a share for a sentence.
pub(super) fn percent(share: f64) -> String {
    human::percent(share)
}

/// Shortens a name to fit a line.
pub(super) fn short(name: &str) -> String {
    pub(super) const LONGEST: usize = 72;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 3).chain("...".chars()).collect()
}

/// Shortens a name in the middle: names of templates have the same start.
pub(super) fn both_ends(name: &str) -> String {
    pub(super) const KEPT: (usize, usize) = (24, 45);
    let length = name.chars().count();
    if length <= KEPT.0 + KEPT.1 + 3 {
        return name.to_owned();
    }
    let last = name.chars().skip(length - KEPT.1);
    name.chars().take(KEPT.0).chain("...".chars()).chain(last).collect()
}

/// Names with most time, each once.
pub(super) fn top<'n>(times: impl Iterator<Item = (&'n str, i64)>, count: usize) -> Vec<(&'n str, i64)> {
    let mut sums: std::collections::BTreeMap<&str, i64> = std::collections::BTreeMap::new();
    for (name, time) in times {
        *sums.entry(name).or_default() += time;
    }
    let mut all: Vec<(&str, i64)> = sums.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    all.truncate(count);
    all
}
