//! Model for a word on the command line: a name of the catalogue, a `config.json`, a folder that contains
//! one, or `-`.

use super::{CONFIG_LIMIT, access, read};
use railwright_spec::model::{self, Model};
use railwright_spec::problem::Problem;
use std::path::{Path, PathBuf};

/// The model for a word.
pub fn model(word: &str) -> Result<Model, Problem> {
    match path_of(word)? {
        Some(path) => {
            let text = config_text(&path)?;
            let label = if path == "-" { "standard input" } else { path.as_str() };
            model::from_hugging_face(&text, &name_of(&path)).map_err(|problem| problem.in_file(label))
        }
        None => model::by_name(word),
    }
}

/// The text of a `config.json`, or of the one equivalent to a launch file.
pub fn config_text(path: &str) -> Result<String, Problem> {
    if let Some(inside) = config_in(path)? {
        return read(&inside, CONFIG_LIMIT);
    }
    let text = read(path, CONFIG_LIMIT)?;
    if text.trim_start().starts_with('{') {
        return Ok(text);
    }
    match super::launch_files::launch(&text, path) {
        Some(Ok(launch)) => Ok(launch.model_config.unwrap_or(text)),
        _ => Ok(text),
    }
}

/// Suffixes of files with a model or a launch; names of models have none of them.
const FILES: &[&str] = &["json", "toml", "yaml", "yml", "sh", "bash", "log", "out", "txt", "py"];

/// The path for a word, or `None` if it is a name of the catalogue.
pub fn path_of(word: &str) -> Result<Option<String>, Problem> {
    if word == "-" {
        return Ok(Some(word.to_owned()));
    }
    let path = Path::new(super::part::split(word).map_or(word, |(file, _)| file));
    let looks_like_a_path = word.starts_with(['.', '/', '~'])
        || word.starts_with(access::UPLOAD)
        || word.contains('\\')
        || path
            .extension()
            .and_then(|e| e.to_str())
            .is_some_and(|e| FILES.contains(&e.to_ascii_lowercase().as_str()));
    if !looks_like_a_path {
        // A name of the catalogue has priority over a file: `./llama-3-8b` names the file.
        let is_known = model::by_name(word).is_ok();
        if is_known || !access::exists(path) {
            return Ok(None);
        }
    }
    Ok(Some(config_in(word)?.unwrap_or_else(|| word.to_owned())))
}

/// The `config.json` in a directory; `None` if the path is not a directory.
fn config_in(path: &str) -> Result<Option<String>, Problem> {
    let folder = Path::new(path);
    if path == "-" || !access::is_folder(folder) {
        return Ok(None);
    }
    let inside: PathBuf = folder.join("config.json");
    if access::is_file(&inside) {
        return Ok(Some(inside.to_string_lossy().into_owned()));
    }
    let problem = Problem::new("a directory without a config.json").in_file(path);
    Err(problem.hint("pass a model's config.json, its directory, or a model of `railwright models list`"))
}

/// Name of a config: the directory's name for `config.json`, else the file's.
fn name_of(path: &str) -> String {
    let path = Path::new(path);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    match folder {
        Some(folder) if stem == "config" => folder,
        _ if stem == "-" => "model".to_owned(),
        _ => stem,
    }
}
