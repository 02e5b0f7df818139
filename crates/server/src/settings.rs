//! The bounds of the server. Refuses to hold anything that a request could change.

use std::time::Duration;

/// How much is served, and how long anything may take.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
    /// Questions that are worked on at once; they are work for processors.
    pub questions: usize,
    /// Questions that were given up and whose work goes on all the same, at most.
    pub given_up: usize,
    /// Questions that may wait for their turn; more are told to come back.
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
    /// How long a client may take to send the head of a request, or be silent inside a body.
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
            connections: 512,
            // Some only wait for the disk.
            questions: (2 * processors).max(8),
            given_up: 32,
            waiting: 1024,
            jobs: 4,
            remembered: 16,
            question_bytes: 16 << 20,
            all_question_bytes: 128 << 20,
            upload_bytes: 512 << 20,
            all_upload_bytes: 4 << 30,
            patience: Duration::from_secs(30),
            longest_question: Duration::from_secs(120),
            grace: Duration::from_secs(3),
        }
    }
}
