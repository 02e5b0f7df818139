//! Launch files of training frameworks, both ways: text in, a run specification out, and back.
//!
//! Responsible for: one reader and one writer per framework behind one trait each, telling the formats apart by content, and
//! saying where every value came from, what was not understood and what cannot be expressed. Refuses to open files, to run
//! scripts, and to guess silently: what a file does not say stays open in the specification.
