//! Tests of fits: known models are recovered, and predictions use the fitted constants.

use super::figures::uncertainty;
use super::*;
use crate::collectives::Collective;
use crate::costing::Machine;
use crate::estimate::{EstimateOptions, estimate};
use railwright_spec::calibration::{CollectiveSample, ProductPass, ProductSample, StepSample};
use railwright_spec::cluster::by_name;
use railwright_spec::model;
use railwright_spec::plan::Group;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::run;

pub(super) fn case(cluster: &Cluster) -> Case<'_> {
    Case { cluster, software: "megatron-core-2024", run: None, is_causal: true, timed: &[] }
}

fn product([m, n, k]: [u64; 3], pass: ProductPass, times: Vec<Seconds>) -> ProductSample {
    ProductSample { format: DataType::Bf16, batch: 1, m, n, k, pass, times }
}

/// GEMMs that take 1.4 times the model, and small ones 2 times.
fn slow(cluster: &Cluster) -> Samples {
    let bare = Predictor::new(cluster, "megatron-core-2024").expect("known");
    let mut samples = Samples { from: "rank0".into(), ..Samples::default() };
    for (shape, factor) in [
        ([4096, 4096, 4096], 1.4),
        ([8192, 4096, 4096], 1.4),
        ([8192, 8192, 4096], 1.4),
        ([512, 512, 512], 2.0),
        ([512, 1024, 512], 2.0),
    ] {
        for pass in [ProductPass::Forward, ProductPass::DataGradient, ProductPass::WeightGradient] {
            let mut one = product(shape, pass, vec![Seconds::ZERO]);
            one.times = vec![bare.product(&one).time * factor; 3];
            samples.products.push(one);
        }
    }
    samples
}

#[test]
fn rates_of_products_are_recovered_by_work() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let fitted = fit(&case(&cluster), &[slow(&cluster)]).expect("fitted");
    let rate = fitted.calibration.rate(Operators::Products(DataType::Bf16)).expect("a rate");
    assert_eq!(rate.regime, Regime::Sustained);
    assert!((rate.at(1e8) - 0.5).abs() < 1e-3 && (rate.at(1e12) - 1.0 / 1.4).abs() < 1e-3, "{rate:?}");
    assert_eq!(fitted.calibration.software, "megatron-core-2024");
    let line = &fitted.lines[0];
    assert_eq!((line.name.as_str(), line.shapes, line.samples), ("products.bf16", 15, 45));
    // Without it the generation's 0.842 is too fast by 1 - 1/(1.4 x 0.842).
    assert!((line.error_before - (1.0 - 1.0 / (1.4 * 0.842))).abs() < 0.02, "{}", line.error_before);
    assert!(line.error_after < 0.005, "{}", line.error_after);
    assert_eq!(rate.evidence.error_after, rounded(line.error_after));
}

#[test]
fn what_was_fitted_is_what_a_run_is_priced_with() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let fitted = fit(&case(&cluster), &[slow(&cluster)]).expect("fitted");
    let with = Arc::new(fitted.calibration).applied(cluster.clone()).expect("the same accelerator");
    let model = model::by_name("llama-3-8b").expect("known");
    let text = "[plan]\ntensor_parallel = 1\npipeline_parallel = 1\ndata_parallel = 8\nglobal_batch = 8\nsequence_length = 4096\nsoftware = \"megatron-core-2024\"\n";
    let plan = run::parse(text, "run.toml").expect("sound").plan.resolve(&model, &cluster).expect("resolved");
    let options = EstimateOptions::default();
    let before = estimate(&model, &cluster, &plan, &options).expect("priced");
    let after = estimate(&model, &with, &plan, &options).expect("priced");
    let mlp = |e: &crate::estimate::Estimate| e.time.find("compute.mlp").expect("a part").time;
    let ratio = mlp(&after) / mlp(&before);
    // The calibration contains sustained GEMMs, so the generation's share of the burst rate does not apply.
    let shipped = crate::software::by_id("megatron-core-2024").expect("known").matmul["Hopper"];
    assert!((ratio - 1.4 * shipped).abs() < 0.002, "{ratio}");
    assert!(after.provenance.iter().any(|f| f.id == "operators.calibrated" && f.share > 0.2));
    assert_eq!(after.cluster.calibration.as_deref(), Some(""));
    let ids: Vec<&str> = after.warnings.iter().map(|w| w.id.as_str()).collect();
    assert!(!ids.contains(&"calibration-software"), "{ids:?}");
}

#[test]
fn burst_measurements_correct_the_law_and_leave_the_generation_its_share() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let mut samples = slow(&cluster);
    samples.alone = true;
    samples.products.retain(|s| s.m > 4000 && s.pass == ProductPass::Forward);
    let fitted = fit(&case(&cluster), &[samples]).expect("fitted");
    assert!(fitted.calibration.software.is_empty());
    let with = Arc::new(fitted.calibration).applied(cluster.clone()).expect("the same accelerator");
    let (before, after) = (
        Predictor::new(&cluster, "megatron-core-2024").unwrap(),
        Predictor::new(&with, "megatron-core-2024").unwrap(),
    );
    let one = product([8192, 8192, 8192], ProductPass::Forward, Vec::new());
    let rate = |predictor: &Predictor<'_>| predictor.product_rate(DataType::Bf16);
    assert_eq!(rate(&before), rate(&after));
    assert!((after.product(&one).time / before.product(&one).time - 1.4).abs() < 1e-3);
}

/// t = 15 us + 1.75 b / 480 GB/s + 10 ns sqrt(b)
fn all_reduce(bytes: f64) -> Seconds {
    Seconds::new(15e-6 + 1.75 * bytes / 480e9 + 10e-9 * bytes.sqrt())
}

#[test]
fn the_constants_of_a_collective_are_recovered_despite_two_wild_measurements() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let sizes = (3..33).map(|power| f64::from(1 << power.min(30)) * if power > 30 { 4.0 } else { 1.0 });
    let collectives = sizes
        .map(|bytes| CollectiveSample {
            operation: Collective::AllReduce,
            ranks: 8,
            hosts: Some(1),
            bytes,
            alone: true,
            is_bound: false,
            times: vec![
                all_reduce(bytes) * if bytes == 1024.0 || bytes == 1_048_576.0 { 3.0 } else { 1.0 };
                2
            ],
        })
        .collect();
    let samples = Samples { from: "all_reduce.log".into(), alone: true, collectives, ..Samples::default() };
    let fitted = fit(&case(&cluster), &[samples]).expect("fitted");
    let law = fitted.calibration.collective(Collective::AllReduce, 8).expect("a law");
    assert!((law.base_us / 15.0 - 1.0).abs() < 0.02, "{law:?}");
    assert!((law.bandwidth_gb / 480.0 - 1.0).abs() < 0.02, "{law:?}");
    assert!((law.ramp_ns / 10.0 - 1.0).abs() < 0.05, "{law:?}");
    assert_eq!(fitted.calibration.link, cluster.scale_up.link);
    // The fabric has the calibrated values, and scales other rank counts with them.
    let with = Arc::new(fitted.calibration).applied(cluster.clone()).expect("the same accelerator");
    let of = |cluster: &Cluster, ranks: u64| {
        let group = Group { ranks, per_domain: ranks, least: ranks, stride: 1 };
        Machine::new(cluster).fabric.time(
            crate::collectives::Collective::AllReduce,
            Bytes::new(1e8),
            &group,
            1.0,
        )
    };
    let cost = of(&with, 8);
    assert_eq!(cost.source, crate::collectives::Source::Calibrated);
    assert!((cost.time / all_reduce(1e8) - 1.0).abs() < 0.02, "{cost:?}");
    assert_eq!(of(&with, 4).source, crate::collectives::Source::Interpolated);
    assert_eq!(of(&cluster, 8).source, crate::collectives::Source::Measured);
}

#[test]
fn three_sizes_scale_the_catalogues_law() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let predictor = Predictor::new(&cluster, "megatron-core-2024").expect("known");
    let mut samples = Samples { alone: true, ..Samples::default() };
    for bytes in [1e6, 2e6, 4e6] {
        let mut one = CollectiveSample {
            operation: Collective::AllGather,
            ranks: 8,
            hosts: None,
            bytes,
            alone: true,
            is_bound: false,
            times: Vec::new(),
        };
        one.times = vec![Seconds::new(2.0 * predictor.collective(&one))];
        samples.collectives.push(one);
    }
    let fitted = fit(&case(&cluster), &[samples]).expect("fitted");
    assert!(fitted.lines[0].error_after < 0.02 && (fitted.lines[0].error_before - 0.5).abs() < 0.01);
    assert!(fitted.warnings.iter().any(|w| w.id == "calibration-few-samples"));
}

#[test]
fn the_networks_share_is_recovered_through_the_calculators_own_laws() {
    let cluster = by_name("dgx-h100", 64).expect("known");
    let slower = Cluster {
        network: railwright_spec::cluster::Network {
            bandwidth: cluster.network.bandwidth * 0.6,
            ..cluster.network.clone()
        },
        ..cluster.clone()
    };
    let predictor = Predictor::new(&slower, "megatron-core-2024").expect("known");
    let mut samples = Samples { alone: true, from: "two nodes".into(), ..Samples::default() };
    for ranks in [16, 32] {
        for power in (20..33).step_by(2) {
            let mut one = CollectiveSample {
                operation: Collective::AllReduce,
                ranks,
                hosts: Some(ranks / 8),
                bytes: 2f64.powi(power),
                alone: true,
                is_bound: false,
                times: Vec::new(),
            };
            one.times = vec![Seconds::new(predictor.collective(&one))];
            samples.collectives.push(one);
        }
    }
    let fitted = fit(&case(&cluster), &[samples]).expect("fitted");
    let network = fitted.calibration.network.expect("a network");
    assert!((network.ring_share / (0.6 * 0.95) - 1.0).abs() < 0.03, "{network:?}");
    assert!((network.latency - 1.0).abs() < 0.1, "{network:?}");
    assert_eq!((network.from_domains, network.to_domains), (2, 4));
    assert!(network.evidence.error_after < 0.01 && network.evidence.error_before > 0.2, "{network:?}");
}

#[test]
fn steps_settle_streams_update_and_host() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let model = model::by_name("llama-3-8b").expect("known");
    let text = "[plan]\ntensor_parallel = 2\npipeline_parallel = 1\ndata_parallel = 4\nglobal_batch = 8\nsequence_length = 4096\nsoftware = \"megatron-core-2024\"\n";
    let plan = run::parse(text, "run.toml").expect("sound").plan.resolve(&model, &cluster).expect("resolved");
    let measured = StepSample {
        steps: 10,
        step: Seconds::new(0.9),
        products: Seconds::new(0.5),
        attention: Seconds::new(0.05),
        elementwise: Seconds::new(0.12),
        loss: Seconds::new(0.02),
        optimizer: Seconds::new(0.05),
        idle: Seconds::new(0.06),
        ..StepSample::default()
    };
    let samples = Samples { from: "rank0".into(), steps: vec![measured.clone()], ..Samples::default() };
    let case = Case { run: Some((&model, &plan)), ..case(&cluster) };
    let fitted = fit(&case, &[samples]).expect("fitted");
    let after = |name: &str| fitted.steps.iter().find(|s| s.name == name).expect(name).after;
    for (name, wanted) in [
        ("products", measured.products),
        ("attention", measured.attention),
        ("elementwise", measured.elementwise),
        ("loss", measured.loss),
        ("optimizer", measured.optimizer),
        ("host", measured.idle),
    ] {
        let ratio = after(name) / wanted;
        assert!((ratio - 1.0).abs() < 0.08, "{name}: {ratio}");
    }
}

/// A whole step corrects the parts towards the measured time, but not completely: a stack has a common level,
/// and a run has its own scatter. Predictions of the run and of a different layout change too. Their
/// intervals are narrower than without measurements.
#[test]
fn a_log_corrects_the_parts_of_the_step() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let model = model::by_name("llama-3-8b").expect("known");
    let text = "[plan]\ntensor_parallel = 2\npipeline_parallel = 1\ndata_parallel = 4\nglobal_batch = 8\nsequence_length = 4096\nsoftware = \"megatron-core-2024\"\n";
    let plan = run::parse(text, "run.toml").expect("sound").plan.resolve(&model, &cluster).expect("resolved");
    let options = EstimateOptions::default();
    let took = estimate(&model, &cluster, &plan, &options).expect("priced").step_time * 1.2;
    let step = StepSample { steps: 100, step: took, ..StepSample::default() };
    let samples = Samples { from: "log".into(), steps: vec![step], ..Samples::default() };
    let fitted = fit(&Case { run: Some((&model, &plan)), ..case(&cluster) }, &[samples]).expect("fitted");
    let names: Vec<&str> = fitted.steps.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["step"], "a log has no parts");
    let (before, after) = (fitted.steps[0].before, fitted.steps[0].after);
    assert!(after > before * 1.1 && after < took, "{:?}", fitted.steps[0]);
    let steps = fitted.calibration.steps.clone().expect("fitted");
    assert_eq!((steps.layouts, steps.evidence.samples), (1, 1));
    let with = Arc::new(fitted.calibration).applied(cluster.clone()).expect("the same accelerator");
    let mut other = plan.clone();
    (other.tensor_parallel, other.data_parallel) = (4, 2);
    let sources = ["your own measurement of this layout", "your own step times of 1 layout"];
    for (plan, source) in [&plan, &other].into_iter().zip(sources) {
        let of = |cluster| estimate(&model, cluster, plan, &options).expect("priced");
        let (bare, own) = (of(&cluster), of(&with));
        assert!(own.step_time > bare.step_time * 1.05, "{:?} {:?}", own.step_time, bare.step_time);
        let interval = &own.step_time_interval;
        assert!(interval.low < own.step_time && own.step_time < interval.high, "{interval:?}");
        assert!(interval.calibrated && interval.source.contains(source), "{interval:?}");
    }
}

/// Two layouts with different bottlenecks distinguish them; the written file reads back unchanged.
/// Micro-batches are large, so that neither layout waits for its host.
#[test]
fn two_step_times_separate_the_parts_and_are_written() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let model = model::by_name("llama-3-8b").expect("known");
    let plan = |tp: u64, dp: u64| {
        let text = format!(
            "[plan]\ntensor_parallel = {tp}\npipeline_parallel = 1\ndata_parallel = {dp}\nmicro_batch = 4\nglobal_batch = 32\nsequence_length = 8192\nsoftware = \"megatron-core-2024\"\n"
        );
        run::parse(&text, "run.toml").expect("sound").plan.resolve(&model, &cluster).expect("resolved")
    };
    let (alone, wide) = (plan(1, 8), plan(8, 1));
    let time =
        |plan| estimate(&model, &cluster, plan, &EstimateOptions::default()).expect("priced").step_time;
    // The network is slow, all else is as predicted.
    let (took, took_wide) = (time(&alone), time(&wide) * 1.4);
    let timed = |plan, seconds| Timed { model: &model, cluster: &cluster, plan, seconds };
    let runs = [timed(&alone, took), timed(&wide, took_wide)];
    let fitted = fit(&Case { timed: &runs, ..case(&cluster) }, &[]).expect("fitted");
    let steps = fitted.calibration.steps.as_ref().expect("fitted");
    let [products, _, _, communication] = steps.own[0].factors;
    assert!(communication > 1.3 * products, "{steps:?}");
    // Other models change less: the measured effect may be specific to this model.
    assert!(steps.factors[3] > 1.0 && steps.factors[3] < communication, "{steps:?}");
    let other = model::by_name("llama-3.1-70b").expect("known");
    assert_eq!(steps.of(&model, DataType::Bf16).0, &steps.own[0].factors);
    // A name is a label: a launch file names the same model after its file.
    let renamed = railwright_spec::model::Model { name: "my_run".to_owned(), ..model.clone() };
    assert_eq!(steps.of(&renamed, DataType::Bf16).0, &steps.own[0].factors);
    for (model, format) in [(&other, DataType::Bf16), (&model, DataType::Fp8)] {
        assert_eq!(steps.of(model, format).0, &steps.factors);
    }
    let text = fitted.calibration.to_toml().expect("sound");
    let back = Calibration::parse(&text, "").expect("reads");
    assert_eq!(back.steps, fitted.calibration.steps);
    assert!(Calibration::parse(&text.replace("residual = ", "residual = -"), "").is_err());
}

#[test]
fn nothing_measured_settles_nothing() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let remarks = vec!["12 kernels have no shape".to_owned()];
    let problem = fit(&case(&cluster), &[Samples { remarks, ..Samples::default() }]).expect_err("nothing");
    assert!(
        problem.message.starts_with("these measurements do not determine any constant of the cost model"),
        "{problem}"
    );
    assert_eq!(problem.hint.as_deref(), Some("12 kernels have no shape"));
}

#[test]
fn tables_of_micro_benchmarks_are_read_by_their_columns() {
    let text = "id,op,m,n,k,dtype,latency_us\na,gemm,4096,4096,4096,bf16,200\nb,gemm,4096,4096,4096,bf16,210\nc,conv,1,1,1,bf16,3\n\
        d,attention,,,,bf16,\n";
    let wrong = table::operators(text, "t.csv").expect_err("attention without a shape");
    assert_eq!(wrong.place.and_then(|p| p.line), Some(5));
    let text = text.lines().take(4).collect::<Vec<_>>().join("\n");
    let samples = table::operators(&text, "dir/t.csv").expect("a table");
    assert_eq!(samples.products.len(), 1);
    assert_eq!(samples.products[0].times, [Seconds::from_micros(200.0), Seconds::from_micros(210.0)]);
    assert_eq!((samples.from.as_str(), samples.alone), ("t.csv", true));
    assert!(samples.remarks[0].contains("1 rows"));
    let error_of = |text: &str| table::operators(text, "t.csv").expect_err(text).to_string();
    assert!(error_of("a,b\n1,2\n").contains("the header lacks a time or a shape"));
    assert!(error_of("m,n,k,time_us\n1,2,x,4\n").contains("`k` is `x`"));
    assert!(error_of("m,n,k,format,time_us\n1,2,3,fp17,4\n").contains("is not a number format"));
    assert!(error_of("m,n,k,time_us\n").contains("no row of the table is valid"));
}

#[test]
fn the_interval_of_a_median_narrows_with_measurements() {
    // 1, 2, ..., 100: the 95% interval of the median is between the 41st and the 61st, 20 wide over 51.
    let some = uncertainty((1..=100).map(f64::from));
    assert!((some - 10.0 / 51.0).abs() < 0.03, "{some}");
    assert!(uncertainty((1..=10_000).map(f64::from)) < some / 5.0);
    assert_eq!(uncertainty([1.0].into_iter()), 0.0);
}

/// GEMMs of two shapes, at two multiples of the time of the software generation.
fn disturbed(cluster: &Cluster, factors: [f64; 2]) -> Samples {
    let bare = Predictor::new(cluster, "megatron-core-2024").expect("known");
    let rate = bare.product_rate(DataType::Bf16);
    let mut samples = Samples { from: "rank0".into(), ..Samples::default() };
    for (shape, factor) in [([4096, 4096, 4096], factors[0]), ([8192, 8192, 8192], factors[1])] {
        let mut one = product(shape, ProductPass::Forward, vec![Seconds::ZERO]);
        one.times = vec![bare.product(&one).time * (factor / rate); 3];
        samples.products.push(one);
    }
    samples
}

#[test]
fn a_fit_with_larger_error_on_left_out_shapes_is_rejected() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    // One shape was disturbed: applied to the other, its rate has a larger error than the shipped model.
    let fitted = fit(&case(&cluster), &[disturbed(&cluster, [1.25, 0.95])]).expect("an answer");
    assert!(fitted.calibration.is_empty(), "{:?}", fitted.calibration);
    let line = &fitted.lines[0];
    assert_eq!((line.name.as_str(), line.error_before), ("products.bf16", line.error_after));
    // By hand: with one shape held out, the other's rate predicts it. Times have the ratio of the model's
    // times.
    let predictor = Predictor::new(&cluster, "megatron-core-2024").expect("known");
    let law = |side| {
        let one = product([side, side, side], ProductPass::Forward, Vec::new());
        predictor.product(&one).time.get()
    };
    let (small, large) = (law(4096), law(8192));
    let measured = 1.25 * small + 0.95 * large;
    let crossed = 0.3 * (small + large) / measured;
    let shipped = (0.25 * small + 0.05 * large) / measured;
    assert!((line.error_left_out.expect("judged") - crossed).abs() < 1e-3, "{line:?} {crossed}");
    assert!((line.error_before - shipped).abs() < 1e-6, "{line:?} {shipped}");
    let error_of = fitted.remarks.iter().find(|r| r.starts_with("products.bf16: the default is kept"));
    let error_of = error_of.expect("both errors");
    assert!(error_of.contains("leave-one-out over 2 shapes"), "{error_of}");
    for error in [crossed, shipped] {
        assert!(error_of.contains(&railwright_spec::human::percent(error)), "{error_of}");
    }
}

#[test]
fn a_fit_with_smaller_error_on_left_out_shapes_is_accepted() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let fitted = fit(&case(&cluster), &[disturbed(&cluster, [1.25, 1.3])]).expect("fitted");
    let rate = fitted.calibration.rate(Operators::Products(DataType::Bf16)).expect("a rate");
    assert_eq!(rate.regime, Regime::Sustained);
    let line = &fitted.lines[0];
    assert!(line.error_left_out.expect("judged") < 0.05 && line.error_before > 0.2, "{line:?}");
    assert!(line.error_after < 1e-3, "{line:?}");
}

#[test]
fn of_one_shape_measurements_are_left_out_and_one_measurement_cannot_be() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let of = |paces: &[f64]| {
        let mut samples = disturbed(&cluster, [1.0, 1.0]);
        samples.products.truncate(1);
        let usual = samples.products[0].times[0];
        samples.products[0].times = paces.iter().map(|pace| usual * *pace).collect();
        fit(&case(&cluster), &[samples]).expect("an answer")
    };
    let steady = of(&[1.3, 1.32, 1.31, 1.3]);
    assert_eq!(steady.calibration.rates.len(), 1, "{:?}", steady.remarks);
    let wild = of(&[1.6, 1.5, 0.95, 1.05]);
    assert!(wild.calibration.is_empty());
    assert!(wild.remarks.iter().any(|r| r.contains("half of the measurements")), "{:?}", wild.remarks);
    let one = of(&[1.5]);
    assert!(one.calibration.is_empty() && one.lines[0].error_left_out.is_none());
    assert!(one.remarks.iter().any(|r| r.contains("cannot be cross-validated")), "{:?}", one.remarks);
}

#[test]
fn steps_keep_a_shipped_law_with_smaller_error() {
    let cluster = by_name("dgx-h100", 8).expect("known");
    let model = model::by_name("llama-3-8b").expect("known");
    let text = "[plan]\ntensor_parallel = 2\npipeline_parallel = 1\ndata_parallel = 4\nglobal_batch = 8\nsequence_length = 4096\nsoftware = \"megatron-core-2024\"\n";
    let plan = run::parse(text, "run.toml").expect("sound").plan.resolve(&model, &cluster).expect("resolved");
    let step = StepSample {
        steps: 10,
        step: Seconds::new(0.9),
        products: Seconds::new(0.7),
        elementwise: Seconds::new(0.12),
        ..StepSample::default()
    };
    let samples = Samples { steps: vec![step], ..disturbed(&cluster, [1.25, 0.95]) };
    let fitted = fit(&Case { run: Some((&model, &plan)), ..case(&cluster) }, &[samples]).expect("fitted");
    assert!(fitted.calibration.products(DataType::Bf16).is_none(), "{:?}", fitted.calibration.rates);
    assert!(fitted.calibration.rate(Operators::Elementwise).is_some());
}
