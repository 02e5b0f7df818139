//! Tests of the laws of operators.

use super::*;
use railwright_spec::model::Span;
use railwright_spec::quantity::{BytesPerSecond, FlopPerSecond};
use std::collections::BTreeMap;

/// An accelerator with the figures of its data sheet.
pub(super) fn accelerator(
    id: &str,
    architecture: &str,
    units: u32,
    peak: f64,
    bandwidth: f64,
) -> Accelerator {
    let mut peaks = BTreeMap::new();
    peaks.insert(DataType::Bf16, FlopPerSecond::from_tera(peak));
    if architecture != "Ampere" {
        peaks.insert(DataType::Fp8, FlopPerSecond::from_tera(2.0 * peak));
    }
    Accelerator {
        id: id.into(),
        name: id.into(),
        vendor: String::new(),
        architecture: architecture.into(),
        year: 2020,
        compute_units: Some(units),
        memory: Bytes::from_gib(80.0),
        memory_bandwidth: BytesPerSecond::from_gb(bandwidth),
        peak: peaks,
        measured_matmul: None,
        scale_up_link: String::new(),
        scale_up_bandwidth: BytesPerSecond::from_gb(300.0),
        scale_up_domain: 8,
        network_bandwidth: None,
        host_bandwidth: None,
        power: None,
        price: None,
        device_name_patterns: Vec::new(),
        source: String::new(),
        notes: String::new(),
    }
}

fn a100() -> Device {
    Device::new(&accelerator("a100-sxm4-80gb", "Ampere", 108, 312.0, 2039.0))
}

#[test]
fn a_large_product_on_a100_takes_what_was_measured() {
    // 4096 x 4096 x 4096: 267 TFLOP/s measured (aiconfigurator a100_sxm, trtllm 1.0.0).
    let cost = a100().gemm(4096.0, 4096.0, 4096.0, DataType::Bf16, Pass::Forward);
    let tera = (cost.flop / cost.time).tera();
    assert!((tera / 267.0 - 1.0).abs() < 0.06, "{tera}");
    assert_eq!(cost.source, Source::Fitted);
}

#[test]
fn a_partly_empty_wave_costs_what_was_measured() {
    // 2048 x 4096 is 2.37 waves of 256x128 tiles on 108 multiprocessors: 224 TFLOP/s; 2048 x 5120 fills 2.96: 276.
    let device = a100();
    let rate = |n: f64| {
        let cost = device.gemm(2048.0, n, 4096.0, DataType::Bf16, Pass::Forward);
        (cost.flop / cost.time).tera()
    };
    assert!((rate(4096.0) / 224.0 - 1.0).abs() < 0.08, "{}", rate(4096.0));
    assert!((rate(5120.0) / 276.0 - 1.0).abs() < 0.08, "{}", rate(5120.0));
}

#[test]
fn flash_attention_3_at_16k_takes_what_its_chart_says() {
    // H100, head width 128, causal, 16k tokens: 616 TFLOP/s.
    let device = Device::new(&accelerator("h100-sxm5-80gb", "Hopper", 132, 989.4, 3350.0));
    let shape = AttentionShape {
        batch: 1.0,
        query_length: 16384.0,
        key_length: 16384.0,
        heads: 16.0,
        kv_heads: 16.0,
        head_dim: 128.0,
        value_dim: 128.0,
        span: Span::Causal,
    };
    let cost = device.attention(&shape, AttentionKernel::Flash3, Pass::Forward);
    let tera = (cost.flop / cost.time).tera();
    assert!((tera / 616.0 - 1.0).abs() < 0.15, "{tera}");
}
