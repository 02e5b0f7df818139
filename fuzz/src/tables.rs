//! Files with bytes of their own: Parquet, SQLite, saved profiles.
//!
//! Responsible for: passing bytes to the readers of tables as the loader does; saving and reopening accepted
//! tables. Refuses to judge values.

use railwright_profiler::Job;
use railwright_profiler::readers::{Keep, Recording};
use railwright_tables::query::{Database, Profile};
use railwright_tables::store::{Store, save};

/// A file that begins like a table; an accepted one can be saved and queried.
pub fn table_file(bytes: &[u8]) {
    for reader in railwright_tables::readers() {
        let Ok(recordings) = reader.read("table", bytes, Keep::default()) else { continue };
        let (mut ranks, mut passes) = (Vec::new(), Vec::new());
        for recording in recordings {
            match recording {
                Recording::Rank(trace) => ranks.push(*trace),
                Recording::Passes(table) => passes.push(table),
                _ => {}
            }
        }
        let job = Job::new(ranks);
        let packed = save(&job, &passes).expect("what was read can be saved");
        let saved =
            Store::open("saved", packed).and_then(|store| store.load()).expect("what was saved opens");
        assert!(saved.job == job && saved.passes == passes, "{}: not what was saved", reader.name());
        let database = Database::new(Profile { job, passes, ..Profile::default() }).expect("a database");
        let sql =
            "SELECT (SELECT count(*) FROM gpu) + (SELECT count(*) FROM host) + (SELECT count(*) FROM passes)";
        drop(database.ask(sql, None).expect("an answer"));
    }
}
