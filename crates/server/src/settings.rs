//! The bounds of the server. Refuses to hold anything that a request could change.

use std::time::Duration;

/// How much is served, and how long anything may take.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The port; 0 for any that is free.
    pub port: u16,
    /// The token of the address; without one a fresh one is made, and old links end with the server.
    pub token: Option<String>,
    /// Connections that have not shown the token, at most: when another comes, the oldest goes.
    pub strangers: usize,
    /// Connections that have shown it, at most.
    pub guests: usize,
    /// Quick questions that are worked on at once; they are work for processors.
    pub questions: usize,
    /// Maximum concurrent long questions.
    pub long_questions: usize,
    /// Questions of each kind that were given up and whose work goes on all the same, at most.
    pub given_up: usize,
    /// Maximum waiting questions of each kind; more are rejected with a retry status.
    pub waiting: usize,
    /// Jobs that run at once.
    pub jobs: usize,
    /// Jobs whose ends are remembered.
    pub remembered: usize,
    /// Bytes of a question, at most.
    pub question_bytes: usize,
    /// Bytes of all questions that wait or are worked on, at most.
    pub all_question_bytes: usize,
    /// Bytes of an uploaded file, at most.
    pub upload_bytes: u64,
    /// Bytes of all uploaded files together, at most.
    pub all_upload_bytes: u64,
    /// How long a client has from connecting to show the token.
    pub introduction: Duration,
    /// How long a connection that has shown the token may be silent between requests, or take for the head of one.
    pub idle: Duration,
    /// How long a client may be silent inside a body.
    pub patience: Duration,
    /// How long a question may take; longer ones are jobs.
    pub longest_question: Duration,
    /// How long requests are given to end when the server is stopped.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            port: 0,
            token: None,
            strangers: 128,
            guests: 384,
            // Some only wait for the disk.
            questions: (2 * processors).max(8),
            long_questions: processors.max(4),
            given_up: 32,
            waiting: 1024,
            jobs: 4,
            remembered: 16,
            question_bytes: 16 << 20,
            all_question_bytes: 128 << 20,
            upload_bytes: 512 << 20,
            all_upload_bytes: 4 << 30,
            introduction: Duration::from_secs(3),
            idle: Duration::from_secs(60),
            patience: Duration::from_secs(30),
            longest_question: Duration::from_secs(120),
            grace: Duration::from_secs(3),
        }
    }
}
