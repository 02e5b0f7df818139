//! Launch files with their dependencies: the files that a script reads or starts, its arguments, variables of
//! its environment.
//!
//! Responsible for: one access to such files, limited to the script's own folder tree or repository, and the
//! values after `--launch-args` or `--`. Links that lead outside it are excluded, and a text from standard
//! input has no files.

use super::{FILES, LOG_LIMIT, Refused, access, disk, read};
use railwright_launch::{Context, Files, Format, Launch, detect, read_with};
use railwright_spec::problem::Problem;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// The longest script that is read for another one.
const LIMIT: u64 = 4 << 20;
/// Folders above a script in which a repository is looked for.
const HIGHEST: usize = 24;

/// Variables and arguments of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Variables of its environment.
    pub variables: Vec<(String, String)>,
    /// Arguments; `None` if unspecified.
    pub arguments: Option<Vec<String>>,
}

thread_local! {
    /// Variables and arguments of the launch file of this request.
    static GIVEN: RefCell<Given> = RefCell::new(Given::default());
    /// The last file that was read, and its launch: commands read it several times, and logs are long.
    static LAST: RefCell<Option<(String, Option<Launch>)>> = const { RefCell::new(None) };
}

/// Sets the variables and arguments for all later launch files.
pub fn give(given: Given) {
    GIVEN.set(given);
}

/// Context of launch files.
pub fn given() -> Given {
    GIVEN.with_borrow(Given::clone)
}

/// Drops the last file: in a program that handles many requests it may have changed since.
pub fn forget() {
    LAST.set(None);
}

/// The launch of a file; `None` for other files.
pub fn of_path(path: &str) -> Result<Option<Launch>, Refused> {
    let known = LAST.with_borrow(|last| {
        last.as_ref().filter(|(known, _)| known == path).map(|(_, launch)| launch.clone())
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let text = read(path, LOG_LIMIT)?;
    let mut launch = launch(&text, path).transpose()?;
    if let Some(launch) = &mut launch
        && launch.model_config.is_some()
    {
        // The name of the configuration's text.
        launch.spec.model.config = Some(path.to_owned());
    }
    LAST.set(Some((path.to_owned(), launch.clone())));
    Ok(launch)
}

impl Given {
    /// `VAR=value` words, then arguments.
    pub fn of_words(words: &[String]) -> Self {
        let is_variable = |word: &&String| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty()
                    && !name.starts_with(|c: char| c.is_ascii_digit())
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        };
        let count = words.iter().take_while(is_variable).count();
        let split =
            |word: &String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = words[..count].iter().filter_map(split).collect();
        let arguments = (count < words.len()).then(|| words[count..].to_vec());
        Self { variables, arguments }
    }

    /// The same from one text, in which quotes keep words together.
    pub fn of_text(text: &str) -> Result<Self, Problem> {
        let (mut words, mut current, mut quote) = (Vec::new(), None::<String>, None);
        for c in text.chars() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => {
                    quote = Some(c);
                    current.get_or_insert_default();
                }
                (None, c) if c.is_whitespace() => words.extend(current.take()),
                _ => current.get_or_insert_default().push(c),
            }
        }
        if quote.is_some() {
            return Err(Problem::new("a quote is not closed").in_file("--launch-args"));
        }
        words.extend(current);
        Ok(Self::of_words(&words))
    }
}

/// Reads a launch file with its dependencies; `None` for other files.
pub fn launch(text: &str, path: &str) -> Option<Result<Launch, Vec<Problem>>> {
    FILES.then_some(())?;
    let Given { variables, arguments } = given();
    let door = Door::new(path);
    let files = door.as_ref().map(|door| door as &dyn Files);
    let label = if path == "-" { "standard input" } else { path };
    read_with(text, label, &Context { variables, arguments, files })
}

/// The most likely format of a text.
pub fn format(text: &str) -> Option<Format> {
    FILES.then_some(())?;
    detect(text).first().map(|sighting| sighting.format)
}

/// Opens files of one folder tree.
struct Door {
    root: PathBuf,
}

impl Door {
    /// The tree of a script: its repository, or else its folder.
    fn new(script: &str) -> Option<Self> {
        if script == "-" || access::is_restricted() {
            return None;
        }
        // `recipes.py:NAME` is one recipe of a file.
        let file = script
            .rsplit_once(':')
            .map(|(file, _)| file)
            .filter(|file| Path::new(file).extension().is_some_and(|e| e == "py"));
        let real =
            disk::canonicalize(script).or_else(|error| file.map_or(Err(error), disk::canonicalize)).ok()?;
        let folder = real.parent()?;
        let repository = folder.ancestors().take(HIGHEST).find(|folder| folder.join(".git").exists());
        Some(Self { root: repository.unwrap_or(folder).to_owned() })
    }
}

impl Door {
    /// The file of this repository whose path has the same end as a path from elsewhere, at least in its
    /// folder.
    fn elsewhere(&self, path: &Path) -> Option<String> {
        let parts: Vec<_> = path.components().skip(1).collect();
        (1..parts.len().saturating_sub(1)).find_map(|skipped| {
            let tail: PathBuf = parts[skipped..].iter().collect();
            let real = disk::canonicalize(self.root.join(tail)).ok()?;
            (real.is_file() && real.starts_with(&self.root)).then(|| real.to_string_lossy().into_owned())
        })
    }
}

impl Files for Door {
    fn open(&self, path: &str, from: &str) -> Result<(String, String), String> {
        let folder = Path::new(from).parent().unwrap_or(Path::new("."));
        // The folder of the script comes first, then possible working directories: folders above it, then the
        // current one.
        let up =
            std::iter::successors(Some(folder.to_owned()), |folder| Some(folder.join(".."))).take(HIGHEST);
        let candidates = up.map(|folder| folder.join(path)).chain(std::iter::once(PathBuf::from(path)));
        let mut is_outside = false;
        for candidate in candidates {
            let Ok(real) = disk::canonicalize(&candidate) else { continue };
            if !real.is_file() {
                continue;
            }
            if !real.starts_with(&self.root) {
                is_outside = true;
                continue;
            }
            let name = candidate.to_string_lossy().into_owned();
            return match read(&name, LIMIT) {
                Ok(text) => Ok((name, text)),
                Err(problem) => Err(problem.to_string()),
            };
        }
        // Scripts of a container name their repository by the container's path.
        if let Some(name) = Path::new(path).is_absolute().then(|| self.elsewhere(Path::new(path))).flatten() {
            return read(&name, LIMIT).map(|text| (name, text)).map_err(|problem| problem.to_string());
        }
        Err(if is_outside {
            "it is outside the script's folder and repository".to_owned()
        } else {
            "it is not in the script's folder or repository".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_before_arguments() {
        let given = Given::of_text("TP=2 NAME='a b' dsw 7B x=1").expect("sound");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(given.variables, [pair("TP", "2"), pair("NAME", "a b")]);
        assert_eq!(given.arguments, Some(["dsw", "7B", "x=1"].map(str::to_owned).to_vec()));
        assert_eq!(Given::of_text("").expect("sound"), Given::default());
        assert!(Given::of_text("'open").is_err());
    }
}
