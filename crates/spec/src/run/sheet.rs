//! One section from a file and from flags, with the place of every setting.
//!
//! Responsible for: the strict reader for files other than run files (a network's design), with nearest names
//! and places of problems, also of those found later. Independent of the meaning of a section.

use super::section::Section;
use super::text::{self, Keys, from_words};
use crate::human::shorten;
use crate::problem::{Place, Problem};
use std::collections::BTreeMap;

/// A section with the places where its keys were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet<S> {
    /// Specified values.
    pub spec: S,
    pub(super) places: BTreeMap<String, Place>,
}

impl<S: Section + Default> Sheet<S> {
    /// Reads a file with the keys of the section at its top level. Returns the first problem in the text.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problem> {
        let mut sheet = Self { spec: S::default(), places: BTreeMap::new() };
        for entry in text::read(text, file, S::SECTION, &Keys(vec![S::KEYS]))? {
            let here = Problem::new("").in_file(file).at_key(&entry.path).at_offset(text, entry.span.start);
            let place = here.place.map_or_else(Place::default, |place| *place);
            let name = entry.path.split_once('.').map_or(entry.path.as_str(), |(_, name)| name);
            if let Some(Err(problem)) = sheet.spec.set(name, &entry.value) {
                return Err(Problem { place: Some(Box::new(place)), ..problem });
            }
            sheet.places.insert(entry.path, place);
        }
        Ok(sheet)
    }

    /// Sets one key from a flag. `name` is the key inside the section, `flag` the name for messages.
    pub fn set_flag(&mut self, flag: &str, name: &str, word: &str) -> Result<(), Problem> {
        let path = format!("{}.{name}", S::SECTION);
        let Some(key) = S::KEYS.iter().find(|key| key.name == name) else {
            return Err(Keys(vec![S::KEYS]).unknown(&path).in_file(flag));
        };
        let text = Some(shorten(&format!("{flag} {word}")));
        let place = Place { file: flag.to_owned(), text, ..Place::default() };
        let done = if word.trim().is_empty() {
            Err(Problem::new(format!("no value, expected {}", key.kind.expects())))
        } else {
            self.spec.set(name, &from_words(word.trim(), key.kind)).unwrap_or(Ok(()))
        };
        done.map_err(|problem| Problem { place: Some(Box::new(place.clone())), ..problem })?;
        self.places.insert(path, place);
        Ok(())
    }

    /// Adds the place of the key to a problem with a key.
    pub fn placed(&self, mut problem: Problem) -> Problem {
        if let Some(place) = problem.place.as_mut()
            && place.file.is_empty()
            && let Some(known) = place.key.as_deref().and_then(|key| self.places.get(key))
        {
            **place = known.clone();
        }
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterSpec;

    #[test]
    fn a_node_without_devices_is_not_a_mistake_of_the_job() {
        let text = "preset = \"dgx-h100\"\ngpus_per_node = 0\n";
        let sheet = Sheet::<ClusterSpec>::parse(text, "c.toml").expect("read");
        let problem = sheet.resolve().expect_err("no devices").to_string();
        assert_eq!(problem, "c.toml:2:17 `cluster.devices_per_node`: the number of devices is 0");
    }

    #[test]
    fn a_mistake_is_reported_at_its_place_even_if_found_later() {
        let text = "preset = \"dgx-h100\"\ndevices = 12\n";
        let mut sheet = Sheet::<ClusterSpec>::parse(text, "pod.toml").expect("valid");
        assert_eq!(sheet.spec.devices, Some(12));
        let later = sheet.placed(Problem::new("not a multiple of 8").at_key("cluster.devices"));
        assert_eq!(later.to_string(), "pod.toml:2:11 `cluster.devices`: not a multiple of 8");
        sheet.set_flag("--gpus", "devices", "16").expect("a count");
        let later = sheet.placed(Problem::new("too few").at_key("cluster.devices"));
        assert_eq!(later.to_string(), "--gpus: too few");
        let wrong = sheet.set_flag("--gpus", "devices", "many").expect_err("no count");
        assert_eq!(wrong.to_string(), "--gpus: expected a whole number, 0 or more, found the text `many`");
        let unknown = Sheet::<ClusterSpec>::parse("device = 8", "pod.toml").expect_err("unknown");
        assert_eq!(unknown.hint.as_deref(), Some("did you mean `cluster.devices`?"));
    }
}
