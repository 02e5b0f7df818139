//! Launch files with files in memory, for draws of public files.

use railwright_launch::{Context, Files, Launch, read_with};
use railwright_spec::run::Value;

/// Files in the folder of the launch file, by the end of their path.
pub(crate) struct Folder(pub(crate) &'static [(&'static str, &'static str)]);

impl Files for Folder {
    fn open(&self, path: &str, _: &str) -> Result<(String, String), String> {
        let found = self.0.iter().find(|(name, _)| path.ends_with(name));
        found.map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).ok_or_else(|| "absent".to_owned())
    }
}

/// Reads a launch file in a folder with these files. Panics if it is refused.
pub(crate) fn read(text: &str, file: &str, files: &'static [(&'static str, &'static str)]) -> Launch {
    let files = Folder(files);
    let context = Context { files: Some(&files), ..Context::default() };
    read_with(text, file, &context).expect("a launch file").expect("no problems")
}

/// The value of a key in TOML, or `open`.
pub(crate) fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
}

/// Checks values of keys, in TOML or `open`.
pub(crate) fn check(launch: &Launch, expected: &[(&str, &str)]) {
    for (key, expected) in expected {
        assert_eq!(&value(launch, key), expected, "{key}: {:?}", launch.remarks);
    }
}
