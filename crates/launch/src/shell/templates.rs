//! Files that a script makes of a template with `envsubst`.
//!
//! Responsible for: the template of such a file, and its text with the values that the command inherits: of
//! exported variables, at its time. A variable without a value keeps its name, so a reader reports it.

use super::Script;
use super::edits::with_values;
use super::run::{MOST, Walker};
use super::script::Substitution;
use super::values::{Piece, Value, known};
use std::rc::Rc;

/// The variables that an argument such as `'$TP ${PP}'` names.
fn named(argument: &str) -> Vec<String> {
    let names = argument.split('$').skip(1).map(|part| {
        let part = part.trim_start_matches('{');
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(part.len());
        part[..end].to_owned()
    });
    names.filter(|name| !name.is_empty()).collect()
}

impl Substitution {
    /// The value that it puts in the place of a variable.
    fn value(&self, name: &str) -> Option<&String> {
        let is_named = self.only.is_empty() || self.only.iter().any(|own| own == name);
        self.values.get(name).filter(|_| is_named)
    }

    /// Tests whether a template may use a variable of the script.
    pub(crate) fn passes(&self, name: &str) -> bool {
        self.value(name).is_some()
    }
}

impl Walker<'_> {
    /// Keeps what a command `envsubst` inherits now.
    pub(super) fn note_substitution(&mut self, words: &[Vec<Piece>], line: usize) {
        let text = |name: &String| match self.variables.get(name).map(Rc::as_ref)? {
            Value::Text(pieces) => Some((name.clone(), known(pieces)?)),
            _ => None,
        };
        let values = self.variables.exported.iter().filter_map(text).collect();
        let only =
            words.iter().skip(1).filter_map(|word| known(word)).flat_map(|word| named(&word)).collect();
        if self.script.substitutions.len() < MOST {
            self.script.substitutions.push(Substitution { line, values, only });
        }
    }
}

/// The template of a file that a script makes, with the command that makes it: `envsubst < TEMPLATE > FILE`,
/// `cat TEMPLATE | envsubst > FILE`.
pub(crate) fn template(text: &str, script: &Script, made: &str) -> Option<(String, Substitution)> {
    let name = |word: &&str| with_values(word.trim_matches(['"', '\'']), |name| script.value(name));
    text.lines().zip(1..).filter(|(line, _)| line.contains("envsubst")).find_map(|(line, number)| {
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
        let template = after("<").or_else(of_pipe).filter(|_| is_same)?;
        let command = script.substitutions.iter().find(|command| command.line == number).cloned();
        Some((template, command.unwrap_or_default()))
    })
}

/// A text with the values of a command in place of `$NAME` and `${NAME}`.
pub(crate) fn filled(text: &str, by: &Substitution) -> String {
    with_values(text, |name| by.value(name).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::read_alone;

    fn of(text: &str, made: &str) -> Option<String> {
        template(text, &read_alone(text), made).map(|(template, _)| template)
    }

    #[test]
    fn a_file_has_the_template_that_the_script_names() {
        let text = "OUT=run.yaml\nexport TP=2\nenvsubst '$TP' <conf/run.tmpl >$OUT # a remark\n";
        assert_eq!(of(text, "./run.yaml").as_deref(), Some("conf/run.tmpl"));
        assert_eq!(of(text, "other.yaml"), None);
        let piped = "cat a.tmpl | envsubst > b.yaml\n";
        assert_eq!(of(piped, "b.yaml").as_deref(), Some("a.tmpl"));
        assert_eq!(of("envsubst < a", "a"), None);
    }

    /// The command inherits exported variables alone, with the values of its time.
    #[test]
    fn values_are_those_that_the_command_inherits() {
        let text =
            "export TP=2\nPP=4\nexport NAME='a b' DP=1\nDP=8\nCP=2 envsubst < a > b\nexport TP=8 EP=8\n";
        let (_, by) = template(text, &read_alone(text), "b").expect("made");
        let filled = |text: &str| filled(text, &by);
        assert_eq!(filled("$TP ${TP}x $PP $EP $CP ${TP:-1} $ ${"), "2 2x $PP $EP 2 ${TP:-1} $ ${");
        assert_eq!(filled("${NAME} $DP"), "a b 8");
        assert!(by.passes("TP") && !by.passes("EP"));
        let text = "export TP=2 PP=4\nenvsubst '${TP}' < a > b\n";
        let (_, by) = template(text, &read_alone(text), "b").expect("made");
        assert_eq!(super::filled("$TP $PP", &by), "2 $PP");
    }
}
