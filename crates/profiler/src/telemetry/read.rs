//! Files of counters.
//!
//! Responsible for: comma-separated columns (`nvidia-smi --format=csv`, exports with a header), columns of
//! `dcgmi dmon`, and lines of Prometheus. Rejects files without a known name, and counts unreadable rows.

use super::{Metric, Sample};
use railwright_spec::problem::Problem;

/// Maximum number of rows per file: an hour of eight devices at ten readings per second has 288,000.
const MOST: usize = 4_000_000;

/// Tests whether a file contains device counters.
pub fn matches(head: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(&head[..head.len().min(1 << 14)])
        .or_else(|error| std::str::from_utf8(&head[..error.valid_up_to()]))
    else {
        return false;
    };
    form(text).is_some()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Csv,
    Dmon,
    Prometheus,
}

fn form(text: &str) -> Option<Form> {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()).take(200) {
        // Most files are JSON, and one line of it may have thousands of cells.
        if line.starts_with(['{', '[']) {
            return None;
        }
        if line.starts_with("#Entity") || line.starts_with("# Entity") {
            return Some(Form::Dmon);
        }
        if line.contains(',') && columns(line).is_some() {
            return Some(Form::Csv);
        }
        if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap_or_default();
            let is_field = name.starts_with("DCGM_FI_DEV_") || name.starts_with("node_infiniband_");
            if is_field && line.contains('{') {
                return Some(Form::Prometheus);
            }
            if !is_prometheus(line) {
                return None;
            }
        }
    }
    None
}

/// Tests whether a line may be a sample of Prometheus: a name, optional labels, a number.
fn is_prometheus(line: &str) -> bool {
    let name = line.split(['{', ' ']).next().unwrap_or_default();
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':')
        && line.rsplit(' ').next().is_some_and(|value| value.parse::<f64>().is_ok())
}

/// Roles of the columns of a table.
struct Columns {
    host: Option<usize>,
    device: Option<usize>,
    time: Option<usize>,
    metrics: Vec<(usize, Metric)>,
}

fn columns(header: &str) -> Option<Columns> {
    let mut found = Columns { host: None, device: None, time: None, metrics: Vec::new() };
    for (at, cell) in header.split(',').enumerate() {
        // Units are in brackets: `clocks.current.sm [MHz]`.
        let name = cell.split('[').next().unwrap_or_default().trim().trim_matches('"').to_ascii_lowercase();
        match name.as_str() {
            "host" | "hostname" | "node" | "instance" => found.host = Some(at),
            "index" | "gpu" | "gpu_id" | "device" | "gpu_index" => found.device = Some(at),
            "timestamp" | "time" => found.time = Some(at),
            _ => found.metrics.extend(Metric::by_name(&name).map(|metric| (at, metric))),
        }
    }
    (!found.metrics.is_empty() && found.device.is_some()).then_some(found)
}

/// A number with an optional unit, or a mask.
fn value(cell: &str) -> Option<f64> {
    let cell = cell.trim().trim_matches('"');
    if let Some(mask) = cell.strip_prefix("0x") {
        return u64::from_str_radix(mask, 16).ok().map(|mask| mask as f64);
    }
    let end = cell
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E')))
        .unwrap_or(cell.len());
    cell.get(..end)?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Time in nanoseconds since 1970. Accepts seconds, milliseconds or nanoseconds since 1970, or a date
/// (`2026/05/01 12:00:00.123`, `2026-05-01T12:00:00Z`) in UTC.
fn time(cell: &str) -> Option<i64> {
    let cell = cell.trim().trim_matches('"');
    if let Ok(number) = cell.parse::<f64>() {
        let unit = [(1e17, 1.0), (1e14, 1e3), (1e11, 1e6), (1e8, 1e9)]
            .into_iter()
            .find(|(least, _)| number >= *least)?
            .1;
        return Some((number * unit) as i64);
    }
    let (date, clock) = cell.split_once([' ', 'T'])?;
    let mut parts = date.split(['/', '-']).map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let mut parts = clock.trim_end_matches('Z').split(':');
    let (hour, minute) = (parts.next()?.parse::<i64>().ok()?, parts.next()?.parse::<i64>().ok()?);
    let second: f64 = parts.next()?.parse().ok()?;
    if !(1970..2200).contains(&year)
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || !(0..24).contains(&hour)
        || !(0..60).contains(&minute)
        // A leap second is written as 60.
        || !(0.0..61.0).contains(&second)
    {
        return None;
    }
    // Days from 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil).
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, month) = (shifted.div_euclid(400), (month + 9) % 12);
    let of_era = shifted - era * 400;
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(((days * 86_400 + hour * 3_600 + minute * 60) as f64 * 1e9 + second * 1e9) as i64)
}

/// Reads a file. `label` names it in errors. Returns the samples and the number of unreadable rows.
pub fn read(label: &str, text: &str) -> Result<(Vec<Sample>, u64), Problem> {
    let mut samples = Vec::new();
    let mut bad = 0;
    match form(text) {
        Some(Form::Csv) => csv(text, &mut samples, &mut bad),
        Some(Form::Dmon) => dmon(text, &mut samples, &mut bad),
        Some(Form::Prometheus) => prometheus(text, &mut samples, &mut bad),
        None => {}
    }
    if samples.len() > MOST {
        return Err(Problem::new(format!("more than {MOST} readings"))
            .in_file(label)
            .hint("record less often, or trim the file to the time of the trace"));
    }
    if samples.is_empty() {
        return Err(Problem::new("contains no known device counter").in_file(label).hint(
            "`nvidia-smi --query-gpu=timestamp,index,clocks.sm,clocks_throttle_reasons.active,temperature.gpu,power.draw --format=csv -l 1`",
        ));
    }
    Ok((samples, bad))
}

fn csv(text: &str, samples: &mut Vec<Sample>, bad: &mut u64) {
    let mut known: Option<Columns> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(found) = columns(line) {
            known = Some(found);
            continue;
        }
        let Some(columns) = &known else { continue };
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |at: usize| {
            cells.get(at).map(|cell| cell.trim().trim_matches('"')).filter(|cell| !cell.is_empty())
        };
        let Some(device) = columns.device.and_then(cell) else {
            *bad += 1;
            continue;
        };
        let host = columns.host.and_then(cell).map(host);
        let time = columns.time.and_then(cell).and_then(time);
        for (at, metric) in &columns.metrics {
            if let Some(value) = cell(*at).and_then(value) {
                samples.push(Sample {
                    host: host.clone(),
                    device: device.to_owned(),
                    time,
                    metric: *metric,
                    value,
                });
            }
        }
        if samples.len() > MOST {
            return;
        }
    }
}

/// A host without its port: `node7:9100`.
fn host(name: &str) -> String {
    name.split(':').next().unwrap_or(name).to_owned()
}

fn dmon(text: &str, samples: &mut Vec<Sample>, bad: &mut u64) {
    let mut metrics: Vec<Option<Metric>> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(header) = line.strip_prefix('#') {
            metrics = header.split_whitespace().skip(1).map(Metric::by_name).collect();
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some("GPU"), Some(device)) = (words.next(), words.next()) else {
            // Units in parentheses follow the header.
            *bad += u64::from(!line.contains("ID") && !line.starts_with('('));
            continue;
        };
        for (metric, cell) in metrics.iter().zip(words) {
            if let (Some(metric), Some(value)) = (metric, value(cell)) {
                samples.push(Sample {
                    host: None,
                    device: device.to_owned(),
                    time: None,
                    metric: *metric,
                    value,
                });
            }
        }
        if samples.len() > MOST {
            return;
        }
    }
}

fn prometheus(text: &str, samples: &mut Vec<Sample>, bad: &mut u64) {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((name, rest)) = line.split_once('{') else { continue };
        let Some(metric) = Metric::by_name(name) else { continue };
        let Some((labels, values)) = rest.rsplit_once('}') else {
            *bad += 1;
            continue;
        };
        let label = |wanted: &str| {
            labels
                .split(',')
                .filter_map(|pair| pair.split_once('='))
                .find(|(key, _)| key.trim() == wanted)
                .map(|(_, value)| value.trim().trim_matches('"').to_owned())
        };
        let mut values = values.split_whitespace();
        let Some(value) = values.next().and_then(|text| text.parse::<f64>().ok()).filter(|v| v.is_finite())
        else {
            *bad += 1;
            continue;
        };
        let device = match (label("gpu"), label("device"), label("port")) {
            (Some(gpu), ..) => gpu,
            (None, Some(device), Some(port)) => format!("{device}:{port}"),
            (None, Some(device), None) => device,
            _ => {
                *bad += 1;
                continue;
            }
        };
        let host = label("Hostname")
            .or_else(|| label("hostname"))
            .or_else(|| label("instance"))
            .map(|name| host(&name));
        samples.push(Sample { host, device, time: values.next().and_then(time), metric, value });
        if samples.len() > MOST {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_nvidia_smi() {
        let text = "timestamp, index, clocks.current.sm [MHz], clocks_throttle_reasons.active, power.draw [W]\n\
            2026/05/01 12:00:00.500, 3, 1410 MHz, 0x0000000000000024, 690.12 W\n\
            2026/05/01 12:00:00.500, 4, 1980 MHz, 0x0000000000000000, [N/A]\n";
        assert!(matches(text.as_bytes()));
        let (samples, bad) = read("smi.csv", text).expect("samples");
        assert_eq!((samples.len(), bad), (5, 0));
        // 2026-05-01T12:00:00 UTC is 1,777,636,800 s after 1970.
        assert_eq!(samples[0].time, Some(1_777_636_800_500_000_000));
        assert_eq!(
            (samples[0].device.as_str(), samples[0].metric, samples[0].value),
            ("3", Metric::SmClock, 1410.0)
        );
        assert_eq!(
            super::super::throttle_reasons(samples[1].value as u64),
            ["software power cap", "software thermal slowdown"]
        );
    }

    #[test]
    fn columns_of_dcgmi_and_lines_of_exporters() {
        let text = "#Entity   SMCLK   TMPTR   XIDER\nID\nGPU 0     1980    61      0\nGPU 1     1410    88      79\nGPU 2     N/A     50      0\n";
        assert!(matches(text.as_bytes()));
        let (samples, _) = read("dmon.txt", text).expect("samples");
        assert_eq!(samples.len(), 8);
        assert_eq!((samples[5].metric, samples[5].value), (Metric::Xid, 79.0));
        let text = "# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).\n# TYPE DCGM_FI_DEV_SM_CLOCK gauge\n\
            DCGM_FI_DEV_SM_CLOCK{gpu=\"2\",UUID=\"GPU-1\",device=\"nvidia2\",Hostname=\"node7\"} 1200 1777636800500\n\
            node_infiniband_link_downed_total{device=\"mlx5_0\",instance=\"node7:9100\",port=\"1\"} 3\n";
        assert!(matches(text.as_bytes()));
        let (samples, _) = read("metrics.prom", text).expect("samples");
        assert_eq!((samples[0].host.as_deref(), samples[0].device.as_str()), (Some("node7"), "2"));
        assert_eq!(samples[0].time, Some(1_777_636_800_500_000_000));
        assert_eq!((samples[1].host.as_deref(), samples[1].device.as_str()), (Some("node7"), "mlx5_0:1"));
    }

    #[test]
    fn times_that_no_clock_shows_are_none() {
        assert!(time("2026-05-01T23:59:60").is_some());
        let most = i64::MAX;
        for text in [
            format!("2026-05-01T{most}:00:00"),
            format!("2026-05-01T00:{most}:00"),
            format!("2026-05-01T-{most}:00:00"),
            format!("{most}-05-01T00:00:00"),
            "2026-05-01T24:00:00".to_owned(),
            "2026-05-01T00:00:1e300".to_owned(),
            "2026-05-01T00:00:NaN".to_owned(),
        ] {
            assert_eq!(time(&text), None, "{text}");
        }
    }

    #[test]
    fn other_files_are_not_counters() {
        for text in [
            "{\"traceEvents\": []}",
            "iteration 1/ 10 | loss: 2.0 | x, y",
            "a,b,c\n1,2,3\n",
            "",
            "xpu_timer_x{a=\"b\"} 1\n",
            "step time, index\n1, 2\n",
        ] {
            assert!(!matches(text.as_bytes()), "{text}");
        }
    }
}
