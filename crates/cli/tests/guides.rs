//! The output beneath a command in a guide is the command's output.
//!
//! A block marked `text` belongs to the `$ railwright ...` in its first line, else to the last command of the
//! `console` block before it. Its lines occur in the output in this order; `...` alone in a line represents
//! omitted lines. Spacing is not compared: terminals differ.
//!
//! `GUIDES_UPDATE=1` rewrites stale lines with the nearest lines of the output, in order; read the diff.

use std::path::{Path, PathBuf};

struct Shown {
    page: PathBuf,
    guide: String,
    line: usize,
    arguments: Vec<String>,
    lines: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The arguments of a command line of a guide, `*` expanded in the repository.
fn arguments(command: &str) -> Option<Vec<String>> {
    let command = command.strip_prefix("$ ")?;
    let rest =
        command.strip_prefix("cargo run --release -- ").or_else(|| command.strip_prefix("railwright "))?;
    let mut found = Vec::new();
    for word in rest.split_whitespace() {
        if !word.contains('*') {
            found.push(word.to_owned());
            continue;
        }
        let pattern = root().join(word);
        let (folder, name) = (pattern.parent().expect("a folder"), pattern.file_name().expect("a name"));
        let name = name.to_string_lossy().into_owned();
        let (before, after) = name.split_once('*').expect("one star");
        let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").file_name());
        let mut files: Vec<String> = entries
            .map(|file| file.to_string_lossy().into_owned())
            .filter(|file| file.starts_with(before) && file.ends_with(after))
            .collect();
        files.sort();
        let base = Path::new(word).parent().expect("a folder");
        found.extend(files.iter().map(|file| base.join(file).to_string_lossy().into_owned()));
    }
    Some(found)
}

fn shown() -> Vec<Shown> {
    let mut found = Vec::new();
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root().join("docs/guides"))
        .expect("guides")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.extend(
        ["README.md", "docs/tutorial.md", "docs/install.md", "docs/faq.md"].map(|page| root().join(page)),
    );
    pages.sort();
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("readable");
        let guide = page.file_name().expect("a name").to_string_lossy().into_owned();
        let (mut fence, mut command, mut block) = (None::<String>, None, Vec::new());
        for (index, line) in text.lines().enumerate() {
            match (&fence, line.strip_prefix("```")) {
                (None, Some(kind)) => fence = Some(kind.to_owned()),
                (Some(kind), Some(_)) => {
                    if kind == "text" {
                        let own = block.first().and_then(|line: &String| arguments(line));
                        let skip = usize::from(own.is_some());
                        if let Some(arguments) = own.or_else(|| command.clone()) {
                            let lines = block.split_off(skip);
                            let is_shown = |line: &String| !line.trim().is_empty() && line.trim() != "...";
                            assert!(
                                lines.iter().any(is_shown),
                                "{guide}:{}: an empty block of output",
                                index + 1
                            );
                            let page = page.clone();
                            found.push(Shown {
                                page,
                                guide: guide.clone(),
                                line: index + 1,
                                arguments,
                                lines,
                            });
                        }
                    }
                    block.clear();
                    fence = None;
                }
                (Some(kind), None) if kind == "console" => {
                    command = arguments(line).or(command);
                }
                (Some(kind), None) if kind == "text" => block.push(line.to_owned()),
                _ => {}
            }
        }
    }
    found
}

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Rewrites the block of `lines` that ends before `end` with the command's output: lines that occur in it
/// stay, others become the nearest that follow.
fn update(page: &Path, end: usize, lines: &[String], printed: &str) {
    let output: Vec<&str> = printed.lines().collect();
    let alike = |a: &str, b: &str| {
        let b: Vec<&str> = b.split_whitespace().collect();
        a.split_whitespace().filter(|word| b.contains(word)).count()
    };
    let mut from = 0;
    let mut fresh: Vec<String> = Vec::new();
    for line in lines {
        if line.trim().is_empty() || line.trim() == "..." {
            fresh.push(line.clone());
            continue;
        }
        let rest = output.iter().enumerate().skip(from);
        let exact = rest.clone().find(|(_, printed)| words(printed) == words(line));
        let nearest =
            exact.or_else(|| rest.max_by_key(|(at, printed)| (alike(line, printed), usize::MAX - at)));
        let Some((at, nearest)) = nearest else { continue };
        from = at + 1;
        fresh.push(if exact.is_some() { line.clone() } else { nearest.trim_end().to_owned() });
    }
    let text = std::fs::read_to_string(page).expect("readable");
    let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
    // The number of lines stays, so that the positions of later blocks stay.
    fresh.resize(lines.len(), String::new());
    all.splice(end - 1 - lines.len()..end - 1, fresh);
    std::fs::write(page, all.join("\n") + "\n").expect("written");
}

#[test]
fn output_in_guides_is_what_the_commands_print() {
    let shown = shown();
    assert!(shown.len() >= 6, "only {} blocks of output were found", shown.len());
    let mut stale = Vec::new();
    for Shown { page, guide, line, arguments, lines } in &shown {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = crate::support::program(&arguments)
            .current_dir(root())
            .env("COLUMNS", "120")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("the program starts");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if std::env::var_os("GUIDES_UPDATE").is_some() {
            update(page, *line, lines, &printed);
            continue;
        }
        let mut rest = printed.lines().map(words);
        for wanted in
            lines.iter().map(|line| words(line)).filter(|line| !line.is_empty() && line.trim() != "...")
        {
            if !rest.any(|line| line == wanted) {
                stale.push(format!("{guide}, block ending in line {line}: `{wanted}` is not in\n{printed}"));
                break;
            }
        }
    }
    assert!(stale.is_empty(), "{}", stale.join("\n\n"));
}
