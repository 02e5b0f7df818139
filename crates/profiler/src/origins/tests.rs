//! A trace with two layers, a backward pass without frames, and a late host.

use super::*;
use crate::RankTrace;
use crate::trace::{GpuActivity, GpuKind};
use crate::view::Tables;
use crate::windows::{CutBy, StepWindow};

fn trace() -> RankTrace {
    use HostKind::{Operator, Python, Runtime};
    let mut trace = RankTrace::default();
    let mut host = |start, end, name: &str, kind, thread, correlation| {
        trace.push_host((start, end, kind, name, thread), correlation);
    };
    host(0, 100, "train.py(10): step", Python, 0, None);
    host(0, 50, "nn.Module: Model_0", Python, 0, None);
    host(0, 20, "nn.Module: Layer_0", Python, 0, None);
    host(1, 3, "cudaLaunchKernel", Runtime, 0, Some(1));
    host(20, 50, "nn.Module: Layer_1", Python, 0, None);
    host(20, 45, "model.py(5): attention", Python, 0, None);
    host(40, 43, "cudaLaunchKernel", Runtime, 0, Some(2));
    host(60, 90, "autograd::engine::evaluate_function: MmBackward0", Operator, 1, None);
    host(61, 63, "cudaLaunchKernel", Runtime, 1, Some(3));
    for (start, end, id) in [(5, 15, 1), (50, 60, 2), (70, 100, 3)] {
        let name = trace.names.intern("gemm");
        let kind = GpuKind::Kernel;
        trace.gpu.push(GpuActivity {
            start,
            end,
            name,
            kind,
            correlation: Some(id),
            ..GpuActivity::default()
        });
    }
    trace.host.sort();
    trace
}

fn found(by: By) -> Origins {
    let trace = trace();
    let view = View::new(&trace, &Tables::shipped());
    let windows = Windows {
        cut_by: CutBy::Nothing,
        common: (5, 100),
        steps: vec![StepWindow { number: None, start: 5, end: 100, without: Vec::new() }],
        warm_up: Vec::new(),
        at_collective: false,
        spread: 0,
        added: 0,
        warnings: Vec::new(),
    };
    origins(&[(0, &view, Exchanges::new(Vec::new()))], &windows, by, 1.0, 95.0)
}

fn row<'a>(origins: &'a Origins, place: &str) -> &'a OriginRow {
    origins
        .rows
        .iter()
        .find(|row| row.place.as_deref() == Some(place))
        .unwrap_or_else(|| panic!("{origins:#?}"))
}

#[test]
fn modules_share_a_path_of_classes_and_the_rows_add_up_to_the_step() {
    let origins = found(By::Module);
    assert!(!origins.annotations);
    let layers = row(&origins, "Model > Layer");
    assert_eq!((layers.instances, layers.compute_ns, layers.kernels), (2, 20.0, 2.0));
    // The device is idle from 15 to 50. The host is in the first layer until 20, then in the second one,
    // whose launch ends the gap.
    assert_eq!(layers.idle_ns, 35.0);
    let nowhere: Vec<&OriginRow> = origins.rows.iter().filter(|row| row.place.is_none()).collect();
    assert!(
        nowhere.iter().any(|row| row.phase == Some(Phase::Backward) && row.compute_ns == 30.0),
        "{origins:#?}"
    );
    let all: f64 = origins.rows.iter().map(|row| row.mean_ns).sum();
    assert_eq!(all, 95.0);
}

#[test]
fn lines_of_python_are_those_outside_of_the_framework() {
    let origins = found(By::Source);
    assert_eq!(row(&origins, "model.py(5): attention").compute_ns, 10.0);
    assert_eq!(row(&origins, "train.py(10): step").compute_ns, 10.0);
}
