//! Logs of nccl-tests (and rccl-tests): sizes and times of collectives.
//!
//! Responsible for: text of every build from 2.0 on, with any launcher prefix, and the JSON of `-J`; the
//! collective, number of ranks and of hosts. Rejects rows that the test marks as wrong, and does not guess a
//! collective that neither text nor file name contains.

use railwright_spec::Collective;
use railwright_spec::calibration::{CollectiveSample, Samples};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of rows; useful logs have far fewer.
const MOST_ROWS: usize = 1_000_000;

/// Reads a log; the name of `file` is used for the collective if the text lacks it.
pub fn read(text: &str, file: &str) -> Result<Samples, Problem> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let mut log = Log { operation: None, ..Log::default() };
    if text.trim_start().starts_with('{') {
        log.json(text, name)?;
    } else {
        log.text(text, name)?;
    }
    log.into_samples(name)
}

/// The collective in the name of a program, a file or a title.
fn operation_of(words: &str) -> Option<Collective> {
    let plain: String = words.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let known = [
        ("allreduce", Collective::AllReduce),
        ("allgather", Collective::AllGather),
        ("reducescatter", Collective::ReduceScatter),
        ("alltoall", Collective::AllToAll),
        ("all2all", Collective::AllToAll),
        ("broadcast", Collective::Broadcast),
        ("sendrecv", Collective::SendReceive),
    ];
    known.into_iter().find(|(word, _)| plain.contains(word)).map(|(_, kind)| kind)
}

/// Times by size of one collective among the same ranks.
type Times = BTreeMap<(Collective, u64, Option<u64>, u64), Vec<f64>>;

#[derive(Default)]
struct Log {
    operation: Option<Collective>,
    ranks: BTreeSet<u64>,
    hosts: BTreeSet<String>,
    device: Option<String>,
    columns: Vec<String>,
    times: Times,
    wrong: u64,
    rows: usize,
}

impl Log {
    fn text(&mut self, text: &str, name: &str) -> Result<(), Problem> {
        let mut last_was_row = false;
        for (at, raw) in text.lines().enumerate() {
            let line = without_prefix(raw);
            if let Some(comment) = line.strip_prefix('#') {
                if last_was_row && comment.contains("Rank ") {
                    // The next test in one file has its own ranks.
                    self.ranks.clear();
                    self.hosts.clear();
                }
                last_was_row = false;
                self.comment(comment);
                continue;
            }
            if line.contains("_perf") && !line.starts_with(|c: char| c.is_ascii_digit()) {
                self.operation = operation_of(line).or(self.operation);
                continue;
            }
            let cells: Vec<&str> = line.split_whitespace().collect();
            let Some(size) = cells.first().and_then(|cell| cell.parse::<u64>().ok()) else { continue };
            if cells.len() < 4 || self.rows >= MOST_ROWS {
                continue;
            }
            last_was_row = true;
            self.rows += 1;
            self.row(&cells, size, name)
                .map_err(|problem| problem.in_file(name).at_offset(text, offset(text, at)))?;
        }
        Ok(())
    }

    fn comment(&mut self, comment: &str) {
        if let Some(title) = comment.split("Collective test starting:").nth(1) {
            self.operation = operation_of(title).or(self.operation);
        } else if comment.contains("busbw") {
            self.columns = comment.split_whitespace().map(str::to_ascii_lowercase).collect();
        } else if let Some(rest) = comment.trim_start().strip_prefix("Rank ") {
            let mut words = rest.split_whitespace();
            if let Some(rank) = words.next().and_then(|word| word.parse().ok()) {
                self.ranks.insert(rank);
            }
            let words: Vec<&str> = rest.split_whitespace().collect();
            if let Some(host) = words.iter().position(|word| *word == "on").and_then(|at| words.get(at + 1)) {
                self.hosts.insert((*host).to_owned());
            }
            if let Some((_, device)) = rest.split_once(']')
                && !device.trim().is_empty()
            {
                self.device.get_or_insert_with(|| device.trim().to_owned());
            }
        } else if comment.contains("_perf") {
            self.operation = operation_of(comment).or(self.operation);
        }
    }

    fn row(&mut self, cells: &[&str], size: u64, name: &str) -> Result<(), Problem> {
        if self.columns.is_empty() {
            // Without a header, the columns of all builds since 2.11.
            const USUAL: &str = "size count type redop root time algbw busbw #wrong time algbw busbw #wrong";
            self.columns = USUAL.split_whitespace().map(str::to_owned).collect();
        }
        if cells.len() > self.columns.len() + 3 || cells.len() + 4 < self.columns.len() {
            return Err(Problem::new(format!(
                "a row has {} cells under a header of {} columns",
                cells.len(),
                self.columns.len()
            ))
            .hint("the log may be cut or mixed with other output"));
        }
        let is_time = |column: &String| column == "time" || column == "cputime";
        let of = |from: usize, what: &str| {
            let column = self.columns.iter().skip(from).position(|c| c == what)? + from;
            cells.get(column).copied()
        };
        let Some(operation) = self.operation.or_else(|| operation_of(name)) else {
            return Err(Problem::new("neither the log nor its file name identifies the collective")
                .hint("name the file after it, such as `all_reduce-8.log`"));
        };
        let mut taken = Vec::new();
        for (column, _) in self.columns.iter().enumerate().filter(|(_, column)| is_time(column)) {
            let Some(cell) = cells.get(column) else { continue };
            let micros =
                cell.parse::<f64>().ok().filter(|t| t.is_finite() && *t >= 0.0).ok_or_else(|| {
                    Problem::new(format!("`{}` is no time", shorten(cell)))
                        .hint("the columns of the row are not aligned with those of the header")
                })?;
            let wrong = of(column, "#wrong").or_else(|| of(column, "error"));
            let is_wrong = wrong.and_then(|w| w.parse::<f64>().ok()).is_some_and(|w| w >= 1.0);
            if is_wrong {
                self.wrong += 1;
            } else if micros > 0.0 && size > 0 {
                taken.push(micros * 1e-6);
            }
        }
        let ranks = match self.ranks.len() as u64 {
            0 | 1 => ranks_of(operation, of(0, "algbw"), of(0, "busbw")),
            counted => Some(counted),
        };
        let Some(ranks) = ranks.filter(|ranks| *ranks >= 2) else {
            // Sizes with a bandwidth below the last digit are skipped.
            return Ok(());
        };
        let hosts = (!self.hosts.is_empty()).then_some(self.hosts.len() as u64);
        self.times.entry((operation, ranks, hosts, size)).or_default().extend(taken);
        Ok(())
    }

    fn json(&mut self, text: &str, name: &str) -> Result<(), Problem> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Problem::new(format!("no JSON: {error}")).in_file(name))?;
        let config = value.get("config").map(Value::to_string).unwrap_or_default();
        let operation = operation_of(&config).or_else(|| operation_of(name)).ok_or_else(|| {
            Problem::new("neither the log nor its file name identifies the collective")
                .in_file(name)
                .hint("name the file after it, such as `all_reduce-8.json`")
        })?;
        let devices = value.get("devices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for device in devices {
            let host = ["host", "hostname"].iter().find_map(|key| device.get(key)?.as_str());
            self.hosts.extend(host.map(str::to_owned));
            let kind = ["name", "device_name"].iter().find_map(|key| device.get(key)?.as_str());
            if let Some(kind) = kind {
                self.device.get_or_insert_with(|| kind.to_owned());
            }
        }
        let results = value.get("results").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for row in results.iter().take(MOST_ROWS) {
            let Some(size) = row.get("size").and_then(Value::as_u64).filter(|size| *size > 0) else {
                continue;
            };
            self.rows += 1;
            for half in ["out_of_place", "in_place"] {
                let Some(half) = row.get(half) else { continue };
                let number = |key: &str| half.get(key).and_then(Value::as_f64).filter(|x| x.is_finite());
                let Some(micros) = number("time").filter(|t| *t > 0.0) else { continue };
                if number("nwrong").is_some_and(|wrong| wrong >= 1.0) {
                    self.wrong += 1;
                    continue;
                }
                let ranks = match devices.len() as u64 {
                    0 | 1 => {
                        ratio(operation, number("alg_bw").unwrap_or(0.0), number("bus_bw").unwrap_or(0.0))
                    }
                    counted => Some(counted),
                };
                let Some(ranks) = ranks.filter(|ranks| *ranks >= 2) else { continue };
                let hosts = (!self.hosts.is_empty()).then_some(self.hosts.len() as u64);
                self.times.entry((operation, ranks, hosts, size)).or_default().push(micros * 1e-6);
            }
        }
        Ok(())
    }

    fn into_samples(self, name: &str) -> Result<Samples, Problem> {
        let mut remarks = Vec::new();
        if self.wrong > 0 {
            remarks.push(format!(
                "{name}: {} results were wrong by the test's own check and are left out",
                self.wrong
            ));
        }
        let mut collectives: Vec<CollectiveSample> = Vec::new();
        for ((operation, ranks, hosts, size), times) in self.times {
            if times.is_empty() {
                continue;
            }
            collectives.push(CollectiveSample {
                is_bound: false,
                operation,
                ranks,
                hosts,
                bytes: size as f64,
                alone: true,
                times: times.into_iter().map(Seconds::new).collect(),
            });
        }
        if collectives.is_empty() {
            let what = if self.rows == 0 {
                "no nccl-tests results found"
            } else {
                "no row is valid: ranks are not listed and do not follow from the bandwidths"
            };
            return Err(Problem::new(what).in_file(name).hint(
                "pass the output of `all_reduce_perf -b 8 -e 4G -f 2 -g 8` with its `#` lines, or the file of `-J FILE`",
            ));
        }
        Ok(Samples {
            from: name.to_owned(),
            device: self.device,
            alone: true,
            collectives,
            remarks,
            ..Samples::default()
        })
    }
}

/// Removes a launcher's prefix: `[1,0]<stdout>:`, `0: `.
fn without_prefix(line: &str) -> &str {
    let line = line.trim();
    if let Some((_, rest)) = line.split_once("<stdout>:") {
        return rest.trim();
    }
    match line.split_once(':') {
        Some((rank, rest)) if !rank.is_empty() && rank.bytes().all(|b| b.is_ascii_digit()) => rest.trim(),
        _ => line,
    }
}

fn offset(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line).map(str::len).sum()
}

fn ranks_of(operation: Collective, algorithm: Option<&str>, bus: Option<&str>) -> Option<u64> {
    ratio(operation, algorithm?.parse().ok()?, bus?.parse().ok()?)
}

/// Number of ranks from the ratio of both bandwidths; `None` if these have too few digits.
fn ratio(operation: Collective, algorithm: f64, bus: f64) -> Option<u64> {
    if !(algorithm >= 1.0 && bus >= 1.0) {
        return None;
    }
    let factor = bus / algorithm;
    let share = match operation {
        Collective::AllReduce => factor / 2.0,
        Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll => factor,
        _ => return None,
    };
    // share = (n - 1) / n
    let ranks = 1.0 / (1.0 - share);
    (ranks.is_finite() && (1.5..100_000.0).contains(&ranks)).then(|| ranks.round() as u64)
}

#[cfg(test)]
mod tests;
