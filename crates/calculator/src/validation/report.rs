//! Result of `railwright validate`: predictions of all rows, and a summary of the errors.

use super::{Case, Machines, statistics};
use crate::costing::Costing;
use crate::defaults::recompute;
use crate::estimate;
use crate::evaluate::evaluate;
use crate::memory::{self, Fit, MemoryInput, MemorySoftware, Peak, Published, SoftwareCatalogue};
use crate::software;
use railwright_spec::Portable as _;
use railwright_spec::calibration::Calibration;
use railwright_spec::plan::{PlanSpec, Recompute};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use serde::{Deserialize, Serialize};
use statistics::ErrorSummary;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A table of measured runs with predictions.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Validation {
    /// Name of the table's file.
    pub file: String,
    /// Results of all rows, in order.
    pub rows: Vec<RowResult>,
    /// Summary of the errors.
    pub summary: Summary,
    /// The given calibration, with the rows that used it. `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Used>,
}

/// Use of a calibration.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Used {
    /// File of the calibration.
    pub file: String,
    /// The accelerator whose rows use it.
    pub accelerator: String,
    /// Number of rows whose prediction it changes.
    pub rows: usize,
    /// Number of rows on its accelerator without any calibrated operation, so that their prediction is
    /// unchanged.
    pub unchanged: usize,
    /// Number of rows on its accelerator with a different software generation. Its constants of the host and
    /// of element-wise kernels do not apply to them.
    pub other_software: usize,
    /// Errors of the changed rows.
    pub with: Errors,
    /// Errors of the same rows without the calibration.
    pub without: Errors,
}

/// One row.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowResult {
    /// The row's identifier.
    pub id: String,
    /// Publication.
    pub source: Option<String>,
    /// Predicted step time in seconds.
    pub predicted_step_time_s: Option<f64>,
    /// Lower end of the 90% interval.
    pub predicted_step_time_low_s: Option<f64>,
    /// Upper end of the 90% interval.
    pub predicted_step_time_high_s: Option<f64>,
    /// Lower end of the 50% interval.
    pub predicted_step_time_half_low_s: Option<f64>,
    /// Upper end of the 50% interval.
    pub predicted_step_time_half_high_s: Option<f64>,
    /// Predicted peak memory in bytes, by the row's metric.
    pub predicted_peak_memory_bytes: Option<f64>,
    /// False if the run is predicted not to fit, which a run at risk is not. `None` without a prediction.
    pub predicted_fits: Option<bool>,
    /// Probability that it fits.
    pub probability_of_fitting: Option<f64>,
    /// Measured step time in seconds.
    pub measured_step_time_s: Option<f64>,
    /// Measured peak memory in bytes.
    pub measured_peak_memory_bytes: Option<f64>,
    /// Predicted over measured step time, minus 1.
    pub step_time_error: Option<f64>,
    /// Predicted over measured peak memory, minus 1.
    pub peak_memory_error: Option<f64>,
    /// True if the run is known to have run out of memory.
    pub measured_out_of_memory: bool,
    /// The software generation assigned to the row.
    pub software: Option<String>,
    /// True if the model routes tokens to experts.
    pub mixture_of_experts: bool,
    /// True if the given calibration changed its prediction.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub calibrated: bool,
    /// True unless the run is known to be out of memory or to have failed for another reason.
    #[serde(skip)]
    pub(super) ran: bool,
    /// Reason why the row was not predicted.
    pub skipped: Option<String>,
    /// True if the row publishes all inputs of the model.
    #[serde(skip)]
    pub(super) complete: bool,
    /// The group of its source.
    #[serde(skip)]
    pub group: Option<String>,
    /// Key common to rows that differ only in their plan.
    #[serde(skip)]
    pub(super) sweep: Option<String>,
    /// Predicted step time in seconds, including the expected slowdown near the memory limit: the sort key
    /// of a search.
    pub expected_step_time_s: Option<f64>,
    /// Alternatives of a planner: see [`super::regret()`].
    #[serde(skip)]
    pub choice: super::regret::Sweep,
}

/// Errors over all rows, by source and by group.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Errors of all rows.
    pub overall: Errors,
    /// Errors by source, in alphabetical order.
    pub sources: BTreeMap<String, Errors>,
    /// Errors by group of sources (`catalog/evidence/groups.toml`).
    pub groups: BTreeMap<String, Errors>,
    /// Out-of-memory verdicts. `None` if the table has no such rows.
    pub out_of_memory: Option<Verdicts>,
    /// Number of rows per reason for skipping.
    pub skipped: BTreeMap<String, usize>,
}

/// Errors over a set of rows.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Errors {
    /// Number of rows in the set.
    pub rows: usize,
    /// Number of predicted rows.
    pub predicted: usize,
    /// Number of rows without a prediction; [`Summary::skipped`] lists the reasons.
    pub skipped: usize,
    /// Number of rows that publish every input of a prediction.
    pub complete: usize,
    /// Number of these that are predicted.
    pub complete_predicted: usize,
    /// Errors of the step time.
    pub step_time: Option<ErrorSummary>,
    /// Errors of the peak memory.
    pub peak_memory: Option<ErrorSummary>,
    /// Share of measured step times inside the predicted 90% interval.
    pub interval_coverage: Option<f64>,
    /// Share of measured step times inside the predicted 50% interval.
    pub half_interval_coverage: Option<f64>,
    /// Spearman's correlation of predicted and measured step times within sweeps (one source, model,
    /// accelerator, number of devices and format). Sweeps have at least five rows, and are weighted by
    /// their rows. `None` without such sweeps.
    pub rank_correlation: Option<f64>,
}

/// Memory verdicts compared with outcomes.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdicts {
    /// Number of runs out of memory.
    pub out_of_memory: usize,
    /// Number of these that are predicted not to fit.
    pub found: usize,
    /// Number of runs that ran.
    pub ran: usize,
    /// Number of these that are predicted not to fit.
    pub false_alarms: usize,
    /// Share of the runs out of memory that were predicted not to fit. `None` if the table has no such run.
    pub recall: Option<f64>,
}

/// Predicts every row of a table. Fails if the text is not such a table.
pub fn validate(text: &str, file: &str) -> Result<Validation, Problem> {
    validate_with(text, file, None)
}

/// Predicts every row, with a calibration for the rows on its accelerator.
pub fn validate_with(
    text: &str,
    file: &str,
    calibration: Option<&Arc<Calibration>>,
) -> Result<Validation, Problem> {
    validate_watched(text, file, calibration, &mut |_, _| ControlFlow::Continue(()))
}

/// Predicts every row with progress: `watch` receives the numbers of finished and of all rows, and may stop
/// the work. The result then contains the finished rows.
pub fn validate_watched(
    text: &str,
    file: &str,
    calibration: Option<&Arc<Calibration>>,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Validation, Problem> {
    let catalogue = SoftwareCatalogue::shared()?;
    let groups = Groups::bundled();
    // Machines are cached by cluster, without its calibration.
    let (mut machines, mut bare) = (Machines::default(), Machines::default());
    let mut without: Vec<RowResult> = Vec::new();
    let (mut on_accelerator, mut other_software) = (0, 0);
    // Row by row: a model of each at once would take gigabytes for a long table.
    let table = super::table::read(text, file)?;
    let all = table.len();
    let rows: Vec<RowResult> = table
        .into_iter()
        .enumerate()
        .take_while(|(done, _)| watch(*done, all).is_continue())
        .map(|(_, cells)| {
            let mut row = match super::row::case(&cells) {
                Ok(mut case) => {
                    let fits = |c: &&Arc<Calibration>| c.accelerator == case.cluster.accelerator.id;
                    let own = calibration.filter(fits).cloned();
                    let calibrated = own.is_some();
                    if calibrated {
                        without.push(predict(case.clone(), &mut bare, catalogue));
                    }
                    case.cluster.calibration = own;
                    RowResult { calibrated, ..predict(case, &mut machines, catalogue) }
                }
                Err(reason) => RowResult { skipped: Some(reason), ..RowResult::default() },
            };
            let tokens = cells.count("global_batch_seqs").unwrap_or(0) * cells.count("seq_len").unwrap_or(0);
            row.measured_step_time_s =
                super::row::step_time(&cells, tokens, cells.count("n_gpus").unwrap_or(0));
            row.measured_peak_memory_bytes = super::row::peak_memory(&cells).unwrap_or(None);
            row.measured_out_of_memory = cells.text("status") == Some("oom");
            row.ran = cells.text("status").is_none_or(|status| status == "ok");
            row.complete = cells.flag("complete") == Some(true);
            row.source = cells.text("source").map(str::to_owned);
            row.group = groups.of(&cells);
            // The alternatives of a planner: one model on one machine.
            let of = |column: &str| cells.text(column).unwrap_or_default().to_owned();
            row.sweep = Some(["source", "model_name", "gpu", "n_gpus", "dtype"].map(of).join("|"));
            row.choice = super::regret::Sweep::of(&cells);
            row.id = cells.text("id").map_or_else(|| format!("line {}", cells.line), str::to_owned);
            let ratio = |p: Option<f64>, m: Option<f64>| Some(p? / m? - 1.0);
            row.step_time_error = ratio(row.predicted_step_time_s, row.measured_step_time_s);
            row.peak_memory_error = ratio(row.predicted_peak_memory_bytes, row.measured_peak_memory_bytes);
            if row.calibrated && row.predicted_step_time_s.is_some() {
                on_accelerator += 1;
                let own = calibration.map(|c| c.software.as_str()).filter(|own| !own.is_empty());
                other_software += usize::from(own.is_some() && row.software.as_deref() != own);
            }
            // Identical bits if no operation of the row was calibrated.
            let before = without.last().and_then(|plain| plain.predicted_step_time_s).map(f64::to_bits);
            row.calibrated &= row.predicted_step_time_s.is_some_and(|after| Some(after.to_bits()) != before);
            if let Some(plain) = without.last_mut().filter(|plain| plain.id.is_empty())
                && row.calibrated
            {
                // The same row, except for the calibrated values.
                *plain = RowResult {
                    step_time_error: ratio(plain.predicted_step_time_s, row.measured_step_time_s),
                    predicted_step_time_s: plain.predicted_step_time_s,
                    predicted_step_time_low_s: plain.predicted_step_time_low_s,
                    predicted_step_time_high_s: plain.predicted_step_time_high_s,
                    predicted_step_time_half_low_s: plain.predicted_step_time_half_low_s,
                    predicted_step_time_half_high_s: plain.predicted_step_time_half_high_s,
                    ..row.clone()
                };
            }
            row
        })
        .collect();
    let summary = summarize(&rows);
    let calibration = calibration.map(|calibration| {
        let with: Vec<&RowResult> = rows.iter().filter(|row| row.calibrated).collect();
        Used {
            file: calibration.file.clone(),
            accelerator: calibration.accelerator.clone(),
            rows: with.len(),
            unchanged: on_accelerator - with.len(),
            other_software,
            without: errors(&without.iter().filter(|row| row.calibrated).collect::<Vec<_>>()),
            with: errors(&with),
        }
    });
    Ok(Validation { file: file.to_owned(), rows, summary, calibration })
}

/// Predicts one case.
fn predict(mut case: Case, machines: &mut Machines, catalogue: &SoftwareCatalogue) -> RowResult {
    let constants = catalogue.get(&case.plan.software);
    assume_recompute(&mut case, constants);
    let machine = machines.of(&case);
    let costing = Costing::new(&case.model, &case.cluster, &case.plan, machine);
    let evaluated = costing.and_then(|costing| Ok((evaluate(&costing)?.time.total, costing)));
    let (total, interval) = match &evaluated {
        Ok((total, costing)) => {
            (*total, estimate::interval(costing, *total, case.software_origin(), case.spec.open_settings()))
        }
        Err(problem) => return RowResult { skipped: Some(problem.to_string()), ..RowResult::default() },
    };
    let input = memory_input(&case, constants);
    let peak = memory::peak(&input);
    let published = published_peak(&case, &input, &peak);
    let device = case.cluster.accelerator.memory;
    let finite = |v: f64| v.is_finite().then_some(v);
    let probability = memory::probability_of_fitting(peak.least(), device, constants.sigma);
    RowResult {
        predicted_step_time_s: finite(total.get()),
        expected_step_time_s: finite(total.get() * memory::retry_slowdown(peak.device / device)),
        predicted_step_time_low_s: finite(interval.low.get()),
        predicted_step_time_high_s: finite(interval.high.get()),
        predicted_step_time_half_low_s: finite(interval.half_low.get()),
        predicted_step_time_half_high_s: finite(interval.half_high.get()),
        predicted_peak_memory_bytes: finite(published.get()),
        predicted_fits: Some(Fit::of(probability).is_possible()),
        probability_of_fitting: Some(probability),
        software: Some(case.plan.software.clone()),
        mixture_of_experts: case.model.is_mixture_of_experts(),
        ..RowResult::default()
    }
}

/// Predicted peak memory of a case in the metric of its publication.
pub fn peak_memory(case: &Case, constants: &MemorySoftware) -> Bytes {
    let input = memory_input(case, constants);
    published_peak(case, &input, &memory::peak(&input))
}

fn published_peak(case: &Case, input: &MemoryInput<'_>, peak: &Peak) -> Bytes {
    match case.peak_kind {
        Some(Published::Allocated) => peak.allocated,
        Some(Published::Reserved) => peak.reserved,
        Some(Published::Device) => peak.device,
        None => memory::published_peak(input),
    }
}

fn memory_input<'a>(case: &'a Case, constants: &'a MemorySoftware) -> MemoryInput<'a> {
    MemoryInput {
        model: &case.model,
        cluster: &case.cluster,
        plan: &case.plan,
        software: constants,
        in_flight: None,
    }
}

/// Assumes the least recompute that fits for a row that ran and does not specify it: the owner's likely plan.
/// The policies are those of default layouts (`defaults::recompute`); of whole layers it is the smallest
/// number that fits, if the framework can count them.
pub fn assume_recompute(case: &mut Case, constants: &MemorySoftware) {
    if case.recompute_known {
        return;
    }
    let open = PlanSpec::default();
    let policies = software::by_id(&case.plan.software).map_or_else(
        |_| vec![Recompute::None],
        |software| recompute::policies(&open, &case.model, &case.plan, software, &case.cluster),
    );
    let of_stage = case.model.num_layers().div_ceil(case.plan.pipeline_parallel.max(1));
    let device = case.cluster.accelerator.memory;
    // The run is known to have fitted, so an excess within the model's own error is ignored.
    let mut fits = |policy: &Recompute| {
        case.plan.recompute = policy.clone();
        memory::peak(&memory_input(case, constants)).least() <= device * constants.sigma.portable_exp()
    };
    let counted = |layers| Recompute::Full { layers: Some(layers) };
    let mut chosen = Recompute::None;
    for policy in policies {
        let most = of_stage.saturating_sub(1);
        chosen = match policy {
            Recompute::Full { layers: Some(_) } if fits(&counted(most)) => {
                let (mut too_few, mut enough) = (0, most);
                while enough > too_few + 1 {
                    let middle = too_few.midpoint(enough);
                    if fits(&counted(middle)) { enough = middle } else { too_few = middle }
                }
                counted(enough)
            }
            policy => policy,
        };
        if fits(&chosen) {
            break;
        }
    }
    case.plan.recompute = chosen;
}

fn summarize(rows: &[RowResult]) -> Summary {
    let mut sources: BTreeMap<String, Vec<&RowResult>> = BTreeMap::new();
    let mut groups: BTreeMap<String, Vec<&RowResult>> = BTreeMap::new();
    let mut skipped = BTreeMap::new();
    for row in rows {
        sources.entry(row.source.clone().unwrap_or_else(|| "unknown".to_owned())).or_default().push(row);
        groups.entry(row.group.clone().unwrap_or_else(|| "other".to_owned())).or_default().push(row);
        if let Some(reason) = &row.skipped {
            *skipped.entry(reason.clone()).or_default() += 1;
        }
    }
    let of =
        |set: &BTreeMap<String, Vec<&RowResult>>| set.iter().map(|(k, v)| (k.clone(), errors(v))).collect();
    Summary {
        overall: errors(&rows.iter().collect::<Vec<_>>()),
        sources: of(&sources),
        groups: of(&groups),
        out_of_memory: verdicts(rows),
        skipped,
    }
}

fn errors(rows: &[&RowResult]) -> Errors {
    let complete: Vec<&&RowResult> = rows.iter().filter(|r| r.complete).collect();
    let predicted = rows.iter().filter(|r| r.predicted_step_time_s.is_some()).count();
    let complete_predicted = complete.iter().filter(|r| r.predicted_step_time_s.is_some()).count();
    let time: Vec<f64> = rows.iter().filter_map(|r| r.step_time_error).collect();
    let memory: Vec<f64> = rows.iter().filter_map(|r| r.peak_memory_error).collect();
    Errors {
        rows: rows.len(),
        predicted,
        skipped: rows.len() - predicted,
        complete: complete.len(),
        complete_predicted,
        step_time: statistics::summarize(&time),
        peak_memory: statistics::summarize(&memory),
        interval_coverage: coverage(rows, |row| {
            Some((row.predicted_step_time_low_s?, row.predicted_step_time_high_s?))
        }),
        half_interval_coverage: coverage(rows, |row| {
            Some((row.predicted_step_time_half_low_s?, row.predicted_step_time_half_high_s?))
        }),
        rank_correlation: sweeps(rows),
    }
}

/// Share of rows whose measured step time is inside their interval, ends included. `None` without a row that
/// has both.
fn coverage(rows: &[&RowResult], interval: impl Fn(&RowResult) -> Option<(f64, f64)>) -> Option<f64> {
    let is_inside = |row: &&RowResult| {
        let ((low, high), measured) = (interval(row)?, row.measured_step_time_s?);
        Some((low..=high).contains(&measured))
    };
    let inside: Vec<bool> = rows.iter().filter_map(is_inside).collect();
    (!inside.is_empty()).then(|| inside.iter().filter(|is| **is).count() as f64 / inside.len() as f64)
}

/// Rank correlation within sweeps, weighted by rows.
fn sweeps(rows: &[&RowResult]) -> Option<f64> {
    const FEWEST: usize = 5;
    let mut sweeps: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows {
        if let (Some(sweep), Some(p), Some(m)) =
            (&row.sweep, row.predicted_step_time_s, row.measured_step_time_s)
        {
            sweeps.entry(sweep).or_default().push((p, m));
        }
    }
    let (mut sum, mut weight) = (0.0, 0.0);
    for pairs in sweeps.values().filter(|p| p.len() >= FEWEST) {
        if let Some(correlation) = statistics::rank_correlation(pairs) {
            sum += correlation * pairs.len() as f64;
            weight += pairs.len() as f64;
        }
    }
    (weight > 0.0).then(|| sum / weight)
}

fn verdicts(rows: &[RowResult]) -> Option<Verdicts> {
    let mut v = Verdicts::default();
    for row in rows {
        let Some(fits) = row.predicted_fits else { continue };
        if row.measured_out_of_memory {
            v.out_of_memory += 1;
            v.found += usize::from(!fits);
        } else if row.ran {
            v.ran += 1;
            v.false_alarms += usize::from(!fits);
        }
    }
    let all = v.out_of_memory + v.ran;
    v.recall = (v.out_of_memory > 0).then(|| v.found as f64 / v.out_of_memory as f64);
    (all > 0).then_some(v)
}

/// Groups of sources, as data.
#[derive(Debug, Default, Deserialize)]
struct Groups {
    #[serde(default)]
    group: Vec<Group>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    #[serde(default)]
    architecture: Option<String>,
    fragments: Vec<String>,
}

impl Groups {
    fn bundled() -> Self {
        toml::from_str(railwright_catalog::EVIDENCE_GROUPS).unwrap_or_default()
    }

    fn of(&self, cells: &super::table::Cells) -> Option<String> {
        let text = format!(
            "{} {}",
            cells.text("source").unwrap_or_default(),
            cells.text("framework").unwrap_or_default()
        )
        .to_lowercase();
        let found = self.group.iter().find(|g| {
            g.architecture.as_deref().is_none_or(|a| cells.text("arch") == Some(a))
                && g.fragments.iter().any(|f| text.contains(f.as_str()))
        });
        found.map(|g| g.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::calibration::{Evidence, Operators, Rate, Regime};
    use railwright_spec::precision::DataType;

    /// A calibration marks the rows whose prediction it changes, and counts the unchanged ones on its
    /// accelerator.
    #[test]
    fn rows_are_calibrated_where_their_prediction_changes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/inputs/runs.csv");
        let text = std::fs::read_to_string(path).expect("three runs on A100 in fp16");
        let of = |format, software: &str| {
            let calibration = Calibration {
                software: software.to_owned(),
                rates: vec![Rate {
                    operators: Operators::Products(format),
                    regime: Regime::Sustained,
                    points: vec![(1e12, 0.5)],
                    evidence: Evidence::default(),
                }],
                ..Calibration::empty("a100-sxm4-80gb")
            };
            validate_with(&text, "runs.csv", Some(&Arc::new(calibration))).expect("a table")
        };
        let plain = validate(&text, "runs.csv").expect("a table");
        let times = |all: &Validation| -> Vec<_> {
            all.rows.iter().map(|row| row.predicted_step_time_s.map(f64::to_bits)).collect()
        };
        let reported = |all: &Validation| {
            let used = all.calibration.as_ref().expect("given");
            let marked = all.rows.iter().filter(|row| row.calibrated).count();
            (marked, used.rows, used.unchanged, used.other_software, used.without.rows)
        };
        let eight_bits = of(DataType::Fp8, "");
        assert_eq!(times(&eight_bits), times(&plain));
        assert_eq!(reported(&eight_bits), (0, 0, 3, 0, 0));
        let slower = of(DataType::Fp16, "torchtitan-2024-compile");
        assert_ne!(times(&slower), times(&plain));
        assert_eq!(reported(&slower), (3, 3, 0, 3, 3));
    }
}
