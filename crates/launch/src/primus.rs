//! Primus' YAML: Megatron-LM's arguments as overrides of a module and a model.
//!
//! Responsible for: the model that is named, the overrides under Megatron's names, and defaults of variables of the environment.
//! Refuses to read the files that it builds on, and modules of other frameworks.

#[cfg(test)]
mod tests;

use crate::adapter;
use crate::document::{self, Data, Entry};
use crate::megatron::arguments::Arguments;
use crate::megatron::flags;
use crate::megatron::meaning::World;
use crate::nemo::{argument, transfer};
use crate::{Draft, Evidence, Format, Launch, Reader, RemarkKind, Strength};
use railwright_spec::model::by_name;
use railwright_spec::problem::Problem;

/// Reads Primus' YAML.
#[derive(Clone, Copy, Debug)]
pub struct PrimusReader;

impl Reader for PrimusReader {
    fn format(&self) -> Format {
        Format::Primus
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let starts = |key: &str| text.lines().any(|line| line.trim_end() == key);
        let has = |key: &str| text.lines().any(|line| line.trim_start().starts_with(key));
        (starts("modules:") && has("framework:") && (has("overrides:") || has("model:")))
            .then(|| Evidence::new(Strength::Certain, "the key `modules` with a `framework`"))
    }

    fn read(&self, text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
        let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
        let mut draft = Draft::new(Format::Primus, file);
        for entry in &mut document.entries {
            environment(entry, &mut draft);
        }
        let module = document.entries.iter().find_map(|entry| {
            entry
                .path
                .strip_prefix("modules.")?
                .strip_suffix(".framework")
                .map(|name| (name.to_owned(), entry.clone()))
        });
        let Some((module, framework)) = module else {
            draft.problem(Problem::new("no module of `modules` has a `framework`"));
            return draft.finish();
        };
        if framework.data.shown() != "megatron" {
            let message =
                format!("modules of {} are not supported, only those of Megatron", framework.data.shown());
            draft.problem(Problem::new(message).hint("pass the configuration of that framework itself"));
            return draft.finish();
        }
        let mut arguments = Arguments::default();
        let prefix = format!("modules.{module}.overrides.");
        for entry in &document.entries {
            let Some(name) = entry.path.strip_prefix(&prefix) else { continue };
            let (source, line) = (format!("{name} = {}", entry.data.shown()), entry.spot.line());
            if name == "lora.enabled" && entry.data == Data::Flag(true) {
                adapter::lora(&mut draft, &source, line);
                adapter::defaults(&mut draft, adapter::BRIDGE);
                continue;
            }
            match flags::by_name(name) {
                Some(flag) => arguments.insert(flag.name, argument(&entry.data, source, line), &mut draft),
                None if matches!(entry.data, Data::Null | Data::Flag(false)) => {}
                None => draft.remark(RemarkKind::Unknown, &source, line, "unknown, ignored"),
            }
        }
        transfer(Format::Primus, file, &arguments, &World::default(), &mut draft, None);
        let path = format!("modules.{module}.model");
        if let Some(entry) = document.get(&path) {
            let (source, line) = (format!("{path} = {}", entry.data.shown()), entry.spot.line());
            let name = entry.data.shown();
            let stem = name.trim_end_matches(".yaml").trim_end_matches(".yml");
            if let Ok(model) = by_name(stem) {
                draft.set("model.name", &model.name, &source, line);
            } else {
                draft.unknown_model(stem, &source, line);
            }
        }
        let message = "only overrides in this file: other settings are open, because their defaults are in files of \
             Primus";
        draft.remark(RemarkKind::Assumed, &prefix, None, message);
        draft.finish()
    }
}

/// `${NAME:default}` uses the default, with a remark. Without one the value is open.
fn environment(entry: &mut Entry, draft: &mut Draft) {
    let Data::Text(text) = &entry.data else { return };
    let Some(inner) = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else { return };
    let source = format!("{} = {text}", entry.name);
    let matters = entry.path.contains(".overrides.") || entry.path.rsplit('.').next() == Some("model");
    let line = entry.spot.line();
    if let Some((name, default)) = inner.split_once(':') {
        let data = Data::of_word(default.trim());
        if matters {
            let message =
                format!("the environment variable `{name}` is assumed unset: {} applies", data.shown());
            draft.remark(RemarkKind::Assumed, &source, line, message);
        }
        entry.data = data;
    } else {
        if matters {
            let message = "depends on the environment, so it is open";
            draft.remark(RemarkKind::Unresolved, &source, line, message);
        }
        entry.data = Data::Null;
    }
}
