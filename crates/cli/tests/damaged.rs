//! Records that are damaged, contradictory or without world size: kept data and messages.

use crate::support::{Folder, json, run};
use std::io::{Read as _, Write as _};

const JOB: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/generated_torch215_gloo_pp2dp2");
const HANGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hang");
const LOG: &str = "../../../../examples/launch/mixtral_8x7b.log";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).expect("packed");
    out.finish().expect("packed")
}

/// A frame of zstd with uncompressed blocks (RFC 8878, 3.1.1).
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    out.extend((bytes.len() as u32).to_le_bytes());
    let blocks: Vec<&[u8]> = bytes.chunks(1 << 17).collect();
    for (at, block) in blocks.iter().enumerate() {
        let head = (block.len() as u32) << 3 | u32::from(at + 1 == blocks.len());
        out.extend(&head.to_le_bytes()[..3]);
        out.extend(*block);
    }
    out
}

/// The dumps of a job that hangs, the last one cut short at a share of its length.
fn cut_dumps(name: &str, share: f64) -> Folder {
    let folder = Folder::new(name);
    for rank in 0..4 {
        let file = format!("dump_rank_{rank}.json");
        let bytes = std::fs::read(format!("{HANGING}/{file}")).expect("an example");
        let end = if rank == 3 { (bytes.len() as f64 * share) as usize } else { bytes.len() };
        folder.put(&file, &bytes[..end]);
    }
    folder
}

#[test]
fn a_dump_that_is_cut_short_is_a_doubt_about_its_rank() {
    let whole = json(&["hang", HANGING, "--json", "--quiet"], 1);
    assert_eq!(whole["hang"]["roots"][0]["cause"], "outside_of_collectives");
    assert_eq!(whole["hang"]["damaged"].as_array().map(Vec::len), Some(0));
    let folder = cut_dumps("cut", 0.6);
    let cut = json(&["hang", &folder.at(""), "--json", "--quiet"], 1);
    let (hang, damaged) = (&cut["hang"], &cut["hang"]["damaged"][0]);
    assert_eq!(
        (&hang["roots"][0]["cause"], &hang["roots"][0]["ranks"]),
        (&"no_dump".into(), &serde_json::json!([3]))
    );
    assert_eq!(hang["ranks"].as_array().map(Vec::len), Some(4), "its entries count");
    assert_eq!(damaged["rank"], 3);
    let entries = damaged["entries"].as_u64().expect("a number");
    let at = damaged["cut_at"].as_u64().expect("a place");
    assert!(entries > 3 && at > 100, "{damaged}");
    let outcome = run(&["hang", &folder.at("")]);
    let expected = format!("the dump of rank 3 is truncated at byte {at} after {entries} entries");
    let flat = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&expected) && flat.contains("the verdict is uncertain"), "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("entries were read") && outcome.stderr.contains("is truncated"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn nothing_is_stuck_in_the_dumps_that_are_here() {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // All four dumps, without a record of the world size.
    let path = format!("{JOB}/fr_ok_trace_rank_*.pickle");
    let answer = json(&["hang", &path, "--json", "--quiet"], 0);
    assert_eq!((&answer["hangs"], &answer["hang"]["world_size_listed"]), (&false.into(), &false.into()));
    let outcome = flat(&run(&["hang", &path]).stdout);
    let expected = "no hang in the available dumps (4); the dumps do not record the world size";
    assert_eq!(outcome, expected);
    // One of them lists a group of two, and no other rank of its groups is recorded.
    let path = format!("{JOB}/fr_ok_trace_rank_0.pickle");
    let answer = json(&["hang", &path, "--json", "--quiet"], 1);
    assert!(answer["hangs"].is_null(), "{}", answer["hangs"]);
    let outcome = flat(&run(&["hang", &path]).stdout);
    assert!(outcome.contains("the dumps cannot exclude a hang of the job"), "{outcome}");
    assert!(outcome.contains("no dump records the world size"), "{outcome}");
    assert!(outcome.contains("was used only by rank 0"), "{outcome}");
}

#[test]
fn a_guess_at_the_number_of_ranks_reads_as_one() {
    let folder = Folder::new("guess");
    let mut text = String::new();
    let packed = std::fs::File::open(format!("{JOB}/rank3_step5.pt.trace.json.gz")).expect("a fixture");
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("a trace");
    let silent = text.replacen("\"world_size\": 4", "\"other\": 4", 1);
    assert_ne!(silent, text);
    let known = folder.put("known_rank3.json", text.as_bytes());
    let guessed = folder.put("guessed_rank3.json", silent.as_bytes());
    for command in ["profile", "comm", "stragglers"] {
        for (path, words, is_known) in
            [(&known, "1 of 4 ranks", true), (&guessed, "1 of at least 4 ranks", false)]
        {
            let outcome = run(&[command, path]);
            assert!(outcome.stdout.contains(words), "{command}: {}\n{}", outcome.stdout, outcome.stderr);
            // One rank of four cannot exclude faults of the others.
            let code = if command == "stragglers" { 5 } else { 0 };
            let answer = json(&[command, path, "--json", "--quiet"], code);
            assert_eq!(answer["world_size_known"], is_known, "{command}");
        }
    }
    let markdown = run(&["profile", &guessed, "--format", "md"]).stdout;
    assert!(
        markdown.contains("1 of at least 4 ranks") && markdown.contains("3 of at least 4 ranks"),
        "{markdown}"
    );
    assert!(!markdown.contains(" of 4 ranks"), "{markdown}");
    let page = folder.at("page.html");
    let outcome = run(&["profile", &guessed, "--html", &page]);
    let page = std::fs::read_to_string(&page).unwrap_or_else(|_| panic!("{}", outcome.stderr));
    assert!(page.contains("1 of at least 4"), "{}", &page[..page.len().min(4000)]);
}

#[test]
fn one_rank_with_another_job_size_is_reported_and_the_job_is_read() {
    let folder = Folder::new("odd");
    for rank in 0..4 {
        let mut text = String::new();
        let packed =
            std::fs::File::open(format!("{JOB}/rank{rank}_step5.pt.trace.json.gz")).expect("a fixture");
        flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("a trace");
        if rank == 2 {
            text = text.replacen("\"world_size\": 4", "\"world_size\": 8", 1);
        }
        folder.put(&format!("rank{rank}.json"), text.as_bytes());
    }
    let outcome = run(&["comm", &folder.at("")]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let expected = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(expected.contains("rank2.json has world size 8, 3 others have 4: using 4"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("4 ranks"), "{}", outcome.stdout);
}

#[test]
fn a_compressed_log_gives_the_run_of_the_plain_one() {
    let folder = Folder::new("packed");
    let log = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/launch/mixtral_8x7b.log"))
        .expect("an example");
    let trace = format!("{JOB}/rank0_step5.pt.trace.json.gz");
    let of = |log: &str| {
        json(&["profile", &trace, "--run", log, "--accelerator", "h100-sxm", "--json", "--quiet"], 0)["flop_per_step"].clone()
    };
    let plain = of(LOG);
    assert!(plain.as_f64().is_some_and(|flop| flop > 1e15), "{plain}");
    assert_eq!(of(&folder.put("a.log.gz", gzip(&log))), plain);
    assert_eq!(of(&folder.put("a.log.zst", zstd(&log))), plain);
    // A configuration that would fill the memory is rejected at its limit.
    let bomb = folder.put("config.json.gz", gzip(&vec![b' '; (64 << 20) + 2]));
    let run_file =
        folder.put("run.toml", format!("[model]\nconfig = \"{bomb}\"\n[cluster]\nname = \"dgx-h100\"\n"));
    let outcome = run(&["estimate", &run_file]);
    assert_eq!(outcome.code, 2, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("the file is too large"), "{}", outcome.stderr);
}
