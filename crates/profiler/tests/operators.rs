//! Operators of recorders to rows of the roofline, from the text of a trace to the finding.
//!
//! Responsible for: settings of convolutions, formats that kernels do not name, launches linked by external
//! ids. Excludes figures without a published formula.

use railwright_profiler::Job;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::profile::{OneByOne, Options, Report, profile};
use railwright_profiler::readers::{Keep, Recording, detect};

/// The report of a trace with one call of an operator on an MI300X. An external id links it to its kernel, as
/// in some recorders.
fn report(operator: &str, arguments: &str, kernel: &str, microseconds: u32) -> Report {
    let end = 1_000_050 + microseconds;
    let text = format!(
        r#"{{"traceEvents": [
        {{"ph": "X", "cat": "cpu_op", "name": "{operator}", "pid": 470, "tid": 711, "ts": 1000000.0, "dur": 60.0, "args": {{{arguments}}}}},
        {{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 470, "tid": 711, "ts": 1000010.0, "dur": 5.0, "args": {{"External id": 100}}}},
        {{"ph": "X", "cat": "kernel", "name": "{kernel}", "pid": 0, "tid": 7, "ts": 1000050.0, "dur": {microseconds}.0,
          "args": {{"device": 0, "stream": 7, "External id": 100}}}},
        {{"ph": "X", "cat": "kernel", "name": "last", "pid": 0, "tid": 7, "ts": {end}.0, "dur": 1.0, "args": {{"device": 0, "stream": 7}}}}
        ]}}"#
    );
    let reader = detect(text.as_bytes()).expect("a reader");
    let trace = match reader.read("one", text.as_bytes(), Keep::default()).expect("a trace").pop() {
        Some(Recording::Rank(trace)) => *trace,
        other => panic!("{other:?}"),
    };
    let mut job = Job::new(vec![trace]);
    let joined = join(&mut job, &JoinOptions::default());
    let options = Options { accelerator: Some("mi300x".to_owned()), ..Options::default() };
    profile(&job, &joined, &options, &OneByOne).expect("a profile").report
}

/// Share of the roofline of the only row, and whether the finding names it.
fn share(operator: &str, arguments: &str, kernel: &str, microseconds: u32) -> (f64, bool) {
    let report = report(operator, arguments, kernel, microseconds);
    let rows = report.roofline.map(|roofline| roofline.rows).unwrap_or_default();
    let row = rows.first().unwrap_or_else(|| panic!("no row for {operator}"));
    let found = report.findings.iter().find(|finding| finding.id == "below-roofline");
    (row.share_of_roofline, found.is_some_and(|finding| finding.evidence[0].starts_with(operator)))
}

/// MI300X (AMD, data sheet): 163.4 TFLOP/s in FP32, 1,307.4 in BF16, 5.3 TB/s.
const FP32: f64 = 163.4e12;
const BF16: f64 = 1307.4e12;
const MEMORY: f64 = 5.3e12;

#[test]
fn a_forward_convolution_has_the_output_of_its_settings() {
    let of = |shapes: &str, settings: &str| {
        let arguments = format!(
            r#""Input Dims": {shapes}, "Input type": ["Float", "Float"], "Concrete Inputs": ["", "", "", {settings}]"#
        );
        share("aten::convolution", &arguments, "igemm_fwd_gtcx_nhwc_fp32_bx0", 4000)
    };
    // ResNet's first convolution on 32 images: 118,013,952 multiplications each (fvcore's table of
    // ResNet-50).
    let (found, reported) =
        of("[[32, 3, 224, 224], [64, 3, 7, 7]]", r#""[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1""#);
    assert!((found / (2.0 * 118_013_952.0 * 32.0 / FP32 / 4e-3) - 1.0).abs() < 1e-3, "{found}");
    assert!(reported);
    // A depthwise one is memory-bound: input, weight and output of the same size, each moved once.
    let (found, reported) =
        of("[[8, 1024, 32, 32], [1024, 1, 3, 3]]", r#""(1,1)", "(1,1)", "(1,1)", "False", "(0,0)", "1024""#);
    let bytes = 4.0 * (2.0 * 8_388_608.0 + 9216.0);
    assert!((found / (bytes / MEMORY / 4e-3) - 1.0).abs() < 1e-3, "{found}");
    assert!(reported);
}

#[test]
fn inputs_have_the_format_that_kernels_do_not_name() {
    let shapes = "[[1, 32, 4096, 256], [1, 32, 4096, 256], [1, 32, 4096, 256], [], []]";
    let arguments = format!(
        r#""Input Dims": {shapes}, "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "Scalar"]"#
    );
    let (found, reported) =
        share("aten::_scaled_dot_product_flash_attention", &arguments, "attn_fwd.kd", 6520);
    // 4 seqlen^2 head_dim heads operations (FlashAttention-2's benchmark).
    let flop = 4.0 * 4096.0 * 4096.0 * 256.0 * 32.0;
    assert!((found / (flop / BF16 / 6.52e-3) - 1.0).abs() < 1e-3, "{found}");
    assert!(reported);
    // GEMMs of 32-bit inputs run in FP32 or in TF32, which inputs do not show.
    let arguments = r#""Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["float", "float"]"#;
    assert!(report("aten::mm", arguments, "unnamed_kernel", 1000).roofline.is_none());
}

#[test]
fn experts_faster_than_all_weights_can_be_read_have_a_bound() {
    let of = |shapes: &str, microseconds: u32| {
        let arguments =
            format!(r#""Input Dims": {shapes}, "Input type": ["BFloat16", "BFloat16", "BFloat16", "Float"]"#);
        report("vllm::rocm_aiter_fused_moe", &arguments, "aiter_fused_moe_kernel_bf16", microseconds)
    };
    let report = of("[[16, 4096], [64, 22016, 4096], [64, 4096, 11008], [16, 2]]", 280);
    // Reading the weights of 32 experts takes 1.63 ms, of two 102 us.
    let row = &report.roofline.expect("a roofline").rows[0];
    let least = 2.0 * (2.0 * 4096.0 * 33_024.0 + 2.0 * 16.0 * 4096.0) / MEMORY;
    assert!((row.share_of_roofline / (least / 280e-6) - 1.0).abs() < 1e-3, "{row:?}");
    let finding = report.findings.iter().find(|finding| finding.id == "below-roofline").expect("a finding");
    assert_eq!(finding.certainty, Some(railwright_profiler::certainty::Certainty::AtMost));
    assert!(finding.evidence[0].contains("at least"), "{finding:?}");
    // A time below that of the fewest possible experts has no row.
    assert!(of("[[4, 4096], [128, 22016, 4096], [128, 4096, 11008], [4, 8]]", 180).roofline.is_none());
}
