//! Run files as a layer of a specification.

use crate::{Texts, resolve_calibration_path};
use railwright_spec::problem::Problem;
use railwright_spec::run::{RunSpec, parse};
use std::path::Path;

/// Specification of a run file. Paths in it are relative to its folder.
pub fn run_file(path: &str, texts: &dyn Texts) -> Result<RunSpec, Problem> {
    let text = texts.text(path)?;
    let mut spec = parse(&text, path)?;
    resolve_calibration_path(&mut spec.cluster, path);
    if let (Some(config), Some(folder)) = (&spec.model.config, Path::new(path).parent())
        && Path::new(config).is_relative()
        && config != "-"
    {
        spec.model.config = Some(folder.join(config).to_string_lossy().into_owned());
    }
    Ok(spec)
}
