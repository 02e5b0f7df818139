//! Limits of the server, which requests cannot change.

use std::time::Duration;

/// Limits of number, size and time.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Port; 0 for any free one.
    pub port: u16,
    /// Token of the URL; `None`: a new one, so that old links end with the server.
    pub token: Option<String>,
    /// Maximum unauthenticated connections; another one evicts the oldest.
    pub strangers: usize,
    /// Maximum authenticated connections.
    pub guests: usize,
    /// Maximum concurrent quick questions, which use processors.
    pub questions: usize,
    /// Maximum concurrent long questions.
    pub long_questions: usize,
    /// Maximum abandoned questions of each kind whose work continues.
    pub given_up: usize,
    /// Maximum waiting questions of each kind; more are rejected with a retry status.
    pub waiting: usize,
    /// Maximum concurrent jobs.
    pub jobs: usize,
    /// Maximum finished jobs whose result is kept.
    pub remembered: usize,
    /// Maximum bytes of a question.
    pub question_bytes: usize,
    /// Maximum bytes of all waiting and running questions.
    pub all_question_bytes: usize,
    /// Maximum bytes of an uploaded file.
    pub upload_bytes: u64,
    /// Maximum bytes of all uploaded files together.
    pub all_upload_bytes: u64,
    /// Time limit from connecting to authentication.
    pub introduction: Duration,
    /// Time limit of an authenticated connection between requests, and for the head of a request.
    pub idle: Duration,
    /// Time limit without data inside a body.
    pub patience: Duration,
    /// Time limit of a question; longer ones are jobs.
    pub longest_question: Duration,
    /// Time for open requests to finish when the server stops.
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
            // Twice the processors, because some questions only wait for the disk.
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
