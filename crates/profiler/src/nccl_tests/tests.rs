//! Tests of nccl-tests logs: the variants of `formats.md` A9.

use super::*;

/// Operation, ranks, hosts, bytes and times in microseconds.
type Row = (Collective, u64, Option<u64>, u64, Vec<f64>);

fn times(samples: &Samples) -> Vec<Row> {
    samples
        .collectives
        .iter()
        .map(|c| {
            let micros = c.times.iter().map(|t| (t.micros() * 1e3).round() / 1e3).collect();
            (c.operation, c.ranks, c.hosts, c.bytes as u64, micros)
        })
        .collect()
}

const HEAD: &str = "# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n\
    #\n# Using devices\n\
    #  Rank  0 Group  0 Pid   1728 on a4bae1424041 device  0 [0000:0f:00] NVIDIA A100-SXM4-40GB\n\
    #  Rank  1 Group  0 Pid   1728 on a4bae1424041 device  1 [0000:15:00] NVIDIA A100-SXM4-40GB\n#\n";
const COLUMNS: &str = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
    #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n";

#[test]
fn a_log_of_today() {
    let text = format!(
        "{HEAD}{COLUMNS}           8             2     float     sum      -1    12.50    0.00    0.00      0    12.25    0.00    0.00      0\n\
         \x20  1048576        262144     float     sum      -1    40.00   26.21   26.21      0    39.00   26.89   26.89    N/A\n\
         # Out of bounds values : 0 OK\n# Avg bus bandwidth    : 13.2\n"
    );
    let samples = read(&text, "out/all_reduce-2.log").expect("a log");
    assert_eq!(
        times(&samples),
        [
            (Collective::AllReduce, 2, Some(1), 8, vec![12.5, 12.25]),
            (Collective::AllReduce, 2, Some(1), 1_048_576, vec![40.0, 39.0]),
        ]
    );
    assert_eq!(samples.device.as_deref(), Some("NVIDIA A100-SXM4-40GB"));
    assert!(samples.alone);
}

#[test]
fn older_builds_launchers_and_other_columns() {
    // No root, a launcher's prefix, a title, exponents.
    let old = "[1,0]<stdout>:# Collective test starting: alltoall_perf\n\
        [1,0]<stdout>:#  Rank  0 Pid   1 on n1 device  0 [0x07] Tesla V100\n\
        [1,0]<stdout>:#  Rank  1 Pid   1 on n2 device  0 [0x07] Tesla V100\n\
        [1,0]<stdout>:#       size   count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n\
        [1,0]<stdout>: 1024 256 float sum 1.5e+01 0.07 0.03 5e-07 14.0 0.07 0.04 5e-07\n";
    let samples = read(old, "x.txt").expect("an old log");
    assert_eq!(times(&samples), [(Collective::AllToAll, 2, Some(2), 1024, vec![15.0, 14.0])]);
    // More columns per half, a trailing time stamp, a rank's number in front.
    let wide = "0: # size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong i_min i_max i_p99 i_cv%\n\
        0: 268435456 67108864 float sum -1 1000.0 268.43 469.76 0 1 2 3 4 900.0 298.26 521.96 0 1 2 3 4 2026-01-01 10:00:00\n";
    let samples = read(wide, "allreduce.log").expect("a wide log");
    // The number of ranks follows from the ratio of both bandwidths: 469.76 / 268.43 = 2 (n - 1) / n.
    assert_eq!(times(&samples), [(Collective::AllReduce, 8, None, 268_435_456, vec![1000.0, 900.0])]);
    // In place only.
    let one = "# size count type redop root time algbw busbw #wrong\n1073741824 268435456 float none 0 5000 214.7 201.3 0\n";
    let samples = read(one, "all_gather.log").expect("half a log");
    assert_eq!(times(&samples), [(Collective::AllGather, 16, None, 1_073_741_824, vec![5000.0])]);
}

#[test]
fn json_is_read_too() {
    let text = r#"{"config": {"collective": "reduce_scatter"}, "devices": [{"host": "a"}, {"host": "b"}],
        "results": [{"size": 4096, "out_of_place": {"time": 20.0, "alg_bw": 0.2, "bus_bw": 0.1, "nwrong": 0},
                     "in_place": {"time": 19.0, "nwrong": 3}}]}"#;
    let samples = read(text, "log.json").expect("JSON");
    assert_eq!(times(&samples), [(Collective::ReduceScatter, 2, Some(2), 4096, vec![20.0])]);
    assert!(samples.remarks[0].contains("1 results were wrong"));
}

#[test]
fn what_is_no_log_is_refused() {
    let error_of = |text: &str, file: &str| read(text, file).expect_err("no log").to_string();
    assert!(error_of("hello\nworld\n", "all_reduce.log").contains("no nccl-tests results"));
    let row = "           8             2     float     sum      -1    12.50    0.00    0.00      0    12.25    0.00    0.00      0\n";
    let nameless = error_of(&format!("{HEAD}{COLUMNS}{row}"), "log.txt");
    assert!(nameless.starts_with("log.txt:9:"), "{nameless}");
    assert!(nameless.contains("identifies the collective"), "{nameless}");
    let mixed =
        error_of(&format!("{HEAD}{COLUMNS}8 2 float sum -1 twelve 0 0 0 1 1 1 1\n"), "all_reduce.log");
    assert!(mixed.contains("`twelve` is no time"), "{mixed}");
    assert!(error_of("{", "all_reduce.json").contains("no JSON"));
    let narrow = error_of(&format!("{HEAD}{COLUMNS}8 2 float sum\n"), "all_reduce.log");
    assert!(narrow.contains("4 cells under a header of 13"), "{narrow}");
}
