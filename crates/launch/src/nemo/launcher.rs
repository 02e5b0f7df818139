//! Commands of NeMo-Framework-Launcher, which start one stage with a configuration of its own.
//!
//! Responsible for: overrides of a stage (`peft.model.micro_batch_size=1`) as those of its configuration, and
//! that file (`launcher_scripts/conf/peft/llama/sft.yaml` for `peft=llama/sft`). Settings of the cluster and
//! other stages are left out.

use crate::Context;
use crate::document::{self, Document};
use crate::shell::{Command, Word};

/// Tests whether some word of a text is `prefix...=`.
pub(super) fn is_override(text: &str, prefix: &str) -> bool {
    text.split_whitespace().any(|word| {
        word.trim_start_matches(['+', '\'', '"']).strip_prefix(prefix).is_some_and(|rest| {
            rest.split_once('=')
                .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c)))
        })
    })
}

/// Stages that train.
const STAGES: [&str; 3] = ["training", "fine_tuning", "peft"];

/// A stage of a command.
pub(super) struct Stage {
    name: &'static str,
    /// The configuration in its folder: `llama/sft`.
    choice: String,
    /// The words that name it, and their line.
    pub(super) named: String,
    pub(super) line: usize,
}

/// Tests whether a text has overrides of the model and the trainer of a stage.
pub(super) fn is_one(text: &str) -> bool {
    STAGES.iter().any(|stage| {
        ["model.", "trainer."].iter().all(|section| is_override(text, &format!("{stage}.{section}")))
    })
}

fn bare(word: &Word) -> &str {
    word.text.trim_start_matches(['+', '\'', '"'])
}

/// The stage that words start; `None` for other programs.
pub(super) fn stage(words: &[Word]) -> Option<Stage> {
    words.iter().filter(|word| word.unknown.is_empty()).find_map(|word| {
        let (name, choice) = bare(word).split_once('=')?;
        let name = *STAGES.iter().find(|stage| **stage == name)?;
        let has_own = words.iter().any(|word| bare(word).starts_with(&format!("{name}.model.")));
        has_own.then(|| Stage {
            name,
            choice: choice.trim_matches(['"', '\'']).to_owned(),
            named: word.text.clone(),
            line: word.line,
        })
    })
}

impl Stage {
    /// The command with the overrides of this stage as those of its configuration.
    pub(super) fn command(&self, command: &Command) -> Command {
        let prefix = format!("{}.", self.name);
        let own = |word: &Word| match bare(word).strip_prefix(&prefix) {
            Some(rest) => Word { text: rest.to_owned(), ..word.clone() },
            None => word.clone(),
        };
        let is_other = |word: &&Word| {
            bare(word)
                .split_once('=')
                .is_none_or(|(name, _)| !name.contains('.') || name.starts_with(&prefix))
        };
        Command { words: command.words.iter().filter(is_other).map(own).collect(), ..command.clone() }
    }

    /// The configuration below the overrides.
    pub(super) fn configuration(
        &self,
        words: &[Word],
        (file, context): (&str, &Context<'_>),
    ) -> Result<(String, String, Document), String> {
        let path = format!("conf/{}/{}.yaml", self.name, self.choice);
        let program = words.iter().find(|word| crate::megatron::is_program(&word.text));
        let folder = program.and_then(|word| word.text.rsplit_once('/')).map_or("", |(folder, _)| folder);
        // The folder of an installation, `${DIR:-/opt/launcher}/launcher_scripts`, ends as that of the
        // repository.
        let last = folder.rsplit('/').next().unwrap_or_default();
        let beside = [format!("{folder}/{path}"), format!("{last}/{path}")];
        let opened = beside.iter().map(|path| context.open(path, file)).reduce(Result::or);
        let (name, text) = opened.unwrap_or_else(|| Err("it names no program".to_owned()))?;
        // References name the stage as well.
        let text = text.replace(&format!("${{{}.", self.name), "${");
        let document = document::yaml(&text, &name).map_err(|problem| problem.to_string())?;
        Ok((name, text, document))
    }
}
