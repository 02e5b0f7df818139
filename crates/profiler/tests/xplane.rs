//! A real XPlane file: JAX on eight MI300X.

use railwright_profiler::readers::{Keep, Recording, detect};
use railwright_profiler::trace::{GpuKind, HostKind, NONE, RankTrace, Source};
use railwright_profiler::view::{Tables, View};

fn ranks() -> Vec<RankTrace> {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/xplane/jax_conv_mi300x_8.xplane.pb");
    let bytes = std::fs::read(path).expect("the fixture");
    let reader = detect(&bytes[..1 << 16]).expect("a reader");
    assert_eq!(reader.name(), "XPlane profile");
    let rank = |recording| match recording {
        Recording::Rank(trace) => Some(*trace),
        _ => None,
    };
    reader
        .read("jax.xplane.pb", &bytes, Keep::default())
        .expect("traces")
        .into_iter()
        .filter_map(rank)
        .collect()
}

/// Counted by another reader of the schema: 60 events on the four streams of the first device, 25 on the
/// stream of each other one.
#[test]
fn eight_devices_are_eight_ranks_with_their_launches() {
    let ranks = ranks();
    assert_eq!(ranks.len(), 8);
    for (at, trace) in ranks.iter().enumerate() {
        assert_eq!((trace.identity.source, trace.identity.device), (Source::XPlane, Some(at as u32)));
        let work = trace.gpu.iter().filter(|row| row.kind != GpuKind::Annotation).count();
        assert_eq!(work, if at == 0 { 60 } else { 25 }, "device {at}");
        let streams: std::collections::BTreeSet<u32> = trace.gpu.streams().iter().copied().collect();
        assert_eq!(streams.len(), if at == 0 { 4 } else { 1 }, "device {at}");
        let view = View::new(trace, &Tables::shipped());
        let launched = view.launch.iter().filter(|launch| **launch != NONE).count();
        assert!(2 * launched > work, "device {at}: the calls of {launched} of {work} rows are known");
        assert!(trace.host.kinds().contains(&HostKind::Runtime), "device {at}");
    }
}
