//! The local server behind `railwright serve`: the page, and questions over HTTP.
//!
//! Responsible for: who may ask (this machine, with the token, from the page itself), how much at once, how long, in what form. Refuses
//! to know any command: whoever serves brings a [`Desk`] that answers, and the bytes of its answers are handed on untouched.

mod app;
mod assets;
mod connections;
mod desk;
mod guard;
mod jobs;
mod lanes;
mod questions;
mod replies;
mod settings;
mod token;
mod uploads;
mod visitors;
mod watch;

pub use assets::page_file;
pub use connections::{Server, Stopper};
pub use desk::{Desk, Outcome, Question, Reply};
pub use settings::Settings;
pub use token::token_from_file;
pub use watch::{Progress, Watch};
