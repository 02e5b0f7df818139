//! Here-documents that a script writes into files: `cat <<EOT > config.yaml`.
//!
//! Responsible for: their texts with the file and the place, and the script without them. Expands nothing in
//! them.

/// A text inside a script that becomes a file.
#[derive(Debug, PartialEq)]
pub(crate) struct Written {
    /// The file, as the script names it; empty if the text is the input of a program.
    pub(crate) path: String,
    /// The text.
    pub(crate) text: String,
    /// The line of the script before the text.
    pub(crate) before: usize,
}

/// The word that ends the here-document of a line; `None` for lines without one, and for YAML's `<<:
/// *anchor`.
fn end_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start().trim_start_matches(['"', '\'', '\\']);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let starts = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    rest.get(..end).filter(|_| starts)
}

/// The script with empty lines in place of its here-documents, and their texts.
pub(crate) fn documents(text: &str) -> (String, Vec<Written>) {
    if !text.contains("<<") {
        return (text.to_owned(), Vec::new());
    }
    let (mut outer, mut found) = (String::new(), Vec::new());
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        outer.push_str(line);
        outer.push('\n');
        let Some(end) = end_of(line) else { continue };
        let target = line.rsplit_once('>').and_then(|(_, target)| target.split_whitespace().next());
        let mut body = String::new();
        for (_, line) in lines.by_ref() {
            outer.push('\n');
            if line.trim() == end {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        let path = target.unwrap_or_default().trim_matches(['"', '\'']).to_owned();
        found.push(Written { path, text: body, before: at + 1 });
    }
    (outer, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_files_and_lines_keep_their_numbers() {
        let (outer, found) =
            documents("a=1\ncat <<-'EOT' > \"out/c.yaml\"\nx: $a\n  EOT\ntrain out/c.yaml\n");
        assert_eq!(outer, "a=1\ncat <<-'EOT' > \"out/c.yaml\"\n\n\ntrain out/c.yaml\n");
        assert_eq!(found, [Written { path: "out/c.yaml".to_owned(), text: "x: $a\n".to_owned(), before: 2 }]);
        let yaml = "a: &b\n  c: 1\nd:\n  <<: *b\n  e: 2\n";
        assert_eq!(documents(yaml), (yaml.to_owned(), Vec::new()));
        // Without its end, the rest of the script is the text.
        assert_eq!(documents("cat > f << X\ny\n").1[0].text, "y\n");
    }
}
