//! Validity of times.
//!
//! Responsible for: bounds within which no difference and no sum of times overflows, and the first row that
//! violates them. Readers drop such rows, with a note; a saved profile with one is damaged. Times are never
//! corrected.

/// Maximum absolute value of a time: later ones would be after the year 2100. Within it, differences of times
/// never overflow.
pub const LIMIT: i64 = i64::MAX / 2;

/// Reason why a row is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impossible {
    /// It ends before it starts.
    Negative,
    /// It starts or ends outside [`LIMIT`].
    Beyond,
    /// It starts before the previous row.
    Unordered,
    /// With it the durations of all rows exceed [`LIMIT`].
    TooMuch,
}

impl Impossible {
    /// Description, to follow "row 5".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Negative => "ends before it starts",
            Self::Beyond => "is outside the years 1824 to 2116",
            Self::Unordered => "starts before the previous row",
            Self::TooMuch => "raises the sum of durations above 146 years",
        }
    }
}

/// The sum of durations so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    sum: i64,
}

impl Times {
    /// Adds the next row, unless it is impossible.
    pub fn take(&mut self, start: i64, end: i64) -> Result<(), Impossible> {
        if end < start {
            return Err(Impossible::Negative);
        }
        if start < -LIMIT || end > LIMIT {
            return Err(Impossible::Beyond);
        }
        // Both lie within the limit, so the difference does not overflow.
        let sum = self.sum.checked_add(end - start).filter(|&sum| sum <= LIMIT);
        self.sum = sum.ok_or(Impossible::TooMuch)?;
        Ok(())
    }

    /// The first impossible row, with its reason; rows are in order of start.
    pub fn first_impossible(starts: &[i64], ends: &[i64]) -> Option<(usize, Impossible)> {
        let (mut times, mut last) = (Self::default(), i64::MIN);
        for (row, (&start, &end)) in starts.iter().zip(ends).enumerate() {
            if let Err(why) = times.take(start, end) {
                return Some((row, why));
            }
            if start < last {
                return Some((row, Impossible::Unordered));
            }
            last = start;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_cannot_be_is_found() {
        let first = |starts: &[i64], ends: &[i64]| Times::first_impossible(starts, ends);
        assert_eq!(first(&[], &[]), None);
        assert_eq!(first(&[-LIMIT, 0, 5], &[-LIMIT, 9, 5]), None);
        assert_eq!(first(&[0, 5], &[1, 4]), Some((1, Impossible::Negative)));
        assert_eq!(first(&[i64::MIN], &[i64::MIN]), Some((0, Impossible::Beyond)));
        assert_eq!(first(&[i64::MAX - 1], &[i64::MAX]), Some((0, Impossible::Beyond)));
        assert_eq!(first(&[5, 4], &[6, 6]), Some((1, Impossible::Unordered)));
        assert_eq!(first(&[0, 0], &[LIMIT, LIMIT]), Some((1, Impossible::TooMuch)));
    }
}
