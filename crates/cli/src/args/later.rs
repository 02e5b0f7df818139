//! Arguments of a command that are described when that command is typed.
//!
//! Responsible for: a start of the program without the cost of flags of unused commands: a run has about
//! a hundred flags, and twenty commands accept them. Does not change the arguments of a command.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::cell::RefCell;
use std::ops::Deref;

thread_local! {
    /// Words of the command line that is parsed on this thread; `None` to describe every command.
    static TYPED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Calls `act` while only commands with names among `words` are described in full.
pub(super) fn for_words<T>(words: Vec<String>, act: impl FnOnce() -> T) -> T {
    TYPED.set(Some(words));
    let done = act();
    TYPED.set(None);
    done
}

fn is_wanted(command: &Command) -> bool {
    TYPED.with_borrow(|typed| {
        typed.as_ref().is_none_or(|words| words.iter().any(|word| word == command.get_name()))
    })
}

/// The arguments `T` of one command, on the heap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Later<T>(Box<T>);

impl<T> Deref for Later<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        if is_wanted(&command) { T::augment_args(command) } else { command }
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }

    fn group_id() -> Option<clap::Id> {
        T::group_id()
    }
}

impl<T: FromArgMatches> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(|arguments| Self(Box::new(arguments)))
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches_mut(matches).map(|arguments| Self(Box::new(arguments)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Later<T> {
    fn deserialize<D: serde::Deserializer<'de>>(arguments: D) -> Result<Self, D::Error> {
        T::deserialize(arguments).map(|arguments| Self(Box::new(arguments)))
    }
}

#[cfg(test)]
mod tests {
    use crate::args::Arguments;
    use clap::CommandFactory as _;

    #[test]
    fn only_what_is_typed_is_described_and_then_as_ever() {
        let typed = ["railwright", "network", "cost"].map(str::to_owned).to_vec();
        let some = super::for_words(typed, Arguments::command);
        let all = Arguments::command();
        let count = |command: &clap::Command, path: &[&str]| {
            let found = path.iter().try_fold(command, |command, name| command.find_subcommand(name));
            found.map_or(0, |command| command.get_arguments().count())
        };
        assert_eq!(count(&some, &["network", "cost"]), count(&all, &["network", "cost"]));
        assert!(count(&all, &["network", "cost"]) > 5 && count(&all, &["estimate"]) > 50);
        assert_eq!((count(&some, &["estimate"]), count(&some, &["network", "show"])), (0, 0));
    }
}
