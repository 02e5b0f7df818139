//! `network rail-only`: the table of claims, the figures, and the error for a wrong folder.

use crate::support::{json, run, transcript};

#[test]
fn every_claim_stands_beside_what_comes_out_here() {
    insta::assert_snapshot!(transcript(&["network", "rail-only"]));
}

#[test]
fn the_json_holds_every_table() {
    let answer = json(&["network", "rail-only", "--json"], 0);
    assert_eq!(answer["targets"].as_array().map(Vec::len), Some(30));
    let reproduced =
        answer["targets"].as_array().into_iter().flatten().filter(|t| t["status"] == "reproduced");
    assert_eq!(reproduced.count(), 15);
    for (table, rows) in
        [("workloads", 5), ("domain_sweep", 6), ("batch_sweep", 3), ("costs", 6), ("forwarding", 6)]
    {
        assert_eq!(answer[table].as_array().map(Vec::len), Some(rows), "{table}");
    }
}

#[test]
fn figures_are_drawn_into_a_new_folder() {
    let folder = std::env::temp_dir().join(format!("railwright-figures-{}", std::process::id()));
    let path = folder.join("deep").display().to_string();
    let ran = run(&["network", "rail-only", "--figures", &path, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut files: Vec<String> = std::fs::read_dir(&path)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files.len(), 18);
    for file in &files {
        let text = std::fs::read_to_string(format!("{path}/{file}")).expect("a figure");
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n") && !text.contains("NaN"), "{file}");
    }
    std::fs::remove_dir_all(folder).expect("gone");
    let ran = run(&["network", "rail-only", "--figures", "/dev/null/figures"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("cannot create the folder"), "{}", ran.stderr);
}
