//! Table of Megatron-LM's flags. Megatron generates its flags from fields and adds some every month.
//!
//! Responsible for: finding a flag by its spelling, with its kind of value and its effect. Excludes the
//! meaning of values: see the readers.

use railwright_spec::problem::nearest;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The table: one flag a line, named as Megatron's field.
const TABLE: &str = include_str!("../../data/megatron_flags.csv");
/// The options that earlier releases had.
const RETIRED: &str = include_str!("../../data/megatron_retired.csv");
/// Every option of Megatron-LM's own parser: spelling, number of values, their type and their words.
pub(super) const PARSER: &str = include_str!("../../data/megatron_arguments.csv");

/// A flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flag {
    /// Field name, as in the dump of arguments.
    pub(crate) name: &'static str,
    /// Spelling on the command line. Empty if it follows from the field.
    spelling: &'static str,
    /// Kind of value.
    pub(crate) takes: Takes,
    /// Effect on the estimate.
    pub(crate) effect: Effect,
    /// The year of its introduction, `deepspeed` for that fork; empty if not informative.
    pub(crate) since: &'static str,
    /// Description of an effect that is not modelled.
    pub(crate) note: &'static str,
}

/// Kind of value of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// No value: it turns its field on.
    On,
    /// No value: it turns its field off.
    Off,
    /// One value.
    One,
    /// Values up to the next flag.
    Many,
}

/// Effect of a flag on the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It is read into the run.
    Mapped,
    /// Changes time or memory, which is not modelled.
    NotModelled(&'static str),
    /// Chooses among kernels, a property of the software generation.
    Kernel,
    /// Neither time nor memory of a step.
    None,
}

impl Flag {
    /// Spelling on a command line.
    pub(crate) fn spelling(&self) -> String {
        if self.spelling.is_empty() {
            format!("--{}", self.name.replace('_', "-"))
        } else {
            self.spelling.to_owned()
        }
    }
}

struct Flags {
    by_name: BTreeMap<&'static str, Flag>,
    by_spelling: BTreeMap<String, Flag>,
}

fn flags() -> &'static Flags {
    static FLAGS: OnceLock<Flags> = OnceLock::new();
    FLAGS.get_or_init(|| {
        let rows: Vec<Flag> = TABLE.lines().skip(1).filter_map(row).collect();
        Flags {
            by_name: rows.iter().map(|flag| (flag.name, *flag)).collect(),
            by_spelling: rows.iter().map(|flag| (normal(&flag.spelling()), *flag)).collect(),
        }
    })
}

fn row(line: &'static str) -> Option<Flag> {
    let mut cells = line.split(',');
    let mut cell = || cells.next();
    let (name, spelling, takes, effect, since, note) = (cell()?, cell()?, cell()?, cell()?, cell()?, cell()?);
    Some(kinds(name, spelling, takes, effect, since, note))
}

fn kinds(
    name: &'static str,
    spelling: &'static str,
    takes: &str,
    effect: &str,
    since: &'static str,
    note: &'static str,
) -> Flag {
    let takes = match takes {
        "on" => Takes::On,
        "off" => Takes::Off,
        "many" => Takes::Many,
        _ => Takes::One,
    };
    let effect = match effect {
        "mapped" => Effect::Mapped,
        "time" => Effect::NotModelled("time"),
        "memory" => Effect::NotModelled("memory"),
        "both" => Effect::NotModelled("time and memory"),
        "kernel" => Effect::Kernel,
        _ => Effect::None,
    };
    Flag { name, spelling, takes, effect, since, note }
}

/// An option that a release of Megatron-LM removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retired {
    /// The first release without it.
    pub(crate) release: &'static str,
    /// The option that replaced it; empty without one.
    pub(crate) now: &'static str,
    /// Its meaning: that of the current option, or its own.
    pub(crate) flag: Flag,
}

/// The retired options by normal spelling, without those that the table of flags has a meaning for.
fn retired() -> &'static BTreeMap<String, Retired> {
    static RETIRED_FLAGS: OnceLock<BTreeMap<String, Retired>> = OnceLock::new();
    RETIRED_FLAGS.get_or_init(|| {
        let rows = RETIRED.lines().filter(|line| line.starts_with("--"));
        let old = |line: &'static str| {
            let mut cells = line.splitn(6, ',');
            let mut cell = || cells.next();
            let (spelling, release, now, takes, effect, note) =
                (cell()?, cell()?, cell()?, cell()?, cell()?, cell()?);
            let flag = match effect {
                "" => return None,
                "same" => by_spelling(now)?,
                _ => kinds(spelling.trim_start_matches('-'), spelling, takes, effect, "", note),
            };
            Some((normal(spelling), Retired { release, now, flag }))
        };
        rows.filter_map(old).collect()
    })
}

/// A retired option. Other programs reuse some of these names, so only arguments of Megatron are looked up.
pub(crate) fn retired_by_spelling(spelling: &str) -> Option<Retired> {
    retired().get(&normal(spelling)).copied()
}

/// Years of the releases in [`RETIRED`], those of their tags.
const RELEASED: [(&str, &str); 19] = [
    ("before 1.0", "2019"),
    ("1.0", "2020"),
    ("2.0", "2021"),
    ("2.5", "2021"),
    ("2.6", "2021"),
    ("23.04", "2023"),
    ("core_v0.4", "2023"),
    ("core_v0.6", "2024"),
    ("core_v0.7", "2024"),
    ("core_v0.8", "2024"),
    ("core_v0.9", "2024"),
    ("core_v0.11", "2025"),
    ("core_v0.13", "2025"),
    ("core_v0.14", "2025"),
    ("core_v0.15", "2025"),
    ("core_v0.16", "2026"),
    ("core_v0.17", "2026"),
    ("core_v0.18", "2026"),
    ("core_v0.19", "2026"),
];

/// The release of Megatron-LM that removed an option, with its year; `None` for current options. Other
/// programs reuse names of the first releases, so of those only options with a current name count.
pub(crate) fn removed(spelling: &str) -> Option<(&'static str, &'static str)> {
    let own = normal(spelling);
    RETIRED.lines().filter(|line| line.starts_with("--")).find_map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let [option, release, _, _, effect, ..] = cells[..] else { return None };
        let found = RELEASED.into_iter().find(|(name, _)| *name == release)?;
        (normal(option) == own && (effect == "same" || !is_early(release))).then_some(found)
    })
}

/// Tests whether a release is one of the first, whose options of a layout have no current name.
pub(crate) fn is_early(release: &str) -> bool {
    matches!(release, "before 1.0" | "1.0" | "2.0")
}

/// Dashes and underscores are one to this table.
fn normal(spelling: &str) -> String {
    spelling.trim_start_matches('-').replace('-', "_")
}

/// The flag of a field.
pub(crate) fn by_name(name: &str) -> Option<Flag> {
    flags().by_name.get(name).copied()
}

/// The flag of a spelling in arguments of Megatron: a current one, or a retired one with its meaning.
pub(crate) fn of_script(spelling: &str) -> Option<Flag> {
    retired_by_spelling(spelling).map(|old| old.flag).or_else(|| by_spelling(spelling))
}

/// The flag of a spelling such as `--num-layers`, or `--no-...` and `--...` that follow from a known field.
pub(crate) fn by_spelling(spelling: &str) -> Option<Flag> {
    let normal = normal(spelling);
    let table = flags();
    table.by_spelling.get(&normal).copied().or_else(|| {
        // Fields that are true by default have a `--no-` flag from the generator; others may have one later.
        if let Some(flag) = normal.strip_prefix("no_").and_then(|rest| table.by_name.get(rest)) {
            return matches!(flag.takes, Takes::On | Takes::Off)
                .then_some(Flag { takes: Takes::Off, ..*flag });
        }
        table.by_name.get(normal.as_str()).map(|flag| match flag.takes {
            Takes::Off => Flag { takes: Takes::On, ..*flag },
            _ => *flag,
        })
    })
}

/// Number of values of an option that only Megatron-LM's parser knows: `0`, `1`, `?`, `+` or `*`. `None` for
/// an option with a meaning here, or of no parser.
pub(crate) fn without_meaning(spelling: &str) -> Option<&'static str> {
    let wanted = normal(spelling);
    let is_known = by_spelling(spelling).is_some();
    let rows = PARSER.lines().filter(|line| !is_known && line.starts_with("--"));
    let mut cells = rows.map(|line| line.split(','));
    cells.find_map(|mut cells| (normal(cells.next()?) == wanted).then(|| cells.next().unwrap_or_default()))
}

/// Maximum number of looked-up names that are kept.
const MOST_KEPT: usize = 1000;

/// The known spelling nearest to an unknown one. The answers are kept: `tune` reads the same unknown flags of
/// a file about a hundred times, and each is compared with all flags of the table.
pub(crate) fn near(spelling: &str) -> Option<String> {
    static KEPT: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());
    let wanted = normal(spelling);
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept().get(&wanted) {
        return known.clone();
    }
    let table = flags();
    let found = nearest(&wanted, table.by_spelling.keys().map(String::as_str))
        .first()
        .and_then(|near| table.by_spelling.get(*near).map(Flag::spelling));
    let mut kept = kept();
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(wanted, found.clone());
    found
}

/// Flags of the launcher, not of Megatron.
const LAUNCHERS: &[&str] = &[
    "nproc_per_node",
    "use_mpi",
    "membind",
    "cpunodebind",
    "cpu_bind",
    "nnodes",
    "node_rank",
    "master_addr",
    "master_port",
    "rdzv_id",
    "rdzv_backend",
    "rdzv_endpoint",
    "rdzv_conf",
    "standalone",
    "max_restarts",
    "monitor_interval",
    "start_method",
    // Options of a profiler and of a container around the program.
    "capture_range",
    "capture_range_end",
    "cuda_event_trace",
    "force_overwrite",
    "session_new",
    "container_env",
    "role",
    "module",
    "no_python",
    "run_path",
    "log_dir",
    "redirects",
    "tee",
    "local_addr",
    "ntasks",
    "ntasks_per_node",
    "nodes",
    "gpus_per_node",
    "gres",
    "gpus_per_task",
    "cpus_per_task",
    "container_image",
    "container_mounts",
    "container_workdir",
    "no_container_mount_home",
    "mpi",
    "output",
    "error",
    "job_name",
    "label",
    "num_gpus",
    "num_nodes",
    "hostfile",
    "include",
    "exclude",
    "launcher",
    "force_multi",
    "allow_run_as_root",
    "bind_to",
    "map_by",
    "mca",
    "npernode",
    "np",
    "exclusive",
    "partition",
    "account",
    "time",
    "kill_on_bad_exit",
    "wait",
    "export",
    "env",
];

/// Tests whether a flag belongs to the launcher.
pub(crate) fn is_launcher(spelling: &str) -> bool {
    LAUNCHERS.contains(&normal(spelling).as_str())
}

/// Number of words that are Megatron flags of a run.
pub(crate) fn count<'a>(words: impl IntoIterator<Item = &'a str>) -> usize {
    let is_flag = |word: &str| {
        word.starts_with("--")
            && by_spelling(word.split('=').next().unwrap_or(word))
                .is_some_and(|flag| flag.effect == Effect::Mapped)
    };
    words.into_iter().filter(|word| is_flag(word)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        assert_eq!(flags().by_name.len(), TABLE.lines().count() - 1);
        assert_eq!(flags().by_name.len(), flags().by_spelling.len(), "a spelling occurs twice");
        for flag in flags().by_name.values() {
            assert_eq!(matches!(flag.effect, Effect::NotModelled(_)), !flag.note.is_empty(), "{}", flag.name);
        }
    }

    #[test]
    fn spellings_follow_from_fields() {
        assert_eq!(
            by_spelling("--tensor-model-parallel-size").map(|f| f.name),
            Some("tensor_model_parallel_size")
        );
        assert_eq!(
            by_spelling("--disable-bias-linear").map(|f| (f.name, f.takes)),
            Some(("add_bias_linear", Takes::Off))
        );
        assert_eq!(by_spelling("--no-overlap-p2p-communication").map(|f| f.name), Some("overlap_p2p_comm"));
        assert_eq!(by_spelling("--no-swiglu").map(|f| f.takes), Some(Takes::Off));
        assert_eq!(by_spelling("--apply-rope-fusion").map(|f| f.takes), Some(Takes::On));
        assert_eq!(by_spelling("--frobnicate"), None);
        assert_eq!(near("--tensor-model-paralel-size").as_deref(), Some("--tensor-model-parallel-size"));
    }

    #[test]
    fn retired_options_have_a_meaning_or_a_current_name() {
        let rows: Vec<&str> = RETIRED.lines().filter(|line| line.starts_with("--")).collect();
        assert!(rows.len() > 130, "{}", rows.len());
        for row in rows {
            let cells: Vec<&str> = row.split(',').collect();
            let [option, release, now, takes, effect, note] = cells[..] else { panic!("{row}") };
            assert!(!release.is_empty() && matches!(takes, "on" | "off" | "one" | "many"), "{row}");
            assert_eq!(retired_by_spelling(option).is_some(), !effect.is_empty(), "{row}");
            assert!(of_script(option).is_some(), "{row}");
            assert!(RELEASED.iter().any(|(name, _)| *name == release), "{row}");
            assert_eq!(matches!(effect, "time" | "memory" | "both"), !note.is_empty(), "{row}");
            let is_current = |option: &str| PARSER.lines().any(|line| line.split(',').next() == Some(option));
            assert!(now.is_empty() || is_current(now) || by_spelling(now).is_some(), "{row}");
        }
        let old = |option| retired_by_spelling(option).map(|old| (old.release, old.flag.name));
        assert_eq!(old("--batch-size"), Some(("2.0", "micro_batch_size")));
        assert_eq!(old("--model_parallel_size"), Some(("2.0", "tensor_model_parallel_size")));
        assert_eq!(old("--num-layers"), None);
        assert_eq!(removed("--batch_size"), Some(("2.0", "2021")));
        assert_eq!(removed("--micro-batch-size"), None);
        assert_eq!(count(["--batch-size", "--model-parallel-size"]), 0, "names of other programs");
    }

    #[test]
    fn flags_are_counted() {
        assert_eq!(count(["torchrun", "--nnodes", "--num-layers", "--hidden-size=5", "--save"]), 2);
    }
}
