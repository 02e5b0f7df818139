//! Holds the places of the readers and the writer until they are there.

use crate::{Evidence, Format, Launch, Reader, Writer, Written};
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;

macro_rules! stub {
    ($name:ident, $format:ident) => {
        /// See the module.
        #[derive(Debug)]
        pub struct $name;

        impl Reader for $name {
            fn format(&self) -> Format {
                Format::$format
            }

            fn recognise(&self, _text: &str) -> Option<Evidence> {
                None
            }

            fn read(&self, _text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
                Err(vec![Problem::new("not read yet").in_file(file)])
            }
        }
    };
}

stub!(LogReader, MegatronLog);
stub!(ScriptReader, MegatronScript);
stub!(CommandReader, MegatronCommand);
stub!(YamlReader, MegatronYaml);

/// See the module.
#[derive(Debug)]
pub struct FlagsWriter;

impl Writer for FlagsWriter {
    fn format(&self) -> Format {
        Format::MegatronScript
    }

    fn name(&self) -> &'static str {
        "megatron"
    }

    fn write(&self, _run: &Run) -> Written {
        Written { files: Vec::new(), not_expressed: Vec::new() }
    }
}
