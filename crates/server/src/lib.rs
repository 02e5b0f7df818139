//! The local server of `railwright serve`: the web UI and the HTTP API.
//!
//! Responsible for: access control (localhost, token, same origin), limits, timeouts and formats. Independent
//! of the commands: the caller provides a [`Backend`], and the bytes of its answers are sent unchanged.
//!
//! ```
//! use railwright_server::Question;
//!
//! // The body of a request, and the command in its address.
//! let question = Question::read(Some("network/cost"), br#"{"arguments": {"gpus": 1024}}"#)?;
//! assert_eq!(question.command, ["network", "cost"]);
//! assert_eq!(question.arguments["gpus"], 1024);
//! # Ok::<(), railwright_spec::problem::Problem>(())
//! ```

#[cfg(not(target_family = "wasm"))]
mod app;
mod asked;
#[cfg(not(target_family = "wasm"))]
mod assets;
#[cfg(not(target_family = "wasm"))]
mod clients;
#[cfg(not(target_family = "wasm"))]
mod connections;
mod desk;
#[cfg(not(target_family = "wasm"))]
mod guard;
mod interface;
#[cfg(not(target_family = "wasm"))]
mod job_table;
#[cfg(not(target_family = "wasm"))]
mod jobs;
mod kept;
#[cfg(not(target_family = "wasm"))]
mod pools;
#[cfg(not(target_family = "wasm"))]
mod questions;
#[cfg(not(target_family = "wasm"))]
mod replies;
#[cfg(not(target_family = "wasm"))]
mod routes;
#[cfg(not(target_family = "wasm"))]
mod settings;
#[cfg(not(target_family = "wasm"))]
mod token;
#[cfg(not(target_family = "wasm"))]
mod uploads;
mod watch;

#[cfg(not(target_family = "wasm"))]
pub use assets::page_file;
#[cfg(not(target_family = "wasm"))]
pub use connections::{Server, Stopper};
pub use desk::{Backend, Outcome, Question, Reply};
pub use interface::{Asked, Caller, Interface, Kinds, Program, VERSION, media_of};
pub use kept::Kept;
#[cfg(not(target_family = "wasm"))]
pub use settings::Settings;
#[cfg(not(target_family = "wasm"))]
pub use token::token_from_file;
pub use watch::{Progress, Watch};
