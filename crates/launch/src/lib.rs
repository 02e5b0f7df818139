//! Launch files of training frameworks, both ways: text in, a run specification out, and back.
//!
//! Responsible for: one reader and one writer per framework behind one trait each, telling the formats apart by content, and
//! saying where every value came from, what was not understood and what cannot be expressed. Refuses to open files, to run
//! scripts, and to guess silently: what a file does not say stays open in the specification.
//!
//! Start at [`Launch`], which every [`Reader`] makes of a text, and [`Written`], which every [`Writer`] makes of a run.

pub mod accelerate;
mod annotation;
mod compare;
pub mod deepspeed;
mod detect;
mod document;
mod draft;
mod fields;
mod format;
mod launch;
mod lost;
pub mod maxtext;
pub mod megatron;
mod missing;
pub mod nanotron;
pub mod nemo;
mod reader;
mod shell;
pub mod torchtitan;
mod writer;

pub use compare::{Comparison, Predicted};
pub use detect::{Sighting, detect, read};
pub use draft::Draft;
pub use format::Format;
pub use launch::{Launch, Measured, Origin, Remark, RemarkKind};
pub use reader::{Evidence, Reader, Strength, readers};
pub use writer::{Lost, Writer, Written, WrittenFile, differences, writers};

#[cfg(test)]
mod testing;
