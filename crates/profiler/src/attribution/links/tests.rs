//! Groups with and without peers.

use super::*;
use crate::Job;
use crate::joined::{JoinOptions, join};
use crate::trace::{CollectiveCall, Device, GpuActivity, GpuKind, RankGroup, RankTrace};
use railwright_step::CollectiveKind;

const REPLICAS: u32 = 3;
const TRANSFER: i64 = 200_000;

/// Two stages of three replicas; the messages of one replica take longer, in both directions.
fn job(slow: Option<u32>) -> Job {
    let traces = (0..2 * REPLICAS).map(|rank| {
        let (stage, replica) = (rank / REPLICAS, rank % REPLICAS);
        let mut trace = RankTrace::default();
        trace.identity.rank = Some(rank);
        trace.identity.world_size = Some(2 * REPLICAS);
        trace.groups = vec![RankGroup {
            name: (replica + 1).to_string(),
            description: Some("PIPELINE_MODEL_PARALLEL_GROUP".to_owned()),
            size: Some(2),
            ranks: Some(vec![replica, replica + REPLICAS]),
        }];
        let name = trace.names.intern("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
        let transfer = if slow == Some(replica) { 4 * TRANSFER } else { TRANSFER };
        for message in 0..12_u32 {
            let start = 1_000_000 + i64::from(message) * 3_000_000;
            // Stage 0 sends every even message, stage 1 every odd one.
            let sends = message % 2 == stage;
            trace.collectives.push(CollectiveCall {
                kind: Some(if sends { CollectiveKind::Send } else { CollectiveKind::Receive }),
                label: if sends { "send" } else { "recv" }.to_owned(),
                elements_in: Some(1 << 20),
                elements_out: Some(1 << 20),
                element: Some("BFloat16".to_owned()),
                element_bytes: Some(2),
                group: Some(0),
                sequence: None,
                peer: Some((1 - stage) * REPLICAS + replica),
            });
            trace.gpu.push(GpuActivity {
                start,
                end: start + transfer + i64::from(rank) * 100,
                name,
                kind: GpuKind::Kernel,
                stream: 30,
                collective: Some(message),
                ..GpuActivity::default()
            });
        }
        trace
    });
    Job::new(traces.collect())
}

fn no_steps() -> Windows {
    Windows {
        cut_by: crate::windows::CutBy::Nothing,
        common: (0, 0),
        steps: Vec::new(),
        warm_up: Vec::new(),
        at_collective: false,
        spread: 0,
        added: 0,
        warnings: Vec::new(),
    }
}

fn found(mut job: Job) -> (Vec<(u32, SlowGroup)>, Vec<SlowLink>, Vec<Apart>) {
    let joined = join(&mut job, &JoinOptions::default());
    let found = slow_groups(&job, &joined, &no_steps());
    (found.groups, found.slow, found.apart)
}

#[test]
fn messages_are_compared_with_those_of_other_replicas() {
    let slow = |slow: Option<u32>| found(job(slow));
    assert_eq!(slow(None), (Vec::new(), Vec::new(), Vec::new()));
    let (groups, links, _) = slow(Some(1));
    let [(_, group)] = groups.as_slice() else { panic!("{groups:?}") };
    assert_eq!((group.label.as_str(), group.ranks.as_str()), ("messages of stages 0 and 1", "1,4"));
    let [link] = links.as_slice() else { panic!("{links:?}") };
    assert_eq!(link.communicators.len(), 2);
    assert!((link.usual() - 0.25).abs() < 0.01, "{link:?}");
}

const STAGES: u32 = 4;

/// Pipelines of equal stages: messages of 4 MiB take 0.2 ms, and `slow` times as long between stages 1 and 2.
fn pipeline(slow: i64, device: Option<&str>, replicas: u32) -> Job {
    let traces = (0..STAGES * replicas).map(|rank| {
        let (stage, replica) = (rank / replicas, rank % replicas);
        let mut trace = RankTrace::default();
        trace.identity.rank = Some(rank);
        trace.identity.world_size = Some(STAGES * replicas);
        trace
            .identity
            .devices
            .extend(device.map(|name| Device { name: name.to_owned(), ..Device::default() }));
        trace.groups = vec![RankGroup {
            name: (replica + 1).to_string(),
            description: Some("PIPELINE_MODEL_PARALLEL_GROUP".to_owned()),
            size: Some(STAGES),
            ranks: Some((0..STAGES).map(|stage| stage * replicas + replica).collect()),
        }];
        let name = trace.names.intern("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
        for message in 0..12 {
            // Every stage receives from the previous one, then sends to the next one.
            for (peer, kind, label) in [
                (stage.checked_sub(1), CollectiveKind::Receive, "recv"),
                (Some(stage + 1).filter(|&next| next < STAGES), CollectiveKind::Send, "send"),
            ] {
                let Some(peer) = peer else { continue };
                let boundary = i64::from(stage.min(peer));
                let start = 1_000_000 + message * 20_000_000 + boundary * 5_000_000;
                let transfer = if boundary == 1 { slow * TRANSFER } else { TRANSFER };
                trace.gpu.push(GpuActivity {
                    start,
                    end: start + transfer + i64::from(stage) * 100,
                    name,
                    kind: GpuKind::Kernel,
                    stream: 30 + peer,
                    collective: Some(trace.collectives.len() as u32),
                    ..GpuActivity::default()
                });
                trace.collectives.push(CollectiveCall {
                    kind: Some(kind),
                    label: label.to_owned(),
                    elements_in: Some(2 << 20),
                    elements_out: Some(2 << 20),
                    element: Some("BFloat16".to_owned()),
                    element_bytes: Some(2),
                    group: Some(0),
                    sequence: None,
                    peer: Some(peer * replicas + replica),
                });
            }
        }
        trace
    });
    Job::new(traces.collect())
}

#[test]
fn boundaries_of_one_pipeline_are_compared_with_each_other_and_with_the_link() {
    let h100 = Some("NVIDIA H100 80GB HBM3");
    assert_eq!(found(pipeline(1, h100, 1)), (Vec::new(), Vec::new(), Vec::new()));
    let (groups, links, apart) = found(pipeline(10, h100, 1));
    let [(_, group)] = groups.as_slice() else { panic!("{groups:?}") };
    assert_eq!((group.label.as_str(), group.ranks.as_str()), ("messages of stages 1 and 2", "1,2"));
    assert!((links[0].usual() - 0.1).abs() < 0.01 && apart.is_empty(), "{links:?}");
}

/// Without this, a switch that slows all messages between two stages would not be a straggler: replicas are
/// equally late.
#[test]
fn a_boundary_that_is_slow_in_all_replicas_is_one_link() {
    let h100 = Some("NVIDIA H100 80GB HBM3");
    assert_eq!(found(pipeline(1, h100, 2)), (Vec::new(), Vec::new(), Vec::new()));
    let (groups, links, apart) = found(pipeline(10, h100, 2));
    let [(_, group)] = groups.as_slice() else { panic!("{groups:?}") };
    assert_eq!((group.label.as_str(), group.ranks.as_str()), ("messages of stages 1 and 2", "2-5"));
    let [link] = links.as_slice() else { panic!("{links:?}") };
    assert_eq!(link.communicators.len(), 2);
    assert!((link.usual() - 0.1).abs() < 0.01 && apart.is_empty(), "{links:?}");
}

/// Two nodes of eight devices: one boundary of four crosses the network, so no other boundary shows how fast
/// it is.
#[test]
fn the_only_boundary_over_the_network_is_compared_with_its_rate() {
    let (groups, links, apart) = found(pipeline(10, Some("NVIDIA H100 80GB HBM3"), 4));
    assert!(groups.is_empty() && links.is_empty(), "{groups:?}");
    let [apart] = apart.as_slice() else { panic!("{apart:?}") };
    let reason = apart.doubt(12 * 20_000_000).expect("a doubt");
    assert!(reason.contains("stages 1 and 2") && reason.contains("network's full rate"), "{reason}");
}

/// 4 MiB take 2 ms: far longer than over the network of an H100, but an unknown network may be that slow.
#[test]
fn a_boundary_of_an_unknown_link_is_a_doubt() {
    let (groups, links, apart) = found(pipeline(10, None, 1));
    assert!(groups.is_empty() && links.is_empty(), "{groups:?}");
    let [apart] = apart.as_slice() else { panic!("{apart:?}") };
    let base = 12 * 20_000_000;
    assert!(apart.doubt(base).is_some_and(|reason| reason.contains("stages 1 and 2")));
    assert_eq!(apart.doubt(1_000 * base), None);
}
