//! Benchmark of operator pricing: a search prices some fifty operators per configuration.

use divan::black_box;
use railwright_calculator::operators::{AttentionKernel, AttentionShape, Device, Pass};
use railwright_spec::cluster::Accelerator;
use railwright_spec::model::Span;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, BytesPerSecond, FlopPerSecond};

fn main() {
    divan::main();
}

fn accelerator() -> Accelerator {
    Accelerator {
        id: "a100-sxm4-80gb".into(),
        name: String::new(),
        vendor: String::new(),
        architecture: "Ampere".into(),
        year: 2020,
        compute_units: Some(108),
        memory: Bytes::from_gib(80.0),
        memory_bandwidth: BytesPerSecond::from_gb(2039.0),
        peak: [(DataType::Bf16, FlopPerSecond::from_tera(312.0))].into(),
        measured_matmul: None,
        scale_up_link: String::new(),
        scale_up_bandwidth: BytesPerSecond::from_gb(300.0),
        scale_up_domain: 8,
        network_bandwidth: None,
        host_bandwidth: None,
        port_bandwidth: None,
        power: None,
        price: None,
        device_name_patterns: Vec::new(),
        source: String::new(),
        notes: String::new(),
    }
}

#[divan::bench]
fn device(bencher: divan::Bencher) {
    let accelerator = accelerator();
    bencher.bench(|| Device::new(black_box(&accelerator)));
}

#[divan::bench(args = [512.0, 4096.0, 65536.0])]
fn gemm(bencher: divan::Bencher, tokens: f64) {
    let device = Device::new(&accelerator());
    bencher.bench(|| {
        device.gemm(black_box(tokens), black_box(4096.0), black_box(1024.0), DataType::Bf16, Pass::Forward)
    });
}

#[divan::bench]
fn attention(bencher: divan::Bencher) {
    let device = Device::new(&accelerator());
    let shape = AttentionShape {
        batch: 1.0,
        query_length: 4096.0,
        key_length: 4096.0,
        heads: 16.0,
        kv_heads: 4.0,
        head_dim: 128.0,
        value_dim: 128.0,
        span: Span::Causal,
    };
    bencher.bench(|| device.attention(black_box(&shape), AttentionKernel::Flash2, Pass::Forward));
}
