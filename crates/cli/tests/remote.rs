//! Traces at addresses: the results of local files, also with failing requests, and clear errors if the
//! server keeps failing.

use crate::support::bucket::{Bucket, Fault};
use crate::support::{Folder, Outcome, run};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn fixture(name: &str) -> String {
    format!("{ROOT}/fixtures/traces/{name}")
}

/// A bucket with a job of eight ranks at `s3://traces/job/`, and the folder of the same files.
fn job() -> (Bucket, String) {
    let folder = fixture("param_dlrm_8r");
    let bucket = Bucket::start();
    bucket.put_folder("job", Path::new(&folder));
    (bucket, folder)
}

/// A result with the addresses of files as if they were local.
fn local(outcome: &Outcome, address: &str, folder: &str) -> (i32, String) {
    (
        outcome.code,
        outcome.stdout.replace(&format!("{address}/"), &format!("{folder}/")).replace(address, folder),
    )
}

fn keys(bucket: &Bucket) -> Vec<String> {
    bucket.objects("job/").into_keys().collect()
}

#[test]
fn addresses_answer_what_local_files_answer() {
    let (bucket, folder) = job();
    let address = "s3://traces/job";
    for command in ["profile", "stragglers", "comm", "pipeline"] {
        let far = bucket.run(&[command, address, "--json"]);
        let near = run(&[command, &folder, "--json"]);
        assert_eq!(local(&far, address, &folder), (near.code, near.stdout), "{command}: {}", far.stderr);
    }
    let sql = "SELECT rank, count(*) AS n, sum(duration_us) AS us FROM gpu GROUP BY rank ORDER BY rank";
    let near = run(&["query", sql, &folder, "--json"]);
    assert_eq!(near.code, 0, "{}", near.stderr);
    for path in ["s3://traces/job/", "s3://traces/job/*", "s3://traces/j[o]b", "s3://traces/*/*"] {
        let far = bucket.run(&["query", sql, path, "--json"]);
        assert_eq!((far.code, &far.stdout), (0, &near.stdout), "{path}: {}", far.stderr);
    }
}

#[test]
fn a_server_that_fails_for_a_while_changes_nothing() {
    let (bucket, folder) = job();
    let address = "s3://traces/job";
    let near = run(&["comm", &folder, "--json"]);
    let keys = keys(&bucket);
    for (key, fault) in keys.iter().zip([
        Fault::Slow,
        Fault::Cut(2),
        Fault::Unavailable(2),
        Fault::Cut(1),
        Fault::Unavailable(1),
    ]) {
        bucket.fault(key, fault);
    }
    let far = bucket.run(&["comm", address, "--json"]);
    assert_eq!(local(&far, address, &folder), (near.code, near.stdout), "{}", far.stderr);
}

#[test]
fn a_server_that_keeps_failing_is_reported_with_address_status_and_remedy() {
    let (bucket, folder) = job();
    let key = keys(&bucket)[2].clone();
    let address = format!("s3://traces/{key}");
    for (fault, message, hint) in [
        (Fault::Refused(403), "access is denied (HTTP 403)", "AWS_ACCESS_KEY_ID"),
        (Fault::Refused(400), "the server rejected the request (HTTP 400)", "AWS_ENDPOINT_URL"),
        (Fault::Refused(503), "the server failed, even after retries (HTTP 503)", "try again later"),
        (Fault::Cut(u32::MAX), "the transfer was interrupted at byte ", "copy the file"),
    ] {
        bucket.fault(&key, fault);
        let alone = bucket.run(&["profile", &address]);
        assert_eq!(alone.code, 2, "{fault:?}: {}", alone.stderr);
        for part in [message, hint, address.as_str()] {
            assert!(alone.stderr.contains(part), "{fault:?}, {part}: {}", alone.stderr);
        }
    }
    // As one of several it is a missing rank, not a trace that ends early.
    let near = Folder::new("remote-missing");
    for (name, bytes) in bucket.objects("job/").iter().filter(|(name, _)| **name != key) {
        near.put(name.trim_start_matches("job/"), bytes);
    }
    let expected = run(&["profile", &near.path().display().to_string(), "--json"]);
    let job = bucket.run(&["profile", "s3://traces/job", "--json"]);
    assert!(job.stderr.contains("skipped: ") && job.stderr.contains("was interrupted"), "{}", job.stderr);
    assert_eq!(
        local(&job, "s3://traces/job", &folder).1,
        expected.stdout.replace(&near.path().display().to_string(), &folder)
    );
}

#[test]
fn what_is_not_there_is_reported() {
    let (bucket, _) = job();
    for (path, part) in [
        ("s3://traces/jub", "s3://traces/jub: no file at this address (HTTP 404)"),
        ("s3://traces/jub/", "s3://traces/jub/: no object at this address"),
        ("s3://traces/job/x*", "no object matches this pattern"),
        ("s3://", "the address has no bucket"),
    ] {
        let outcome = bucket.run(&["profile", path]);
        assert!(outcome.code == 2 && outcome.stderr.contains(part), "{path}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("hint: "), "{path}: {}", outcome.stderr);
    }
    let web = bucket.http("web/missing.json");
    let outcome = bucket.run(&["profile", &web]);
    assert!(outcome.stderr.contains("no file at this address (HTTP 404)"), "{}", outcome.stderr);
    let mut strange = bucket.program(&["profile", "s3://traces/job"]);
    let outcome = strange.env("AWS_ACCESS_KEY_ID", "OTHER").output().expect("the program starts");
    let shown = String::from_utf8_lossy(&outcome.stderr);
    assert!(shown.contains("access is denied (HTTP 403)"), "{shown}");
    let mut nobody = bucket.program(&["profile", "s3://traces/job"]);
    let outcome = nobody.env("AWS_ENDPOINT_URL", "http://127.0.0.1:9").output().expect("the program starts");
    let shown = String::from_utf8_lossy(&outcome.stderr);
    assert!(shown.contains("connection refused") && shown.contains("AWS_ENDPOINT_URL"), "{shown}");
}

#[test]
fn a_truncated_object_is_a_truncated_file() {
    let (bucket, folder) = job();
    let key = keys(&bucket)[1].clone();
    let bytes = bucket.objects(&key).remove(&key).expect("there");
    let half = &bytes[..bytes.len() / 2];
    bucket.put(&key, half);
    let near = Folder::new("remote-truncated");
    for (name, bytes) in bucket.objects("job/") {
        near.put(name.trim_start_matches("job/"), bytes);
    }
    let path = near.path().display().to_string();
    let (far, here) = (bucket.run(&["comm", "s3://traces/job", "--json"]), run(&["comm", &path, "--json"]));
    let plain = |outcome: &Outcome, from: &str| {
        (outcome.stdout.replace(from, &folder), outcome.stderr.replace(from, &folder))
    };
    assert_eq!(plain(&far, "s3://traces/job"), plain(&here, &path));
}

#[test]
fn web_servers_send_files_in_parts_or_whole() {
    let bucket = Bucket::start();
    let name = first("param_dlrm_8r");
    let packed = std::fs::File::open(fixture(&format!("param_dlrm_8r/{name}"))).expect("a trace");
    // Several parts, the next requested while one is read.
    let mut trace = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut trace).expect("a trace");
    assert!(trace.len() > 600_000, "{} bytes", trace.len());
    bucket.put("rank 0.json", &trace);
    let sql = "SELECT count(*) AS n, sum(duration_us) AS us FROM gpu";
    let near = run(&["query", sql, &fixture(&format!("param_dlrm_8r/{name}")), "--json"]);
    for place in ["web", "plain"] {
        for fault in [Fault::Cut(0), Fault::Slow, Fault::Cut(2), Fault::Unavailable(1)] {
            bucket.fault("rank 0.json", fault);
            let far = bucket.run(&[
                "query",
                sql,
                &bucket.http(&format!("{place}/rank%200.json?signature=x")),
                "--json",
            ]);
            assert_eq!((far.code, &far.stdout), (0, &near.stdout), "{place} {fault:?}: {}", far.stderr);
        }
    }
    let generated = bucket.run(&["query", sql, &bucket.http("unsized/rank%200.json")]);
    assert!(generated.stderr.contains("does not send the length of the file"), "{}", generated.stderr);
    let folder = bucket.run(&["query", sql, &bucket.http("web/")]);
    assert!(folder.stderr.contains("pass the address of each file"), "{}", folder.stderr);
}

/// The first file of a fixture.
fn first(job: &str) -> String {
    let entries = std::fs::read_dir(fixture(job)).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).min().expect("a file")
}

/// One, four and sixty-four processes write the same bytes from a bucket to a bucket, with the results of the
/// traces.
#[test]
fn digests_in_a_bucket_are_the_same_from_any_number_of_processes() {
    let (bucket, folder) = job();
    let digests = |parts: u32| {
        let out = format!("s3://traces/digests{parts}");
        for part in 0..parts {
            let part = format!("{part}/{parts}");
            let outcome = bucket.run(&["digest", "s3://traces/job/", "-o", &out, "--part", &part]);
            assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        }
        let written = bucket.objects(&format!("digests{parts}/")).into_iter();
        written
            .map(|(key, bytes)| (key.rsplit('/').next().unwrap_or_default().to_owned(), bytes))
            .collect::<BTreeMap<_, _>>()
    };
    let one = digests(1);
    assert_eq!(one.len(), 8);
    for parts in [4, 64] {
        assert!(digests(parts) == one, "{parts} processes");
    }
    for command in ["stragglers", "comm", "profile"] {
        let far = bucket.run(&[command, "s3://traces/digests4/", "--json"]);
        let near = run(&[command, &folder, "--json"]);
        let title = far.stdout.replace("\"s3://traces/digests4/\"", &format!("\"{folder}\""));
        assert_eq!(
            (far.code, title.replace("s3://traces/job/", &format!("{folder}/"))),
            (near.code, near.stdout)
        );
    }
    let web = bucket.run(&["digest", "s3://traces/job/", "-o", &bucket.http("web/out")]);
    assert!(web.code == 2 && web.stderr.contains("a web server cannot be written to"), "{}", web.stderr);
    // Neither a name nor a report has the signature of an address.
    let key = keys(&bucket)[0].clone();
    let presigned = bucket.http(&format!("web/{key}?X-Signature=c0ffee"));
    assert_eq!(bucket.run(&["digest", &presigned, "-o", "s3://traces/signed"]).code, 0);
    for command in ["profile", "stragglers"] {
        for form in [
            &[command, &presigned][..],
            &[command, &presigned, "--json"],
            &[command, &presigned, "--format", "md"],
        ] {
            let report = bucket.run(form);
            assert!(!report.stdout.is_empty(), "{form:?}: {}", report.stderr);
            assert!(!report.stdout.contains("c0ffee") && !report.stderr.contains("c0ffee"), "{form:?}");
        }
    }
    let signed = bucket.objects("signed/");
    assert_eq!(signed.len(), 1);
    assert!(
        !signed.iter().any(|(key, bytes)| key.contains("c0ffee") || bytes.windows(6).any(|w| w == b"c0ffee"))
    );
}

/// Credentials of a file, as other tools read them.
#[test]
fn a_profile_of_the_shared_files_is_used() {
    let (bucket, _) = job();
    let folder = Folder::new("remote-profile");
    let file = folder.put(
        "credentials",
        "[default]\naws_access_key_id = no\naws_secret_access_key = no\n\
        [lab]\naws_access_key_id = AKIATEST\naws_secret_access_key = secret\n",
    );
    let mut command = bucket.program(&["comm", "s3://traces/job", "--json"]);
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    command.env("AWS_SHARED_CREDENTIALS_FILE", file).env("AWS_PROFILE", "lab");
    let done = command.output().expect("the program starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn nothing_is_requested_that_nobody_named() {
    let (bucket, folder) = job();
    assert_eq!(bucket.run(&["comm", &folder, "--json"]).code, 0);
    assert_eq!(bucket.requests(), 0);
}
