//! Whole numbers of a search dimension.
//!
//! Responsible for: lists, bounds, and their intersection with the values suggested by a model and a cluster.
//! Independent of the meaning of the numbers.

/// Allowed numbers of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Suggested numbers within bounds (both ends included).
    Between(u64, u64),
    /// Listed numbers, ascending, suggested or not.
    Listed(Vec<u64>),
}

impl Counts {
    /// All suggested numbers.
    pub const ANY: Self = Self::Between(0, u64::MAX);

    /// One value.
    pub fn one(value: u64) -> Self {
        Self::Listed(vec![value])
    }

    /// Tests whether a number is allowed.
    pub fn allows(&self, value: u64) -> bool {
        match self {
            Self::Between(least, most) => (*least..=*most).contains(&value),
            Self::Listed(list) => list.contains(&value),
        }
    }

    /// These numbers under a restriction: bounds are intersected with them, and a list replaces them. `None`
    /// if bounds leave no number.
    pub fn narrowed(&self, restriction: Self) -> Option<Self> {
        let Self::Between(low, high) = restriction else { return Some(restriction) };
        let narrowed = match self {
            Self::Between(least, most) => Self::Between(low.max(*least), high.min(*most)),
            Self::Listed(list) => {
                Self::Listed(list.iter().copied().filter(|n| (low..=high).contains(n)).collect())
            }
        };
        let is_empty = match &narrowed {
            Self::Between(least, most) => least > most,
            Self::Listed(list) => list.is_empty(),
        };
        (!is_empty).then_some(narrowed)
    }

    /// The numbers to try, from the suggested ones.
    pub fn of(&self, suggested: impl IntoIterator<Item = u64>) -> Vec<u64> {
        match self {
            Self::Between(..) => suggested.into_iter().filter(|n| self.allows(*n)).collect(),
            Self::Listed(list) => list.clone(),
        }
    }

    /// Tests whether no restriction applies.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Between(0, u64::MAX))
    }
}

/// The divisors of a number, ascending. Validation limits the number, and its root limits the loop.
pub(super) fn divisors(n: u64) -> Vec<u64> {
    let mut low = Vec::new();
    let mut high = Vec::new();
    let mut d = 1;
    while d * d <= n {
        if n.is_multiple_of(d) {
            low.push(d);
            if d * d != n {
                high.push(n / d);
            }
        }
        d += 1;
    }
    low.extend(high.into_iter().rev());
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_filter_what_is_suggested_and_lists_replace_it() {
        assert_eq!(Counts::Between(2, 8).of([1, 2, 4, 8, 16]), [2, 4, 8]);
        assert_eq!(Counts::Listed(vec![3, 5]).of([1, 2]), [3, 5]);
        assert!(Counts::ANY.is_open() && !Counts::Between(1, u64::MAX).is_open());
    }

    #[test]
    fn bounds_stay_within_what_is_allowed() {
        let single = Counts::Between(1, 1);
        assert_eq!(single.narrowed(Counts::Between(1, 8)), Some(single.clone()));
        assert_eq!(single.narrowed(Counts::Between(2, 8)), None);
        assert_eq!(single.narrowed(Counts::Listed(vec![2])), Some(Counts::Listed(vec![2])));
        assert_eq!(Counts::Listed(vec![1, 4]).narrowed(Counts::Between(2, 8)), Some(Counts::Listed(vec![4])));
        assert_eq!(Counts::Listed(Vec::new()).narrowed(Counts::Between(1, 2)), None);
    }

    #[test]
    fn divisors_ascend() {
        assert_eq!(divisors(36), [1, 2, 3, 4, 6, 9, 12, 18, 36]);
        assert_eq!(divisors(1), [1]);
        assert_eq!(divisors(7), [1, 7]);
    }
}
