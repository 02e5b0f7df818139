//! Keys that writers use, compared with tables of the keys that the frameworks accept.
//!
//! Responsible for: the check of `xtask/peers/exports` that needs no framework, from `data/export_keys.csv`
//! (made from the frameworks' own classes, with their versions). Excludes relations between keys; the
//! frameworks check these themselves.

use super::corpus::{FLAT, drawn, runs};
use crate::writers;
use std::collections::BTreeSet;

const TABLE: &str = include_str!("../../data/export_keys.csv");

/// Files of a writer that a framework of the table reads: writer, suffix of the file, framework.
const FILES: &[(&str, &str, &str)] = &[
    ("accelerate", "accelerate.yaml", "accelerate"),
    ("accelerate", "trl_arguments.yaml", "trl"),
    ("axolotl", "axolotl.yaml", "axolotl"),
    ("llama-factory", "llama_factory.yaml", "llama-factory"),
    ("maxtext", "maxtext.yml", "maxtext"),
    ("torchtitan", "torchtitan.toml", "torchtitan"),
];

/// Keys without a section in YAML, `section.key` in TOML.
fn keys(text: &str) -> Vec<String> {
    let mut section = String::new();
    let mut out = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = format!("{name}.");
        } else if let Some((key, _)) = line.split_once([':', '='])
            && !line.starts_with(['#', ' '])
        {
            out.push(format!("{section}{}", key.trim()));
        }
    }
    out
}

#[test]
fn keys_of_exports_are_accepted() {
    for (name, file, framework) in FILES {
        let known: BTreeSet<&str> = TABLE
            .lines()
            .filter_map(|line| {
                line.strip_prefix(framework)?.strip_prefix(',')?.split_once(',').map(|(_, key)| key)
            })
            .collect();
        assert!(known.len() > 20, "{framework}: {known:?}");
        let writer = writers().iter().find(|writer| writer.name() == *name).expect("a writer");
        let is_flat = !matches!(*name, "maxtext" | "torchtitan");
        let mut files = 0;
        for (run, plan) in if is_flat { drawn(FLAT) } else { runs() } {
            let written = writer.write(&plan);
            let Some(written) = written.files.iter().find(|written| written.name == *file) else { continue };
            files += 1;
            let strange: Vec<String> = keys(&written.text)
                .into_iter()
                .filter(|key| !known.contains(key.as_str()) && key != "base_config")
                .collect();
            assert!(strange.is_empty(), "{framework}, {run}: {strange:?}\n{}", written.text);
        }
        assert!(files > 20, "{framework}: {files} files");
    }
}

#[test]
fn what_is_not_accepted_is_found() {
    assert_eq!(keys("# a: 1\nb: 2\n  c: 3\n"), ["b"]);
    assert_eq!(keys("[model]\nname = \"x\"\n"), ["model.name"]);
    assert!(!TABLE.lines().any(|line| line.ends_with(",frobnicate")));
}
