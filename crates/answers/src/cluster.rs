//! Lookup of a cluster by word: a preset, a file, or an accelerator with its usual system.

use crate::Texts;
use railwright_spec::cluster::{ClusterSpec, accelerator_by_name, preset_names};
use railwright_spec::problem::Problem;
use railwright_spec::run::Sheet;
use std::path::Path;

/// Resolves the path of a calibration relative to the file that names it.
pub fn resolve_calibration_path(cluster: &mut ClusterSpec, file: &str) {
    if let (Some(calibration), Some(folder)) = (&cluster.calibration, Path::new(file).parent())
        && Path::new(calibration).is_relative()
    {
        cluster.calibration = Some(folder.join(calibration).to_string_lossy().into_owned());
    }
}

/// Cluster for a word: a preset, a file, or an accelerator with its usual system; with the places of its
/// settings if it is a file.
pub fn cluster(word: &str, texts: &dyn Texts) -> Result<Sheet<ClusterSpec>, Problem> {
    let plain = word.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    let is_preset = preset_names().contains(&plain.as_str());
    let is_file =
        word == "-" || word.contains(['/', '\\']) || Path::new(word).extension().is_some_and(|e| e == "toml");
    if !is_preset && (is_file || texts.is_file(word)) {
        let text = texts.text(word)?;
        let mut sheet = Sheet::<ClusterSpec>::parse(&text, word)?;
        if !sheet.spec.has_machine() {
            let problem = Problem::new("neither `accelerator` nor `preset` is set").in_file(word);
            return Err(problem.hint("set one, as in `accelerator = \"H100\"` or `preset = \"dgx-h100\"`"));
        }
        if let Some(name) = &sheet.spec.accelerator {
            accelerator_by_name(name)
                .map_err(|problem| sheet.placed(problem.at_key("cluster.accelerator")))?;
        }
        resolve_calibration_path(&mut sheet.spec, word);
        return Ok(sheet);
    }
    if !is_preset && let Ok(accelerator) = accelerator_by_name(word) {
        let spec = ClusterSpec { accelerator: Some(accelerator.id), ..ClusterSpec::default() };
        return Ok(unplaced(spec));
    }
    let spec = ClusterSpec { preset: Some(word.to_owned()), ..ClusterSpec::default() };
    if !is_preset {
        // The message is that of an unknown name, with the flag as its place.
        spec.resolve().map_err(|problem| Problem { place: None, ..problem }.in_file("--cluster"))?;
    }
    Ok(unplaced(spec))
}

/// A cluster whose settings come from no file.
fn unplaced(spec: ClusterSpec) -> Sheet<ClusterSpec> {
    let mut sheet = Sheet::default();
    sheet.spec = spec;
    sheet
}
