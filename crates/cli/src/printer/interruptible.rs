//! Text written for a waiting client.
//!
//! Responsible for: stopping large output soon after the client disconnects. Writes to memory only.

use super::Printer;
use railwright_spec::problem::Problem;
use std::{fmt, io};

/// Bytes between two checks for cancellation: a few milliseconds of writing.
const AT_ONCE: usize = 1 << 20;

/// Text written so far.
pub(crate) struct Interruptible<'a> {
    text: Vec<u8>,
    /// Length of the text at the next check for cancellation.
    ask_at: usize,
    printer: &'a Printer,
}

impl Interruptible<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.text.extend_from_slice(bytes);
        if self.text.len() >= self.ask_at {
            self.ask_at = self.text.len() + AT_ONCE;
            self.printer.wanted()?;
        }
        Ok(())
    }
}

impl io::Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Write for Interruptible<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.take(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

impl Printer {
    /// The text that `write` writes, or the reason why it ended early.
    pub(crate) fn written<E>(
        &self,
        write: impl FnOnce(&mut Interruptible<'_>) -> Result<(), E>,
    ) -> Result<String, Problem> {
        let mut interruptible = Interruptible { text: Vec::new(), ask_at: AT_ONCE, printer: self };
        let ended = write(&mut interruptible);
        self.wanted()?;
        let broken = || Problem::new("the output could not be written");
        ended.map_err(|_| broken())?;
        String::from_utf8(interruptible.text).map_err(|_| broken())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printer::Listener;
    use railwright_server::Watch;
    use std::io::Write as _;
    use std::sync::Arc;

    #[test]
    fn a_writer_ends_soon_after_the_reader_leaves() {
        let watch = Arc::new(Watch::default());
        let printer = Printer::with_listener(Listener::new(Arc::clone(&watch)));
        let line = [b'x'; 1000];
        let whole = printer.written(|out| (0..5000).try_for_each(|_| out.write_all(&line)));
        assert_eq!(whole.map(|text| text.len()), Ok(5_000_000));
        let mut lines = 0;
        let cut = printer.written(|out| {
            (0..u64::MAX).try_for_each(|n| {
                if n == 2000 {
                    watch.stop();
                }
                lines = n;
                out.write_all(&line)
            })
        });
        assert!(cut.is_err_and(|problem| problem.message.contains("closed the connection")));
        assert!((2000..4000).contains(&lines), "{lines}");
    }
}
