//! Minimization over positive constants, one after the other.
//!
//! Responsible for: the search alone. Each loss belongs to its fit.

/// Steps of a search and the gain that counts as one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// First step, as a share of the constant.
    pub(crate) first: f64,
    /// The search ends at a step of this size or smaller.
    pub(crate) finest: f64,
    /// Minimum decrease of the loss.
    pub(crate) gain: f64,
}

/// Multiplies and divides the constants in turn by `1 + step`, within their bounds. The step is halved when
/// no constant improves. Returns the least loss.
pub(crate) fn descend<E>(
    at: &mut [f64],
    bounds: &[(f64, f64)],
    steps: Steps,
    mut loss: impl FnMut(&[f64]) -> Result<f64, E>,
) -> Result<f64, E> {
    let mut best = loss(at)?;
    let mut step = steps.first;
    while step > steps.finest && !at.is_empty() {
        let mut improved = false;
        for (place, &(least, most)) in bounds.iter().enumerate().take(at.len()) {
            let now = at[place];
            for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                let tried = (now * factor).clamp(least, most);
                if tried.to_bits() == now.to_bits() {
                    continue;
                }
                at[place] = tried;
                let found = loss(at)?;
                if found < best - steps.gain {
                    (best, improved) = (found, true);
                    break;
                }
                at[place] = now;
            }
        }
        if !improved {
            step /= 2.0;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_within_the_bounds_is_found() {
        let steps = Steps { first: 0.5, finest: 1e-4, gain: 1e-12 };
        let mut at = [1.0, 1.0];
        let loss = |at: &[f64]| -> Result<f64, String> { Ok((at[0] - 3.0).powi(2) + (at[1] - 9.0).powi(2)) };
        let least = descend(&mut at, &[(0.1, 10.0), (0.1, 5.0)], steps, loss).expect("a loss");
        assert!((at[0] - 3.0).abs() < 1e-3 && at[1] == 5.0, "{at:?}");
        assert!((least - 16.0).abs() < 1e-5, "{least}");
        let refused = descend(&mut at, &[(0.1, 10.0); 2], steps, |_| Err("no loss"));
        assert_eq!(refused, Err("no loss"));
    }
}
