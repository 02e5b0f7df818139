//! Simultaneous failures by sampling: at random times, or a number of each kind.
//!
//! Responsible for: sampled states by a seeded generator, their mean slowdown, the probability that the step
//! cannot finish, and standard errors of both. The same seed gives the same result on every machine.
//! Approximate: see [`super::classes`] for exact single failures.

use super::rates::Rates;
use super::state::{Part, States};
use super::{Recovery, classes, parts};
use crate::topology::Choices;
use crate::topology::Design;
use crate::topology::scale_up::{DomainPart, WithoutPart};
use railwright_spec::Portable as _;
use railwright_spec::problem::Problem;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Maximum number of sampled states.
pub const MOST_SAMPLES: u64 = 1_000_000;
/// Maximum number of concurrently failed parts.
pub const MOST_FAILED: u64 = 10_000;

/// Kind of sampling.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// The state at a random time: each part is down with `repair / (time between failures + repair)`.
    Moments,
    /// A number of parts of each class, at any position.
    Together(Vec<(String, u64)>),
}

/// Results with standard errors.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sampled {
    /// Sampled failures.
    pub draw: Draw,
    /// States drawn.
    pub samples: u64,
    /// The generator's seed.
    pub seed: u64,
    /// Mean factor of the step's time over states in which it can be finished.
    pub mean_slowdown: f64,
    /// Standard error of the mean slowdown.
    pub mean_slowdown_error: f64,
    /// The largest factor among these.
    pub worst_slowdown: f64,
    /// Share of states in which the step cannot be finished.
    pub stopped: f64,
    /// Standard error of the share. If no state or every state was stopped, it is the bound on the share's
    /// distance with 95% confidence: three over the number of samples (J. A. Hanley and A. Lippman-Hand,
    /// "If nothing goes wrong, is everything all right?", JAMA 249, 1983).
    pub stopped_error: f64,
    /// Mean number of devices with a disconnected NIC.
    pub mean_cut_off: f64,
    /// Share of states without any failure.
    pub whole: f64,
}

/// Draws states of a folded Clos network. `slowdown` gives the factor of the step's time for a remaining
/// share of bandwidth, as in [`super::expected::expectation`]; it is called once for each share.
pub fn sample(
    design: &Design,
    rates: &Rates,
    draw: &Draw,
    samples: u64,
    seed: u64,
    how: (&dyn Fn(f64) -> Option<f64>, Recovery),
) -> Result<Sampled, Problem> {
    sample_watched(design, rates, draw, (samples, seed), how, &mut |_| ControlFlow::Continue(()))
}

/// Cancellable variant: `watch` receives the number of sampled states. After cancellation the result has the
/// states so far.
pub fn sample_watched(
    design: &Design,
    rates: &Rates,
    draw: &Draw,
    (samples, seed): (u64, u64),
    (slowdown, recovery): (&dyn Fn(f64) -> Option<f64>, Recovery),
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Sampled, Problem> {
    let samples = samples.clamp(1, MOST_SAMPLES);
    let states = States::new(design)?;
    let runs_on = design.domain.parts.is_some_and(|parts| parts.without_part == WithoutPart::RunOn);
    let mut counts: Vec<(&'static str, u64, f64)> = Vec::new();
    // The result has one slowdown for a remaining share of the network's bandwidth.
    let is_left_out = |part: &str| runs_on && DomainPart::named(part).is_some();
    for (part, count) in parts(&classes(design)) {
        if let Draw::Together(list) = draw
            && is_left_out(part)
            && list.iter().any(|(name, number)| name == part && *number > 0)
        {
            return Err(Problem::new(format!("a {part} whose failure the domain tolerates is not sampled"))
                .hint(format!("select a part by its number: `{}#0`", part.replace(' ', "-"))));
        }
        if is_left_out(part) {
            continue;
        }
        let chance = match draw {
            Draw::Moments => rates.of_class(part).map_or(0.0, super::rates::Rate::unavailability),
            Draw::Together(list) => {
                list.iter().filter(|(name, _)| name == part).map(|(_, n)| *n as f64).sum()
            }
        };
        counts.push((part, count, chance));
    }
    let mut sum = Sums::default();
    let mut failed = Vec::new();
    let mut known: BTreeMap<u64, Option<f64>> = BTreeMap::new();
    let mut drawn = 0;
    for index in 0..samples {
        // At least one state: without any there is no result.
        if index > 0 && watch(index).is_break() {
            break;
        }
        drawn += 1;
        let mut choices = Choices::new(seed, index, 0, 0);
        failed.clear();
        for &(class, count, chance) in &counts {
            let many = match draw {
                Draw::Moments => binomial(count, chance, &mut choices),
                Draw::Together(_) => chance as u64,
            };
            distinct(count, many.min(count).min(MOST_FAILED), &mut choices, |number| {
                failed.push(Part { class, number });
            });
        }
        if failed.is_empty() {
            sum.whole += 1;
            sum.finished(1.0);
            continue;
        }
        let state = states.state(&failed);
        let kept = state.kept(recovery);
        sum.cut_off += super::state::State::devices(&state.cut_off) as f64;
        let factor = *known.entry(kept.to_bits()).or_insert_with(|| slowdown(kept));
        match factor.filter(|_| state.is_connected) {
            Some(factor) => sum.finished(factor),
            None => sum.stopped += 1,
        }
    }
    Ok(sum.close(draw.clone(), drawn, seed))
}

#[derive(Default)]
struct Sums {
    count: u64,
    mean: f64,
    squares: f64,
    worst: f64,
    stopped: u64,
    whole: u64,
    cut_off: f64,
}

impl Sums {
    /// Updates mean and sum of squares (Welford).
    fn finished(&mut self, factor: f64) {
        self.count += 1;
        let away = factor - self.mean;
        self.mean += away / self.count as f64;
        self.squares += away * (factor - self.mean);
        self.worst = self.worst.max(factor);
    }

    fn close(self, draw: Draw, samples: u64, seed: u64) -> Sampled {
        let n = samples as f64;
        let count = self.count as f64;
        let variance = if self.count > 1 { self.squares / (count - 1.0) } else { 0.0 };
        let stopped = self.stopped as f64 / n;
        Sampled {
            draw,
            samples,
            seed,
            mean_slowdown: if self.count > 0 { self.mean } else { f64::NAN },
            mean_slowdown_error: if self.count > 0 { (variance / count).sqrt() } else { f64::NAN },
            worst_slowdown: if self.count > 0 { self.worst } else { f64::NAN },
            stopped,
            stopped_error: share_error(self.stopped, samples),
            mean_cut_off: self.cut_off / n,
            whole: self.whole as f64 / n,
        }
    }
}

/// Standard error of a share of samples: `sqrt(p (1 - p) / n)`, or `min(1, 3 / n)` if none or all were found.
/// The latter is the rule of three, because `(1 - 3/n)^n` is about 5%.
fn share_error(found: u64, samples: u64) -> f64 {
    let n = samples as f64;
    if found == 0 || found == samples {
        return (3.0 / n).min(1.0);
    }
    let share = found as f64 / n;
    (share * (1.0 - share) / n).sqrt()
}

/// A uniform number from 0 to below 1.
fn uniform(choices: &mut Choices) -> f64 {
    (choices.below(1 << 30) as f64 + choices.below(1 << 22) as f64 / f64::from(1 << 22)) / f64::from(1 << 30)
}

/// Number of failed parts among `count`, each with a small probability: gaps between them are geometric (L.
/// Devroye, 1986, section X.4.3).
fn binomial(count: u64, chance: f64, choices: &mut Choices) -> u64 {
    if chance <= 0.0 {
        return 0;
    }
    if chance >= 1.0 {
        return count;
    }
    let denominator = (-chance).portable_ln_1p();
    let (mut at, mut found) = (0.0, 0);
    loop {
        at += ((1.0 - uniform(choices)).portable_ln() / denominator).floor() + 1.0;
        if at > count as f64 || found >= MOST_FAILED {
            return found;
        }
        found += 1;
    }
}

/// A number of distinct integers below `count` (R. Floyd's method).
fn distinct(count: u64, many: u64, choices: &mut Choices, mut each: impl FnMut(u64)) {
    let mut chosen = std::collections::BTreeSet::new();
    for top in count - many..count {
        let number = choices.below(top + 1);
        let number = if chosen.contains(&number) { top } else { number };
        chosen.insert(number);
    }
    chosen.into_iter().for_each(&mut each);
}

#[cfg(test)]
mod tests {
    use super::super::slowdown;
    use super::*;
    use crate::topology::{DesignSpec, Kind, Routing};

    fn fifth(kept: f64) -> Option<f64> {
        slowdown(kept, 0.2)
    }

    fn design(kind: Kind) -> Design {
        let spec = DesignSpec { routing: Some(Routing::Ecmp), ..DesignSpec::of(kind, 4096, 8, 64) };
        spec.resolve().expect("built")
    }

    fn together(design: &Design, class: &str, many: u64) -> Sampled {
        let rates = Rates::catalogue().expect("well formed");
        let draw = Draw::Together(vec![(class.to_owned(), many)]);
        sample(design, &rates, &draw, 2000, 7, (&fifth, Recovery::Spread)).expect("a Clos")
    }

    #[test]
    fn one_failure_equals_its_class_without_any_error() {
        let rails = design(Kind::RailOnly);
        let leaf = together(&rails, "leaf", 1);
        assert!((leaf.mean_slowdown - (1.0 + 0.2 / 7.0)).abs() < 1e-12 && leaf.mean_slowdown_error < 1e-12);
        assert_eq!((leaf.stopped, leaf.mean_cut_off, leaf.whole), (0.0, 32.0, 0.0));
    }

    #[test]
    fn drawn_steps_are_those_of_ranks_with_step_numbers() {
        // A run's own law, not that of an exposed share: the drawn mean is the table's.
        let rates = Rates::catalogue().expect("well formed");
        let draw = Draw::Together(vec![("leaf".to_owned(), 1)]);
        let law = |kept: f64| Some(1.0 + (1.0 - kept) * 0.5);
        let drawn = sample(&design(Kind::RailOnly), &rates, &draw, 50, 7, (&law, Recovery::Spread));
        assert!((drawn.expect("a Clos").mean_slowdown - 1.0625).abs() < 1e-12);
    }

    #[test]
    fn an_unrecorded_share_has_a_bound() {
        // 95% confidence: a share of 3 / 2000 is missed by 2,000 samples in 5 of 100 cases.
        let none = together(&design(Kind::RailOnly), "leaf", 1);
        assert_eq!((none.stopped, none.stopped_error), (0.0, 0.0015));
        assert!(((1.0 - none.stopped_error).powi(2000) - 0.05).abs() < 1e-3);
        // A failed leaf of a Clos always disconnects whole domains.
        let all = together(&design(Kind::Clos), "leaf", 1);
        assert_eq!((all.stopped, all.stopped_error), (1.0, 0.0015));
        assert!((share_error(500, 2000) - (0.25_f64 * 0.75 / 2000.0).sqrt()).abs() < 1e-15);
        assert_eq!(share_error(0, 1), 1.0);
    }

    #[test]
    fn two_leaves_hit_one_domain_as_often_as_by_counting() {
        // 128 leaves, 16 for each of 8 rails: of the 127 others 7 serve the same domains on other rails.
        let rails = design(Kind::RailOnly);
        let two = together(&rails, "leaf", 2);
        let (one, both) = (1.0 + 0.2 * (8.0 / 7.0 - 1.0), 1.0 + 0.2 * (8.0 / 6.0 - 1.0));
        let exact = one + (both - one) * 7.0 / 127.0;
        assert!((two.mean_slowdown - exact).abs() < 4.0 * two.mean_slowdown_error, "{two:?} {exact}");
        assert!((two.worst_slowdown - both).abs() < 1e-12);
        assert_eq!(two, together(&rails, "leaf", 2));
    }

    #[test]
    fn moments_agree_with_first_order_sums() {
        let clos = design(Kind::RailOptimized);
        let mut rates = Rates::catalogue().expect("well formed");
        // Rates at which a state is seldom whole, but seldom has two failures that matter to each other.
        rates.overlay("part,repair_hours\nnic,50\naccess-link,50\nswitch,2\n", "test").expect("valid");
        let found =
            sample(&clos, &rates, &Draw::Moments, 20_000, 1, (&fifth, Recovery::Spread)).expect("a Clos");
        // Chance of no failure: the product over parts.
        let mut whole = 1.0_f64;
        for class in classes(&clos) {
            whole *=
                (1.0 - rates.of_class(class.part).expect("known").unavailability()).powf(class.count as f64);
        }
        let error = (whole * (1.0 - whole) / 20_000.0).sqrt();
        assert!((found.whole - whole).abs() < 4.0 * error, "{found:?} {whole}");
        // One failure at a time: the sum over parts of the downtime and its cost. Of two concurrent failures
        // the worse counts, so sampling finds a little less.
        let first_order: f64 = classes(&clos)
            .iter()
            .map(|class| {
                let down = rates.of_class(class.part).expect("known").unavailability();
                let factor = class.slowdown(0.2, Recovery::Spread).expect("it goes on");
                class.count as f64 * down * (factor - 1.0)
            })
            .sum();
        let off = found.mean_slowdown - 1.0 - first_order;
        assert!(off < 4.0 * found.mean_slowdown_error && off > -0.2 * first_order, "{found:?} {first_order}");
    }

    #[test]
    fn what_cannot_be_drawn_is_reported() {
        let spec = DesignSpec { kind: Some(Kind::Dragonfly), devices: Some(72), ..DesignSpec::default() };
        let dragonfly = spec.resolve().expect("built");
        let rates = Rates::catalogue().expect("well formed");
        assert!(sample(&dragonfly, &rates, &Draw::Moments, 10, 0, (&fifth, Recovery::Spread)).is_err());
    }
}
