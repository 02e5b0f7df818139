//! Reads and writes launch files of training frameworks: text to a run specification, and back.
//!
//! Responsible for: one reader and one writer per framework behind one trait each, format detection by
//! content, the origin of every value, and reports of values that are not understood or not expressible.
//! Opens no files, runs no scripts, and never guesses silently: settings missing in a file are open in the
//! specification.
//!
//! Start at [`Launch`], the result of every [`Reader`], and [`Written`], the result of every [`Writer`].

pub mod accelerate;
mod adapter;
mod annotation;
mod compare;
mod context;
pub mod deepspeed;
mod detect;
mod document;
mod draft;
mod edit;
mod fields;
mod foreign;
mod format;
pub mod gptneox;
mod hub;
mod launch;
mod lost;
pub mod maxtext;
pub mod megatron;
mod missing;
pub mod nanotron;
pub mod nemo;
pub mod primus;
mod python;
mod reader;
pub mod rl;
mod shell;
pub mod torchtitan;
pub mod torchtune;
pub mod trainers;
mod typed;
mod writer;

pub use compare::{Comparison, Predicted};
pub use context::{Context, Files};
pub use detect::{Sighting, detect, read, read_with};
pub use draft::Draft;
pub use edit::{Change, Edited, Refused, edit, unified, writer_of};
pub use format::Format;
pub use launch::{Launch, Measured, Open, Origin, Remark, RemarkKind};
pub use reader::{Evidence, Reader, Strength, readers};
pub use typed::{Typed, typed, words_of};
pub use writer::{Lost, Writer, Written, WrittenFile, differences, expressible, framework_of, writers};

#[cfg(test)]
mod testing;
