//! Arguments by name as typed arguments: nested structures, lists, choices, and values that are refused.

use railwright_commands::{Arguments, typed};
use serde::Deserialize;

#[derive(Debug, Deserialize, PartialEq)]
enum Command {
    Rest,
    RailOnly(Both),
}

#[derive(Debug, Deserialize, PartialEq)]
struct Both {
    run: Run,
    by: Option<Key>,
    rank: Vec<u32>,
    lines: bool,
}

/// A field has the name of the structure that contains it.
#[derive(Debug, Deserialize, PartialEq)]
struct Run {
    run: Option<String>,
    years: f64,
}

#[derive(Debug, Deserialize, PartialEq)]
enum Key {
    PerLayer,
}

fn arguments(given: &[(&str, &[&str])]) -> Arguments {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    given.iter().map(|(name, of)| ((*name).to_owned(), (format!("--{name} <X>"), texts(of)))).collect()
}

#[test]
fn a_command_has_the_arguments_of_all_its_structures() {
    let words = ["rail-only".to_owned()];
    let given = [("run", &["a.toml"][..]), ("years", &["4"]), ("rank", &["0", "7"]), ("lines", &["true"])];
    let all = arguments(&[&given[..], &[("by", &["per-layer"])]].concat());
    let run = Run { run: Some("a.toml".to_owned()), years: 4.0 };
    let both = Both { run, by: Some(Key::PerLayer), rank: vec![0, 7], lines: true };
    assert_eq!(typed(&words, &all), Ok(Command::RailOnly(both)));
    let few = arguments(&[("years", &["1e1"]), ("lines", &["false"])]);
    let run = Run { run: None, years: 10.0 };
    let both = Both { run, by: None, rank: Vec::new(), lines: false };
    assert_eq!(typed(&words, &few), Ok(Command::RailOnly(both)));
}

#[test]
fn a_wrong_value_is_named_with_its_argument() {
    let words = ["rail-only".to_owned()];
    for (name, value, expected) in [
        ("rank", "-1", "invalid value '-1' for '--rank <X>'"),
        ("years", "four", "invalid value 'four' for '--years <X>'"),
        ("by", "rank", "there is no `rank`"),
    ] {
        let mut all = arguments(&[("years", &["4"]), ("lines", &["true"]), (name, &[value])]);
        all.entry(name.to_owned()).and_modify(|(_, texts)| *texts = vec![value.to_owned()]);
        let problem = typed::<Command>(&words, &all).unwrap_err();
        assert!(problem.message.contains(expected), "{problem}");
    }
    assert!(typed::<Command>(&["none".to_owned()], &arguments(&[])).is_err());
}
