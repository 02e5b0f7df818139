//! Numbers in readable form: durations, sizes, rates, counts, money.
//!
//! Responsible for: number formats of all tables, messages and the web UI. ASCII only, about three
//! significant digits. Computes nothing; programs read the numbers from JSON instead.

use crate::Portable as _;
use crate::quantity::{Bytes, BytesPerSecond, Dollars, Flop, FlopPerSecond, KilowattHours, Seconds, Watts};

/// From here on numbers are written as powers of ten: a double has no more exact digits.
const POWER_OF_TEN: f64 = 1e15;

/// Number with `digits` significant digits and commas between thousands; a power of ten if it is too long.
fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if x.abs() >= POWER_OF_TEN {
        return format!("{x:.*e}", digits.saturating_sub(1));
    }
    let magnitude = x.abs().portable_log10().floor();
    let decimals = (digits as f64 - 1.0 - magnitude).clamp(0.0, 12.0) as usize;
    let text = format!("{x:.decimals$}");
    // Rounding may have added an integer digit (9.996 to 10.00), which makes one decimal too many.
    let carried = text
        .trim_start_matches('-')
        .parse::<f64>()
        .is_ok_and(|y| y > 0.0 && y.portable_log10().floor() > magnitude);
    let text = if carried && decimals > 0 { format!("{x:.*}", decimals - 1) } else { text };
    with_commas(&text)
}

/// Display name of a part of a step, by its name in JSON and tables.
pub fn part(name: &str) -> String {
    name.replace("synchronisation", "synchronization")
        .replace("matrix_product", "GEMM")
        .replace("matrix product", "GEMM")
        .replace("communication, undivided", "communication, not separated")
        .replace("bubble of the schedule", "schedule bubble")
        .replace("bubble of unequal stages", "imbalance bubble")
        .replace("bubble of messages", "message bubble")
        .replace("bubble of stalls", "stall bubble")
}

/// Inserts commas between the thousands of a plain decimal number.
fn with_commas(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{sign}{out}.{fraction}"),
        None => format!("{sign}{out}"),
    }
}

/// Number in the largest unit with a value of at least 1, else in the first. Units ascend.
fn scaled(x: f64, digits: usize, units: &[(f64, &str)]) -> String {
    if !x.is_finite() {
        return not_a_number(x);
    }
    let fitting = |(scale, _): &&(f64, &str)| {
        // A number that rounds up to 1000 of a unit is 1 of the next.
        let rounding = 5.0 / 10f64.portable_powf(digits as f64);
        x.abs() >= *scale * (1.0 - rounding / 10.0)
    };
    let (scale, unit) = units.iter().rev().find(fitting).or(units.first()).copied().unwrap_or((1.0, ""));
    format!("{}{unit}", significant(x / scale, digits))
}

fn not_a_number(x: f64) -> String {
    if x.is_nan() {
        "not a number".to_owned()
    } else if x > 0.0 {
        "infinite".to_owned()
    } else {
        "-infinite".to_owned()
    }
}

/// A number with all its digits, as a user writes it: `0.25`, `8192`. Numbers that are too long or too small
/// for that are powers of ten: `1e308`.
pub fn exact(x: f64) -> String {
    let is_short = x == 0.0 || !x.is_finite() || (1e-6..POWER_OF_TEN).contains(&x.abs());
    if is_short { format!("{x}") } else { format!("{x:e}") }
}

/// A duration: `12.3 us`, `6.42 s`, `3 min 20 s`, `5 h 06 min`, `54.0 d`.
pub fn seconds(time: Seconds) -> String {
    let s = time.get();
    if !s.is_finite() {
        return not_a_number(s);
    }
    let size = s.abs();
    let sign = if s < 0.0 { "-" } else { "" };
    if size < 1.0 {
        scaled(s, 3, &[(1e-9, " ns"), (1e-6, " us"), (1e-3, " ms"), (1.0, " s")])
    } else if size < 119.95 {
        format!("{} s", significant(s, 3))
    } else if size < 7200.0 - 0.5 {
        let whole = size.round() as u64;
        format!("{sign}{} min {:02} s", whole / 60, whole % 60)
    } else if size < 172_800.0 - 30.0 {
        let minutes = (size / 60.0).round() as u64;
        format!("{sign}{} h {:02} min", minutes / 60, minutes % 60)
    } else {
        format!("{} d", significant(s / 86_400.0, 3))
    }
}

/// An amount of memory in binary units: `79.1 GiB`.
pub fn bytes(amount: Bytes) -> String {
    const KIB: f64 = 1024.0;
    let units = [
        (1.0, " B"),
        (KIB, " KiB"),
        (KIB * KIB, " MiB"),
        (KIB * KIB * KIB, " GiB"),
        (KIB * KIB * KIB * KIB, " TiB"),
    ];
    scaled(amount.get(), 3, &units)
}

/// Amount of data in decimal units, for link traffic: `1.34 GB`.
pub fn bytes_decimal(amount: Bytes) -> String {
    scaled(
        amount.get(),
        3,
        &[(1.0, " B"), (1e3, " kB"), (1e6, " MB"), (1e9, " GB"), (1e12, " TB"), (1e15, " PB")],
    )
}

/// A bandwidth, decimal: `450 GB/s`.
pub fn bandwidth(rate: BytesPerSecond) -> String {
    scaled(rate.get(), 3, &[(1.0, " B/s"), (1e3, " kB/s"), (1e6, " MB/s"), (1e9, " GB/s"), (1e12, " TB/s")])
}

/// A rate of arithmetic: `989 TFLOP/s`.
pub fn flop_rate(rate: FlopPerSecond) -> String {
    let units =
        [(1.0, " FLOP/s"), (1e9, " GFLOP/s"), (1e12, " TFLOP/s"), (1e15, " PFLOP/s"), (1e18, " EFLOP/s")];
    scaled(rate.get(), 3, &units)
}

/// Amount of arithmetic: `1.2 PFLOP`. Larger amounts are powers of ten as in publications: `3.8e25 FLOP`.
pub fn flop(amount: Flop) -> String {
    let x = amount.get();
    if x.is_finite() && x.abs() >= 1e21 {
        return format!("{x:.2e} FLOP");
    }
    scaled(x, 3, &[(1.0, " FLOP"), (1e9, " GFLOP"), (1e12, " TFLOP"), (1e15, " PFLOP"), (1e18, " EFLOP")])
}

/// Large count as in model cards: `405.9B`, `14.8T`, `512`.
pub fn count(n: f64) -> String {
    if n.is_finite() && n.abs() < 10_000.0 {
        return if n.fract() == 0.0 { with_commas(&format!("{n:.0}")) } else { significant(n, 4) };
    }
    scaled(n, 4, &[(1.0, ""), (1e3, "K"), (1e6, "M"), (1e9, "B"), (1e12, "T"), (1e15, "Q")])
}

/// A whole number with commas: `2,664,000`.
pub fn whole(n: u64) -> String {
    with_commas(&n.to_string())
}

/// A count with the plural of its noun: `1 leaf`, `2 leaves`, `3 switches`.
pub fn several(n: u64, noun: &str) -> String {
    let (stem, ending) = match noun {
        _ if n == 1 => (noun, ""),
        _ if noun.ends_with("leaf") => (noun.strip_suffix('f').unwrap_or(noun), "ves"),
        _ if noun.ends_with(['h', 's']) => (noun, "es"),
        _ => (noun, "s"),
    };
    format!("{} {stem}{ending}", whole(n))
}

/// Devices by kind: `64 x H100 SXM5 80GB + 32 x A100 SXM4 80GB`.
pub fn devices<'a>(kinds: impl IntoIterator<Item = (u64, &'a str)>) -> String {
    let kinds = kinds.into_iter().map(|(n, name)| format!("{} x {name}", whole(n)));
    kinds.collect::<Vec<_>>().join(" + ")
}

/// List of counts with run lengths: `0, 126 x 1, 0`. Long lists are shortened in the middle.
pub fn counts(list: &[u64]) -> String {
    const MOST: usize = 12;
    let mut parts: Vec<String> = Vec::new();
    for run in list.chunk_by(|a, b| a == b) {
        match run {
            [first, _, _, ..] => parts.push(format!("{} x {first}", run.len())),
            short => parts.extend(short.iter().map(u64::to_string)),
        }
    }
    if parts.len() > MOST {
        let middle = 6..parts.len() - 3;
        parts.splice(middle, ["...".to_owned()]);
    }
    parts.join(", ")
}

/// Escapes text for content and attributes of XML and HTML. Control characters become spaces, because XML 1.0
/// forbids nearly all of them.
pub fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Sorted whole numbers with consecutive ones merged, as in `0-3, 7`. A long list is cut and ends in the
/// number of omitted entries.
pub fn ranges<N: Copy + Into<u64>>(list: &[N]) -> String {
    const SHOWN: usize = 12;
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in list.iter().map(|&number| number.into()) {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let shown = runs.iter().take(SHOWN).map(|&(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    });
    let text = shown.collect::<Vec<_>>().join(", ");
    let more: u64 = runs.iter().skip(SHOWN).map(|&(first, last)| last - first + 1).sum();
    if more == 0 { text } else { format!("{text} and {more} more") }
}

/// `step 3`, or `steps 0-3, 7`.
pub fn steps<N: Copy + Into<u64>>(list: &[N]) -> String {
    let plural = if list.len() == 1 { "" } else { "s" };
    format!("step{plural} {}", ranges(list))
}

/// `rank 3`, or `ranks 0-3, 7`.
pub fn ranks(list: &[u32]) -> String {
    let plural = if list.len() == 1 { "" } else { "s" };
    format!("rank{plural} {}", ranges(list))
}

/// Money: `$2.99`, `$512,000`, `$5.33M`.
pub fn dollars(amount: Dollars) -> String {
    let x = amount.get();
    if !x.is_finite() {
        return not_a_number(x);
    }
    let sign = if x < 0.0 { "-" } else { "" };
    let size = x.abs();
    if size < 999.995 {
        format!("{sign}${size:.2}")
    } else if size < 999_500.0 {
        format!("{sign}${}", with_commas(&format!("{size:.0}")))
    } else {
        format!("{sign}${}", scaled(size, 3, &[(1e6, "M"), (1e9, "B"), (1e12, "T")]))
    }
}

/// A share as a percentage: `41.3%`.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return not_a_number(share);
    }
    let percent = share * 100.0;
    if percent.abs() >= POWER_OF_TEN {
        return format!("{percent:.2e}%");
    }
    let text = format!("{percent:.1}%");
    // Zero has no sign.
    if text == "-0.0%" { "0.0%".to_owned() } else { text }
}

/// A power: `700 W`, `11.5 MW`.
pub fn watts(power: Watts) -> String {
    scaled(power.get(), 3, &[(1.0, " W"), (1e3, " kW"), (1e6, " MW"), (1e9, " GW")])
}

/// An energy: `950 kWh`, `2.30 GWh`.
pub fn energy(energy: KilowattHours) -> String {
    scaled(energy.get(), 3, &[(1.0, " kWh"), (1e3, " MWh"), (1e6, " GWh"), (1e9, " TWh")])
}

/// Shortens a text to the length of a message.
pub fn shorten(text: &str) -> String {
    if text.chars().count() <= 80 {
        text.to_owned()
    } else {
        text.chars().take(77).chain("...".chars()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_the_plural_of_their_noun() {
        let cases = [
            (1, "leaf", "1 leaf"),
            (2, "leaf", "2 leaves"),
            (3, "switch", "3 switches"),
            (1_000, "pod", "1,000 pods"),
        ];
        for (n, noun, words) in cases {
            assert_eq!(several(n, noun), words);
        }
    }

    #[test]
    fn nothing_has_no_sign() {
        let text = [percent(-0.0), percent(-0.000_4), percent(0.0), percent(-0.000_6), percent(0.125)];
        assert_eq!(text, ["0.0%", "0.0%", "0.0%", "-0.1%", "12.5%"]);
    }

    #[test]
    fn text_cannot_break_out_of_markup() {
        assert_eq!(markup("a<b>&\"c\"\u{7}"), "a&lt;b&gt;&amp;&quot;c&quot; ");
    }

    #[test]
    fn runs_of_numbers_are_drawn_together() {
        assert_eq!(ranges(&[0_u32, 1, 2, 3, 7, 9, 10]), "0-3, 7, 9, 10");
        assert_eq!(ranges::<u32>(&[]), "");
        let odd: Vec<u32> = (0..20).map(|n| 2 * n).collect();
        assert!(ranges(&odd).ends_with("22 and 8 more"));
    }

    #[test]
    fn durations() {
        let print = |s| seconds(Seconds::new(s));
        assert_eq!(print(0.0), "0 ns");
        assert_eq!(print(12.34e-6), "12.3 us");
        assert_eq!(print(0.0052), "5.20 ms");
        assert_eq!(print(0.9999), "1.00 s");
        assert_eq!(print(6.4213), "6.42 s");
        assert_eq!(print(99.96), "100 s");
        assert_eq!(print(119.96), "2 min 00 s");
        assert_eq!(print(200.0), "3 min 20 s");
        assert_eq!(print(5.0 * 3600.0 + 380.0), "5 h 06 min");
        assert_eq!(print(54.0 * 86400.0), "54.0 d");
        assert_eq!(print(f64::NAN), "not a number");
        assert_eq!(print(f64::INFINITY), "infinite");
    }

    #[test]
    fn sizes_and_rates() {
        assert_eq!(bytes(Bytes::from_gib(79.107)), "79.1 GiB");
        assert_eq!(bytes(Bytes::new(512.0)), "512 B");
        assert_eq!(bytes_decimal(Bytes::new(1.344e9)), "1.34 GB");
        assert_eq!(bandwidth(BytesPerSecond::from_gb(450.0)), "450 GB/s");
        assert_eq!(bandwidth(BytesPerSecond::from_gb(3350.0)), "3.35 TB/s");
        assert_eq!(flop_rate(FlopPerSecond::from_tera(989.4)), "989 TFLOP/s");
        assert_eq!(flop_rate(FlopPerSecond::from_tera(999.9)), "1.00 PFLOP/s");
        assert_eq!(flop(Flop::new(3.8e25)), "3.80e25 FLOP");
        assert_eq!(watts(Watts::new(11.5e6)), "11.5 MW");
        assert_eq!(energy(KilowattHours::new(2.3e6)), "2.30 GWh");
    }

    #[test]
    fn counts_and_money() {
        assert_eq!(count(405_853_388_800.0), "405.9B");
        assert_eq!(count(8_030_261_248.0), "8.030B");
        assert_eq!(count(14.8e12), "14.80T");
        assert_eq!(count(512.0), "512");
        assert_eq!(count(2048.0), "2,048");
        assert_eq!(whole(2_664_000), "2,664,000");
        assert_eq!(dollars(Dollars::new(2.0)), "$2.00");
        assert_eq!(dollars(Dollars::new(512_000.4)), "$512,000");
        assert_eq!(dollars(Dollars::new(5.328e6)), "$5.33M");
        assert_eq!(dollars(Dollars::new(-3.5)), "-$3.50");
        assert_eq!(percent(0.4126), "41.3%");
    }

    #[test]
    fn lists_of_counts_are_short() {
        let layers: Vec<u64> = [0].into_iter().chain([1; 126]).chain([0]).collect();
        assert_eq!(counts(&layers), "0, 126 x 1, 0");
        assert_eq!(counts(&[11, 11, 10]), "11, 11, 10");
        assert_eq!(counts(&[]), "");
        assert_eq!(counts(&(1..100).collect::<Vec<_>>()), "1, 2, 3, 4, 5, 6, ..., 97, 98, 99");
    }

    #[test]
    fn everything_is_short_ascii() {
        for x in [
            0.0,
            -0.0,
            1e-300,
            1e300,
            -1e300,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::NAN,
            f64::NEG_INFINITY,
            0.999_999,
            999.999_9,
        ] {
            let all = [
                seconds(Seconds::new(x)),
                bytes(Bytes::new(x)),
                flop_rate(FlopPerSecond::new(x)),
                count(x),
                dollars(Dollars::new(x)),
                percent(x),
                exact(x),
                bandwidth(BytesPerSecond::new(x)),
                watts(Watts::new(x)),
            ];
            assert!(all.iter().all(|s| s.is_ascii() && (1..=24).contains(&s.len())), "{all:?}");
        }
        assert_eq!([exact(1e308), exact(8192.0), exact(-1.0), exact(0.25)], ["1e308", "8192", "-1", "0.25"]);
        assert_eq!([exact(1e-300), exact(0.0), exact(f64::NAN)], ["1e-300", "0", "NaN"]);
        assert_eq!(bandwidth(BytesPerSecond::new(1e308)), "1.00e296 TB/s");
        assert_eq!(shorten(&"é".repeat(100)).chars().count(), 80);
    }
}
