//! Reads quantities with a unit: `400 Gbit/s`, `79.1 GiB`, `5 us`, `700 W`, `14.8T`.
//!
//! Responsible for: the units of data sheets. Rejects a bare number if its unit is ambiguous: a link of `400`
//! may be in Gbit/s or GB/s.

use crate::problem::Problem;

/// A unit: spelling, and size in the base unit.
type Unit = (&'static str, f64);

/// Bytes per second. Gbit and Gb are bits, GB is bytes: as in data sheets, the case of the B decides.
pub(crate) const BANDWIDTH: &[Unit] = &[
    ("Gbit/s", 1e9 / 8.0),
    ("Gbps", 1e9 / 8.0),
    ("Gb/s", 1e9 / 8.0),
    ("Tbit/s", 1e12 / 8.0),
    ("Tbps", 1e12 / 8.0),
    ("Mbit/s", 1e6 / 8.0),
    ("GB/s", 1e9),
    ("TB/s", 1e12),
    ("MB/s", 1e6),
    ("GiB/s", 1_073_741_824.0),
    ("B/s", 1.0),
    ("Tb/s", 1e12 / 8.0),
    // Links named by their bit rate alone: a 400G port, a 1.6T module.
    ("G", 1e9 / 8.0),
    ("T", 1e12 / 8.0),
];
/// Bytes.
pub(crate) const MEMORY: &[Unit] = &[
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("MiB", 1_048_576.0),
    ("GB", 1e9),
    ("TB", 1e12),
    ("MB", 1e6),
    ("B", 1.0),
];
/// Seconds.
pub(crate) const TIME: &[Unit] =
    &[("us", 1e-6), ("ms", 1e-3), ("ns", 1e-9), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0)];
/// Floating-point operations per second.
pub(crate) const ARITHMETIC: &[Unit] = &[
    ("TFLOP/s", 1e12),
    ("TFLOPS", 1e12),
    ("Tflops", 1e12),
    ("PFLOP/s", 1e15),
    ("PFLOPS", 1e15),
    ("Pflops", 1e15),
    ("FLOP/s", 1.0),
];
/// Watts.
pub(crate) const POWER: &[Unit] = &[("W", 1.0), ("kW", 1e3), ("MW", 1e6)];
/// Suffixes of plain counts.
pub(crate) const AMOUNT: &[Unit] = &[
    ("T", 1e12),
    ("B", 1e9),
    ("M", 1e6),
    ("K", 1e3),
    ("t", 1e12),
    ("b", 1e9),
    ("m", 1e6),
    ("k", 1e3),
    ("", 1.0),
];

/// Longest number in characters.
const MOST_DIGITS: usize = 40;

/// Splits a text into number and unit, and scales the number. Ignores spaces and underscores.
pub(crate) fn read(text: &str, units: &[Unit]) -> Result<f64, Problem> {
    let plain: String = text.trim().chars().filter(|c| *c != '_').collect();
    let names = || units.iter().filter(|u| !u.0.is_empty()).map(|u| format!("`{}`", u.0)).collect::<Vec<_>>();
    // The longest prefix that is a number: an `e` may start an exponent or a unit.
    let split = (1..=plain.len()).rev().find(|&i| plain.is_char_boundary(i) && is_number(&plain[..i]));
    let Some(split) = split else {
        let unit = units.iter().map(|unit| unit.0).find(|unit| !unit.is_empty()).unwrap_or_default();
        let problem = Problem::new(format!("{} does not start with a number", shown(text)));
        return Err(problem.hint(format!("use a number with its unit, such as `4{unit}`")));
    };
    let (number, unit) = plain.split_at(split);
    let unit = unit.trim();
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        let problem = if unit.is_empty() {
            Problem::new(format!("{} has no unit", shown(text)))
        } else {
            Problem::new(format!("{} has an unknown unit", shown(text)))
        };
        let all = format!("use one of {}", names().join(", "));
        return Err(problem.hint(match nearest(unit, units) {
            Some(near) => format!("did you mean `{number}{near}`? {all}"),
            None => all,
        }));
    };
    match number.trim().parse::<f64>() {
        Ok(number) if (number * scale).is_finite() => Ok(number * scale),
        _ => Err(Problem::new(format!("{} is not a finite number", shown(text)))),
    }
}

/// Unit that differs only in case, or that is the one per second: `GB` for `GB/s`.
fn nearest(unit: &str, units: &[Unit]) -> Option<&'static str> {
    if unit.is_empty() {
        return None;
    }
    let per_second = format!("{unit}/s");
    let same = |wanted: &str| units.iter().map(|u| u.0).find(|name| *name == wanted);
    let alike = units.iter().map(|u| u.0).find(|name| name.eq_ignore_ascii_case(unit));
    same(&per_second).or(alike)
}

/// Number in a form that reads back exactly: the shortest digits, with an exponent if they would be too many.
pub(crate) fn written(number: f64) -> String {
    let plain = number.to_string();
    if plain.len() < MOST_DIGITS { plain } else { format!("{number:e}") }
}

/// Spelling of the base unit among some.
pub(crate) fn base(units: &[Unit]) -> &'static str {
    units.iter().find(|unit| unit.1 == 1.0).map_or("", |unit| unit.0)
}

fn shown(text: &str) -> String {
    format!("`{}`", crate::human::shorten(text))
}

/// True if the text is a plain decimal number (`inf` and `nan` are not).
fn is_number(text: &str) -> bool {
    let text = text.trim();
    text.ends_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.len() < MOST_DIGITS
        && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for number in [301e30 * 1e9, 1e300, 1e-300, 1.0 / 3.0, 50e9, 1e38, 123_456_789.125] {
            let text = format!("{} B/s", written(number));
            assert_eq!(read(&text, BANDWIDTH), Ok(number), "{text}");
        }
        assert_eq!(written(50e9), "50000000000");
        assert!(read("1e308 GB/s", BANDWIDTH).is_err());
    }

    #[test]
    fn a_rate_without_its_second_is_completed() {
        for (text, near) in [("400GB", "`400GB/s`"), ("400Gb", "`400Gb/s`"), ("80 gib", "`80 GiB`")] {
            let units = if near.contains('/') { BANDWIDTH } else { MEMORY };
            let hint = read(text, units).expect_err(text).hint.expect("a hint");
            assert!(hint.starts_with(&format!("did you mean {near}?")), "{hint}");
        }
    }

    #[test]
    fn units_of_data_sheets() {
        assert_eq!(read("400 Gbit/s", BANDWIDTH), Ok(50e9));
        assert_eq!(read("400Gb/s", BANDWIDTH), Ok(50e9));
        assert_eq!((read("400G", BANDWIDTH), read("1.6T", BANDWIDTH)), (Ok(50e9), Ok(200e9)));
        assert_eq!(read("50GB/s", BANDWIDTH), Ok(50e9));
        assert_eq!(read("1.5e2 GB/s", BANDWIDTH), Ok(150e9));
        assert_eq!(read("80 GiB", MEMORY), Ok(85_899_345_920.0));
        assert_eq!(read("5us", TIME), Ok(5.0 * 1e-6));
        assert_eq!(read("14.8T", AMOUNT), Ok(14.8e12));
        assert_eq!(read("15_600", AMOUNT), Ok(15600.0));
    }

    #[test]
    fn what_could_be_mistaken_is_refused() {
        let bare = read("400", BANDWIDTH).expect_err("no unit");
        assert_eq!(bare.message, "`400` has no unit");
        assert!(bare.hint.expect("units").starts_with("use one of `Gbit/s`"));
        assert_eq!(read("400 GBit", BANDWIDTH).expect_err("unit").message, "`400 GBit` has an unknown unit");
        assert_eq!(read("fast", BANDWIDTH).expect_err("word").message, "`fast` does not start with a number");
        for text in ["", "inf", "nan", "1e999 GB/s", "e", "--1", "é9", "9é"] {
            assert!(read(text, BANDWIDTH).is_err(), "{text}");
        }
    }
}
