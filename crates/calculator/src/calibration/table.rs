//! Tables of operator micro-benchmarks: one GEMM or attention per line.
//!
//! Responsible for: columns by name, in any order and with aliases. Invalid lines are errors with their
//! place; lines of operators without a cost model are counted.

use railwright_spec::calibration::{AttentionSample, ProductPass, ProductSample, Samples};
use railwright_spec::human::shorten;
use railwright_spec::precision::DataType;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::Seconds;
use std::collections::BTreeMap;

/// Columns and their aliases.
const COLUMNS: [(&str, &[&str]); 16] = [
    ("operator", &["op", "kind"]),
    ("format", &["dtype", "data_type", "precision"]),
    ("m", &[]),
    ("n", &[]),
    ("k", &[]),
    ("batch", &["b"]),
    ("groups", &[]),
    ("queries", &["seq_q", "sequence", "seq"]),
    ("keys", &["seq_kv", "seq_k"]),
    ("heads", &["num_heads"]),
    ("kv_heads", &["num_kv_heads"]),
    ("head_dim", &["head_size", "d"]),
    ("pass", &["direction"]),
    ("time_us", &["latency_us", "us"]),
    ("time_ms", &["latency_ms", "ms"]),
    ("tflops", &["tflop_s"]),
];

/// Reads a table.
pub fn operators(text: &str, file: &str) -> Result<Samples, Problem> {
    let label = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let broken = |error: csv::Error| Problem::new(format!("not a table: {error}")).in_file(file);
    let header: Vec<String> = reader.headers().map_err(broken)?.iter().map(str::to_ascii_lowercase).collect();
    let place = |name: &str| {
        let others = COLUMNS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, others)| *others);
        header.iter().position(|cell| cell == name || others.contains(&cell.as_str()))
    };
    let columns: BTreeMap<&str, usize> =
        COLUMNS.iter().filter_map(|(name, _)| Some((*name, place(name)?))).collect();
    let has = |name: &str| columns.contains_key(name);
    if !(has("time_us") || has("time_ms") || has("tflops")) || !(has("m") || has("queries")) {
        let problem = Problem::new("the header lacks a time or a shape").in_file(file);
        return Err(problem.hint(
            "use the columns operator, format, m, n, k and time_us (or time_ms, tflops); for attention batch, queries, keys, heads, kv_heads, head_dim, pass",
        ));
    }
    let mut samples = Samples { from: label.to_owned(), alone: true, ..Samples::default() };
    let mut others = 0_u64;
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = Row { record: &record, columns: &columns };
        let taken = row.take(&mut samples).map_err(|problem| {
            let mut problem = problem.in_file(file);
            if let Some(place) = &mut problem.place {
                place.line = Some(line as usize);
            }
            problem
        })?;
        others += u64::from(!taken);
    }
    if others > 0 {
        samples.remarks.push(format!("{label}: {others} rows have operators without a cost model"));
    }
    if samples.products.is_empty() && samples.attention.is_empty() {
        return Err(Problem::new("no row of the table is valid").in_file(file));
    }
    Ok(samples)
}

struct Row<'a> {
    record: &'a csv::StringRecord,
    columns: &'a BTreeMap<&'static str, usize>,
}

impl Row<'_> {
    fn cell(&self, name: &str) -> Option<&str> {
        self.record.get(*self.columns.get(name)?).filter(|cell| !cell.is_empty())
    }

    fn count(&self, name: &str, missing: Option<u64>) -> Result<u64, Problem> {
        match (self.cell(name), missing) {
            (None, Some(value)) => Ok(value),
            (None, None) => Err(Problem::new(format!("`{name}` is empty"))),
            (Some(cell), _) => cell
                .parse::<f64>()
                .ok()
                .filter(|x| (1.0..1e12).contains(x) && x.fract() == 0.0)
                .map(|x| x as u64)
                .ok_or_else(|| {
                    Problem::new(format!("`{name}` is `{}`, not a whole number of 1 or more", shorten(cell)))
                }),
        }
    }

    fn number(&self, name: &str) -> Result<Option<f64>, Problem> {
        self.cell(name)
            .map(|cell| {
                cell.parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0).ok_or_else(|| {
                    Problem::new(format!("`{name}` is `{}`, not a number above 0", shorten(cell)))
                })
            })
            .transpose()
    }

    fn time(&self, flop: f64) -> Result<Seconds, Problem> {
        if let Some(micros) = self.number("time_us")? {
            return Ok(Seconds::from_micros(micros));
        }
        if let Some(millis) = self.number("time_ms")? {
            return Ok(Seconds::from_millis(millis));
        }
        match self.number("tflops")? {
            Some(rate) => Ok(Seconds::new(flop / (rate * 1e12))),
            None => Err(Problem::new("the time is missing")),
        }
    }

    /// Adds the line's measurement to `samples`. Returns false if its operator has no cost model.
    fn take(&self, samples: &mut Samples) -> Result<bool, Problem> {
        let operator =
            self.cell("operator").unwrap_or(if self.cell("m").is_some() { "gemm" } else { "attention" });
        let operator = operator.to_ascii_lowercase();
        if ["gemm", "matmul", "linear", "mm", "product"].contains(&operator.as_str()) {
            if self.count("groups", Some(1))? > 1 {
                return Ok(false);
            }
            let name = self.cell("format").unwrap_or("bf16");
            let format = DataType::from_name(name).ok_or_else(|| {
                let known = DataType::ALL.map(DataType::name);
                Problem::new(format!("`{}` is not a number format", shorten(name))).hint(did_you_mean(
                    name,
                    known,
                    &format!("formats are {}", known.join(", ")),
                ))
            })?;
            let [m, n, k] = [self.count("m", None)?, self.count("n", None)?, self.count("k", None)?];
            let time = self.time(2.0 * m as f64 * n as f64 * k as f64)?;
            let batch = self.count("batch", Some(1))?;
            let pass = ProductPass::Forward;
            match samples
                .products
                .iter_mut()
                .find(|s| (s.format, s.batch, s.m, s.n, s.k) == (format, batch, m, n, k))
            {
                Some(known) => known.times.push(time),
                None => {
                    samples.products.push(ProductSample { format, batch, m, n, k, pass, times: vec![time] });
                }
            }
            return Ok(true);
        }
        if operator.contains("attention") || operator.contains("sdpa") {
            let pass = self.cell("pass").unwrap_or("forward").to_ascii_lowercase();
            let backward = match pass.as_str() {
                "forward" | "fwd" => false,
                "backward" | "bwd" => true,
                // They cannot be separated.
                _ => return Ok(false),
            };
            let queries = self.count("queries", None)?;
            let heads = self.count("heads", None)?;
            samples.attention.push(AttentionSample {
                batch: self.count("batch", Some(1))?,
                queries,
                keys: self.count("keys", Some(queries))?,
                heads,
                kv_heads: self.count("kv_heads", Some(heads))?,
                head_dim: self.count("head_dim", None)?,
                backward,
                times: vec![self.time(f64::NAN).ok().filter(|t| t.is_finite()).ok_or_else(|| {
                    Problem::new(
                        "attention requires time_us or time_ms, because its FLOPs have several conventions",
                    )
                })?],
            });
            return Ok(true);
        }
        Ok(false)
    }
}
