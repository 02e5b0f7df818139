//! Queries with known results.

use super::*;
use railwright_profiler::trace::{CollectiveCall, GpuActivity, GpuKind, HostActivity, HostKind, RankGroup};
use railwright_profiler::{Job, RankTrace};
use railwright_step::CollectiveKind;

/// Two ranks, each with ten kernels of 3 us, launched 5 us before, every other one a collective.
fn database() -> Database {
    let ranks = [4_u32, 7].map(|rank| {
        let mut trace = RankTrace::default();
        trace.identity.rank = Some(rank);
        trace.groups.push(RankGroup {
            name: "1".to_owned(),
            ranks: Some(vec![4, 7]),
            size: Some(2),
            ..RankGroup::default()
        });
        let (gemm, nccl, launch) =
            (trace.names.intern("gemm"), trace.names.intern("nccl"), trace.names.intern("cudaLaunchKernel"));
        for at in 0..10_u32 {
            let start = 1_000_000 + i64::from(at) * 10_000 + i64::from(rank);
            let call = (at % 2 == 0).then_some(at / 2);
            let kind = GpuKind::Kernel;
            let name = if at % 2 == 0 { nccl } else { gemm };
            let correlation = Some(100 + at);
            let gpu = GpuActivity {
                start,
                end: start + 3_000,
                name,
                kind,
                stream: 7,
                correlation,
                collective: call,
                bytes: 0,
            };
            trace.gpu.push(gpu);
            trace.host.push(HostActivity {
                start: start - 5_000,
                end: start - 4_000,
                name: launch,
                kind: HostKind::Runtime,
                correlation,
                ..HostActivity::default()
            });
        }
        for at in 0..5 {
            trace.collectives.push(CollectiveCall {
                kind: Some(CollectiveKind::AllReduce),
                label: "allreduce".to_owned(),
                elements_in: Some(1000),
                element_bytes: Some(2),
                group: Some(0),
                sequence: Some(at),
                ..CollectiveCall::default()
            });
        }
        trace
    });
    Database::new(Profile { job: Job::new(ranks.into()), ..Profile::default() }).expect("a database")
}

fn ask(sql: &str) -> Vec<Vec<Cell>> {
    database().ask(sql, None).unwrap_or_else(|problem| panic!("{sql}: {problem}")).rows
}

fn one(sql: &str) -> Cell {
    ask(sql)[0][0].clone()
}

#[test]
fn sums_and_counts() {
    use Cell::{Real, Text, Whole};
    assert_eq!(one("SELECT count(*) FROM gpu"), Whole(20));
    assert_eq!(one("SELECT sum(duration_us) FROM gpu WHERE rank = 4 AND name = 'gemm'"), Real(15.0));
    assert_eq!(one("SELECT min(start_us) FROM gpu"), Real(5.0));
    assert_eq!(one("SELECT median(id) FROM gpu WHERE rank = 7"), Real(4.5));
    assert_eq!(one("SELECT round(quantile(id, 0.9), 6) FROM gpu"), Real(8.1));
    assert_eq!(one("SELECT round(stddev(id), 4) FROM gpu WHERE rank = 7"), Real(3.0277));
    assert_eq!(one("SELECT group_name FROM collectives LIMIT 1"), Text("1".to_owned()));
    assert_eq!(one("SELECT bytes_in FROM collectives WHERE rank = 7 AND id = 3"), Whole(2000));
    assert_eq!(one("SELECT ranks FROM groups WHERE rank = 4"), Text("4,7".to_owned()));
    assert_eq!(one("SELECT gpu_rows + host_rows FROM ranks WHERE rank = 7"), Whole(20));
    for empty in ["passes", "step_times", "steps", "clocks", "matches", "reports"] {
        assert_eq!(ask(&format!("SELECT * FROM {empty}")), Vec::<Vec<Cell>>::new(), "{empty}");
    }
}

/// An index gives the same rows as a full scan; `+` prevents the engine from using an index.
#[test]
fn narrowed_is_the_same_as_looked_at() {
    for (narrow, wide) in [
        ("rank = 7", "+rank = 7"),
        ("rank = 7 AND id = 3", "+rank = 7 AND +id = 3"),
        ("id = 3", "+id = 3"),
        ("id = 99", "+id = 99"),
        ("id = -1", "+id = -1"),
        ("id = 3.0", "+id = 3.0"),
        ("id = 3.5", "+id = 3.5"),
        ("correlation = 104", "+correlation = 104"),
        ("collective = 2 AND rank = 4", "+collective = 2 AND +rank = 4"),
        ("start_ns > 1020004 AND start_ns <= 1050007", "+start_ns > 1020004 AND +start_ns <= 1050007"),
        ("start_ns < 0", "+start_ns < 0"),
        ("start_ns >= 1050000.5", "+start_ns >= 1050000.5"),
        ("rank = NULL", "+rank = NULL"),
        ("rank = 'x'", "+rank = 'x'"),
        ("rank IN (4, 9)", "+rank IN (4, 9)"),
    ] {
        let query = |how: &str| format!("SELECT * FROM gpu WHERE {how} ORDER BY rank, id");
        assert_eq!(ask(&query(narrow)), ask(&query(wide)), "{narrow}");
    }
    assert_eq!(ask("SELECT * FROM gpu WHERE start_ns > 1020004 AND start_ns <= 1050007").len(), 7);
}

#[test]
fn sides_join_by_correlation_and_collective() {
    let delays = ask("SELECT g.rank, avg(g.start_us - h.start_us - h.duration_us) FROM host h \
         JOIN gpu g ON g.rank = h.rank AND g.correlation = h.correlation WHERE h.kind = 'runtime' GROUP BY 1");
    assert_eq!(delays, [vec![Cell::Whole(4), Cell::Real(4.0)], vec![Cell::Whole(7), Cell::Real(4.0)]]);
    let joined =
        one("SELECT count(*) FROM collectives c JOIN gpu g ON g.rank = c.rank AND g.collective = c.id");
    assert_eq!(joined, Cell::Whole(10));
    let direct = one("SELECT count(*) FROM collectives c JOIN gpu g ON g.rank = c.rank AND g.id = c.gpu_id");
    assert_eq!(direct, Cell::Whole(10));
}

#[test]
fn a_limit_reports_that_more_exists() {
    let database = database();
    let answer = database.ask("SELECT id FROM gpu", Some(20)).expect("rows");
    assert_eq!((answer.rows.len(), answer.more), (20, false));
    let answer = database.ask("SELECT id FROM gpu", Some(19)).expect("rows");
    assert_eq!((answer.rows.len(), answer.more), (19, true));
}

#[test]
fn mistakes_are_reported_with_the_nearest_name() {
    let database = database();
    let wrong = |sql: &str| database.ask(sql, None).expect_err(sql);
    let problem = wrong("SELECT name,\n  durations_us FROM gpu");
    assert_eq!(problem.to_string(), "query:2:3: unknown column `durations_us`");
    assert!(problem.hint.expect("a hint").starts_with("did you mean `duration_us`"));
    let problem = wrong("SELECT 1 FROM gpus");
    assert_eq!(problem.to_string(), "query:1:15: unknown table `gpus`");
    assert_eq!(problem.hint.as_deref(), Some("did you mean `gpu`?"));
    assert!(wrong("SELECT 1 FROM kernels").hint.expect("a hint").contains("`collectives`"));
    assert!(wrong("SELEC 1").to_string().starts_with("query:1:1: near \"SELEC\""));
    assert!(wrong("SELECT mode(id) FROM gpu").message.contains("unknown function `mode`"));
    assert!(wrong("").message.contains("the query is empty"));
    assert!(wrong("SELECT quantile(id, 7) FROM gpu").message.contains("from 0 to 1"));
}

#[test]
fn nothing_can_be_written_or_opened() {
    let database = database();
    let file = std::env::temp_dir().join(format!("railwright-query-{}.sqlite", std::process::id()));
    for sql in [
        "DELETE FROM gpu".to_owned(),
        "UPDATE gpu SET rank = 1".to_owned(),
        "CREATE TABLE x(y)".to_owned(),
        "CREATE TEMP TABLE x AS SELECT 1".to_owned(),
        "DROP TABLE gpu".to_owned(),
        "PRAGMA writable_schema = ON".to_owned(),
        "SELECT load_extension('x')".to_owned(),
        format!("ATTACH '{}' AS other", file.display()),
        format!("VACUUM INTO '{}'", file.display()),
        "SELECT 1; DROP TABLE gpu".to_owned(),
    ] {
        database.ask(&sql, None).expect_err(&sql);
    }
    assert!(!file.exists());
    assert_eq!(one("SELECT count(*) FROM gpu"), Cell::Whole(20));
}

/// Two real ranks, joined: rank 1 waits for rank 0.
#[test]
fn waits_of_matched_collectives_can_be_asked() {
    use railwright_profiler::joined::{JoinOptions, join};
    use railwright_profiler::readers::{self, Keep, Recording};
    macro_rules! fixture {
        ($name:literal) => {
            include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../fixtures/traces/megatron_tp2_v100/",
                $name
            ))
        };
    }
    let files: [&[u8]; 2] = [
        fixture!("rank0.9c44bd29b3f0_1375.1724066820235157909.pt.trace.json.gz"),
        fixture!("rank1.9c44bd29b3f0_1376.1724066820237002797.pt.trace.json.gz"),
    ];
    let traces = files.map(|file| {
        let bytes = readers::inflate(file).expect("inflated");
        let mut read =
            readers::detect(&bytes).expect("a reader").read("x", &bytes, Keep::default()).expect("read");
        let Some(Recording::Rank(trace)) = read.pop() else { panic!("a rank") };
        *trace
    });
    let mut job = Job::new(traces.into());
    let joined = join(&mut job, &JoinOptions::default());
    let database =
        Database::new(Profile { job, joined: Some(joined), ..Profile::default() }).expect("a database");
    let rows = |sql: &str| database.ask(sql, None).unwrap_or_else(|problem| panic!("{sql}: {problem}")).rows;
    let waits = rows("SELECT rank, sum(wait_us) / 1000 AS ms FROM matches GROUP BY rank ORDER BY rank");
    let ms = |row: &[Cell]| if let Cell::Real(ms) = row[1] { ms } else { panic!("{row:?}") };
    assert!(ms(&waits[0]) < 0.1 && (48.0..48.4).contains(&ms(&waits[1])), "{waits:?}");
    let late = rows("SELECT DISTINCT last_rank FROM matches WHERE wait_us > 100");
    assert_eq!(late, [[Cell::Whole(0)]]);
    let joined = rows(
        "SELECT count(*) FROM matches m JOIN gpu g ON g.rank = m.rank AND g.id = m.gpu_id \
         WHERE round(g.start_us, 3) <> round(m.start_us, 3)",
    );
    assert_eq!(joined, [[Cell::Whole(0)]]);
    assert_eq!(rows("SELECT count(*) FROM clocks"), [[Cell::Whole(2)]]);
}
