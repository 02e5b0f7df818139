//! Infers the times of a step's parts from measured step times: a Bayesian linear model of logarithms in
//! three levels.
//!
//! Responsible for: the prior (errors of a stack, of its runs of one model and format, and of individual
//! runs), and its update by measured over predicted times. Further, the spread of a prediction under it. Does
//! not price runs: shares of parts and ratios are inputs.
//!
//! `ln(measured / predicted) = sum over parts of s_p (theta_p + eta_p) + e`, with `s_p` the growth of the
//! logarithm of the predicted time with that of the part's time. `theta ~ N(0, V)` is of the stack, `V =
//! level 1 1^T + diag(parts)`. `eta ~ N(0, own V)` is of the runs of one model and format: rates of GEMMs and
//! launches differ by shapes and formats. `e ~ N(0, v (1 + sum of scatter_p s_p^2))` is of the layout. The
//! time added by the host or the network differs between layouts, so a log limited by them has little effect
//! on other layouts. `v ~ InvGamma(nu / 2, nu residual^2 / 2)` is of the stack: logs that disagree move other
//! runs less. V is not a multiple of v, so that a single outlier log does not shift everything.
//!
//! The scale `v` is summed over a grid; given the scale, everything is normal (Gelman et al., Bayesian Data
//! Analysis, 3rd ed., sections 5.4, 14.7 and 14.8).

use crate::software::PARTS;
use railwright_spec::Portable as _;
use serde::{Deserialize, Serialize};

/// Factor that multiplies and divides a part's time to determine its share. Central differences over this
/// range cover the corners where the host or a link becomes the bottleneck.
pub const STEP: f64 = 1.15;

/// Grid of a stack's scale: lowest and highest standard deviation, and number of points.
const SCALES: (f64, f64, usize) = (0.004, 0.9, 33);

/// A symmetric matrix over parts.
pub type Matrix = [[f64; PARTS]; PARTS];

type Vector = [f64; PARTS];

/// Prior of prediction errors, as variances of logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// Variance common to all parts of a stack.
    pub level: f64,
    /// Variance of each part in addition to the level, in the order of [`crate::software::Part::ALL`].
    pub parts: [f64; PARTS],
    /// Variance of runs of one model and format, relative to that of the stack.
    pub own: f64,
    /// Growth of the variance of a single run with the square of the share of each part.
    pub scatter: [f64; PARTS],
    /// Standard deviation of the logarithm of a run's time that no part explains.
    pub residual: f64,
    /// Degrees of freedom of the residual: similarity of the scatter of different stacks.
    pub freedom: f64,
}

/// One run: shares of its parts, the logarithm of measured over predicted time, and its group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Growth of the logarithm of its time with that of each part.
    pub shares: [f64; PARTS],
    /// Logarithm of measured over predicted time.
    pub ratio: f64,
    /// Number of its model and format: equal for runs that have both in common.
    pub group: usize,
}

/// Posterior of the parts of some runs, given measured runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posterior {
    /// Mean of the logarithm of each part's factor.
    pub mean: [f64; PARTS],
    /// Covariance of these logarithms.
    pub covariance: Matrix,
    /// Scale of the residual that no part explains.
    pub residual: f64,
    /// Growth of its variance with the squares of shares.
    pub scatter: [f64; PARTS],
}

/// A prediction of the logarithm of measured over predicted time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Its centre.
    pub centre: f64,
    /// Its standard deviation.
    pub scale: f64,
}

/// Variances of a stack's scale, in equal steps of the logarithm.
fn scales() -> impl Iterator<Item = f64> {
    let (least, most, count) = SCALES;
    let step = (most / least).portable_ln() / (count - 1) as f64;
    (0..count).map(move |at| (2.0 * (least.portable_ln() + step * at as f64)).portable_exp())
}

/// Weights with sum 1, from their logarithms; and the logarithm of the sum.
fn normalised(logs: &[f64]) -> (Vec<f64>, f64) {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - most).portable_exp()).sum();
    (logs.iter().map(|log| (log - most).portable_exp() / sum).collect(), most + sum.portable_ln())
}

/// Variance of a run of these shares, relative to the squared scale of the stack.
fn spread(scatter: &Vector, shares: &Vector) -> f64 {
    1.0 + scatter.iter().zip(shares).map(|(growth, share)| growth * share * share).sum::<f64>()
}

impl Prior {
    fn covariance(&self) -> Matrix {
        let mut all = [[self.level; PARTS]; PARTS];
        for (part, own) in self.parts.iter().enumerate() {
            all[part][part] += own;
        }
        all
    }

    /// Logarithms of the prior density of `ln v` on the grid, up to a constant that makes them sum to 1.
    fn scale_weights(&self) -> Vec<f64> {
        let twice = self.freedom * self.residual.powi(2);
        let logs: Vec<f64> = scales().map(|v| -0.5 * (self.freedom * v.portable_ln() + twice / v)).collect();
        let (_, sum) = normalised(&logs);
        logs.iter().map(|log| log - sum).collect()
    }

    /// Posterior for runs of a group, given measured runs. `None` is a group without measured runs. Runs of
    /// one layout are one run: pass their mean.
    pub fn update(&self, runs: &[Observed], group: Option<usize>) -> Posterior {
        let all = self.covariance();
        let towards: Vec<Vector> = runs.iter().map(|run| product(&all, &run.shares)).collect();
        let shared = |a: usize, b: Option<usize>| if Some(a) == b { 1.0 + self.own } else { 1.0 };
        let between = |i: usize, j: usize| {
            dot(&towards[i], &runs[j].shares) * shared(runs[i].group, Some(runs[j].group))
        };
        let with = |i: usize| towards[i].map(|value| value * shared(runs[i].group, group));
        let n = runs.len();
        let mut known: Vec<(Vector, Matrix)> = Vec::new();
        let mut logs = self.scale_weights();
        for (variance, log) in scales().zip(&mut logs) {
            let rows = (0..n).map(|i| {
                let noise =
                    |j: usize| if i == j { variance * spread(&self.scatter, &runs[i].shares) } else { 0.0 };
                (0..n).map(|j| between(i, j) + noise(j)).collect()
            });
            let root = cholesky(rows.collect());
            let solved = |values: Vec<f64>| forward(&root, values);
            let ratios = solved(runs.iter().map(|run| run.ratio).collect());
            *log -= root.iter().enumerate().map(|(i, row)| row[i].portable_ln()).sum::<f64>()
                + 0.5 * ratios.iter().map(|x| x * x).sum::<f64>();
            let columns: [Vec<f64>; PARTS] =
                std::array::from_fn(|part| solved((0..n).map(|i| with(i)[part]).collect()));
            let times = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            let mean = std::array::from_fn(|part| times(&columns[part], &ratios));
            let left = std::array::from_fn(|a| {
                std::array::from_fn(|b| all[a][b] * (1.0 + self.own) - times(&columns[a], &columns[b]))
            });
            known.push((mean, left));
        }
        let (weights, _) = normalised(&logs);
        let mut mean = [0.0; PARTS];
        for (weight, (own, _)) in weights.iter().zip(&known) {
            mean = std::array::from_fn(|part| mean[part] + weight * own[part]);
        }
        let mut covariance = [[0.0; PARTS]; PARTS];
        for (weight, (own, left)) in weights.iter().zip(&known) {
            for (a, row) in covariance.iter_mut().enumerate() {
                for (b, slot) in row.iter_mut().enumerate() {
                    *slot += weight * (left[a][b] + (own[a] - mean[a]) * (own[b] - mean[b]));
                }
            }
        }
        let scale: f64 = weights.iter().zip(scales()).map(|(weight, v)| weight * v.portable_ln()).sum();
        Posterior { mean, covariance, residual: (0.5 * scale).portable_exp(), scatter: self.scatter }
    }

    /// Logarithm of the density of the runs of one stack.
    pub fn evidence(&self, stack: &Stack) -> f64 {
        let all = self.covariance();
        let groups: Vec<Sums> = stack.0.iter().map(|runs| Sums::of(runs, &self.scatter)).collect();
        let (before, ln_before) = inverse(&all);
        let own = self.own.max(1e-9);
        let ln_own = ln_before + PARTS as f64 * own.portable_ln();
        let logs: Vec<f64> = scales()
            .zip(self.scale_weights())
            .map(|(variance, log)| {
                // The group's own factors are summed out first, then those of the stack.
                let (mut precision, mut pull) = (before, [0.0; PARTS]);
                let mut sum = log;
                for group in &groups {
                    let squares = group.squares.map(|row| row.map(|value| value / variance));
                    let products = group.products.map(|value| value / variance);
                    let within: Matrix =
                        std::array::from_fn(|a| std::array::from_fn(|b| squares[a][b] + before[a][b] / own));
                    let (left, ln_within) = inverse(&within);
                    let moved = product(&left, &products);
                    sum += 0.5 * (dot(&moved, &products) - group.ratios / variance - ln_within - ln_own)
                        - 0.5
                            * (group.count * (2.0 * std::f64::consts::PI * variance).portable_ln()
                                + group.spreads);
                    let through = times(&squares, &left);
                    let taken = times(&through, &squares);
                    let back = product(&squares, &moved);
                    for a in 0..PARTS {
                        pull[a] += products[a] - back[a];
                        for b in 0..PARTS {
                            precision[a][b] += squares[a][b] - taken[a][b];
                        }
                    }
                }
                let (left, ln_after) = inverse(&precision);
                sum + 0.5 * (dot(&product(&left, &pull), &pull) - ln_after - ln_before)
            })
            .collect();
        normalised(&logs).1
    }
}

impl Posterior {
    /// The factors of the parts' times.
    pub fn factors(&self) -> [f64; PARTS] {
        self.mean.map(f64::portable_exp)
    }

    /// Predictive distribution of measured over predicted time for a run of these shares, as logarithm.
    pub fn predict(&self, shares: [f64; PARTS]) -> Predicted {
        let known = dot(&product(&self.covariance, &shares), &shares).max(0.0);
        Predicted { centre: dot(&self.mean, &shares), scale: (known + self.noise(&shares)).sqrt() }
    }

    fn noise(&self, shares: &Vector) -> f64 {
        self.residual.powi(2) * spread(&self.scatter, shares)
    }

    /// Posterior after a further run of these shares and of the same group, without its result: the
    /// covariance shrinks by `C o o^T C / (noise + o^T C o)`.
    #[must_use]
    pub fn observing(&self, other: [f64; PARTS]) -> Self {
        let towards = product(&self.covariance, &other);
        let gained = self.noise(&other) + dot(&towards, &other);
        let mut covariance = self.covariance;
        for (row, a) in covariance.iter_mut().zip(&towards) {
            for (slot, b) in row.iter_mut().zip(&towards) {
                *slot -= a * b / gained;
            }
        }
        Self { covariance, ..*self }
    }
}

/// The runs of a stack by group.
#[derive(Clone, Debug, Default)]
pub struct Stack(Vec<Vec<Observed>>);

impl Stack {
    /// Groups runs by their group number.
    pub fn of(runs: &[Observed]) -> Self {
        let mut groups: std::collections::BTreeMap<usize, Vec<Observed>> = std::collections::BTreeMap::new();
        for run in runs {
            groups.entry(run.group).or_default().push(*run);
        }
        Self(groups.into_values().collect())
    }
}

/// Sums over runs, each over its [`spread`].
struct Sums {
    count: f64,
    squares: Matrix,
    products: Vector,
    ratios: f64,
    spreads: f64,
}

impl Sums {
    fn of(runs: &[Observed], scatter: &Vector) -> Self {
        let (squares, products) = ([[0.0; PARTS]; PARTS], [0.0; PARTS]);
        let mut sums = Self { count: runs.len() as f64, squares, products, ratios: 0.0, spreads: 0.0 };
        for run in runs {
            let over = spread(scatter, &run.shares);
            sums.ratios += run.ratio * run.ratio / over;
            sums.spreads += over.portable_ln();
            for (a, row) in sums.squares.iter_mut().enumerate() {
                sums.products[a] += run.shares[a] * run.ratio / over;
                for (slot, share) in row.iter_mut().zip(&run.shares) {
                    *slot += run.shares[a] * share / over;
                }
            }
        }
        sums
    }
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn product(matrix: &Matrix, vector: &Vector) -> Vector {
    matrix.map(|row| dot(&row, vector))
}

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    a.map(|row| std::array::from_fn(|column| (0..PARTS).map(|k| row[k] * b[k][column]).sum()))
}

/// Inverse of a positive definite matrix and the logarithm of its determinant (Gauss-Jordan: pivots on the
/// diagonal are positive).
fn inverse(matrix: &Matrix) -> (Matrix, f64) {
    let mut left = *matrix;
    let mut right = [[0.0; PARTS]; PARTS];
    for (at, row) in right.iter_mut().enumerate() {
        row[at] = 1.0;
    }
    let mut determinant = 0.0;
    for at in 0..PARTS {
        let pivot = left[at][at].max(1e-300);
        determinant += pivot.portable_ln();
        for column in 0..PARTS {
            left[at][column] /= pivot;
            right[at][column] /= pivot;
        }
        for row in 0..PARTS {
            let factor = left[row][at];
            if row == at || factor == 0.0 {
                continue;
            }
            for column in 0..PARTS {
                left[row][column] -= factor * left[at][column];
                right[row][column] -= factor * right[at][column];
            }
        }
    }
    (right, determinant)
}

/// Cholesky factor: the lower triangle whose product with its transpose is a positive definite matrix.
fn cholesky(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for i in 0..matrix.len() {
        for j in 0..=i {
            let before: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let left = matrix[i][j] - before;
            matrix[i][j] = if i == j { left.max(1e-300).sqrt() } else { left / matrix[j][j] };
        }
    }
    matrix
}

/// Solves with a lower triangle.
fn forward(root: &[Vec<f64>], mut values: Vec<f64>) -> Vec<f64> {
    for i in 0..values.len() {
        let before: f64 = (0..i).map(|k| root[i][k] * values[k]).sum();
        values[i] = (values[i] - before) / root[i][i];
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: Prior = Prior {
        level: 0.01,
        parts: [0.0025, 0.005, 0.025, 0.02],
        own: 0.5,
        scatter: [0.0, 0.0, 20.0, 5.0],
        residual: 0.05,
        freedom: 4.0,
    };
    const COMPUTE: [f64; PARTS] = [0.9, 0.05, 0.0, 0.05];
    const NETWORK: [f64; PARTS] = [0.3, 0.05, 0.0, 0.65];

    fn run(shares: [f64; PARTS], ratio: f64) -> Observed {
        Observed { shares, ratio, group: 0 }
    }

    #[test]
    fn the_inverse_and_the_root_are_right() {
        let matrix = PRIOR.covariance();
        let (back, determinant) = inverse(&matrix);
        let unit = times(&back, &matrix);
        let root = cholesky(matrix.iter().map(|row| row.to_vec()).collect());
        for (at, row) in unit.iter().enumerate() {
            for (other, value) in row.iter().enumerate() {
                assert!((value - f64::from(u8::from(at == other))).abs() < 1e-9);
                let again: f64 = (0..=at.min(other)).map(|k| root[at][k] * root[other][k]).sum();
                assert!((again - matrix[at][other]).abs() < 1e-12);
            }
        }
        // det(D + l 1 1^T) = det(D) (1 + l sum 1/d).
        let expected = 0.0025 * 0.005 * 0.025 * 0.02 * (1.0 + 0.01 * (400.0 + 200.0 + 40.0 + 50.0));
        assert!((determinant - f64::ln(expected)).abs() < 1e-9);
    }

    /// A run that takes 20% longer changes all parts, mostly its largest ones. Similar runs change most, and
    /// their spread shrinks most.
    #[test]
    fn a_run_moves_what_fills_it_and_narrows_what_is_like_it() {
        let before = PRIOR.update(&[], Some(0));
        let after = PRIOR.update(&[run(COMPUTE, 1.2_f64.ln())], Some(0));
        assert_eq!(before.mean, [0.0; PARTS]);
        let [alike, unlike] = [COMPUTE, NETWORK].map(|shares| after.predict(shares));
        assert!(alike.centre > unlike.centre && unlike.centre > 0.05, "{alike:?} {unlike:?}");
        assert!(alike.centre < 1.2_f64.ln());
        let narrowed =
            |shares| before.observing(COMPUTE).predict(shares).scale / before.predict(shares).scale;
        assert!(narrowed(COMPUTE) < narrowed(NETWORK) && narrowed(NETWORK) < 1.0);
        // The converse: a second run on the network distinguishes them.
        let both = PRIOR.update(&[run(COMPUTE, 0.1), run(NETWORK, 0.4)], Some(0));
        assert!(both.mean[3] > both.mean[0] + 0.1, "{:?}", both.mean);
    }

    /// Runs of another model or format change less, and their prediction has a wider interval.
    #[test]
    fn other_models_follow_less() {
        let runs = [run(COMPUTE, 0.2), run(COMPUTE, 0.21)];
        let own = PRIOR.update(&runs, Some(0)).predict(COMPUTE);
        let other = PRIOR.update(&runs, None).predict(COMPUTE);
        assert!(own.centre > 1.2 * other.centre && other.centre > 0.05, "{own:?} {other:?}");
        assert!(own.scale < other.scale, "{own:?} {other:?}");
        assert_eq!(PRIOR.update(&runs, Some(7)), PRIOR.update(&runs, None));
    }

    /// A log limited by the host changes the prediction of a compute-bound run less than a compute-bound log
    /// does.
    #[test]
    fn a_log_that_scatters_moves_less() {
        let host = [0.2, 0.05, 0.75, 0.0];
        let moved = |shares| PRIOR.update(&[run(shares, 0.4)], Some(0)).predict(COMPUTE).centre;
        assert!(moved(host) < 0.5 * moved(COMPUTE), "{} {}", moved(host), moved(COMPUTE));
    }

    /// Runs that agree narrow later predictions more than runs that scatter about the same mean, and change
    /// them more.
    #[test]
    fn scatter_widens() {
        let of = |ratios: [f64; 3]| {
            PRIOR.update(&ratios.map(|ratio| run(COMPUTE, ratio)), Some(0)).predict(COMPUTE)
        };
        let (agree, scatter) = (of([0.1, 0.11, 0.09]), of([0.5, -0.4, 0.2]));
        assert!(scatter.scale > 2.0 * agree.scale, "{scatter:?} {agree:?}");
        assert!(scatter.centre < agree.centre, "{scatter:?} {agree:?}");
    }

    /// The density of one run is the sum over scales of normal densities with the variance of its prediction.
    #[test]
    fn evidence_of_one_run_is_a_sum_of_normal_densities() {
        let (shares, ratio) = ([0.5, 0.2, 0.2, 0.1], 0.3);
        let known = dot(&product(&PRIOR.covariance(), &shares), &shares) * (1.0 + PRIOR.own);
        let density: f64 = scales()
            .zip(PRIOR.scale_weights())
            .map(|(v, log)| {
                let variance: f64 = known + v * spread(&PRIOR.scatter, &shares);
                log.exp() * (-0.5 * ratio * ratio / variance).exp()
                    / (2.0 * std::f64::consts::PI * variance).sqrt()
            })
            .sum();
        let found = PRIOR.evidence(&Stack::of(&[run(shares, ratio)]));
        assert!((found - density.ln()).abs() < 1e-9, "{found} {}", density.ln());
    }

    /// Two calculations of the same density: sums over groups, and the determinant of the whole covariance at
    /// each scale.
    #[test]
    fn evidence_of_groups_is_that_of_the_whole_covariance() {
        let runs = [
            run(COMPUTE, 0.2),
            run(NETWORK, -0.1),
            Observed { group: 3, ..run(COMPUTE, 0.05) },
            Observed { group: 3, ..run([0.4, 0.1, 0.3, 0.2], 0.3) },
        ];
        let all = PRIOR.covariance();
        let logs: Vec<f64> = scales()
            .zip(PRIOR.scale_weights())
            .map(|(v, log)| {
                let rows = runs.iter().map(|a| {
                    let one = |b: &Observed| {
                        let own = if a.group == b.group { 1.0 + PRIOR.own } else { 1.0 };
                        let noise = if a == b { v * spread(&PRIOR.scatter, &a.shares) } else { 0.0 };
                        dot(&product(&all, &a.shares), &b.shares) * own + noise
                    };
                    runs.iter().map(one).collect()
                });
                let root = cholesky(rows.collect());
                let solved = forward(&root, runs.iter().map(|run| run.ratio).collect());
                log - root.iter().enumerate().map(|(i, row)| row[i].ln()).sum::<f64>()
                    - 0.5 * solved.iter().map(|x| x * x).sum::<f64>()
                    - 2.0 * (2.0 * std::f64::consts::PI).ln()
            })
            .collect();
        let found = PRIOR.evidence(&Stack::of(&runs));
        assert!((found - normalised(&logs).1).abs() < 1e-8, "{found} {}", normalised(&logs).1);
    }

    /// Simulated stacks: their own prior predicts their other runs better after logs than before.
    #[test]
    fn logs_do_not_make_predictions_worse_on_the_whole() {
        let mut state = 15_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let mut errors: [Vec<f64>; 3] = Default::default();
        for _ in 0..400 {
            let theta: [f64; PARTS] = PRIOR.parts.map(|variance| variance.sqrt() * normal());
            let shared = PRIOR.level.sqrt() * normal();
            let runs: Vec<Observed> = (0..6)
                .map(|at| {
                    let shares = [COMPUTE, NETWORK, [0.2, 0.05, 0.75, 0.0]][at % 3];
                    let noise = PRIOR.residual * spread(&PRIOR.scatter, &shares).sqrt() * normal();
                    let moved: f64 = shares.iter().zip(&theta).map(|(s, t)| s * (t + shared)).sum();
                    run(shares, moved + noise)
                })
                .collect();
            for (place, logs) in [0, 1, 3].into_iter().enumerate() {
                let known = PRIOR.update(&runs[..logs], Some(0));
                errors[place]
                    .extend(runs[3..].iter().map(|run| (run.ratio - known.predict(run.shares).centre).abs()));
            }
        }
        let ninth = |errors: &mut Vec<f64>| {
            errors.sort_by(f64::total_cmp);
            errors[errors.len() * 9 / 10]
        };
        let [none, one, three] = errors.each_mut().map(ninth);
        assert!(three < one && one < none, "{none} {one} {three}");
    }
}
