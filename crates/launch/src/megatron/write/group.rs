//! A group of flags: the array's name and its flags.

/// A group of flags: the array's name and its flags.
pub(crate) struct Group {
    pub(super) name: &'static str,
    pub(super) flags: Vec<String>,
}

impl Group {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, flags: Vec::new() }
    }

    pub(super) fn flag(&mut self, flag: &str) {
        self.flags.push(flag.to_owned());
    }

    pub(super) fn value(&mut self, flag: &str, value: impl std::fmt::Display) {
        self.flags.push(format!("{flag} {value}"));
    }

    pub(super) fn flag_if(&mut self, condition: bool, flag: &str) {
        if condition {
            self.flag(flag);
        }
    }
}
