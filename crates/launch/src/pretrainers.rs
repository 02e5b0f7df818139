//! Libraries with trainers of their own: Levanter, lingua, InternEvo, nanoGPT, EasyLM, Colossal-AI, and
//! OLMo's first trainer.
//!
//! Responsible for: their keys and defaults, and models whose layers a plan can express. Models with layers
//! of other kinds are open, never read as transformers. Each library has a module.

mod colossal;
mod common;
mod easylm;
mod internevo;
mod levanter;
mod lingua;
mod nanogpt;
mod olmo_yaml;

#[cfg(test)]
mod tests;

use crate::{Context, Evidence, Format, Launch, Reader, Strength};
use railwright_spec::problem::Problem;

/// Reads configurations of libraries that pretrain models.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PretrainersReader;

/// A library: its name, the test of a text with the evidence, and its reader.
type Library = (&'static str, fn(&str) -> bool, &'static str, fn(&str, &str) -> Result<Launch, Vec<Problem>>);

const LIBRARIES: &[Library] = &[
    ("Levanter", levanter::is_one, levanter::WHY, levanter::read),
    ("lingua", lingua::is_one, lingua::WHY, lingua::read),
    ("InternEvo", internevo::is_one, internevo::WHY, internevo::read),
    ("nanoGPT", nanogpt::is_one, nanogpt::WHY, nanogpt::read),
    ("EasyLM", easylm::is_one, easylm::WHY, easylm::read),
    ("OLMo", olmo_yaml::is_one, olmo_yaml::WHY, olmo_yaml::read),
    ("Colossal-AI", colossal::is_one, colossal::WHY, colossal::read),
];

impl Reader for PretrainersReader {
    fn format(&self) -> Format {
        Format::Pretrainer
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let (name, _, why, _) = LIBRARIES.iter().find(|(_, is_one, ..)| is_one(text))?;
        Some(Evidence::new(Strength::Certain, format!("{name}: {why}")))
    }

    fn read_with(&self, text: &str, file: &str, _: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        match LIBRARIES.iter().find(|(_, is_one, ..)| is_one(text)) {
            Some((.., read)) => read(text, file),
            None => Err(vec![Problem::new("not a configuration of a known library").in_file(file)]),
        }
    }
}
