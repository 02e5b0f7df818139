//! What measured step times tell of the times of a step's parts: a Bayesian linear model of logarithms.
//!
//! Responsible for: the prior (how far the level of a stack, its parts and single runs are off), its update by measured over predicted
//! times, and the spread of a prediction under it. Refuses to price runs: shares of parts and ratios are given.
//!
//! `ln(measured / predicted) = sum over parts of s_p theta_p + e`, with `s_p` the growth of the logarithm of the predicted time with that of
//! the part's time. Prior: `theta ~ N(0, v V)`, `V = level 1 1^T + diag(parts)`, `e ~ N(0, v)` for each run, `v ~ InvGamma(nu / 2, nu
//! residual^2 / 2)`. All parts share a level, so the total of a step can be off as a whole. The normal-inverse-gamma prior is conjugate
//! (Gelman et al., Bayesian Data Analysis, 3rd ed., section 14.8), and predictions have Student's distribution: runs that agree narrow it,
//! runs that scatter widen it.

use crate::software::PARTS;
use serde::{Deserialize, Serialize};

/// Factor by which a part's time is multiplied and divided to find its share: central differences over this range look past the corners where
/// the host or a link begins to bind.
pub const STEP: f64 = 1.15;

/// A symmetric matrix over parts.
pub type Matrix = [[f64; PARTS]; PARTS];

/// How far predictions are off before anything was measured. Variances are in units of the residual variance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// Variance of what all parts share.
    pub level: f64,
    /// Variance of each part beside the level, in the order of [`crate::software::Part::ALL`].
    pub parts: [f64; PARTS],
    /// Standard deviation of the logarithm of a run's time that no part explains.
    pub residual: f64,
    /// Degrees of freedom behind it: how alike stacks scatter.
    pub freedom: f64,
}

/// One run: shares of its parts, and the logarithm of measured over predicted time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Growth of the logarithm of its time with that of each part.
    pub shares: [f64; PARTS],
    /// Logarithm of measured over predicted time.
    pub ratio: f64,
}

/// What is known of the parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posterior {
    /// Mean of the logarithm of each part's factor.
    pub mean: [f64; PARTS],
    /// Covariance of these logarithms over [`Self::residual`] squared.
    pub covariance: Matrix,
    /// Scale of what no part explains.
    pub residual: f64,
    /// Degrees of freedom.
    pub freedom: f64,
}

/// A prediction of the logarithm of measured over predicted time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Its centre.
    pub centre: f64,
    /// Its scale: the standard deviation, but for the factor that few degrees of freedom add.
    pub scale: f64,
}

impl Prior {
    fn covariance(&self) -> Matrix {
        let mut all = [[self.level; PARTS]; PARTS];
        for (part, own) in self.parts.iter().enumerate() {
            all[part][part] += own;
        }
        all
    }

    /// What is known once some runs were measured. Runs of one layout are one run: give their mean.
    pub fn update(&self, runs: &[Observed]) -> Posterior {
        self.of(&Sums::of(runs)).0
    }

    /// The posterior for sums over runs, and the logarithm of the determinant of its covariance over that of the prior.
    fn of(&self, sums: &Sums) -> (Posterior, f64) {
        let before = self.covariance();
        let (mut precision, determinant_before) = inverse(&before);
        for (row, squares) in precision.iter_mut().zip(&sums.squares) {
            for (slot, square) in row.iter_mut().zip(squares) {
                *slot += square;
            }
        }
        let (covariance, determinant_precision) = inverse(&precision);
        let mean = product(&covariance, &sums.products);
        let explained: f64 = mean.iter().zip(&sums.products).map(|(m, p)| m * p).sum();
        let freedom = self.freedom + sums.count;
        let left = (sums.ratios - explained).max(0.0);
        let variance = (self.freedom * self.residual.powi(2) + left) / freedom;
        let posterior = Posterior { mean, covariance, residual: variance.sqrt(), freedom };
        (posterior, -(determinant_precision.ln() + determinant_before.ln()))
    }

    /// Logarithm of the density of the runs of one stack: a multivariate Student distribution.
    pub fn evidence(&self, sums: &Sums) -> f64 {
        let (posterior, determinants) = self.of(sums);
        let n = sums.count;
        let (before, after) = (self.freedom * self.residual.powi(2), posterior.residual.powi(2));
        ln_gamma(f64::midpoint(self.freedom, n))
            - ln_gamma(self.freedom / 2.0)
            - n / 2.0 * std::f64::consts::PI.ln()
            + 0.5 * determinants
            + self.freedom / 2.0 * before.ln()
            - f64::midpoint(self.freedom, n) * (after * posterior.freedom).ln()
    }
}

impl Posterior {
    /// The factors of the parts' times.
    pub fn factors(&self) -> [f64; PARTS] {
        self.mean.map(f64::exp)
    }

    /// What a run of these shares is expected to take over what it is predicted to take without the factors.
    pub fn predict(&self, shares: [f64; PARTS]) -> Predicted {
        let spread: f64 = product(&self.covariance, &shares).iter().zip(&shares).map(|(a, b)| a * b).sum();
        let centre = self.mean.iter().zip(&shares).map(|(m, s)| m * s).sum();
        Predicted { centre, scale: self.residual * (1.0 + spread.max(0.0)).sqrt() }
    }

    /// What is known once a run of these shares was measured, but for what it will show: the covariance shrinks by
    /// `C o o^T C / (1 + o^T C o)`.
    #[must_use]
    pub fn observing(&self, other: [f64; PARTS]) -> Self {
        let towards = product(&self.covariance, &other);
        let gained = 1.0 + towards.iter().zip(&other).map(|(a, b)| a * b).sum::<f64>();
        let mut covariance = self.covariance;
        for (row, a) in covariance.iter_mut().zip(&towards) {
            for (slot, b) in row.iter_mut().zip(&towards) {
                *slot -= a * b / gained;
            }
        }
        Self { covariance, ..*self }
    }
}

/// Sums over the runs of a stack: all that a posterior depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    count: f64,
    squares: Matrix,
    products: [f64; PARTS],
    ratios: f64,
}

impl Sums {
    /// Adds runs up.
    pub fn of(runs: &[Observed]) -> Self {
        let mut sums = Self::default();
        for run in runs {
            sums.count += 1.0;
            sums.ratios += run.ratio * run.ratio;
            for (a, row) in sums.squares.iter_mut().enumerate() {
                sums.products[a] += run.shares[a] * run.ratio;
                for (slot, share) in row.iter_mut().zip(&run.shares) {
                    *slot += run.shares[a] * share;
                }
            }
        }
        sums
    }
}

fn product(matrix: &Matrix, vector: &[f64; PARTS]) -> [f64; PARTS] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

/// Inverse and determinant of a positive definite matrix (Gauss-Jordan, pivots on the diagonal are positive for such).
fn inverse(matrix: &Matrix) -> (Matrix, f64) {
    let mut left = *matrix;
    let mut right = [[0.0; PARTS]; PARTS];
    for (at, row) in right.iter_mut().enumerate() {
        row[at] = 1.0;
    }
    let mut determinant = 1.0;
    for at in 0..PARTS {
        let pivot = left[at][at].max(1e-300);
        determinant *= pivot;
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

/// Logarithm of the gamma function for positive arguments: Stirling's series after a shift to 8 and more (error below 1e-9).
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 8.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let series = inverse / 12.0 - inverse.powi(3) / 360.0 + inverse.powi(5) / 1260.0;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: Prior = Prior { level: 4.0, parts: [1.0, 2.0, 10.0, 3.0], residual: 0.05, freedom: 4.0 };

    fn run(shares: [f64; PARTS], ratio: f64) -> Observed {
        Observed { shares, ratio }
    }

    #[test]
    fn the_gamma_function_and_the_inverse_are_right() {
        assert!((ln_gamma(5.0) - 24.0_f64.ln()).abs() < 1e-9);
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-9);
        let matrix = PRIOR.covariance();
        let (back, determinant) = inverse(&matrix);
        for (at, row) in back.iter().enumerate() {
            let unit = product(&matrix, row);
            for (other, value) in unit.iter().enumerate() {
                assert!((value - f64::from(u8::from(at == other))).abs() < 1e-9);
            }
        }
        // det(D + l 1 1^T) = det(D) (1 + l sum 1/d).
        let expected = 60.0 * (1.0 + 4.0 * (1.0 + 0.5 + 0.1 + 1.0 / 3.0));
        assert!((determinant / expected - 1.0).abs() < 1e-12);
    }

    /// One run that takes 20% longer moves all parts, those most that fill it; runs like it follow most, and their spread shrinks most.
    #[test]
    fn a_run_moves_what_fills_it_and_narrows_what_is_like_it() {
        let compute = [0.9, 0.05, 0.0, 0.05];
        let network = [0.3, 0.05, 0.0, 0.65];
        let before = PRIOR.update(&[]);
        let after = PRIOR.update(&[run(compute, 1.2_f64.ln())]);
        assert_eq!(before.mean, [0.0; PARTS]);
        let [alike, unlike] = [compute, network].map(|shares| after.predict(shares));
        assert!(alike.centre > unlike.centre && unlike.centre > 0.05, "{alike:?} {unlike:?}");
        assert!(alike.centre < 1.2_f64.ln());
        let narrowed =
            |shares| before.observing(compute).predict(shares).scale / before.predict(shares).scale;
        // How sure the parts are does not depend on what the run shows.
        let planned = before.observing(compute).covariance;
        for (row, other) in planned.iter().zip(&after.covariance) {
            assert!(row.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-9));
        }
        assert!(narrowed(compute) < narrowed(network) && narrowed(network) < 1.0);
        // The same from the other side: a second run on the network tells them apart.
        let both = PRIOR.update(&[run(compute, 0.2), run(network, 0.6)]);
        assert!(both.mean[3] > both.mean[0] + 0.2, "{:?}", both.mean);
    }

    /// Runs that agree make later predictions surer than runs that scatter.
    #[test]
    fn scatter_widens() {
        let shares = [0.8, 0.1, 0.0, 0.1];
        let of = |ratios: [f64; 3]| PRIOR.update(&ratios.map(|ratio| run(shares, ratio))).predict(shares);
        let (agree, scatter) = (of([0.1, 0.11, 0.09]), of([0.4, -0.2, 0.1]));
        assert!(scatter.scale > 2.0 * agree.scale, "{scatter:?} {agree:?}");
    }

    /// The density of one run is that of Student's distribution with the scale of its prediction.
    #[test]
    fn evidence_of_one_run_is_students_density() {
        let (shares, ratio) = ([0.5, 0.2, 0.2, 0.1], 0.3);
        let scale = PRIOR.update(&[]).predict(shares).scale;
        let nu = PRIOR.freedom;
        let t = ratio / scale;
        let density = ln_gamma(f64::midpoint(nu, 1.0))
            - ln_gamma(nu / 2.0)
            - 0.5 * (nu * std::f64::consts::PI).ln()
            - scale.ln()
            - f64::midpoint(nu, 1.0) * (1.0 + t * t / nu).ln();
        assert!((PRIOR.evidence(&Sums::of(&[run(shares, ratio)])) - density).abs() < 1e-9);
    }

    /// The density of two runs is that of the first times that of the second once the first is known.
    #[test]
    fn evidence_factorises() {
        let (one, two) = (run([0.9, 0.05, 0.0, 0.05], 0.2), run([0.4, 0.1, 0.3, 0.2], -0.1));
        let after = PRIOR.update(&[one]);
        let predicted = after.predict(two.shares);
        let t = (two.ratio - predicted.centre) / predicted.scale;
        let nu = after.freedom;
        let second = ln_gamma(f64::midpoint(nu, 1.0))
            - ln_gamma(nu / 2.0)
            - 0.5 * (nu * std::f64::consts::PI).ln()
            - predicted.scale.ln()
            - f64::midpoint(nu, 1.0) * (1.0 + t * t / nu).ln();
        assert!(
            (PRIOR.evidence(&Sums::of(&[one, two])) - PRIOR.evidence(&Sums::of(&[one])) - second).abs()
                < 1e-9
        );
    }
}
