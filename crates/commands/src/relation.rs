//! Relations between the settings of a request, for every front end.

use railwright_spec::problem::Problem;

/// Refuses a setting without the one that it changes. Settings are named by their flags.
///
/// # Errors
///
/// `is_set` without `is_needed_set`.
pub fn needs((flag, is_set): (&str, bool), (needed, is_needed_set): (&str, bool)) -> Result<(), Problem> {
    if is_set && !is_needed_set {
        let problem = Problem::new(format!("no effect without {needed}")).in_file(flag);
        return Err(problem.hint(format!("set {needed}, or omit {flag}")));
    }
    Ok(())
}

/// Refuses a number outside its range.
///
/// # Errors
///
/// A number that is too small or too large.
pub fn within(flag: &str, number: u64, range: std::ops::RangeInclusive<u64>) -> Result<(), Problem> {
    if range.contains(&number) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    let most = if most == u64::MAX { " or more".to_owned() } else { format!(" to {most}") };
    Err(Problem::new(format!("expected {least}{most}, found {number}")).in_file(flag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_without_its_subject_is_refused() {
        assert!(needs(("--set", false), ("--run", false)).is_ok());
        assert!(needs(("--set", true), ("--run", true)).is_ok());
        let problem = needs(("--set", true), ("--run", false)).unwrap_err();
        assert!(problem.to_string().contains("--set") && problem.message.contains("--run"));
    }

    #[test]
    fn a_range_includes_both_ends() {
        assert!(within("--depth", 1, 1..=4).is_ok() && within("--depth", 4, 1..=4).is_ok());
        assert_eq!(within("--depth", 5, 1..=4).unwrap_err().message, "expected 1 to 4, found 5");
        assert_eq!(within("--grow-to", 0, 1..=u64::MAX).unwrap_err().message, "expected 1 or more, found 0");
    }
}
