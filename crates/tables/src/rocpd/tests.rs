//! Databases made from the published schema's statements, in both versions.

use super::*;
use crate::nsight::NsightExport;
use railwright_profiler::readers::{Keep, Reader};
use rusqlite::{Connection, MAIN_DB};

fn traces(statements: &str) -> Vec<RankTrace> {
    let connection = Connection::open_in_memory().expect("a database");
    connection.execute_batch(statements).expect("statements");
    let bytes = connection.serialize(MAIN_DB).expect("bytes").to_vec();
    let recordings = NsightExport.read("t.db", &bytes, Keep::default()).expect("a recording");
    let rank = |recording| match recording {
        Recording::Rank(trace) => Some(*trace),
        _ => None,
    };
    recordings.into_iter().filter_map(rank).collect()
}

/// Tables common to both versions, without columns that the reader does not use.
const FACTS: &str = r#"
CREATE TABLE "rocpd_string_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE "rocpd_info_node_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, hash BIGINT, machine_id TEXT, system_name TEXT, hostname TEXT);
CREATE TABLE "rocpd_info_process_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER);
CREATE TABLE "rocpd_info_agent_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, name TEXT, model_name TEXT, product_name TEXT);
CREATE TABLE "rocpd_info_kernel_symbol_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT);
CREATE TABLE "rocpd_event_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER);
INSERT INTO "rocpd_string_0a1b" VALUES (1, '', 'hipLaunchKernel'), (2, '', 'HIP_RUNTIME_API_EXT'), (3, '', 'MEMORY_COPY_HOST_TO_DEVICE'), (4, '', 'MARKER_CORE_RANGE_API'), (5, '', 'step_3');
INSERT INTO "rocpd_info_node_0a1b" VALUES (1, '', 0, 'm', 'Linux', 'node7');
INSERT INTO "rocpd_info_process_0a1b" VALUES (1, '', 1, 1, 4321);
INSERT INTO "rocpd_info_agent_0a1b" VALUES (0, '', 1, 1, 'CPU', 0, 'cpu', 'cpu', 'EPYC'), (4, '', 1, 1, 'GPU', 4, 'gfx942', 'mi300', 'AMD Instinct MI300X');
INSERT INTO "rocpd_info_kernel_symbol_0a1b" VALUES (9, '', 'Cijk_Ailk.kd', 'Cijk_Ailk_Bljk_BBS_BH_MT256x256x64.kd');
INSERT INTO "rocpd_event_0a1b" VALUES (1, '', 2, 70, 0, 0), (2, '', NULL, 70, 70, 0), (3, '', NULL, 71, 71, 0), (4, '', 4, 0, 0, 0);
"#;

fn check(traces: &[RankTrace]) {
    let [trace] = traces else { panic!("{} traces", traces.len()) };
    let identity = &trace.identity;
    assert_eq!(
        (identity.source, identity.host.as_deref(), identity.device),
        (Source::Rocpd, Some("node7"), Some(4))
    );
    assert_eq!((identity.devices.len(), identity.devices[0].name.as_str()), (1, "AMD Instinct MI300X"));
    let kernel = trace.gpu.get(0).expect("a kernel");
    assert_eq!((kernel.start, kernel.end, kernel.stream), (6_100, 6_900, 3));
    assert_eq!(trace.names.get(kernel.name), "Cijk_Ailk_Bljk_BBS_BH_MT256x256x64");
    let copy = trace.gpu.get(1).expect("a copy");
    assert_eq!((copy.kind, copy.bytes, trace.names.get(copy.name)), (GpuKind::Copy, 1_024, "Memcpy HtoD"));
    let call = trace.host.get(1).expect("a call");
    assert_eq!((call.kind, call.correlation), (HostKind::Runtime, kernel.correlation));
    let range = trace.host.get(0).expect("a range");
    assert_eq!((range.kind, trace.names.get(range.name)), (HostKind::Annotation, "step_3"));
    assert_eq!(trace.report.count(DamageKind::BadTime), 1, "a kernel that ends before it begins");
}

#[test]
fn times_in_the_rows() {
    check(&traces(&format!(
        r#"{FACTS}
CREATE TABLE "rocpd_region_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER);
CREATE TABLE "rocpd_kernel_dispatch_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, event_id INTEGER);
CREATE TABLE "rocpd_memory_copy_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER);
INSERT INTO "rocpd_region_0a1b" VALUES (1, '', 1, 1, 2, 6000, 6050, 1, 1), (2, '', 1, 1, 2, 5000, 9000, 5, 4);
INSERT INTO "rocpd_kernel_dispatch_0a1b" VALUES (1, '', 1, 1, 2, 4, 9, 1, 1, 3, 6100, 6900, 2), (2, '', 1, 1, 2, 4, 9, 2, 1, 3, 8000, 7000, 2);
INSERT INTO "rocpd_memory_copy_0a1b" VALUES (1, '', 1, 1, 2, 7000, 7300, 3, 4, 0, 1024, NULL, 3, 3);"#
    )));
}

#[test]
fn times_and_tracks_in_tables_of_their_own() {
    check(&traces(&format!(
        r#"{FACTS}
CREATE TABLE "rocpd_timestamp_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, value BIGINT, track_id INTEGER);
CREATE TABLE "rocpd_track_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER);
CREATE TABLE "rocpd_region_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, start_id INTEGER, end_id INTEGER, name_id INTEGER, event_id INTEGER);
CREATE TABLE "rocpd_kernel_dispatch_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, start_id INTEGER, end_id INTEGER, event_id INTEGER);
CREATE TABLE "rocpd_memory_copy_0a1b" (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, start_id INTEGER, end_id INTEGER, name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, event_id INTEGER);
INSERT INTO "rocpd_track_0a1b" VALUES (1, '', 1, 1, 2, NULL, NULL, NULL), (2, '', 1, 1, 2, 4, 1, 3);
INSERT INTO "rocpd_timestamp_0a1b" VALUES (1, '', 6000, 1), (2, '', 6050, 1), (3, '', 5000, 1), (4, '', 9000, 1), (5, '', 6100, 2), (6, '', 6900, 2), (7, '', 7000, 2), (8, '', 7300, 2);
INSERT INTO "rocpd_region_0a1b" VALUES (1, '', 1, 1, 2, 1, 1), (2, '', 1, 3, 4, 5, 4);
INSERT INTO "rocpd_kernel_dispatch_0a1b" VALUES (1, '', 2, 9, 1, 5, 6, 2), (2, '', 2, 9, 2, 99, 98, 2);
INSERT INTO "rocpd_memory_copy_0a1b" VALUES (1, '', 2, 7, 8, 3, 4, 0, 1024, 3);"#
    )));
}
