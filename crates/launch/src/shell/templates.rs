//! Files that a script makes of a template with `envsubst`.
//!
//! Responsible for: the template of such a file, and its text with the values of variables that the script
//! sets. A variable without a value keeps its name, so a reader reports it.

use super::Script;

/// The template of a file that a script makes: `envsubst < TEMPLATE > FILE`, `cat TEMPLATE | envsubst >
/// FILE`.
pub(crate) fn template(text: &str, script: &Script, made: &str) -> Option<String> {
    let name = |word: &&str| filled(word.trim_matches(['"', '\'']), script);
    text.lines().filter(|line| line.contains("envsubst")).find_map(|line| {
        let spaced = line.replace('<', " < ").replace('>', " > ").replace('|', " | ");
        let words: Vec<&str> = spaced.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
        let program = words.iter().position(|word| *word == "envsubst")?;
        let after = |sign: &str| {
            let at = words.iter().position(|word| *word == sign).filter(|at| *at > program)?;
            words.get(at + 1).map(name)
        };
        let of_pipe = || match words.get(..program)? {
            ["cat", file, "|"] => Some(name(file)),
            _ => None,
        };
        let target = after(">")?;
        let is_same = target.trim_start_matches("./") == made.trim_start_matches("./");
        after("<").or_else(of_pipe).filter(|_| is_same)
    })
}

/// A text with the values of the script's variables in place of `$NAME` and `${NAME}`.
pub(crate) fn filled(text: &str, script: &Script) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let is_braced = behind.starts_with('{');
        let start = usize::from(is_braced);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let inner = behind.get(start..).unwrap_or_default();
        let length = inner.find(|c: char| !is_name(c)).unwrap_or(inner.len());
        let name = inner.get(..length).unwrap_or_default();
        let is_closed = !is_braced || inner.get(length..).is_some_and(|end| end.starts_with('}'));
        let end = start + length + usize::from(is_braced);
        if let Some(value) = value(name, script).filter(|_| is_closed) {
            out.push_str(&value);
            rest = behind.get(end..).unwrap_or_default();
        } else {
            out.push('$');
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

/// The value of a variable that the script sets to known words.
fn value(name: &str, script: &Script) -> Option<String> {
    let words = script.variables.get(name)?;
    let is_known = words.iter().all(|word| word.unknown.is_empty());
    is_known.then(|| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::read_alone;

    #[test]
    fn a_file_has_the_template_that_the_script_names() {
        let text = "OUT=run.yaml\nexport TP=2\nenvsubst '$TP' <conf/run.tmpl >$OUT # a remark\n";
        let script = read_alone(text);
        assert_eq!(template(text, &script, "./run.yaml").as_deref(), Some("conf/run.tmpl"));
        assert_eq!(template(text, &script, "other.yaml"), None);
        let piped = "cat a.tmpl | envsubst > b.yaml\n";
        assert_eq!(template(piped, &read_alone(piped), "b.yaml").as_deref(), Some("a.tmpl"));
        assert_eq!(template("envsubst < a", &script, "a"), None);
    }

    #[test]
    fn variables_without_a_value_keep_their_names() {
        let script = read_alone("export TP=2 NAME='a b'\n");
        assert_eq!(
            filled("tp: $TP, ${TP}x; $PP ${PP} ${TP:-1} $ ${", &script),
            "tp: 2, 2x; $PP ${PP} ${TP:-1} $ ${"
        );
        assert_eq!(filled("${NAME}", &script), "a b");
    }
}
