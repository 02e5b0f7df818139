//! `digest`: small files, one per rank, with the same results as their traces.

use crate::support::{Folder, run};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn fixture(name: &str) -> String {
    format!("{ROOT}/fixtures/traces/{name}")
}

/// The files of a folder and its subfolders, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(
                files(&entry.path()).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)),
            );
        } else {
            found.insert(name, std::fs::read(entry.path()).expect("a file"));
        }
    }
    found
}

/// A result with the names of its files without folder and suffix: a digest has the name of its trace.
fn answer(command: &str, path: &str) -> (i32, String) {
    let outcome = run(&[command, path, "--json"]);
    let mut text = outcome.stdout.replace(path, "PATH");
    for end in [".digest.parquet", ".pt.trace.json.gz", ".pt.trace.json.zst", ".json.gz"] {
        text = text.replace(end, "");
    }
    (outcome.code, text)
}

/// A file that cannot be opened costs itself.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_opened_does_not_cost_its_folder() {
    let folder = Folder::new("digest-unopened");
    let copy = folder.at("traces");
    std::fs::create_dir_all(&copy).expect("a folder");
    for (name, bytes) in files(Path::new(&fixture("param_dlrm_8r"))) {
        std::fs::write(Path::new(&copy).join(name), bytes).expect("a copy");
    }
    let link = Path::new(&copy).join("worker9_step_12.pt.trace.json");
    std::os::unix::fs::symlink("nowhere", link).expect("a link");
    let outcome = run(&["comm", &copy, "--json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("worker9_step_12"), "{}", outcome.stderr);
}

#[test]
fn digests_answer_what_traces_answer() {
    let folder = Folder::new("digest-answers");
    let jobs = [
        "torchrec_v100_4r/resnet18",
        "param_dlrm_8r",
        "generated_torch215_gloo_pp2dp2",
        "simulated/slow_host_pipeline",
        "simulated/drifting_clocks",
    ];
    for job in jobs {
        let (traces, digests) = (fixture(job), folder.at(&job.replace('/', "-")));
        let outcome = run(&["digest", &traces, "-o", &digests]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        for command in ["profile", "stragglers", "comm", "pipeline"] {
            assert_eq!(answer(command, &traces), answer(command, &digests), "{command} {job}");
        }
    }
}

#[test]
fn what_needs_the_trace_is_refused_with_the_reason() {
    let folder = Folder::new("digest-refused");
    let digests = folder.at("digests");
    let traces = fixture("torchrec_v100_4r/resnet18");
    assert_eq!(run(&["digest", &traces, "-o", &digests]).code, 0);
    let perfetto = folder.at("x.json");
    for arguments in [
        vec!["query", "SELECT count(*) FROM host", &digests],
        vec!["export-perfetto", &digests, "-o", &perfetto],
        vec!["profile", &digests, "--compat", "hta"],
        vec!["profile", &digests, "--columns"],
    ] {
        let outcome = run(&arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(
                "a digest has no host operators outside idle time and no Python stacks; use the trace"
            ),
            "{arguments:?}: {}",
            outcome.stderr
        );
    }
    let again = run(&["digest", &digests, "-o", &folder.at("twice")]);
    assert!(again.code == 2 && again.stderr.contains("already a digest"), "{}", again.stderr);
}

/// `railwright.torch.on_trace_ready(write="both")` writes traces and their digests into one folder.
#[test]
fn digests_beside_their_traces_are_no_second_job() {
    let folder = Folder::new("digest-both");
    let both = folder.at("both");
    let traces = fixture("torchrec_v100_4r/resnet18");
    assert_eq!(run(&["digest", &traces, "-o", &both]).code, 0);
    let copy = |(name, bytes): (String, Vec<u8>)| {
        std::fs::write(Path::new(&both).join(name), bytes).expect("a copy");
    };
    files(Path::new(&traces)).into_iter().for_each(copy);
    for command in ["profile", "comm"] {
        assert_eq!(answer(command, &both), answer(command, &traces), "{command}");
    }
    let outcome = run(&["profile", &both]);
    assert!(outcome.stderr.contains("digests of traces in the same folder"), "{}", outcome.stderr);
    // A digest without its trace is another recording.
    let trace = files(Path::new(&traces)).into_keys().next().expect("a trace");
    std::fs::remove_file(Path::new(&both).join(trace)).expect("removed");
    let outcome = run(&["profile", &both]);
    assert!(outcome.code == 2 && outcome.stderr.contains("2 jobs found"), "{}", outcome.stderr);
}

/// A digest that is missing, cut or of a different version is a missing rank.
#[test]
fn an_unreadable_digest_is_a_missing_rank() {
    let folder = Folder::new("digest-missing");
    let digests = folder.at("digests");
    let traces = fixture("param_dlrm_8r");
    assert_eq!(run(&["digest", &traces, "-o", &digests]).code, 0);
    let names: Vec<String> = files(Path::new(&digests)).into_keys().collect();
    let first = Path::new(&digests).join(&names[0]);
    let bytes = std::fs::read(&first).expect("a digest");
    std::fs::write(&first, &bytes[..bytes.len() / 2]).expect("cut");
    std::fs::remove_file(Path::new(&digests).join(&names[3])).expect("removed");
    let outcome = run(&["profile", &digests, "--json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("skipped: "), "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("\"missing\":2") || outcome.stdout.contains("\"missing\": 2"),
        "{}",
        outcome.stdout
    );
}

/// Started as by Slurm: any number of processes gives the same bytes.
#[test]
fn one_and_four_tasks_write_the_same_bytes() {
    let folder = Folder::new("digest-tasks");
    let traces = fixture("param_dlrm_8r");
    let task = format!("{ROOT}/packaging/digest/task.sh");
    let start_of = |traces: &str, out: &str, environment: &[(&str, String)]| {
        let mut command = Command::new("sh");
        command.args([&task, traces, out]).env("RAILWRIGHT", env!("CARGO_BIN_EXE_railwright"));
        for name in ["SLURM_PROCID", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"] {
            command.env_remove(name);
        }
        command.envs(environment.iter().cloned()).output().expect("a shell")
    };
    let start = |out: &str, environment: &[(&str, String)]| start_of(&traces, out, environment);
    let one = folder.at("one");
    assert!(start(&one, &[("SLURM_PROCID", "0".into()), ("SLURM_NTASKS", "1".into())]).status.success());
    let whole = files(Path::new(&one));
    assert_eq!(whole.len(), 8);
    let (tasks, array) = (folder.at("tasks"), folder.at("array"));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (tasks, array) = (&tasks, &array);
            scope.spawn(move || {
                let done =
                    start(tasks, &[("SLURM_PROCID", number.to_string()), ("SLURM_NTASKS", "4".into())]);
                assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
                // Elements 1, 3, 5 and 7.
                let of_array = [
                    ("SLURM_ARRAY_TASK_ID", (1 + 2 * number).to_string()),
                    ("SLURM_ARRAY_TASK_MIN", "1".into()),
                    ("SLURM_ARRAY_TASK_STEP", "2".into()),
                    ("SLURM_ARRAY_TASK_COUNT", "4".into()),
                ];
                assert!(start(array, &of_array).status.success());
            });
        }
    });
    assert_eq!(whole, files(Path::new(&tasks)));
    assert_eq!(whole, files(Path::new(&array)));
    // Copies in another folder, called otherwise.
    let copies = folder.at("copies");
    std::fs::create_dir_all(&copies).expect("a folder");
    for (name, bytes) in files(Path::new(&traces)) {
        std::fs::write(Path::new(&copies).join(format!("copy-{name}")), bytes).expect("a copy");
    }
    let moved = folder.at("moved");
    assert!(
        start_of(&copies, &moved, &[("SLURM_PROCID", "0".into()), ("SLURM_NTASKS", "1".into())])
            .status
            .success()
    );
    let moved = files(Path::new(&moved)).into_iter().map(|(name, bytes)| (name.replace("copy-", ""), bytes));
    assert_eq!(whole, moved.collect());
    let nothing = start(&folder.at("none"), &[]);
    assert_eq!(nothing.status.code(), Some(2));
    // More tasks than files: a task without files is not an error.
    let idle = [("SLURM_PROCID", "60".into()), ("SLURM_NTASKS", "64".into())];
    assert!(start(&folder.at("idle"), &idle).status.success());
}

#[test]
fn the_kubernetes_job_numbers_as_many_parts_as_it_has_pods() {
    let text =
        std::fs::read_to_string(format!("{ROOT}/packaging/digest/kubernetes.yaml")).expect("a manifest");
    let after = |key: &str| {
        let line =
            text.lines().map(str::trim).find(|line| line.starts_with(key)).unwrap_or_else(|| panic!("{key}"));
        line[key.len()..].trim().trim_matches('"').to_owned()
    };
    assert_eq!(after("completionMode:"), "Indexed");
    assert_eq!(after("completions:"), after("value:"));
    assert_eq!(after("completions:"), after("parallelism:"));
    assert!(text.contains("\"--part\", \"$(JOB_COMPLETION_INDEX)/$(COMPLETIONS)\""));
}
