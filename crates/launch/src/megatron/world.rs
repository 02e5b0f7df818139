//! Number of ranks that a command starts: torchrun, srun, mpirun, DeepSpeed's launcher.
//!
//! Responsible for: nodes and processes per node, from flags of the launcher and from directives of the job.
//! Does not guess GPUs per node.

pub(crate) use super::batch::Batch;
use super::batch::number;
use crate::shell::{Command, Script, Word};
use crate::{Draft, RemarkKind};
use railwright_spec::human::shorten;

/// Arguments of a launcher.
#[derive(Debug, Default)]
struct Resolved {
    value: Option<u64>,
    source: String,
    line: Option<usize>,
}

fn resolved(words: &[Word], names: &[&str], draft: &mut Draft) -> Resolved {
    let mut resolved = Resolved::default();
    for (index, word) in words.iter().enumerate() {
        let (name, inline) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some((value.to_owned(), word))),
            None => (word.text.as_str(), None),
        };
        let plain = if name.starts_with("--") { name.replace('_', "-") } else { name.to_owned() };
        if !names.contains(&plain.as_str()) {
            continue;
        }
        let Some((text, at)) = inline.or_else(|| words.get(index + 1).map(|word| (word.text.clone(), word)))
        else {
            continue;
        };
        let source = if at == word { word.text.clone() } else { format!("{name} {text}") };
        let line = (word.line > 0).then_some(word.line);
        if let Some(value) = number(&text).filter(|_| at.unknown.is_empty()) {
            resolved = Resolved { value: Some(value), source, line };
        } else {
            let message = "the number is known only at run time: pass --gpus";
            draft.remark(RemarkKind::Unresolved, &source, line, message);
            draft.leave_open("cluster.devices", &source, line, "the number is known only at run time");
            resolved.value = None;
        }
    }
    resolved
}

/// The devices that `--include` lists, with its word.
fn listed(words: &[Word]) -> Option<(u64, &Word)> {
    let at = words.iter().position(|word| word.text.split('=').next() == Some("--include"))?;
    let word = &words[at];
    let (list, of) = match word.text.split_once('=') {
        Some((_, list)) => (list, word),
        None => words.get(at + 1).map(|next| (next.text.as_str(), next))?,
    };
    Some((included(list).filter(|_| of.unknown.is_empty())?, of))
}

/// Devices that DeepSpeed's `--include` lists: `localhost:0,1@other:0,1`. `None` for hosts without a list.
pub(crate) fn included(list: &str) -> Option<u64> {
    let of_host = |host: &str| {
        let (_, devices) = host.split_once(':')?;
        let all: Vec<&str> = devices.split(',').collect();
        let is_list = all.iter().all(|device| device.trim().parse::<u32>().is_ok());
        u64::try_from(all.len()).ok().filter(|_| is_list)
    };
    list.trim_matches(['"', '\'']).split('@').map(of_host).sum()
}

/// Tests whether a word is the program, which its own flags follow.
fn is_program(word: &Word) -> bool {
    std::path::Path::new(&word.text).extension().is_some_and(|ending| ending == "py")
}

/// The ranks that the commands around Megatron start; those of the job where a launcher has a number known
/// only at run time.
pub(crate) fn of_commands(launch: &Command, script: &Script, batch: &Batch, draft: &mut Draft) -> World {
    let world = of_launchers(launch, script, batch, draft);
    match &batch.ranks {
        Some((ranks, source, line)) if world.ranks.is_none() => {
            draft.settle("cluster.devices");
            World { ranks: Some(*ranks), source: source.clone(), line: Some(*line), ..world }
        }
        _ => world,
    }
}

/// Launchers of ranks that may start a shell with the program: `deepspeed --num_gpus 8 bash -c "python
/// pretrain_gpt.py"`.
const OF_SHELLS: [&str; 3] = ["deepspeed", "torchrun", "torch.distributed.run"];

/// The words of the launcher that starts a command's text in another shell.
fn around(launch: &Command, others: &[Command]) -> Option<Command> {
    let starts = |words: &[Word]| words.iter().any(|word| OF_SHELLS.contains(&word.file_name()));
    let program = launch.words.iter().find(|word| is_program(word))?;
    let before = launch.words.iter().take_while(|word| !is_program(word)).cloned().collect::<Vec<_>>();
    if starts(&before) {
        return None;
    }
    others.iter().find_map(|other| {
        let text = other.words.iter().position(|word| {
            word.text != program.text && word.text.contains(' ') && word.text.contains(&program.text)
        })?;
        let words = other.words.get(..text)?.to_vec();
        starts(&words).then(|| Command { words, ..other.clone() })
    })
}

fn of_launchers(launch: &Command, script: &Script, batch: &Batch, draft: &mut Draft) -> World {
    let others = &script.commands;
    let outer = around(launch, others);
    let launch = outer.as_ref().unwrap_or(launch);
    let has = |command: &Command, names: &[&str]| {
        command.words.iter().take_while(|w| !is_program(w)).any(|w| names.contains(&w.file_name()))
    };
    // Words of the launcher precede those of the program.
    let head = |command: &Command| -> Vec<Word> {
        let end = command.words.iter().position(is_program).unwrap_or(command.words.len());
        command.words[..end].to_vec()
    };
    let words = head(launch);
    let per_node = resolved(&words, &["--nproc-per-node"], draft);
    if per_node.value.is_some()
        || has(launch, &["torchrun", "torch.distributed.run", "torch.distributed.launch"])
    {
        let nodes = resolved(&words, &["--nnodes"], draft);
        let is_given = words.iter().any(|w| w.text.replace('_', "-").starts_with("--nnodes"));
        // Without a word torchrun starts one node.
        let count = if is_given { nodes.value } else { Some(1) };
        let source =
            if is_given { format!("{} {}", per_node.source, nodes.source) } else { per_node.source.clone() };
        let ranks = per_node.value.zip(count).and_then(|(a, b)| a.checked_mul(b));
        return World { ranks, per_node: per_node.value, source, line: per_node.line };
    }
    if has(launch, &["deepspeed"]) {
        let (nodes, per_node) =
            (resolved(&words, &["--num-nodes"], draft), resolved(&words, &["--num-gpus"], draft));
        if let Some((ranks, word)) = listed(&words).filter(|_| per_node.value.is_none()) {
            let line = (word.line > 0).then_some(word.line);
            return World { ranks: Some(ranks), per_node: None, source: word.text.clone(), line };
        }
        let ranks = per_node.value.and_then(|n| n.checked_mul(nodes.value.unwrap_or(1)));
        return World { ranks, per_node: per_node.value, source: per_node.source, line: per_node.line };
    }
    // MindSpore counts the workers of all nodes.
    if has(launch, &["msrun"]) {
        let (all, per_node) =
            (resolved(&words, &["--worker-num"], draft), resolved(&words, &["--local-worker-num"], draft));
        return World { ranks: all.value, per_node: per_node.value, source: all.source, line: all.line };
    }
    if has(launch, &["mpirun", "mpiexec"]) {
        let all = resolved(&words, &["-np", "-n", "--np"], draft);
        return World { ranks: all.value, per_node: None, source: all.source, line: all.line };
    }
    // One task of Slurm is one rank, unless torchrun is inside.
    let srun = std::iter::once(launch).chain(others).find(|command| has(command, &["srun"]));
    let (inner, outer) = (srun.map(head).unwrap_or_default(), script.submitted.last().map(head));
    let mut of_slurm = |names: &[&str]| {
        let found = resolved(&inner, names, draft);
        // Options of `sbatch` precede the directives of its script.
        match &outer {
            Some(outer) if found.value.is_none() => resolved(outer, names, draft),
            _ => found,
        }
    };
    let tasks = of_slurm(&["--ntasks", "-n"]);
    let nodes = of_slurm(&["--nodes", "-N"]);
    let per_node = of_slurm(&["--ntasks-per-node"]);
    let directive = |value: Option<(u64, usize)>, name: &str| Resolved {
        value: value.map(|v| v.0),
        source: value.map_or_else(String::new, |v| format!("#SBATCH --{name}={}", v.0)),
        line: value.map(|v| v.1),
    };
    let or = |resolved: Resolved, value, name: &str| {
        if resolved.value.is_some() { resolved } else { directive(value, name) }
    };
    let tasks = or(tasks, batch.tasks, "ntasks");
    let nodes = or(nodes, batch.nodes, "nodes");
    let per_node = or(per_node, batch.tasks_per_node, "ntasks-per-node");
    if let Some(ranks) = nodes.value.zip(per_node.value).and_then(|(a, b)| a.checked_mul(b)) {
        let source = format!("{} {}", nodes.source, per_node.source);
        return World { ranks: Some(ranks), per_node: per_node.value, source, line: nodes.line };
    }
    let rendezvous = tasks.value.is_none().then(|| of_rendezvous(script)).flatten();
    let starter = words.iter().find(|word| !word.text.contains('=') && word.file_name() != "env");
    if let (Some(size), Some(starter)) = (&rendezvous, starter)
        && !starter.file_name().starts_with("python")
    {
        let own = shorten(&starter.text);
        let message = format!("taken as the number of devices; `{own}` may start other ranks: pass --gpus");
        draft.remark(RemarkKind::Assumed, &size.source, size.line, message);
    }
    let tasks = rendezvous.unwrap_or(tasks);
    World { ranks: tasks.value, per_node: per_node.value, source: tasks.source, line: tasks.line }
}

/// The ranks of a job without a launcher, whose script sets the variables of PyTorch's rendezvous.
fn of_rendezvous(script: &Script) -> Option<Resolved> {
    script.variables.get("RANK")?;
    let [size] = script.variables.get("WORLD_SIZE")?.as_slice() else { return None };
    let value = number(&size.text).filter(|_| size.unknown.is_empty())?;
    Some(Resolved { value: Some(value), source: format!("WORLD_SIZE={value}"), line: Some(size.line) })
}

/// Ranks of a run, and their source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    /// Total number of ranks.
    pub(crate) ranks: Option<u64>,
    /// Ranks of a node.
    pub(crate) per_node: Option<u64>,
    /// The text.
    pub(crate) source: String,
    /// Place.
    pub(crate) line: Option<usize>,
}
