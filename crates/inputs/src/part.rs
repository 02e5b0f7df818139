//! One configuration of a Python file with several: `recipes.py:llama3_70b`.
//!
//! Responsible for: splitting the name from the path, and passing it on as the comment that the reader of
//! launch files supports. Excludes paths of other kinds, in which a colon is part of the name.

use std::path::Path;

/// The file and the name of a configuration in it.
pub(crate) fn split(path: &str) -> Option<(&str, &str)> {
    let (file, name) = path.rsplit_once(':')?;
    let is_python = Path::new(file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("py"));
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && is_python).then_some((file, name))
}

/// The text, with the choice in its last line.
pub(crate) fn choose(text: &str, name: &str) -> String {
    format!("{text}\n# railwright: recipe = \"{name}\"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_python_files_have_parts() {
        assert_eq!(split("a/b.py:llama3_8b"), Some(("a/b.py", "llama3_8b")));
        assert_eq!(split("a/b.sh:llama3_8b"), None);
        assert_eq!(split("a/b.py"), None);
        assert_eq!(split("a/b.py:3"), None);
    }
}
