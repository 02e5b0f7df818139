//! The step time and its parts.

use super::super::breakdown::{dimension_id, runs_per_chunk, stage_work};
use super::super::communication::operation;
use super::super::{Estimate, identity::schedule_name};
use super::calibrated;
use super::explanation::{Explanation, Input, explanation, given, measure};
use crate::costing::Costing;
use crate::evaluate::{Evaluation, local_chunks, stage_parameters};
use crate::layer::LayerCost;
use crate::update;
use crate::work::{Dimension, Work};
use railwright_spec::Portable as _;
use railwright_spec::calibration::Operators;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;

fn of(estimate: &Estimate, id: &str) -> f64 {
    estimate.time.find(id).map_or(0.0, |p| p.time.get())
}

/// Explanations of the step and of the pipeline.
pub(super) fn step(costing: &Costing<'_>, evaluation: &Evaluation, estimate: &Estimate) -> Vec<Explanation> {
    let plan = costing.plan;
    let stage = evaluation.critical_stage;
    let row = &estimate.stages[stage];
    let part = |name: &str, id: &str| measure(name, of(estimate, id), "s", id);
    let count = plan.micro_batches().max(1) as f64;
    let mut passes = vec![
        given("micro_batches", count, "plan"),
        measure("forward", row.forward.get(), "s", "stage table: one micro-batch through its chunks"),
        measure("backward", row.backward.get(), "s", "stage table, recompute included"),
    ];
    let mut busy = "micro_batches x (forward + backward)".to_owned();
    let hidden = count * (row.forward + row.backward).get() - row.busy.get();
    if hidden.abs() > 1e-9 * row.busy.get() {
        busy.push_str(" - hidden");
        passes.push(measure("hidden", hidden, "s", "overlap of fused passes"));
    }
    vec![
        explanation(
            "step_time",
            "step time",
            (evaluation.time.total.get(), "s"),
            "pipeline + data_parallel + optimizer + fixed + jitter",
            vec![
                measure("pipeline", evaluation.pipeline.get(), "s", "pipeline"),
                part("data_parallel", "data_parallel"),
                part("optimizer", "optimizer"),
                part("fixed", "fixed"),
                part("jitter", "jitter"),
            ],
            "the stage with the most work is critical; see each part",
        ),
        explanation(
            "pipeline",
            "duration of the pipeline",
            (evaluation.pipeline.get(), "s"),
            "busy + bubble",
            vec![
                measure(
                    "busy",
                    row.busy.get(),
                    "s",
                    &format!("stage {stage}: its passes over all micro-batches"),
                ),
                measure("bubble", row.bubble.get(), "s", "bubble"),
            ],
            &format!("passes in the order of {}, each after its inputs", schedule_name(plan)),
        ),
        explanation(
            "stage.busy",
            "work of the busiest stage",
            (row.busy.get(), "s"),
            &busy,
            passes,
            "sum over the stage's layers and ends",
        ),
        explanation(
            "bubble",
            "pipeline bubble",
            (row.bubble.get(), "s"),
            "pipeline - busy",
            vec![
                measure("pipeline", evaluation.pipeline.get(), "s", "pipeline"),
                measure("busy", row.busy.get(), "s", "stage.busy"),
                given("stages", plan.pipeline_parallel as f64, "plan"),
                given("virtual_stages", plan.virtual_stages as f64, "plan"),
                measure(
                    "transfer",
                    evaluation.transfer.get(),
                    "s",
                    "transfer of one activation to the next \
                    stage",
                ),
                measure(
                    "textbook",
                    (row.forward + row.backward).get() * (plan.pipeline_parallel as f64 - 1.0)
                        / plan.virtual_stages.max(1) as f64,
                    "s",
                    "(stages - 1) x (forward + backward) / virtual_stages, for even 1F1B and free transfers",
                ),
            ],
            "Narayanan 2021, section 2.2, for the textbook value; the computed bubble includes uneven stages and \
            transfers",
        ),
    ]
}

/// Explanations of compute, communication, host, update and the rest.
pub(super) fn parts(costing: &Costing<'_>, evaluation: &Evaluation, estimate: &Estimate) -> Vec<Explanation> {
    let mut list = Vec::new();
    let runs = runs_per_chunk(costing);
    let work = stage_work(costing, evaluation, evaluation.critical_stage);
    if let Some(compute) = estimate.time.find("compute") {
        let inputs = compute.children.iter().map(|c| measure(&c.title, c.time.get(), "s", &c.id)).collect();
        let source = "sum over operator families";
        list.push(explanation("compute", "compute", (compute.time.get(), "s"), "sum of all", inputs, source));
        for family in &compute.children {
            let mut inputs = vec![given("runs", runs, "micro-batches of each chunk of the stage")];
            inputs.extend(
                family
                    .children
                    .iter()
                    .map(|c| measure(&c.title, c.time.get() / runs, "s", "one micro-batch")),
            );
            let names: Vec<&str> = family.children.iter().map(|c| c.title.as_str()).collect();
            let formula = format!("runs x ({})", names.join(" + "));
            let laws = "operator models at the shapes of `operator.*`";
            let source = match calibrated::family(costing, &family.id) {
                Some(calibration) => format!("{laws}; {calibration}"),
                None => format!("{laws}, over the sustained rate of the software generation"),
            };
            list.push(explanation(
                &family.id,
                &family.title,
                (family.time.get(), "s"),
                &formula,
                inputs,
                &source,
            ));
        }
    }
    for part in estimate.time.find("exposed").map(|e| e.children.as_slice()).unwrap_or_default() {
        let dimension = part.id.trim_start_matches("exposed.");
        if dimension == dimension_id(Dimension::Host).0 {
            list.push(host_offload(costing, &work, (&part.id, &part.title), part.time));
            continue;
        }
        let rows = estimate.communication.iter().filter(|r| r.dimension == dimension);
        let all: Seconds = rows.clone().map(|r| r.time).sum();
        let mut inputs = vec![given("exposed_share", part.time / all, "not overlapped; see `overlap`")];
        for row in rows {
            let behind = calibrated::collective(costing, row);
            let behind = behind.map_or_else(String::new, |text| format!("; {text}"));
            let place = if row.domains > 1 { "across domains" } else { "inside a domain" };
            inputs.push(measure(
                &format!("{} x {}", human::count(row.count), row.operation.replace('_', "-")),
                row.time.get(),
                "s",
                &format!(
                    "{} each over {} ranks {place}: {} at {} bus bandwidth ({}){behind}",
                    human::bytes_decimal(row.bytes),
                    row.ranks,
                    human::seconds(row.time_each),
                    human::bandwidth(row.bus_bandwidth),
                    row.algorithm
                ),
            ));
        }
        let formula = "exposed_share x (sum of the collectives' times)";
        let is_calibrated = inputs.iter().any(|input| input.source.contains("; calibration"));
        let source = if is_calibrated {
            "link models of the calibration, else of the link generation, over the sustained rate of the \
             software generation"
        } else {
            "link models of the link generation, over the sustained rate of the software generation"
        };
        list.push(explanation(&part.id, &part.title, (part.time.get(), "s"), formula, inputs, source));
    }
    list.push(host(
        costing,
        evaluation,
        estimate,
        [&work.forward, &work.backward_input, &work.backward_weight],
        runs,
    ));
    list.extend(update(costing, evaluation, estimate));
    list
}

/// Explanation of copies to the host and back.
fn host_offload(
    costing: &Costing<'_>,
    work: &LayerCost,
    (id, title): (&str, &str),
    exposed: Seconds,
) -> Explanation {
    let at = Dimension::Host as usize;
    let copies = |work: &Work| work.communication[at].get();
    let link = costing.cluster.accelerator.host_link();
    let inputs = vec![
        measure("copies", copies(&work.forward), "s", "to the host in forward passes, and parameters back"),
        measure("copies back", copies(&work.backward_input), "s", "to the device in backward passes"),
        measure(
            "link",
            link.get() / 1e9,
            "GB/s",
            "link to the host, one direction; see `cluster.host.bandwidth`",
        ),
    ];
    let formula = "sum over layers of the time that exceeds compute and other exposed communication, plus the \
    memory traffic of the remainder";
    explanation(id, title, (exposed.get(), "s"), formula, inputs, "kept bytes of each layer / link")
}

fn host(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    estimate: &Estimate,
    [forward, input, weight]: [&Work; 3],
    runs: f64,
) -> Explanation {
    let software = costing.software;
    let name =
        calibrated::host(costing).unwrap_or_else(|| format!("catalog/software.toml, `{}`", software.id));
    let device: f64 = [forward, input, weight].iter().map(|w| w.time().get()).sum::<f64>() / runs;
    explanation(
        "host",
        "waiting for the host",
        (of(estimate, "host"), "s"),
        "busy - device work; a pass takes (device^5 + host^5)^(1/5) and host = kernels x host_per_kernel + per_micro_batch / 2",
        vec![
            measure("busy", estimate.stages[evaluation.critical_stage].busy.get(), "s", "stage.busy"),
            measure(
                "device per micro-batch",
                device,
                "s",
                "compute and exposed communication, without recompute",
            ),
            given("kernels forward", forward.launches / runs, "operators of a micro-batch on the stage"),
            given("kernels backward", (input.launches + weight.launches) / runs, "the same"),
            measure("host_per_kernel", software.launch_us(costing.plan.tensor_parallel) * 1e-6, "s", &name),
            measure("per_micro_batch", software.host_us_per_micro_batch * 1e-6, "s", &name),
        ],
        "the slower of device and host determines a pass, with a smooth transition",
    )
}

fn update(costing: &Costing<'_>, evaluation: &Evaluation, estimate: &Estimate) -> Vec<Explanation> {
    let plan = costing.plan;
    let stage = evaluation.critical_stage;
    let software = costing.software;
    let name = format!("catalog/software.toml, `{}`", software.id);
    let local = stage_parameters(costing, &evaluation.chunks).get(stage).copied().unwrap_or_default();
    let update = evaluation.updates.get(stage).copied().unwrap_or_default();
    let mut layers: Vec<Input> = vec![
        given("parameters", local.trained(), &format!("trained weights on one rank of stage {stage}")),
        given(
            "layers",
            local_chunks(plan, stage).iter().map(|&c| evaluation.chunks[c].layers).sum::<u64>() as f64,
            "plan",
        ),
        given("bytes per gradient", plan.precision.gradient_reduce.bytes(), "plan.precision.gradient_reduce"),
    ];
    layers.extend(update::of_stage(costing, evaluation, stage).iter().map(|one| {
        let collective = &one.collective;
        let (name, _) = operation(collective.operation, collective.group.ranks);
        let source = format!(
            "{} among {} ranks, x{}",
            name.replace('_', "-"),
            collective.group.ranks,
            collective.count
        );
        measure(&collective.title(), collective.bytes.get(), "B", &source)
    }));
    layers.extend([
        measure("reduce", update.gradient_reduce.get(), "s", "including overlapped time"),
        measure(
            "reduce_exposed",
            update.gradient_exposed.get(),
            "s",
            "not overlapped by the last backward \
            pass",
        ),
    ]);
    if update.between_stages > Seconds::ZERO {
        let with = "copies of the same weights; after the others, not overlapped";
        layers.push(measure("reduce_between_stages", update.between_stages.get(), "s", with));
    }
    layers.extend([
        measure("gather", update.parameter_gather.get(), "s", "including overlapped time"),
        measure(
            "gather_exposed",
            update.parameter_exposed.get(),
            "s",
            "not overlapped by the first forward \
            pass",
        ),
    ]);
    let slowest = (0..evaluation.updates.len())
        .max_by(|&a, &b| {
            evaluation.updates[a].optimizer.get().total_cmp(&evaluation.updates[b].optimizer.get())
        })
        .unwrap_or(stage);
    let held = stage_parameters(costing, &evaluation.chunks).get(slowest).copied().unwrap_or_default();
    let mut stepped =
        super::explanation::shards(plan, held, &format!("stage {slowest}"), plan.sharding.zero_stage >= 1);
    let each = software.optimizer_bytes_per_parameter;
    let traffic = super::explanation::per_shard(&stepped) * each;
    let behind = calibrated::operators(costing, Operators::Optimizer);
    stepped.push(given("bytes_per_parameter", each, behind.as_deref().unwrap_or(&name)));
    if plan.offload.optimizer > 0.0 {
        let host = costing.cluster.host.memory_bandwidth_per_device.get() / 1e9;
        stepped.push(measure(
            "host_memory_bandwidth",
            host,
            "GB/s",
            "of one rank; see `cluster.host.memory_bandwidth`",
        ));
        let share = "share that a CPU optimizer reaches; published runs: 0.05 to 1.5";
        stepped.push(given("host_update_rate", software.host_update_rate, share));
    }
    let reached = traffic / of(estimate, "optimizer").max(f64::MIN_POSITIVE);
    stepped.push(measure(
        "rate",
        reached,
        "B/s",
        "memory bandwidth reached by element-wise kernels, by a measured model",
    ));
    let doublings = (plan.world_size() as f64 / plan.domain(costing.cluster) as f64).max(1.0).portable_log2();
    let total = evaluation.time.total.get();
    let jitter = of(estimate, "jitter");
    vec![
        explanation(
            "data_parallel",
            "data parallel, exposed",
            (of(estimate, "data_parallel"), "s"),
            "the largest over stages of reduce_exposed that outlasts the pipeline, plus the largest gather_exposed",
            layers,
            "reduction overlaps with the backward pass of the last micro-batch; overlap slows compute by a \
             share",
        ),
        explanation(
            "optimizer",
            "optimizer step",
            (of(estimate, "optimizer"), "s"),
            "(dense / shards + routed / expert_shards) x bytes_per_parameter / rate, of the slowest stage",
            stepped,
            "reads and writes of master weights, moments, gradients and parameters",
        ),
        explanation(
            "fixed",
            "fixed per step",
            (of(estimate, "fixed"), "s"),
            "host_ms_per_step / 1000",
            vec![measure(
                "host_ms_per_step",
                software.host_ms_per_step,
                "ms",
                calibrated::host(costing).as_deref().unwrap_or(&name),
            )],
            "data loader, logging, loss reduction, gradient norm",
        ),
        explanation(
            "jitter",
            "jitter allowance",
            (jitter, "s"),
            "body x per_doubling x doublings",
            vec![
                measure("body", total - jitter, "s", "everything else"),
                given("per_doubling", software.jitter_per_doubling, &name),
                given("doublings", doublings, "log2(devices / devices per domain), at least 0"),
            ],
            "the slowest of many devices determines the step",
        ),
    ]
}
