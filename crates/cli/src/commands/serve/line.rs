//! The commands of this program, for questions over HTTP and of programs that link it.
//!
//! Responsible for: the commands and arguments that concern the terminal or write files, and the kinds of
//! their results. The interface of `railwright-server` does the rest.

use crate::args;
use railwright_network::topology::DesignSpec;
use railwright_server::{Interface, Kinds, Program};
use railwright_spec::run::{Section as _, keys};
use std::sync::OnceLock;

/// The questions that this program answers.
pub(super) fn interface() -> &'static Interface {
    static INTERFACE: OnceLock<Interface> = OnceLock::new();
    INTERFACE.get_or_init(|| {
        Interface::new(Program {
            commands: args::whole(),
            keys: keys().into_iter().chain(DesignSpec::KEYS.iter().cloned()).collect(),
            terminal: &["serve", "completions", "man", "help"],
            writing: &["init", "save", "digest", "tune", "export-perfetto"],
            not_set: &[
                "help",
                "version",
                "color",
                "ascii",
                "quiet",
                "verbose",
                "format",
                "json",
                "listed_designs",
            ],
            outputs: &["output", "figures"],
            pages: &["estimate", "profile"],
            kinds: KINDS,
            schema_version: railwright_report::SCHEMA_VERSION,
        })
    })
}

/// Kinds of results of commands whose names differ from their result's.
const KINDS: &[Kinds] = &[
    ("calibrate", &["calibration", "calibration_file"]),
    ("clusters/list", &["clusters"]),
    ("clusters/show", &["cluster"]),
    ("comm", &["communication"]),
    ("explain", &["explanation", "topics", "software"]),
    ("gpus/list", &["accelerators"]),
    ("gpus/show", &["accelerator"]),
    ("models/list", &["models"]),
    ("models/show", &["model"]),
    ("network/rail-only", &["rail_only"]),
    ("network/show", &["network"]),
    ("network/topologies", &["topologies", "topology_keys", "published_topologies"]),
    ("profile", &["profile", "profile_hta", "profile_range"]),
    ("query", &["query", "query_schema"]),
    ("validate", &["validation", "regret", "network_validation"]),
    // Files in formats of their own.
    ("digest", &[]),
    ("examples", &[]),
    ("export-perfetto", &[]),
    ("init", &[]),
    ("network/export", &[]),
    ("save", &[]),
    ("schema", &[]),
    ("timeline", &[]),
];
