//! Leave-one-publication-out: prediction of every measured run by constants fitted without its publication.
//!
//! Responsible for: fitting the constants of a software generation to all publications but one, from the
//! centre of the other generations; the table of the resulting predictions (`catalog/evidence/left_out.csv`)
//! and its reader. Does not evaluate them: see `residuals` and the generated pages.

use crate::fit::{self, Key};
use crate::pooling::{self, Known};
use railwright_calculator::calibration::posterior::STEP;
use railwright_calculator::software::{self, PARTS, Part, Software};
use railwright_calculator::validation::{Case, Machines};
use serde::{Deserialize, Serialize};

/// The table of left-out predictions, from the root of the repository.
pub(crate) const TABLE: &str = "catalog/evidence/left_out.csv";

/// One run, predicted with and without its publication among the runs that the constants were fitted to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the fields are columns of the table")]
pub(crate) struct LeftOut {
    /// The run's identifier in the table of measured runs.
    pub(crate) id: String,
    /// Its publication: the source without edition, release and section.
    pub(crate) publication: String,
    /// The software generation with the constants of its prediction.
    pub(crate) generation: String,
    /// True if its model routes tokens to experts.
    pub(crate) mixture_of_experts: bool,
    /// Runs of other publications that the constants were fitted to; 0 means the centre of the other
    /// generations.
    pub(crate) fitted_to: usize,
    /// Measured step time in seconds.
    pub(crate) measured_s: f64,
    /// Predicted with the shipped constants, which were also fitted to this run, in seconds.
    pub(crate) fitted_s: f64,
    /// Predicted with constants fitted without the publication, in seconds.
    pub(crate) left_out_s: f64,
    /// Growth of the logarithm of the predicted time with that of the time of GEMMs and attention, by the
    /// shipped constants.
    #[serde(default)]
    pub(crate) products: f64,
    /// The same for memory-bound kernels.
    #[serde(default)]
    pub(crate) streams: f64,
    /// The same for host times.
    #[serde(default)]
    pub(crate) host: f64,
    /// The same for collectives.
    #[serde(default)]
    pub(crate) communication: f64,
}

impl LeftOut {
    /// Left-out prediction over measurement, less one.
    pub(crate) fn error(&self) -> f64 {
        self.left_out_s / self.measured_s - 1.0
    }

    /// Shares of the step's parts, in the order of [`Part::ALL`].
    pub(crate) fn shares(&self) -> [f64; PARTS] {
        [self.products, self.streams, self.host, self.communication]
    }

    /// Prediction of the shipped constants over measurement, less one.
    pub(crate) fn fitted_error(&self) -> f64 {
        self.fitted_s / self.measured_s - 1.0
    }
}

/// Reads the table of left-out predictions.
pub(crate) fn read(text: &str) -> Result<Vec<LeftOut>, String> {
    csv::Reader::from_reader(text.as_bytes())
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(|e| format!("{TABLE}: {e}; make it with `xtask loso`"))
}

/// A source without its edition: releases, commits and sections of one publication belong together.
pub(crate) fn publication(source: &str) -> &str {
    let cut = [" [", ", 2", " commit", " @", " MICRO", "/README", " ("];
    let release = source.match_indices(['v', 'V']).find(|(at, _)| {
        source[..*at].ends_with([' ', '_', '-']) && source[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    });
    let release = release.map(|(at, _)| at - 1);
    cut.iter().filter_map(|c| source.find(c)).chain(release).min().map_or(source, |end| &source[..end])
}

/// Constants that are fitted in every generation.
const FITTED: [&str; 8] = [
    "elementwise_passes",
    "host_us_per_kernel",
    "host_us_per_micro_batch",
    "host_ms_per_step",
    "collective_rate",
    "overlap_slowdown",
    "host_us_per_expert_layer",
    "cast_passes",
];

/// Names of the constants that runs determine: those of every generation, and rates of their architectures
/// and formats.
fn names(rows: &[&Case]) -> Vec<String> {
    let mut names: Vec<String> = FITTED.map(str::to_owned).to_vec();
    for case in rows {
        let architecture = case.cluster.accelerator.architecture.split('+').next().unwrap_or_default();
        let format = case.plan.precision.compute.name();
        names.push(format!("matmul/{architecture}.{format}"));
        if let Ok(software) = software::by_id(&case.plan.software) {
            let kernel = software.asked_kernel(&case.plan, architecture);
            names.push(format!("attention_rate/{architecture}.{}", kernel.name()));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Start values of a generation for a new fit: framework behaviour (attention kernel, overlap, sharding) is
/// kept, rates and costs are those of the other generations.
fn unfitted(
    generation: &Software,
    held_out: &str,
    known: &[Known<'_>],
    neutral: &Software,
    rows: &[&Case],
    rest: &[&Case],
) -> (Software, Vec<Key>) {
    let mut start = generation.clone();
    start.matmul = neutral.matmul.clone();
    start.attention_rate = neutral.attention_rate.clone();
    let fitted_to = pooling::publications(rest).len();
    let keys: Vec<Key> = names(rows)
        .into_iter()
        .map(|name| {
            let plain = fit::get(neutral, &name).unwrap_or(1.0);
            let key = pooling::key(name, (generation, held_out), known, plain, fitted_to);
            fit::set(&mut start, &key.name, key.start);
            key
        })
        .collect();
    (start, keys)
}

/// `xtask shares TABLE`: computes the shares of parts in the table of left-out predictions again, and keeps
/// the predictions. For changes that affect no prediction.
pub(crate) fn rewrite_shares(arguments: &[String]) -> Result<(), String> {
    let [table] = arguments else { return Err("shares TABLE".into()) };
    let all = fit::load(table)?;
    let mut rows = read(&std::fs::read_to_string(TABLE).map_err(|e| format!("{TABLE}: {e}"))?)?;
    let mut machines = Machines::default();
    for generation in &fit::generations()? {
        let list: Vec<&Case> = all.iter().filter(|c| fit::is_of(c, &generation.id)).collect();
        let shares = shares(&list, &mut machines, generation);
        for (at, case) in list.iter().enumerate() {
            let share = |part: Part| shares[part as usize].get(at).copied().unwrap_or(0.0);
            if let Some(row) = rows.iter_mut().find(|row| row.id == case.id) {
                row.products = share(Part::Products);
                row.streams = share(Part::Streams);
                row.host = share(Part::Host);
                row.communication = share(Part::Communication);
            }
        }
    }
    write(rows.iter())
}

/// Writes rows to the standard output.
fn write<'r>(rows: impl Iterator<Item = &'r LeftOut>) -> Result<(), String> {
    let mut writer = csv::Writer::from_writer(std::io::stdout().lock());
    for row in rows {
        writer.serialize(row).map_err(|e| e.to_string())?;
    }
    writer.flush().map_err(|e| e.to_string())
}

/// Growth of the logarithm of each run's time with that of each part, by central differences as a calibration
/// has them.
pub(crate) fn shares(held: &[&Case], machines: &mut Machines, constants: &Software) -> [Vec<f64>; PARTS] {
    Part::ALL.map(|part| {
        let mut at = |factor: f64| {
            let mut factors = [1.0; PARTS];
            factors[part as usize] = factor;
            fit::log_errors(held, machines, &constants.with_parts(factors))
        };
        let (slower, faster) = (at(STEP), at(1.0 / STEP));
        let share = |(slow, fast): (&f64, &f64)| ((slow - fast) / (2.0 * STEP.ln()) * 1e4).round() / 1e4;
        slower.iter().zip(&faster).map(share).collect()
    })
}

/// The defaults in the text of all generations, as a generation.
fn neutral(text: &str) -> Result<Software, String> {
    let end = text.find("[[generation]]").unwrap_or(text.len());
    let own = "[[generation]]\nid = \"neutral\"\nframework = \"neutral\"\n";
    let defaults = software::parse(&format!("{}\n{own}", text.get(..end).unwrap_or(text)))?;
    defaults.into_iter().next().ok_or_else(|| "no defaults".to_owned())
}

/// Predictions of one generation's runs, each publication with constants fitted to the others.
fn of_generation(
    generation: &Software,
    rows: &[&Case],
    known: &[Known<'_>],
    neutral: &Software,
    machines: &mut Machines,
) -> Vec<LeftOut> {
    let mut found = Vec::new();
    for held_out in pooling::publications(rows) {
        let (held, rest): (Vec<&Case>, Vec<&Case>) =
            rows.iter().partition(|c| publication(&c.source) == held_out);
        let (mut constants, keys) = unfitted(generation, held_out, known, neutral, rows, &rest);
        if !rest.is_empty() {
            // Steps of 2% are finer than the effect of one more or one fewer publication.
            fit::search(&rest, machines, &mut constants, &keys, 0.02);
        }
        let left_out = fit::log_errors(&held, machines, &constants);
        let fitted = fit::log_errors(&held, machines, generation);
        let shares = shares(&held, machines, generation);
        for (at, ((case, left_out), fitted)) in held.iter().zip(left_out).zip(fitted).enumerate() {
            let Some(measured) = case.step_time else { continue };
            let rounded = |log: f64| (measured * log.exp() * 1e5).round() / 1e5;
            let share = |part: Part| shares[part as usize].get(at).copied().unwrap_or(0.0);
            found.push(LeftOut {
                id: case.id.clone(),
                publication: held_out.to_owned(),
                generation: generation.id.clone(),
                mixture_of_experts: case.model.is_mixture_of_experts(),
                fitted_to: rest.len(),
                measured_s: (measured * 1e5).round() / 1e5,
                fitted_s: rounded(fitted),
                left_out_s: rounded(left_out),
                products: share(Part::Products),
                streams: share(Part::Streams),
                host: share(Part::Host),
                communication: share(Part::Communication),
            });
        }
    }
    found
}

/// `xtask loso TABLE`: writes the predictions of every run with its publication left out of the fit.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [table, only @ ..] = arguments else { return Err("loso TABLE [GENERATION...]".into()) };
    let all = fit::load(table)?;
    let neutral = neutral(&fit::constants()?)?;
    // Generations share no constants that are fitted here, so they can be fitted concurrently.
    let generations = fit::generations()?;
    let mut machines = Machines::default();
    let every: Vec<&Case> = all.iter().collect();
    let constants = names(&every);
    let known: Vec<Known<'_>> = generations
        .iter()
        .map(|generation| {
            let rows: Vec<&Case> = all.iter().filter(|c| fit::is_of(c, &generation.id)).collect();
            Known::new(generation, &rows, &constants, &mut machines)
        })
        .collect();
    let parts: Vec<Vec<LeftOut>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let (all, known, neutral, generations) = (&all, &known, &neutral, &generations);
                scope.spawn(move || {
                    let mut machines = Machines::default();
                    let wanted = |generation: &Software| only.is_empty() || only.contains(&generation.id);
                    let mine = generations
                        .iter()
                        .enumerate()
                        .filter(|(index, generation)| index % 2 == worker && wanted(generation));
                    mine.map(|(index, generation)| {
                        let rows: Vec<&Case> = all.iter().filter(|c| fit::is_of(c, &generation.id)).collect();
                        (index, of_generation(generation, &rows, known, neutral, &mut machines))
                    })
                    .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut parts: Vec<(usize, Vec<LeftOut>)> =
            workers.into_iter().flat_map(|w| w.join().unwrap_or_default()).collect();
        parts.sort_by_key(|part| part.0);
        parts.into_iter().map(|part| part.1).collect()
    });
    write(parts.iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editions_of_one_publication_are_one() {
        assert_eq!(
            publication("NVIDIA recipes v24.11.1, x/README.md"),
            publication("NVIDIA recipes v25.02, y")
        );
        assert_eq!(publication("Paper Table 5 (also elsewhere)"), "Paper Table 5");
        assert_eq!(publication("league/results_v5.0 one system"), publication("league/results_v4.1 another"));
        assert_ne!(publication("Paper Table 1"), publication("Paper Table 2"));
    }

    /// Fits start at the centre of the other generations and the defaults, which must be readable as a
    /// generation.
    #[test]
    fn the_defaults_are_a_generation_of_their_own() {
        let neutral = neutral(include_str!("../../catalog/software.toml")).expect("reads");
        assert_eq!((neutral.id.as_str(), neutral.matches.len()), ("neutral", 0));
    }

    #[test]
    fn the_table_reads_and_a_broken_line_is_named() {
        let text = "id,publication,generation,mixture_of_experts,fitted_to,measured_s,fitted_s,left_out_s,products,streams,host,communication\n\
                    a,b,c,false,3,2.0,2.1,3.0,0.8,0.1,0.0,0.1\n";
        let rows = read(text).expect("readable");
        assert!((rows[0].error() - 0.5).abs() < 1e-12 && (rows[0].fitted_error() - 0.05).abs() < 1e-12);
        assert!(read("id,publication\na,b\n").unwrap_err().contains("xtask loso"));
    }
}
