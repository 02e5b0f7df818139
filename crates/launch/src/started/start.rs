//! The command of a script that starts a program.
//!
//! Responsible for: launchers, the program after them, and files of settings among its arguments.

use crate::shell::{Command, Script, Word};
use std::path::Path;

/// Programs that start a trainer on several devices.
pub(super) const LAUNCHERS: [&str; 9] = [
    "torchrun",
    "deepspeed",
    "composer",
    "colossalai",
    "axolotl",
    "torch.distributed.run",
    "torch.distributed.launch",
    "accelerate",
    "accelerate.commands.launch",
];

/// Programs that start the training themselves, with a file of settings.
const COMMANDS: [&str; 5] = ["llamafactory-cli", "axolotl", "tune", "litgpt", "primus-cli"];

/// Verbs of these programs that do not train.
const OTHER_VERBS: [&str; 10] = [
    "export",
    "merge",
    "merge-lora",
    "merge_lora",
    "chat",
    "api",
    "webchat",
    "inference",
    "eval",
    "evaluate",
];

/// Endings of files of settings.
const SETTINGS: [&str; 3] = ["yaml", "yml", "toml"];

/// A command of a script.
pub(super) struct Start<'a> {
    pub(super) words: &'a [Word],
    /// Index of the program.
    pub(super) program: usize,
    pub(super) line: usize,
}

impl<'a> Start<'a> {
    pub(super) fn name(&self) -> &str {
        self.words[self.program].text.rsplit('/').next().unwrap_or_default()
    }

    /// The program, or the one with its verb: `llamafactory-cli chat`.
    pub(super) fn program_name(&self) -> &'a str {
        let words = self.words;
        let is_command = COMMANDS.contains(&self.name());
        let verb = words.get(self.program + 1).filter(|_| is_command);
        let word = verb.unwrap_or(&words[self.program]);
        word.text.rsplit('/').next().unwrap_or_default()
    }

    pub(super) fn arguments(&self) -> &[Word] {
        &self.words[self.program + 1..]
    }

    /// The arguments without the file of settings at an index and the flag before it.
    pub(super) fn rest(&self, used: Option<usize>) -> impl Iterator<Item = (usize, &Word)> {
        let arguments = self.arguments();
        let before = used.and_then(|used| used.checked_sub(1));
        let flag = before.filter(|&at| arguments[at].text.starts_with('-'));
        arguments.iter().enumerate().filter(move |(at, _)| Some(*at) != used && Some(*at) != flag)
    }

    /// Indices of the arguments that name a file of settings.
    pub(super) fn files(&self) -> Vec<usize> {
        let is_file = |word: &Word| {
            let end = Path::new(value(word)).extension().and_then(|end| end.to_str());
            end.is_some_and(|end| SETTINGS.contains(&end))
        };
        (0..self.arguments().len()).filter(|&at| is_file(&self.arguments()[at])).collect()
    }
}

/// A word, or what follows its equals sign.
pub(super) fn value(word: &Word) -> &str {
    word.text.split_once('=').map_or(word.text.as_str(), |(_, value)| value).trim_matches(['"', '\''])
}

/// Tests whether a text can be a shell script: the lines of configurations and programs look otherwise.
pub(crate) fn is_script(text: &str) -> bool {
    let first = text.lines().map(str::trim_end).find(|line| !line.is_empty()).unwrap_or_default();
    if first.starts_with("#!") {
        return first.contains("sh");
    }
    let is_key = |line: &str| {
        line.split_once(':').is_some_and(|(name, rest)| {
            (rest.is_empty() || rest.starts_with(' '))
                && !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        })
    };
    // Tests and groups of commands have a space after the bracket, unlike tables of TOML and JSON.
    let is_group = |line: &str| {
        let is_test = ["[ ", "[[ "].iter().any(|start| line.starts_with(start))
            && ["] ", "];"].iter().any(|end| line.contains(end));
        let group = line.strip_prefix("{ ");
        is_test || group.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    };
    !text.lines().any(|line| {
        ["import ", "from ", "def ", "class ", "{", "<", "[", "- "]
            .iter()
            .any(|start| line.starts_with(start) && !is_group(line))
            || is_key(line)
    })
}

/// Words in names of scripts that train.
const TRAINING: [&str; 9] = ["train", "sft", "tune", "dpo", "simpo", "grpo", "ppo", "rlhf", "distill"];

/// The first script that a script starts and that is missing, with the reason and the line.
pub(super) fn missing(script: &Script) -> Option<(&str, &str, usize)> {
    let trains = |what: &str| {
        let name = what.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        TRAINING.iter().any(|word| name.contains(word))
    };
    let absent = || {
        let open =
            script.open.iter().filter(|(_, what, _)| script.has_missing && !what.starts_with("source "));
        open.filter(|(_, what, _)| Path::new(what).extension().is_some_and(|end| end == "sh"))
    };
    // A wrapper hands over to its program: nothing follows `exec`, and a job is submitted for its own sake.
    let hands_over = |line: usize| {
        script.sources.around(line).first().is_some_and(|(text, first)| {
            let own = text.lines().nth(line.saturating_sub(*first)).unwrap_or_default().trim_start();
            ["exec ", "srun ", "sbatch "].iter().any(|start| own.starts_with(start))
        })
    };
    absent()
        .find(|(_, what, _)| trains(what))
        .or_else(|| absent().rfind(|(line, ..)| hands_over(*line)))
        .map(|(line, what, why)| (what.as_str(), why.as_str(), *line))
}

/// The last command that starts a program on several devices, or with a file of settings.
pub(super) fn find(script: &Script) -> Option<Start<'_>> {
    let starts = || script.commands.iter().filter_map(of);
    // A script may export or try the model after its training.
    let certain =
        starts().rfind(|start| !OTHER_VERBS.contains(&start.program_name())).or_else(|| starts().next_back());
    certain.or_else(|| script.commands.iter().filter_map(by_name).next_back())
}

/// Parts of the names of programs that prepare or judge a training.
const BESIDE: [&str; 6] = ["tokeniz", "eval", "prepare", "data", "test", "infer"];

/// A program in Python that is named after training: its settings may be its own defaults.
fn by_name(command: &Command) -> Option<Start<'_>> {
    let words = command.words.as_slice();
    let is_python = words.iter().any(|word| {
        word.text.rsplit('/').next().is_some_and(|name| name.starts_with("python") && !name.contains('.'))
    });
    let program = words.iter().position(|word| {
        !word.text.contains('=') && Path::new(&word.text).extension().is_some_and(|end| end == "py")
    })?;
    let start = Start { words, program, line: command.line };
    let name = start.name().to_ascii_lowercase();
    let trains = TRAINING.iter().any(|word| name.contains(word));
    (is_python && trains && !BESIDE.iter().any(|word| name.contains(word))).then_some(start)
}

/// The program that a command starts; `None` for other commands.
pub(super) fn of(command: &Command) -> Option<Start<'_>> {
    let words = command.words.as_slice();
    let name = |word: &Word| word.text.rsplit('/').next().unwrap_or_default().to_owned();
    let own = words.iter().position(|word| COMMANDS.contains(&name(word).as_str()));
    let verb = own.and_then(|at| words.get(at + 1)).map(|word| word.text.as_str()).unwrap_or_default();
    let trains = ["train", "pretrain", "finetune"].iter().any(|start| verb.starts_with(start));
    let is_launched = trains || words.iter().any(|word| LAUNCHERS.contains(&name(word).as_str()));
    let is_python = words.iter().any(|word| name(word).starts_with("python"))
        || words.windows(2).any(|pair| name(&pair[0]) == "uv" && pair[1].text == "run");
    if !is_launched && !is_python && own.is_none() {
        return None;
    }
    // A value of a setting is not a program: `env=tools.py`.
    let is_program = |word: &Word| {
        !word.text.contains('=') && Path::new(&word.text).extension().is_some_and(|end| end == "py")
    };
    let module = words.windows(2).position(|pair| {
        matches!(pair[0].text.as_str(), "-m" | "--module") && !LAUNCHERS.contains(&pair[1].text.as_str())
    });
    let program = words.iter().position(is_program).or(module.map(|at| at + 1)).or(own)?;
    let start = Start { words, program, line: command.line };
    let is_trainer = || crate::other::describes_training(start.arguments());
    // The path of its configuration may be set in another file.
    let has_configuration = || {
        let named = |pair: &[Word]| pair[0].text.starts_with("--config") && !pair[1].unknown.is_empty();
        TRAINING.iter().any(|word| start.name().contains(word)) && start.arguments().windows(2).any(named)
    };
    (is_launched || !start.files().is_empty() || is_trainer() || has_configuration()).then_some(start)
}
