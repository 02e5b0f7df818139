//! `xtask docs`: pages that are made from the code and the catalogue, written or checked.
//!
//! Responsible for: the list of every generated page and every generated part of a page. One command updates
//! all of them and one test fails if any is stale. Excludes words that could be written in the pages
//! themselves.

mod accuracy;
mod anchors;
mod at_scale;
mod catalogue;
mod mechanisms;
mod recordings;
mod regret;
mod validation;

use railwright_spec::run;
use std::path::{Path, PathBuf};

/// The table of measured runs that the documentation reports on.
const EVIDENCE: &str = "catalog/evidence/measured_runs.csv";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(root().join(path)).map_err(|e| format!("{path}: {e}"))
}

/// Every generated text: the path from the root, and the expected content.
fn pages() -> Result<Vec<(&'static str, String)>, String> {
    let schema = serde_json::to_string_pretty(&run::schema()).map_err(|e| e.to_string())?;
    let answer =
        railwright_calculator::validation::validate(&read(EVIDENCE)?, EVIDENCE).map_err(|p| p.to_string())?;
    let left_out = crate::left_out::read(&read(crate::left_out::TABLE)?)?;
    let remaining = crate::own_runs::read(&read(crate::own_runs::TABLE)?)?;
    let accuracy = accuracy::table(&left_out, &answer)?;
    let linked = |page: &str| accuracy.replace("(VALIDATION)", &format!("({page})"));
    let details = format!(
        "### On publications excluded from the fit\n\n{}\n{}\n{}",
        linked("#rows-that-are-not-predicted-and-why"),
        validation::groups(&answer.summary),
        validation::sources(&answer.summary)
    );
    let mut pages = vec![
        ("railwright.schema.json", format!("{schema}\n")),
        ("docs/reference/run-file.md", run::reference()),
        ("docs/glossary.md", railwright_catalog::GLOSSARY.to_owned()),
        ("docs/reference/models.md", catalogue::models()?),
        ("docs/reference/accelerators.md", catalogue::accelerators()),
        ("docs/reference/clusters.md", catalogue::clusters()?),
        ("docs/reference/software.md", catalogue::software()),
        (
            "docs/reference/leave-one-out.md",
            accuracy::page(&left_out, &remaining, &mechanisms::table(&left_out, &read(EVIDENCE)?)?),
        ),
        ("docs/reference/anchors.md", anchors::page(&read(anchors::TABLE)?, &left_out)?),
        ("README.md", splice("README.md", &linked("docs/validation.md"))?),
        ("docs/validation.md", splice("docs/validation.md", &details)?),
        (
            "docs/validation-network.md",
            splice("docs/validation-network.md", &at_scale::tables(&read(at_scale::TABLE)?)?)?,
        ),
        ("docs/validation-regret.md", splice("docs/validation-regret.md", &regret::tables(&answer))?),
    ];
    pages.extend(recordings::pages()?);
    Ok(pages)
}

/// A page with the part between its `validation` marks replaced.
fn splice(path: &str, part: &str) -> Result<String, String> {
    const START: &str = "<!-- validation:start -->";
    const END: &str = "<!-- validation:end -->";
    let text = read(path)?;
    let (before, rest) = text.split_once(START).ok_or_else(|| format!("{path} has no `{START}`"))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| format!("{path} has no `{END}`"))?;
    Ok(format!("{before}{START}\n\n{}\n\n{END}{after}", part.trim_end()))
}

/// Path of the interface description, which only the program itself can generate.
const INTERFACE: &str = "docs/reference/openapi.json";

/// Descriptions of the program's interface: from the program named by `RAILWRIGHT`, else from one that cargo
/// builds.
fn interface() -> Result<String, String> {
    let mut program = if let Ok(built) = std::env::var("RAILWRIGHT") {
        std::process::Command::new(root().join(built))
    } else {
        let mut cargo =
            std::process::Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
        cargo.args(["run", "--quiet", "--package", "railwright", "--"]);
        cargo
    };
    let ended = program
        .args(["serve", "--openapi"])
        .current_dir(root())
        .output()
        .map_err(|e| format!("{INTERFACE}: {e}"))?;
    if !ended.status.success() {
        return Err(format!("{INTERFACE}: {}", String::from_utf8_lossy(&ended.stderr)));
    }
    String::from_utf8(ended.stdout).map_err(|e| format!("{INTERFACE}: {e}"))
}

/// Writes all generated pages, or lists stale ones with `--check`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let is_check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("usage: xtask docs [--check]".into()),
    };
    let mut pages = pages()?;
    pages.push((INTERFACE, interface()?));
    bring_up_to_date(pages, is_check)
}

fn bring_up_to_date(pages: Vec<(&'static str, String)>, is_check: bool) -> Result<(), String> {
    let mut stale = Vec::new();
    for (path, text) in pages {
        if read(path).is_ok_and(|found| found == text) {
            continue;
        }
        if is_check {
            stale.push(path);
        } else {
            std::fs::write(root().join(path), text).map_err(|e| format!("{path}: {e}"))?;
            println!("wrote {path}");
        }
    }
    if stale.is_empty() {
        Ok(())
    } else {
        Err(format!("stale: {}; run `cargo run -p xtask -- docs`", stale.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_generated_page_is_stale() {
        // The program's own tests check the interface: it would have to be built here.
        bring_up_to_date(pages().expect("pages"), true).expect("pages as the code makes them");
    }

    /// Links between pages, and from pages into the repository, lead somewhere.
    #[test]
    fn every_link_leads_somewhere() {
        let mut pages = Vec::new();
        let mut folders = vec![root().join("docs")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("docs") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "md") {
                    pages.push(path);
                }
            }
        }
        for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
            pages.push(root().join(page));
        }
        let mut links = 0;
        for page in pages {
            let text = std::fs::read_to_string(&page).expect("readable");
            let folder = page.parent().expect("a folder");
            for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                if target.contains("://") {
                    continue;
                }
                links += 1;
                let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
                let file = if file.is_empty() { page.clone() } else { folder.join(file) };
                assert!(file.exists(), "{} links to `{target}`", page.display());
                let has_anchor = || {
                    let text = std::fs::read_to_string(&file).expect("readable");
                    text.lines().any(|line| line.starts_with('#') && slug(line) == anchor)
                };
                assert!(anchor.is_empty() || has_anchor(), "{} links to `{target}`", page.display());
            }
        }
        assert!(links > 100, "only {links} links were seen");
    }

    /// The anchor of a heading, as on GitHub and in mdBook.
    fn slug(heading: &str) -> String {
        let plain: String = heading
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .collect();
        plain.replace(' ', "-")
    }
}
