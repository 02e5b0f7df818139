//! Number of cases of property tests whose cases are slower than most.
//!
//! Responsible for: one rule, so that `PROPTEST_CASES` raises every property test. A configuration made with
//! `ProptestConfig::with_cases` ignores this variable.

use proptest::test_runner::Config;

/// Cases of a property test without `PROPTEST_CASES` (proptest's own default).
const DEFAULT: u64 = 256;

/// Configuration of a property test with `usual` cases. `PROPTEST_CASES` scales them by its ratio to
/// proptest's default of 256: with 20,000, 12 usual cases become 937. At least one case.
pub fn cases(usual: u32) -> Config {
    let default = Config::default();
    Config { cases: scaled(usual, default.cases), ..default }
}

fn scaled(usual: u32, requested: u32) -> u32 {
    let cases = u64::from(usual) * u64::from(requested) / DEFAULT;
    u32::try_from(cases).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_cases_scale_the_usual_number() {
        assert_eq!(scaled(48, 256), 48);
        assert_eq!(scaled(12, 20_000), 937);
        assert_eq!(scaled(4, 1), 1);
        assert_eq!(scaled(400, u32::MAX), u32::MAX);
    }

    /// Without the variable, proptest's default is the one that the ratio is based on.
    #[test]
    fn the_default_is_proptests() {
        if std::env::var_os("PROPTEST_CASES").is_none() {
            assert_eq!(u64::from(Config::default().cases), DEFAULT);
        }
    }
}
