//! Derivations of numbers: the equation, its inputs, and the origin of each.
//!
//! Responsible for: sufficient inputs to recalculate the main numbers by hand. Does not compute anything
//! beyond the estimate; a test repeats the arithmetic.

mod calibrated;
mod explanation;
mod memory;
mod operators;
mod time;

pub use explanation::{Explanation, Input};

use super::Estimate;
use crate::costing::Costing;
use crate::evaluate::Evaluation;
use crate::model_flop::Convention;
use explanation::{explanation, given, measure};
use railwright_spec::problem::{Problem, did_you_mean};

impl Estimate {
    /// The explanation of one number.
    pub fn explain(&self, id: &str) -> Result<&Explanation, Problem> {
        self.why.iter().find(|e| e.id == id).ok_or_else(|| {
            Problem::new(format!("unknown part of the estimate: `{id}`")).hint(did_you_mean(
                id,
                self.why.iter().map(|e| e.id.as_str()),
                "omit the name to list all",
            ))
        })
    }

    /// All explanations, in the order of a report.
    pub fn why(&self) -> &[Explanation] {
        &self.why
    }
}

/// All explanations of an estimate.
pub(super) fn all(costing: &Costing<'_>, evaluation: &Evaluation, estimate: &Estimate) -> Vec<Explanation> {
    let mut list = time::step(costing, evaluation, estimate);
    list.extend(time::parts(costing, evaluation, estimate));
    list.extend(operators::products(costing));
    list.extend(throughput(estimate));
    list.extend(utilisation(estimate));
    list.extend(memory::memory(costing, estimate));
    list.extend(money(estimate));
    list
}

fn throughput(estimate: &Estimate) -> Vec<Explanation> {
    let t = &estimate.throughput;
    let step = measure("step", estimate.step_time.get(), "s", "step_time");
    vec![
        explanation(
            "tokens_per_second",
            "tokens per second",
            (t.tokens_per_second, "tokens/s"),
            "sequences x sequence_length / step",
            vec![
                given("sequences", t.sequences_per_step as f64, "plan.global_batch"),
                given("sequence_length", estimate.plan.sequence_length as f64, "plan.sequence_length"),
                step.clone(),
            ],
            "definition",
        ),
        explanation(
            "tokens_per_second_per_device",
            "tokens per second and device",
            (t.tokens_per_second_per_device, "tokens/s"),
            "tokens / step / devices",
            vec![
                given("tokens", t.tokens_per_step as f64, "plan: global batch x sequence length"),
                step,
                given(
                    "devices",
                    estimate.plan.world_size() as f64,
                    "plan: tensor x context x pipeline x data",
                ),
            ],
            "definition",
        ),
    ]
}

fn utilisation(estimate: &Estimate) -> Vec<Explanation> {
    let devices = given("devices", estimate.plan.world_size() as f64, "plan");
    let step = measure("step", estimate.step_time.get(), "s", "step_time");
    let peak_source = format!("data sheet of {}, dense", estimate.cluster.accelerator_name);
    let mut list = Vec::new();
    for model in &estimate.efficiency.model_flop {
        let Some(used) = model.utilisation.first() else { continue };
        let (id, title, source) = match model.convention {
            Convention::FullAttention => (
                "mfu.full_attention",
                "MFU, attention counted in full",
                "PaLM, appendix B: 6N + 12 L h s per token; recompute not counted",
            ),
            Convention::CausalAttention => (
                "mfu.causal_attention",
                "MFU, attention counted with a causal mask",
                "6N + 6 L h s per token; recompute not counted",
            ),
        };
        list.push(explanation(
            id,
            title,
            (used.share * 100.0, "%"),
            "100 x flop_per_token x tokens / (step x devices x peak)",
            vec![
                measure("flop_per_token", model.per_token.get(), "FLOP", "model: forward x 3, head included"),
                given("tokens", estimate.throughput.tokens_per_step as f64, "plan"),
                step.clone(),
                devices.clone(),
                measure("peak", used.peak.get(), "FLOP/s", &peak_source),
            ],
            source,
        ));
    }
    if let Some(used) = estimate.efficiency.hardware.first() {
        list.push(explanation(
            "hfu",
            "HFU: executed FLOPs, including recompute, attention with a causal mask",
            (used.share * 100.0, "%"),
            "100 x executed / (step x devices x peak)",
            vec![
                measure(
                    "executed",
                    estimate.efficiency.hardware_flop.get(),
                    "FLOP",
                    "sum over all operators",
                ),
                step,
                devices,
                measure("peak", used.peak.get(), "FLOP/s", &peak_source),
            ],
            "Korthikanti 2022, section 6.3; masked attention is not counted",
        ));
    }
    list
}

fn money(estimate: &Estimate) -> Vec<Explanation> {
    let Some(bill) = &estimate.money else { return Vec::new() };
    let step = measure("step", estimate.step_time.get(), "s", "step_time");
    let hours = measure("device_hours", bill.device_hours.0, "h", "device_hours");
    let mut list = vec![explanation(
        "device_hours",
        "device-hours",
        (bill.device_hours.0, "h"),
        "steps x step / availability x devices / 3600",
        vec![
            given("steps", bill.steps, "tokens / tokens per step, rounded up"),
            step,
            given(
                "availability",
                bill.availability,
                if bill.failures.is_some() { "goodput with failures" } else { "training.availability" },
            ),
            given("devices", estimate.cluster.devices as f64, "cluster"),
        ],
        "definition",
    )];
    if let (Some(rent), Some(price)) = (bill.rent, &bill.device_price) {
        list.push(explanation(
            "rent",
            "rent",
            (rent.get(), "$"),
            "device_hours x price",
            vec![hours, measure("price", price.amount.get(), "$", &price.source)],
            "definition",
        ));
    }
    list.push(explanation(
        "energy",
        "energy at the facility's meter",
        (bill.energy.get(), "kWh"),
        "power x calendar / 3.6e6",
        vec![
            measure("power", bill.power.get(), "W", "devices x (share x limit + host) x PUE"),
            measure("calendar", bill.calendar.get(), "s", "steps x step / availability"),
        ],
        "definition",
    ));
    list
}

#[cfg(test)]
mod tests;
