//! A search's answer as data: what its JSON is, field by field.

use super::nothing::{Nothing, Remedied};
use super::why_not::Answer;
use super::{Impossible, Searched, Shown};
use railwright_tuner::search::Miss;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// What pruning left out depends on which thread was first; only what does not is data.
#[derive(Serialize)]
struct Counted {
    enumerated: u64,
    invalid: u64,
}

impl Serialize for Searched {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counted = Counted { enumerated: self.counters.enumerated, invalid: self.counters.invalid };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("complete", &self.is_complete)?;
        map.serialize_entry("objective", &self.objective)?;
        map.serialize_entry("pareto", &self.pareto)?;
        map.serialize_entry("fit_probability", &self.fit_probability)?;
        map.serialize_entry("counters", &counted)?;
        map.serialize_entry("found", &self.found)?;
        map.serialize_entry("not_expressed_in_megatron", &self.not_expressed)?;
        map.serialize_entry("by_family", &self.is_by_family)?;
        map.serialize_entry("fastest", &self.fastest)?;
        map.serialize_entry("own", &self.own)?;
        map.serialize_entry("freed", &self.freed)?;
        map.serialize_entry("candidates", &self.shown)?;
        map.serialize_entry("nothing_fits", &self.nothing)?;
        map.serialize_entry("impossible", &self.impossible)?;
        map.serialize_entry("why_not", &self.why_not)?;
        map.serialize_entry("chosen", &self.chosen)?;
        map.serialize_entry("doubts", &self.doubts)?;
        map.end()
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("ranked", &self.ranked)?;
        map.serialize_entry("cluster", &self.cluster)?;
        map.serialize_entry("setting", &self.setting)?;
        map.serialize_entry("layout", &self.layout)?;
        map.serialize_entry("command", &self.command)?;
        map.serialize_entry("run_file", &self.run_file)?;
        map.end()
    }
}

impl Serialize for Impossible {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("cluster", &self.cluster)?;
        map.serialize_entry("devices", &self.devices)?;
        map.serialize_entry("reason", &self.reason)?;
        map.end()
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("named", &self.text)?;
        map.serialize_entry("layout", &self.layout)?;
        map.serialize_entry("why_not", &self.verdict)?;
        map.serialize_entry("outside", &self.outside)?;
        map.end()
    }
}

#[derive(Serialize)]
struct Missed<'a> {
    miss: &'a Miss,
    layout: &'a str,
}

impl Serialize for Nothing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        let misses: Vec<Missed<'_>> =
            self.misses.iter().map(|(miss, layout)| Missed { miss, layout }).collect();
        map.serialize_entry("nearest_misses", &misses)?;
        map.serialize_entry("remedies_tried", &self.tried)?;
        map.serialize_entry("complete", &!self.is_stopped)?;
        map.serialize_entry("remedies", &self.remedies)?;
        map.end()
    }
}

impl Serialize for Remedied {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("change", &self.change)?;
        map.serialize_entry("devices", &self.devices)?;
        map.serialize_entry("step_time", &self.step_time)?;
        map.serialize_entry("layout", &self.layout)?;
        map.end()
    }
}
