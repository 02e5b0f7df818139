//! Numbers in the notation of traces.
//!
//! Responsible for: conversion of decimal text to whole nanoseconds without floating point. A double
//! represents 3924272799580.509 us only to a quarter of a nanosecond, and an absolute time only to a quarter
//! of a microsecond. Rejects text that is not a finite number.

/// Microseconds in decimal text as whole nanoseconds; `None` if not a finite number or out of range.
pub(super) fn nanoseconds(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let mut whole: i64 = 0;
    let mut at = 0;
    while let Some(digit) = digits.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        whole = whole.checked_mul(10)?.checked_add(i64::from(digit))?;
        at += 1;
    }
    let mut value = whole.checked_mul(1000)?;
    match digits.get(at) {
        None if at > 0 => {}
        Some(b'.') => {
            let fraction = digits.get(at + 1..)?;
            if at == 0 && fraction.is_empty() {
                return None;
            }
            let mut unit = 100;
            for (place, byte) in fraction.iter().enumerate() {
                let digit = byte.wrapping_sub(b'0');
                if digit > 9 {
                    return by_float(text);
                }
                if place < 3 {
                    value += i64::from(digit) * unit;
                    unit /= 10;
                } else if place == 3 && digit >= 5 {
                    value += 1;
                }
            }
        }
        Some(b'e' | b'E') if at > 0 => return by_float(text),
        _ => return None,
    }
    Some(if negative { -value } else { value })
}

/// Slow path for text with an exponent.
fn by_float(text: &[u8]) -> Option<i64> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let nanoseconds = (value * 1000.0).round();
    (nanoseconds.abs() < 9.2e18).then_some(nanoseconds as i64)
}

/// A non-negative integer.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A non-negative integer below [`crate::trace::NONE`]; `None` otherwise.
pub(super) fn small(text: &[u8]) -> Option<u32> {
    whole(text).and_then(|v| u32::try_from(v).ok()).filter(|&v| v != crate::trace::NONE)
}

/// Number at the end of text such as `7`, `stream 7` or `Stream 3`; `None` for a negative one.
pub(super) fn last(text: &[u8]) -> Option<u32> {
    let digits = text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let start = text.len() - digits;
    if start > 0 && text[start - 1] == b'-' {
        return None;
    }
    small(&text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_to_the_nanosecond() {
        assert_eq!(nanoseconds(b"3924272799580.509"), Some(3_924_272_799_580_509));
        assert_eq!(nanoseconds(b"1669783687464181"), Some(1_669_783_687_464_181_000));
        assert_eq!(nanoseconds(b"4203669603454.206"), Some(4_203_669_603_454_206));
        assert_eq!(nanoseconds(b"12.77012757357446"), Some(12_770));
        assert_eq!(nanoseconds(b"0.0019995"), Some(2));
        assert_eq!(nanoseconds(b" 1704161511420306.491\t"), Some(1_704_161_511_420_306_491));
        assert_eq!(nanoseconds(b"-5"), Some(-5000));
        assert_eq!(nanoseconds(b"1.5e3"), Some(1_500_000));
        assert_eq!(nanoseconds(b"2E1"), Some(20_000));
        assert_eq!(nanoseconds(b".5"), Some(500));
        assert_eq!(nanoseconds(b"7."), Some(7000));
    }

    #[test]
    fn what_is_no_number_has_no_time() {
        for text in [
            "",
            "-",
            ".",
            "NaN",
            "Infinity",
            "-inf",
            "N/A",
            "0x1f",
            "12a",
            "1e400",
            "99999999999999999999",
            "9223372036854775807",
            "null",
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn streams_are_numbers_however_they_are_written() {
        assert_eq!(last(b"7"), Some(7));
        assert_eq!(last(b"stream 7"), Some(7));
        assert_eq!(last(b"Stream 12"), Some(12));
        assert_eq!(last(b"-1"), None);
        assert_eq!(last(b"PyTorch Profiler"), None);
        assert_eq!(last(b"15514734831341844875"), None);
    }
}
