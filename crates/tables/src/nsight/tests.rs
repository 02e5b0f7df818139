//! Exports of two generations, built from the documented schema, without a real export.

use super::*;
use railwright_profiler::RankTrace;
use railwright_profiler::trace::{DamageKind, GpuActivity, GpuKind, HostActivity, HostKind, Source};
use railwright_step::CollectiveKind;
use rusqlite::MAIN_DB;

/// A process and a thread, packed as in exports.
const fn global(process: i64, thread: i64) -> i64 {
    (1 << 56) | (process << 24) | thread
}

/// A recent export: two processes with a device each, which is device 0 in both.
const RECENT: &str = "
    CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'),(2,'void gemm<float>(float*)'),(3,'gemm'),
        (4,'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'),(5,'ncclAllReduce'),
        (6,'cudaMemcpyAsync_v3020'),(7,'{\"Message size [bytes]\": 8192}'),(8,'cudaGraphLaunch_v10000'),(9,'train_step');
    CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
    INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000,'','');
    CREATE TABLE TARGET_INFO_SYSTEM_ENV(globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
    INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0,'','Hostname',19,'node-7');
    CREATE TABLE TARGET_INFO_GPU(vmId INTEGER, id INTEGER NOT NULL, name TEXT, totalMemory INTEGER, smCount INTEGER);
    INSERT INTO TARGET_INFO_GPU VALUES (0,0,'NVIDIA H100 80GB HBM3',85899345920,132),(0,5,'NVIDIA H100 80GB HBM3',85899345920,132);
    CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT);
    INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0,0,100,''),(5,0,200,'');
    CREATE TABLE MPI_RANKS(globalPid INTEGER, rank INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
        demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, gridX INTEGER, graphNodeId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER,
        correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
        copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
        correlationId INTEGER, globalPid INTEGER);
    CREATE TABLE NVTX_EVENTS(start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
        color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, jsonText TEXT, jsonTextId INTEGER);
";

/// An export of the first version: names only by number, `INT`, defaults instead of `NULL`, no session start,
/// kernels without a process.
const FIRST: &str = "
    CREATE TABLE StringIds(id INT NOT NULL, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1,'cudaLaunchKernel'),(2,'volta_sgemm_128x64_nn'),(3,'cudaMemset');
    CREATE TABLE TARGET_INFO_CUDA_GPU(id INT NOT NULL, name TEXT NOT NULL, memorySize INT NOT NULL);
    INSERT INTO TARGET_INFO_CUDA_GPU VALUES (0,'Tesla V100-SXM2-16GB',16914055168);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL,
        streamId INT NOT NULL, correlationId INT NOT NULL, shortName INT NOT NULL);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500,900,0,1,7,11,2),(1000,1400,0,1,7,12,2),(2000,1900,0,1,7,13,2);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL,
        streamId INT NOT NULL, correlationId INT NOT NULL, value INT NOT NULL, bytes INT NOT NULL, memKind INT NOT NULL);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (100,200,0,1,7,10,0,4096,2);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT NOT NULL, end INT NOT NULL, globalTid INT NOT NULL, correlationId INT NOT NULL,
        nameId INT NOT NULL, returnValue INT NOT NULL);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50,80,281474976710657,10,3,0),(300,350,281474976710657,11,1,0),(400,450,281474976710657,12,1,0);
    CREATE TABLE NVTX_EVENTS(start INT NOT NULL, end INT NOT NULL, eventType INT NOT NULL, rangeId INT NOT NULL, text TEXT, globalTid INT NOT NULL);
    INSERT INTO NVTX_EVENTS VALUES (40,460,70,0,'iteration 3',281474976710657),(600,-1,71,1,'never ended',281474976710657);
";

fn recent() -> Vec<u8> {
    let connection = Connection::open_in_memory().expect("SQLite");
    connection.execute_batch(RECENT).expect("the schema");
    let mut sql = String::new();
    for (process, correlation) in [(100, 900), (200, 900)] {
        let (pid, tid) = (global(process, 0), global(process, process + 1));
        let rows = format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
                (100,150,0,{tid},{correlation},1,0,NULL),(300,350,0,{tid},{correlation}+1,1,0,NULL),
                (400,420,0,{tid},{correlation}+2,6,0,NULL),(500,520,0,{tid},{correlation}+3,8,0,NULL),
                (600,9000,0,{tid},0,1,0,NULL);
             INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
                (1000,2000,0,1,NULL,7,{correlation},{pid},2,3,NULL,1,NULL),
                (2100,4100,0,1,NULL,20,{correlation}+1,{pid},4,4,NULL,1,NULL),
                (5000,5100,0,1,NULL,7,{correlation}+3,{pid},2,3,NULL,1,77),(5200,5300,0,1,NULL,7,{correlation}+3,{pid},2,3,NULL,1,78);
             INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (4200,4300,0,1,7,{correlation}+2,{pid},65536,1,1,2,NULL);
             INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (600,9000,0,1,7,{correlation}+9,{pid},3);
             INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (6000,7000,0,3,4,1,7,{correlation}+8,{pid});
             INSERT INTO NVTX_EVENTS VALUES
                (0,NULL,75,NULL,NULL,NULL,'NCCL',{pid},NULL,NULL,2,NULL,NULL),
                (90,700,59,NULL,NULL,NULL,NULL,{tid},NULL,9,0,NULL,NULL),
                (95,160,60,1,NULL,NULL,'aten::mm, seq = 4, sizes = [[8, 16], [16, 4]]',{tid},{tid},NULL,0,NULL,NULL),
                (290,360,59,NULL,NULL,NULL,NULL,{tid},NULL,5,2,NULL,7),
                (10,NULL,34,NULL,NULL,NULL,'a mark',{tid},NULL,NULL,0,NULL,NULL);"
        );
        sql.push_str(&rows);
    }
    let ranks = format!("INSERT INTO MPI_RANKS VALUES ({},1),({},0);", global(100, 0), global(200, 0));
    sql.push_str(&ranks);
    connection.execute_batch(&sql).expect("rows");
    connection.serialize(MAIN_DB).expect("bytes").to_vec()
}

fn first() -> Vec<u8> {
    let connection = Connection::open_in_memory().expect("SQLite");
    connection.execute_batch(FIRST).expect("the export");
    connection.serialize(MAIN_DB).expect("bytes").to_vec()
}

fn traces(bytes: &[u8]) -> Vec<RankTrace> {
    assert!(NsightExport.matches(bytes));
    let read =
        NsightExport.read("x.sqlite", bytes, Keep::default()).unwrap_or_else(|problem| panic!("{problem}"));
    read.into_iter()
        .map(|recording| if let Recording::Rank(trace) = recording { *trace } else { panic!("a rank") })
        .collect()
}

fn named(trace: &RankTrace, row: &GpuActivity) -> String {
    trace.names.get(row.name).to_owned()
}

#[test]
fn a_recent_export_is_a_rank_for_each_process() {
    let traces = traces(&recent());
    assert_eq!(traces.iter().map(|t| t.identity.rank).collect::<Vec<_>>(), [Some(1), Some(0)]);
    let trace = &traces[1];
    let identity = &trace.identity;
    assert_eq!(identity.label, "x.sqlite (process 200, device 0)");
    assert_eq!((identity.source, identity.device), (Source::NsightSystems, Some(5)));
    assert_eq!(identity.host.as_deref(), Some("node-7"));
    assert_eq!((identity.devices.len(), identity.devices[0].multiprocessors), (2, Some(132)));
    let rows: Vec<GpuActivity> = trace.gpu.iter().collect();
    let kinds = |kind: GpuKind| rows.iter().filter(|row| row.kind == kind).copied().collect::<Vec<_>>();
    assert_eq!(kinds(GpuKind::Kernel).len(), 5);
    let gemm = kinds(GpuKind::Kernel)[0];
    assert_eq!((gemm.start, gemm.duration(), gemm.stream), (1_700_000_000_000_001_000, 1000, 7));
    assert_eq!(named(trace, &gemm), "void gemm<float>(float*)");
    let copy = kinds(GpuKind::Copy)[0];
    assert_eq!((named(trace, &copy).as_str(), copy.bytes), ("Memcpy HtoD (Pinned -> Device)", 65_536));
    assert_eq!(named(trace, &kinds(GpuKind::Sync)[0]), "Stream Sync");
    assert!(rows.iter().any(|row| named(trace, row) == "CUDA graph 3"));
    // Both kernels of the graph have the call that launched it.
    assert_eq!(rows.iter().filter(|row| row.correlation == Some(903)).count(), 2);
}

#[test]
fn ranges_become_operators_communications_and_annotations_of_both_sides() {
    let traces = traces(&recent());
    let trace = &traces[0];
    let host: Vec<HostActivity> = trace.host.iter().collect();
    let of = |kind: HostKind| host.iter().filter(|row| row.kind == kind).collect::<Vec<_>>();
    let name = |row: &HostActivity| trace.names.get(row.name);
    assert_eq!(of(HostKind::Runtime).len(), 5);
    assert_eq!(name(of(HostKind::Runtime)[0]), "cudaLaunchKernel");
    let operator = of(HostKind::Operator)[0];
    assert_eq!(
        (name(operator), operator.shapes.map(|s| trace.names.get(s))),
        ("aten::mm", Some("[[8, 16], [16, 4]]"))
    );
    assert_eq!(name(of(HostKind::Annotation)[0]), "train_step");
    assert!(host.iter().all(|row| row.thread == 0));
    let call = &trace.collectives[of(HostKind::Collective)[0].collective.expect("a call") as usize];
    assert_eq!(
        (call.kind, call.elements_in, call.element_bytes),
        (Some(CollectiveKind::AllReduce), Some(8192), Some(1))
    );
    let kernel = trace.gpu.iter().find(|row| named(trace, row).starts_with("nccl")).expect("a kernel");
    assert_eq!(kernel.collective, Some(0));
    let step = trace.gpu.iter().find(|row| row.kind == GpuKind::Annotation).expect("the device's side");
    let epoch = 1_700_000_000_000_000_000;
    assert_eq!(
        (named(trace, &step).as_str(), step.start - epoch, step.end - epoch),
        ("train_step", 1000, 5300)
    );
    assert_eq!(trace.report.left_out, [("NVTX marks, categories and domains".to_owned(), 4)]);
}

#[test]
fn the_first_exports_are_read_as_far_as_they_go() {
    let traces = traces(&first());
    let [trace] = traces.as_slice() else { panic!("one rank") };
    assert_eq!((trace.identity.rank, trace.identity.device), (None, Some(0)));
    assert_eq!(trace.identity.devices[0].name, "Tesla V100-SXM2-16GB");
    let names: Vec<String> = trace.gpu.iter().map(|row| named(trace, &row)).collect();
    assert_eq!(
        names,
        ["Memset (Device)", "iteration 3", "volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn"]
            .map(str::to_owned)
    );
    let report = &trace.report;
    assert_eq!(
        (report.count(DamageKind::NegativeDuration), report.count(DamageKind::UnmatchedBegin)),
        (1, 1)
    );
}

/// One process with two devices: a launch belongs to its device, other calls to both.
#[test]
fn devices_of_one_process_part() {
    let connection = Connection::open_in_memory().expect("SQLite");
    connection.execute_batch(FIRST).expect("the export");
    connection
        .execute_batch("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1 WHERE correlationId = 12")
        .expect("moved");
    let traces = traces(&connection.serialize(MAIN_DB).expect("bytes"));
    assert_eq!(traces.iter().map(|t| t.identity.device).collect::<Vec<_>>(), [Some(0), Some(1)]);
    let launches =
        |trace: &RankTrace| trace.host.iter().filter_map(|row| row.correlation).collect::<Vec<_>>();
    assert_eq!((launches(&traces[0]), launches(&traces[1])), (vec![10, 11], vec![12]));
    for trace in &traces {
        assert!(trace.host.iter().any(|row| trace.names.get(row.name) == "iteration 3"));
    }
}

#[test]
fn a_file_on_disk_is_read_where_it_lies() {
    let path = std::env::temp_dir().join(format!("railwright-nsight-{}.sqlite", std::process::id()));
    std::fs::write(&path, recent()).expect("written");
    let read = read_file("x.sqlite", &path);
    std::fs::remove_file(&path).expect("removed");
    let all = traces(&recent()).into_iter().map(|trace| Recording::Rank(Box::new(trace)));
    assert_eq!(read.expect("read"), all.collect::<Vec<_>>());
}

#[test]
fn what_is_no_export_is_reported() {
    let wrong = |bytes: &[u8]| {
        NsightExport
            .read("x", bytes, Keep::default())
            .expect_err("an SQLite database, but not an Nsight Systems export: its tables are missing")
            .to_string()
    };
    let other = Connection::open_in_memory().expect("SQLite");
    other.execute_batch("CREATE TABLE a(b); CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start").expect("a table");
    assert!(
        wrong(&other.serialize(MAIN_DB).expect("bytes"))
            .contains("without the tables of Nsight Systems or rocprofv3")
    );
    let empty = Connection::open_in_memory().expect("SQLite");
    empty.execute_batch(RECENT).expect("the schema");
    assert!(
        wrong(&empty.serialize(MAIN_DB).expect("bytes"))
            .contains("the export contains no kernels, runtime calls or NVTX ranges")
    );
    let good = recent();
    for length in [0, 16, 50, 100, 4096, good.len() / 2] {
        assert!(wrong(&good[..length]).starts_with("x: "), "{length}");
    }
}

/// With any wrong byte, the result is a trace or a problem.
#[test]
fn flipped_bytes_do_no_harm() {
    let good = recent();
    for at in (0..good.len()).step_by(41) {
        let mut bytes = good.clone();
        bytes[at] ^= 0xff;
        drop(NsightExport.read("x", &bytes, Keep::default()));
    }
}

/// Two ranks with two communicators of the same size each: the calls of one stream belong to different
/// groups.
#[test]
fn communicators_are_process_groups() {
    let connection = Connection::open_in_memory().expect("SQLite");
    connection.execute_batch(RECENT).expect("the schema");
    for process in [100, 200] {
        let (pid, tid) = (global(process, 0), global(process, process + 1));
        let call = |at: i64, correlation: i64, communicator: u64| {
            format!(
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({at},{at}+20,0,{tid},{correlation},1,0,NULL);
                 INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
                    ({at}+50,{at}+90,0,1,NULL,20,{correlation},{pid},4,4,NULL,1,NULL);
                 INSERT INTO NVTX_EVENTS VALUES ({at}-5,{at}+30,59,NULL,NULL,NULL,'ncclAllReduce',{tid},NULL,NULL,2,
                    '{{\"NCCL communicator ID\":{communicator},\"Message size [bytes]\":64}}',NULL);"
            )
        };
        let sql = format!(
            "INSERT INTO NVTX_EVENTS VALUES
                (0,NULL,75,NULL,NULL,NULL,'NCCL',{pid},NULL,NULL,2,NULL,NULL),
                (10,20,59,NULL,NULL,NULL,'ncclCommInitRank',{tid},NULL,NULL,2,
                    '{{\"NCCL communicator ID\":7,\"No. of ranks\":2,\"Rank\":0}}',NULL);
             {}{}{}",
            call(100, 900, 7),
            call(300, 901, 8),
            call(500, 902, 7)
        );
        connection.execute_batch(&sql).expect("rows");
    }
    let traces = traces(&connection.serialize(MAIN_DB).expect("bytes"));
    assert_eq!(traces.len(), 2);
    for trace in &traces {
        let groups: Vec<_> = trace.groups.iter().map(|group| (group.name.as_str(), group.size)).collect();
        assert_eq!(groups, [("0x7", Some(2)), ("0x8", None)]);
        let calls = trace.gpu.iter().filter_map(|row| row.collective);
        let of: Vec<_> = calls.map(|call| trace.collectives[call as usize].group).collect();
        assert_eq!(of, [Some(0), Some(1), Some(0)]);
    }
}
