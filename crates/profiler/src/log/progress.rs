//! Progress bars of tqdm: completed steps, all steps, and the time since the start.
//!
//! Responsible for: the three numbers of ` 10%|█ | 10/100 [00:21<03:09, 2.13s/it]`. Ignores the rate, a
//! moving average over unknown steps.

/// A progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    /// Number of completed steps.
    pub(super) done: u64,
    /// Number of all steps.
    pub(super) total: u64,
    /// Whole seconds since the start.
    pub(super) elapsed: u64,
}

impl Bar {
    /// The last bar of a line.
    pub(super) fn of(line: &str) -> Option<Self> {
        let (count, clock) = line.rsplit_once('<')?.0.rsplit_once(" [")?;
        let elapsed = seconds(clock)?;
        let (done, total) = count.rsplit(['|', ' ', ':']).find(|word| !word.is_empty())?.split_once('/')?;
        Some(Self { done: done.parse().ok()?, total: total.parse().ok()?, elapsed })
    }
}

/// Seconds of `02:13`, `1:02:13` or `1 day, 1:02:13`.
fn seconds(clock: &str) -> Option<u64> {
    let (days, clock) = match clock.split_once(" day") {
        Some((days, rest)) => (days.trim().parse::<u64>().ok()?, rest.split_once(", ")?.1),
        None => (0, clock),
    };
    let mut all = 0_u64;
    let mut parts = 0;
    for part in clock.split(':') {
        if part.is_empty() || part.len() > 6 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        all = all.checked_mul(60)?.checked_add(part.parse().ok()?)?;
        parts += 1;
    }
    ((2..=3).contains(&parts)).then(|| days.checked_mul(86_400)?.checked_add(all)).flatten()
}

#[cfg(test)]
mod tests {
    use super::Bar;

    #[test]
    fn bars_as_tqdm_draws_them() {
        let of = |line: &str| Bar::of(line).map(|bar| (bar.done, bar.total, bar.elapsed));
        assert_eq!(of(" 10%|\u{2588}  | 10/100 [00:21<03:09,  2.13s/it]"), Some((10, 100, 21)));
        assert_eq!(of("Epoch 0: :  47%|##4 | 7/15 [06:19<07:13, global_step=5.000]"), Some((7, 15, 379)));
        assert_eq!(of("1%| | 2000/603000 [1:03:17<317:00:58, loss=2]"), Some((2000, 603_000, 3797)));
        assert_eq!(of("| 5/9 [1 day, 0:00:05<1:00:00, 3s/it]"), Some((5, 9, 86_405)));
        for none in ["", "a < b", "| 5/9 [x<y]", "3/4 [00:00]", "| 1/2 [9999999999:00<1", "[<", "| /2 [0:1<"]
        {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
