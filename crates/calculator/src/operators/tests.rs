//! Tests of the operator models.

use super::*;
use railwright_spec::cluster::accelerator_by_name;
use railwright_spec::model::Span;
use railwright_spec::quantity::{BytesPerSecond, FlopPerSecond, Seconds};
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
        port_bandwidth: None,
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
    // 2048 x 4096 is 2.37 waves of 256x128 tiles on 108 multiprocessors: 224 TFLOP/s; 2048 x 5120 fills 2.96:
    // 276.
    let device = a100();
    let rate = |n: f64| {
        let cost = device.gemm(2048.0, n, 4096.0, DataType::Bf16, Pass::Forward);
        (cost.flop / cost.time).tera()
    };
    assert!((rate(4096.0) / 224.0 - 1.0).abs() < 0.08, "{}", rate(4096.0));
    assert!((rate(5120.0) / 276.0 - 1.0).abs() < 0.08, "{}", rate(5120.0));
}

#[test]
fn flash_attention_3_at_16k_matches_its_chart() {
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

/// One accelerator with its own tables, one of a known architecture, one of an unknown.
fn devices() -> [Device; 4] {
    [
        a100(),
        Device::new(&accelerator("b200-sxm-180gb", "Blackwell", 148, 2250.0, 8000.0)),
        Device::new(&accelerator("h20-96gb", "Hopper", 78, 148.0, 4000.0)),
        Device::new(&accelerator("mi300x", "CDNA3", 304, 1307.4, 5300.0)),
    ]
}

#[test]
fn a_cost_includes_its_distance_from_a_measurement() {
    let sources = devices().map(|d| d.gemm(4096.0, 4096.0, 4096.0, DataType::Bf16, Pass::Forward).source);
    assert_eq!(sources, [Source::Fitted, Source::Fitted, Source::Derived, Source::Roofline]);
}

#[test]
fn a_measured_ceiling_bounds_an_accelerator_without_tables() {
    // MI300X: the best shape of a sweep reached 668.4 of 1307.4 TFLOP/s (ml-engineering, maximum achievable
    // matmul).
    let mut mi300x = accelerator("mi300x", "CDNA3", 304, 1307.4, 5300.0);
    mi300x.measured_matmul = Some(FlopPerSecond::from_tera(668.4));
    let cost = Device::new(&mi300x).gemm(8192.0, 8192.0, 8192.0, DataType::Bf16, Pass::Forward);
    let tera = (cost.flop / cost.time).tera();
    assert!((550.0..668.4).contains(&tera), "{tera}");
}

#[test]
fn products_in_8_bits_match_a_library_that_the_law_never_saw() {
    // DeepGEMM on H800 (a Hopper like the H100), 4096 tokens, fp8, TFLOP/s printed in its README. Its
    // fine-grained scales slow it down, most for short k, so the model of plain GEMMs must be above it,
    // but not far.
    let device = Device::new(&accelerator("h800-sxm5-80gb", "Hopper", 132, 989.4, 3350.0));
    for (n, k, measured) in [(7168.0, 16384.0, 1358.0), (4096.0, 7168.0, 1304.0)] {
        let cost = device.gemm(4096.0, n, k, DataType::Fp8, Pass::Forward);
        let ratio = (cost.flop / cost.time).tera() / measured;
        assert!((0.92..1.15).contains(&ratio), "{n} x {k}: {ratio:.3}");
    }
}

#[test]
fn weight_gradients_pay_for_their_32_bit_accumulator() {
    let device = a100();
    let price = |device: &Device, pass| device.gemm(1024.0, 8192.0, 8192.0, DataType::Bf16, pass).time;
    let added = price(&device, Pass::WeightGradient);
    let plain = price(&device.with_accumulation(false), Pass::WeightGradient);
    assert!(added > plain && plain > Seconds::ZERO);
}

#[test]
fn unfused_attention_costs_twice_fused_attention_at_8k() {
    // Whole steps slow down 1.95 times at 8k tokens without FlashAttention 2, so attention alone slows down
    // by more.
    let shape = AttentionShape {
        batch: 1.0,
        query_length: 8192.0,
        key_length: 8192.0,
        heads: 16.0,
        kv_heads: 16.0,
        head_dim: 128.0,
        value_dim: 128.0,
        span: Span::Causal,
    };
    let unfused = AttentionKernel::Unfused { fused_softmax: true, dropout: true, format: DataType::Bf16 };
    let price = |kernel| a100().attention(&shape, kernel, Pass::Forward).time;
    let ratio = price(unfused) / price(AttentionKernel::Flash2);
    assert!((2.5..12.0).contains(&ratio), "{ratio}");
}

#[test]
fn unfused_attention_with_odd_heads_loses_the_matrix_units() {
    // A published pair of runs, 13824 hidden on A100: 128 heads of 108 cost 147.41 s where 96 of 144 cost
    // 107.12 s. Per micro-batch of 2 x 2048 tokens and layer, on 32 heads of a rank, that is 45 ms over
    // forward twice and backward.
    let layer = |heads: f64, width: f64| {
        let shape = AttentionShape {
            batch: 2.0,
            query_length: 2048.0,
            key_length: 2048.0,
            heads,
            kv_heads: heads,
            head_dim: width,
            value_dim: width,
            span: Span::Causal,
        };
        let kernel = AttentionKernel::Unfused { fused_softmax: true, dropout: true, format: DataType::Bf16 };
        let price = |pass| a100().attention(&shape, kernel, pass).time;
        (price(Pass::Forward) * 2.0 + price(Pass::DataGradient)).millis()
    };
    let more = layer(32.0, 108.0) - layer(24.0, 144.0);
    assert!((30.0..60.0).contains(&more), "{more}");
}

/// Megatron's quick start on two V100 (`fixtures/traces/megatron_tp2_v100`): 8 sequences of 64 tokens, 2
/// heads of 3 on a rank, all in fp32. Its GEMMs run on the ordinary units, independent of the 12 bytes of a
/// row: `volta_sgemm_128x32` takes 8.4 to 8.9 us (medians of 37).
#[test]
fn products_in_fp32_have_no_alignment() {
    let v100 = railwright_spec::cluster::accelerator_by_name("v100-pcie-32gb").expect("known");
    let device = Device::new(&v100);
    let price = |width, format| device.batched_gemm(16.0, 64.0, 64.0, width, format).time.millis() * 1e3;
    assert!((3.0..12.0).contains(&price(3.0, DataType::Fp32)), "{}", price(3.0, DataType::Fp32));
    // In fp32 an odd width costs only its arithmetic. In 16 bits it cannot use matrix units at all.
    let at = |width, format| device.batched_gemm(64.0, 2048.0, 2048.0, width, format).time;
    let costlier = |format| at(109.0, format) / at(112.0, format);
    assert!((0.9..1.01).contains(&costlier(DataType::Fp32)), "{}", costlier(DataType::Fp32));
    assert!(costlier(DataType::Fp16) > 4.0, "{}", costlier(DataType::Fp16));
    let single = |columns, format| device.gemm(8192.0, columns, 1024.0, format, Pass::Forward).time;
    assert!(single(50_257.0, DataType::Fp32) <= single(50_304.0, DataType::Fp32) * 1.001);
    // TF32 on Ampere is a format of matrix units, with their alignment.
    let a100 = railwright_spec::cluster::accelerator_by_name("a100-sxm4-80gb").expect("known");
    let tf32 = |width| Device::new(&a100).batched_gemm(64.0, 2048.0, 2048.0, width, DataType::Tf32).time;
    assert!(tf32(109.0) / tf32(112.0) > 4.0);
}

/// The rate of wider operands is that of their own units: a faster 16-bit unit does not slow them.
#[test]
fn wide_attention_depends_on_its_own_rate() {
    let shape = AttentionShape {
        batch: 2.0,
        query_length: 1024.0,
        key_length: 1024.0,
        heads: 3.0,
        kv_heads: 3.0,
        head_dim: 64.0,
        value_dim: 64.0,
        span: Span::Causal,
    };
    let time = |sixteen: f64| {
        let mut h200 = accelerator_by_name("h200").expect("in the catalogue");
        let peak = h200.peak_rate(DataType::Bf16).expect("a peak");
        let wide = h200.peak_rate(DataType::Fp32).expect("a peak");
        h200.peak.insert(DataType::Bf16, peak * sixteen);
        let width = Width { rate: (wide / (peak * sixteen)).min(1.0), bytes: 4.0 };
        let device = Device::new(&h200);
        device.attention_in(&shape, AttentionKernel::Flash2, Pass::Forward, width).time.get()
    };
    let now = time(1.0);
    for factor in [2.0, 10.0] {
        assert!((time(factor) / now - 1.0).abs() < 1e-9, "{factor}: {} {now}", time(factor));
    }
}

/// Unfused attention in fp32 runs its GEMMs in fp32, so it has neither the alignment cost nor the rate of
/// 16-bit kernels.
#[test]
fn unfused_attention_in_fp32_is_priced_in_fp32() {
    let v100 = railwright_spec::cluster::accelerator_by_name("v100-pcie-32gb").expect("known");
    let device = Device::new(&v100);
    let shape = AttentionShape {
        batch: 8.0,
        query_length: 64.0,
        key_length: 64.0,
        heads: 2.0,
        kv_heads: 2.0,
        head_dim: 3.0,
        value_dim: 3.0,
        span: Span::Causal,
    };
    let price = |format| {
        let kernel = AttentionKernel::Unfused { fused_softmax: true, dropout: true, format };
        device.attention(&shape, kernel, Pass::Forward).time.millis() * 1e3
    };
    // Two GEMMs and three passes over 65,536 scores: a few microseconds each.
    assert!((6.0..30.0).contains(&price(DataType::Fp32)), "{}", price(DataType::Fp32));
    assert!(price(DataType::Fp32) < price(DataType::Fp16));
}

#[test]
fn a_window_covers_its_stated_range() {
    let shape = |span| AttentionShape {
        batch: 1.0,
        query_length: 4096.0,
        key_length: 4096.0,
        heads: 1.0,
        kv_heads: 1.0,
        head_dim: 64.0,
        value_dim: 64.0,
        span,
    };
    assert_eq!(shape(Span::Causal).mean_keys(), 2048.0);
    assert_eq!(shape(Span::Bidirectional).mean_keys(), 4096.0);
    // 1024 of 4096 keys: 1024 - 1024^2 / (2 * 4096).
    assert_eq!(shape(Span::Window(1024)).mean_keys(), 896.0);
    assert_eq!(shape(Span::Window(1 << 20)).mean_keys(), 2048.0);
    assert_eq!(shape(Span::Chunk(1024)).mean_keys(), 512.0);
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn pass() -> impl Strategy<Value = Pass> {
        prop_oneof![Just(Pass::Forward), Just(Pass::DataGradient), Just(Pass::WeightGradient)]
    }

    fn data_type() -> impl Strategy<Value = DataType> {
        prop::sample::select(DataType::ALL.to_vec())
    }

    proptest! {
        /// More of any dimension never takes less time, while rows stay aligned.
        #[test]
        fn products_grow_with_every_dimension(
            m in 1u32..300, n in 1u32..300, k in 1u32..300, more in 0usize..3, by in 1u32..50,
            data_type in data_type(), pass in pass(), device in 0usize..4,
        ) {
            let device = &devices()[device];
            let mut side = [m, n, k].map(|x| f64::from(x) * 256.0);
            let price = |s: [f64; 3]| device.gemm(s[0], s[1], s[2], data_type, pass).time;
            let before = price(side);
            side[more] += f64::from(by) * 256.0;
            prop_assert!(price(side) >= before * (1.0 - 1e-12));
        }

        /// No GEMM exceeds the data sheet's arithmetic, and every finite shape has a finite price.
        #[test]
        fn products_respect_the_roofline(
            groups in 1.0..512.0, m in 0.1..1e7, n in 0.1..1e7, k in 0.1..1e7, pass in pass(), device in 0usize..4,
        ) {
            let peak = [312e12, 2250e12, 148e12, 1307.4e12][device];
            let device = &devices()[device];
            let cost = device.grouped_gemm(groups, m, n, k, DataType::Bf16, pass);
            prop_assert!(cost.time.is_finite() && cost.time > Seconds::ZERO);
            prop_assert!((cost.flop / cost.time).get() <= peak * (1.0 + 1e-9));
        }

        /// Longer sequences, more heads and more sequences never take less time.
        #[test]
        fn attention_grows_with_every_dimension(
            batch in 1u32..16, length in 1u32..256, heads in 1u32..64, more in 0usize..3, device in 0usize..4,
            kernel in prop::sample::select(vec![
                AttentionKernel::Unfused { fused_softmax: true, dropout: false, format: DataType::Bf16 },
                AttentionKernel::Flash1, AttentionKernel::Flash2, AttentionKernel::Flash3, AttentionKernel::CuDnn,
            ]),
            backward in any::<bool>(),
        ) {
            let device = &devices()[device];
            let pass = if backward { Pass::DataGradient } else { Pass::Forward };
            let mut dimensions = [batch, length, heads].map(f64::from);
            let price = |[batch, length, heads]: [f64; 3]| {
                let shape = AttentionShape {
                    batch, query_length: length * 128.0, key_length: length * 128.0, heads, kv_heads: heads,
                    head_dim: 128.0, value_dim: 128.0, span: Span::Causal,
                };
                device.attention(&shape, kernel, pass).time
            };
            let before = price(dimensions);
            dimensions[more] += 1.0;
            let after = price(dimensions);
            prop_assert!(after.is_finite() && after >= before * (1.0 - 1e-12), "{before:?} {after:?}");
        }
    }
}

/// Kernels of 3.2 to 8.9 us each in fp32 on V100 (two public traces, PCIe and SXM2): tiny GEMMs, whose tiles
/// fill in a time independent of the rate of the format's arithmetic.
#[test]
fn tiny_products_without_matrix_units_fill_their_tiles_as_fast() {
    let v100 = accelerator("v100-sxm2-32gb", "Volta", 80, 125.0, 900.0);
    let mut v100 = v100;
    v100.peak.insert(DataType::Fp32, FlopPerSecond::from_tera(15.7));
    let device = Device::new(&v100);
    let time = |m, n, k, data_type| device.gemm(m, n, k, data_type, Pass::Forward).time.micros();
    assert!(time(512.0, 12.0, 12.0, DataType::Fp32) < 10.0, "{}", time(512.0, 12.0, 12.0, DataType::Fp32));
    // Large ones remain compute-bound: 2 x 4096^3 at 15.7 TFLOP/s are 8.75 ms.
    let large = time(4096.0, 4096.0, 4096.0, DataType::Fp32);
    assert!((8_750.0..20_000.0).contains(&large), "{large}");
    assert!(time(512.0, 12.0, 12.0, DataType::Bf16) < 10.0);
}

#[test]
fn a_part_with_more_watts_for_its_peak_sustains_more_of_it() {
    let efficiency = |name: &str| {
        let accelerator = railwright_spec::cluster::accelerator_by_name(name).expect("known");
        let peak = accelerator.peak_rate(DataType::Bf16).expect("a peak").get();
        let size = 8192.0;
        let cost = Device::new(&accelerator).gemm(size, size, size, DataType::Bf16, Pass::Forward);
        2.0 * size * size * size / cost.time.get() / peak
    };
    // L40S is measured; RTX 4090 and H20 have its and H100's units at two and more times the watts per
    // FLOP/s.
    assert!((0.55..0.7).contains(&efficiency("l40s-48gb")));
    assert!((0.85..0.96).contains(&efficiency("rtx4090-24gb")));
    assert!((0.85..0.96).contains(&efficiency("h20-96gb")));
    // Less power does not increase the efficiency, nor does a processor's power.
    assert!(efficiency("l4-24gb") < 0.7 && efficiency("gh200-96gb") < 0.85);
}

/// Causal attention of one sequence on heads of a width, forward and backward.
fn causal(device: &Device, kernel: AttentionKernel, [keys, heads, width]: [f64; 3]) -> (f64, f64) {
    let shape = AttentionShape {
        batch: 1.0,
        query_length: keys,
        key_length: keys,
        heads,
        kv_heads: heads,
        head_dim: width,
        value_dim: width,
        span: Span::Causal,
    };
    let price = |pass| device.attention(&shape, kernel, pass);
    let (forward, backward) = (price(Pass::Forward), price(Pass::DataGradient));
    (forward.time.get() + backward.time.get(), forward.flop.get() + backward.flop.get())
}

/// Two published runs that differ only in the accelerator: 24 layers of 16 heads of 128 over 65,536 tokens,
/// full recompute, took 43.1 s on A100 and 23.8 s on H100 with FlashAttention 1. Without the GEMMs, at their
/// rate for 512 tokens, attention is 1.73 times as fast on H100.
#[test]
fn flash_attention_1_gains_on_hopper_what_was_measured() {
    let hopper = Device::new(&accelerator("h100-sxm5-80gb", "Hopper", 132, 989.4, 3350.0));
    let time = |device: &Device| causal(device, AttentionKernel::Flash1, [65_536.0, 16.0, 128.0]).0;
    let gain = time(&a100()) / time(&hopper);
    assert!((gain / 1.73 - 1.0).abs() < 0.12, "{gain}");
}

/// Attention of graphics cards of Blackwell differs from that of B200: heads of 64 reach a third of the GEMM
/// efficiency and more, as on A100.
#[test]
fn attention_of_cards_follows_their_own_products() {
    let card = accelerator_by_name("rtxpro6000-server").expect("known");
    let peak = card.peak_rate(DataType::Bf16).expect("known").get();
    let (time, flop) = causal(&Device::new(&card), AttentionKernel::Flash2, [8192.0, 14.0, 64.0]);
    let share = flop / time / peak;
    assert!((0.3..0.7).contains(&share), "{share}");
}

/// A TPU pads heads to the 128 lanes of its registers: 64 takes as long as 128, and 192 as long as 256. A GPU
/// has kernels for 64.
#[test]
fn heads_on_tpus_are_padded_to_their_lanes() {
    let tpu = Device::new(&accelerator_by_name("tpu-v6e").expect("known"));
    let time = |device: &Device, width| causal(device, AttentionKernel::Flash2, [8192.0, 16.0, width]).0;
    let same = |narrow, wide| (time(&tpu, narrow) / time(&tpu, wide) - 1.0).abs() < 0.02;
    assert!(same(64.0, 128.0) && same(192.0, 256.0));
    assert!(time(&a100(), 64.0) < 0.8 * time(&a100(), 128.0));
}

/// A memory-bound GEMM: 32,768 tokens x 64 outputs x 64 inputs. The card uses B200's model, with a sixth of
/// the bandwidth per multiprocessor.
#[test]
fn multiprocessors_that_get_few_bytes_use_all_of_them() {
    let card = accelerator_by_name("rtxpro6000-server").expect("known");
    let b200 = accelerator_by_name("b200-sxm-180gb").expect("known");
    let share = |accelerator: &Accelerator| {
        let cost = Device::new(accelerator).gemm(1_048_576.0, 64.0, 64.0, DataType::Bf16, Pass::Forward);
        cost.bytes.get() / cost.time.get() / accelerator.memory_bandwidth.get()
    };
    let (card, b200) = (share(&card), share(&b200));
    assert!(card > 1.1 * b200 && card < 0.86, "{card} {b200}");
}
