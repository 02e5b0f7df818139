//! Run files as a layer of a specification.

use crate::{Texts, from_where_it_lies};
use railwright_spec::problem::Problem;
use railwright_spec::run::{RunSpec, parse};
use std::path::Path;

/// Specification of a run file. Paths in it are relative to its folder.
pub fn run_file(path: &str, texts: &dyn Texts) -> Result<RunSpec, Problem> {
    let text = texts.text(path)?;
    let mut spec = parse(&text, path)?;
    from_where_it_lies(&mut spec.cluster, path);
    if let (Some(config), Some(folder)) = (&spec.model.config, Path::new(path).parent())
        && Path::new(config).is_relative()
        && config != "-"
    {
        spec.model.config = Some(folder.join(config).to_string_lossy().into_owned());
    }
    Ok(spec)
}
