//! Benchmark of opening and reading a saved profile: the largest trace of the fixtures, eight times.

use railwright_profiler::Job;
use railwright_profiler::readers::{self, Keep, Recording};
use railwright_tables::query::{Database, Profile};
use railwright_tables::store::{Store, save};

const RANKS: u32 = 8;

fn main() {
    divan::main();
}

fn job() -> Job {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/traces/hta_samples/df_index_resolver/df_index_resolver.json.gz"
    );
    let packed = std::fs::read(path).expect("the fixture");
    let bytes = readers::inflate(&packed).expect("unpacked");
    let reader = readers::detect(&bytes).expect("a reader");
    let mut read = reader.read("trace", &bytes, Keep::default()).expect("a trace");
    let Some(Recording::Rank(trace)) = read.pop() else { panic!("one rank") };
    let ranks = (0..RANKS).map(|rank| {
        let mut trace = (*trace).clone();
        trace.identity.rank = Some(rank);
        trace
    });
    Job::new(ranks.collect())
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn write(bencher: divan::Bencher) {
    let job = job();
    bencher.bench(|| save(&job, &[]).expect("saved"));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn open_and_load(bencher: divan::Bencher) {
    let bytes = bytes::Bytes::from(save(&job(), &[]).expect("saved"));
    let rows = job().members.iter().map(|m| m.trace.gpu.len() + m.trace.host.len()).sum::<usize>();
    #[expect(clippy::print_stderr, reason = "the size is a result too")]
    let () = eprintln!("{} bytes for {rows} rows of {RANKS} ranks", bytes.len());
    bencher.bench(|| Store::open("x", bytes.clone()).and_then(|store| store.load()).expect("loaded"));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn open_and_load_one_rank(bencher: divan::Bencher) {
    let bytes = bytes::Bytes::from(save(&job(), &[]).expect("saved"));
    bencher.bench(|| Store::open("x", bytes.clone()).and_then(|store| store.rank(3)).expect("loaded"));
}

fn ask(bencher: divan::Bencher, sql: &str) {
    let database = Database::new(Profile { job: job(), ..Profile::default() }).expect("a database");
    bencher.bench_local(|| database.ask(sql, None).expect("rows"));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn group_all_host_rows_by_name(bencher: divan::Bencher) {
    ask(bencher, "SELECT name, count(*), sum(duration_ns) FROM host GROUP BY name");
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn group_kernels_by_name(bencher: divan::Bencher) {
    ask(bencher, "SELECT name, count(*), sum(duration_ns) FROM gpu WHERE kind = 'kernel' GROUP BY name");
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn launch_delays_of_a_rank(bencher: divan::Bencher) {
    ask(
        bencher,
        "SELECT avg(g.start_ns - h.end_ns) FROM gpu g JOIN host h ON h.rank = g.rank AND h.correlation = g.correlation \
         WHERE g.rank = 3 AND h.kind = 'runtime'",
    );
}
