//! `check`: verdicts and exit codes of launch files, the change from an earlier version, and the script of
//! the GitHub Action.

use crate::support::{json, run, scratch};
use std::fs;
use std::process::Command;

const ROOT: &str = "../../../..";
const SCRIPT: &str = "examples/launch/llama3_70b.sh";

fn at(path: &str) -> String {
    format!("{ROOT}/{path}")
}

/// The bundled script with one line changed.
fn changed(from: &str, to: &str, name: &str) -> String {
    let text = fs::read_to_string(format!("../../{SCRIPT}")).expect("the example");
    assert!(text.contains(from), "{from}");
    let path = scratch(name);
    fs::write(&path, text.replacen(from, to, 1)).expect("a file");
    path
}

#[test]
fn the_worst_file_decides_the_exit_code() {
    let script = at(SCRIPT);
    let one = json(&["check", &script, "--cluster", "dgx-h100", "--json", "--quiet"], 0);
    assert_eq!(one["files"][0]["verdict"], "fits");
    let remarks = one["files"][0]["remarks"].as_array().expect("remarks");
    let unknown = remarks.iter().find(|remark| remark["kind"] == "unknown").expect("an unknown flag");
    assert_eq!(
        (unknown["source"].as_str(), unknown["line"].as_u64()),
        (Some("--loss-scaling-factr"), Some(100))
    );
    assert!(remarks.iter().any(|remark| remark["kind"] == "unresolved"), "`EXTRA_ARGS` has no value");
    let full = changed("TP=8", "TP=2", "check-full.sh");
    let two = json(&["check", &script, &full, "--cluster", "dgx-h100", "--json", "--quiet"], 1);
    assert_eq!(two["files"][1]["verdict"], "does_not_fit");
    let wrong = changed("PP=4", "PP=7", "check-wrong.sh");
    let three = json(&["check", &full, &wrong, "--cluster", "dgx-h100", "--json", "--quiet"], 2);
    assert_eq!(three["files"][1]["verdict"], "invalid");
    let problem = three["files"][1]["problems"][0]["message"].as_str().expect("a problem");
    assert!(problem.contains('7') || problem.contains("64"), "{problem}");
    assert!(three["files"][1]["figures"].is_null());
    for path in [full, wrong] {
        let _ = fs::remove_file(path);
    }
}

/// Values that Megatron rejects make a file invalid, even if a default could be priced.
#[test]
fn values_that_the_framework_refuses_are_invalid() {
    for (from, to, name) in [
        ("TP=8", "TP=eight", "check-word.sh"),
        ("TP=8", "TP=0", "check-zero.sh"),
        ("    --micro-batch-size $MICRO_BATCH", "    --micro-batch-size 1x", "check-batch.sh"),
    ] {
        let file = changed(from, to, name);
        let answer = json(&["check", &file, "--cluster", "dgx-h100", "--json", "--quiet"], 2);
        let checked = &answer["files"][0];
        assert_eq!(checked["verdict"], "invalid", "{to}: {checked:?}");
        let _ = fs::remove_file(file);
    }
}

#[test]
fn figures_are_those_of_estimate() {
    let script = at(SCRIPT);
    let checked =
        json(&["check", &script, "--cluster", "dgx-h100", "--tokens", "1T", "--json", "--quiet"], 0);
    let estimate =
        json(&["estimate", &script, "--cluster", "dgx-h100", "--tokens", "1T", "--json", "--quiet"], 0);
    let figures = &checked["files"][0]["figures"];
    assert_eq!(figures["step_time_s"], estimate["step_time"]);
    assert_eq!(figures["memory_peak_bytes"], estimate["memory"]["peak"]);
    assert_eq!(figures["rent_usd"], estimate["money"]["rent"]);
    assert_eq!(figures["plan"], estimate["plan_summary"]);
}

#[test]
fn an_earlier_version_is_compared_even_when_it_was_invalid() {
    let script = at(SCRIPT);
    let before = changed("PP=4", "PP=2", "check-before.sh");
    let report =
        run(&["check", &script, "--cluster", "dgx-h100", "--against", &before, "--format", "md", "--quiet"]);
    assert_eq!(report.code, 0, "{}", report.stderr);
    assert!(report.stdout.contains("| before") && report.stdout.contains("TP8 PP2"), "{}", report.stdout);
    let wrong = changed("PP=4", "PP=7", "check-before-wrong.sh");
    let answer =
        json(&["check", &script, "--cluster", "dgx-h100", "--against", &wrong, "--json", "--quiet"], 0);
    assert!(answer["files"][0]["against"]["figures"].is_null());
    assert!(answer["files"][0]["against"]["problems"][0]["message"].is_string());
    let two = run(&["check", &script, &script, "--cluster", "dgx-h100", "--against", &before]);
    assert_eq!(two.code, 2);
    assert!(two.stderr.contains("--against"), "{}", two.stderr);
    for path in [before, wrong] {
        let _ = fs::remove_file(path);
    }
}

/// The action's script on a repository with a base commit and one changed script.
#[test]
fn the_action_comments_on_changed_scripts_only() {
    let folder = std::path::PathBuf::from(scratch("check-action"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let script = fs::canonicalize("../../packaging/action/comment.sh").expect("the action's script");
    let text = fs::read_to_string(format!("../../{SCRIPT}")).expect("the example");
    let sh = |line: &str| {
        let out = Command::new("bash")
            .args(["-euo", "pipefail", "-c", line])
            .current_dir(&folder)
            .env("RAILWRIGHT", env!("CARGO_BIN_EXE_railwright"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("bash");
        let expected =
            format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        (out.status.code(), expected)
    };
    fs::write(folder.join("train.sh"), &text).expect("a file");
    fs::write(folder.join("other.sh"), &text).expect("a file");
    let commit = "git add -A && git -c user.name=a -c user.email=a@b commit -qm x";
    let (code, expected) = sh(&format!("git init -q . && {commit} && git tag base"));
    assert_eq!(code, Some(0), "{expected}");
    fs::write(folder.join("train.sh"), text.replacen("PP=4", "PP=2", 1)).expect("a file");
    let (code, expected) = sh(&format!(
        "{commit} && bash '{}' base HEAD '*.sh' out.md --cluster dgx-h100 && cat out.md",
        script.display()
    ));
    assert_eq!(code, Some(0), "{expected}");
    assert!(expected.contains("train.sh") && !expected.contains("other.sh"), "{expected}");
    assert!(expected.contains("TP8 PP4") && expected.contains("TP8 PP2"), "{expected}");
    fs::write(folder.join("train.sh"), text.replacen("TP=8", "TP=2", 1)).expect("a file");
    let (code, expected) =
        sh(&format!("{commit} && bash '{}' base HEAD '*.sh' out.md --cluster dgx-h100", script.display()));
    assert_eq!(code, Some(1), "a script that does not fit fails the check: {expected}");
    fs::write(folder.join("other.sh"), text.replacen("TP=8", "TP=eight", 1)).expect("a file");
    let (code, expected) =
        sh(&format!("{commit} && bash '{}' base HEAD '*.sh' out.md --cluster dgx-h100", script.display()));
    assert_eq!(code, Some(2), "an invalid file is worse than one that does not fit: {expected}");
    // A first push of a branch: no base, so the parent of the commit.
    let nothing = "0".repeat(40);
    let (code, expected) = sh(&format!(
        "bash '{}' {nothing} HEAD '*.sh' out.md --cluster dgx-h100 || true; cat out.md",
        script.display()
    ));
    assert_eq!(code, Some(0), "{expected}");
    assert!(expected.contains("other.sh") && !expected.contains("train.sh"), "{expected}");
    // A first commit has no parent: all files are new.
    let (code, expected) = sh(&format!(
        "git checkout -qf base && bash '{}' {nothing} HEAD '*.sh' out.md --cluster dgx-h100; cat out.md",
        script.display()
    ));
    assert_eq!(code, Some(0), "{expected}");
    assert!(expected.contains("other.sh") && expected.contains("train.sh"), "{expected}");
    let _ = fs::remove_dir_all(&folder);
}
