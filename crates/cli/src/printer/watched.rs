//! Progress of long calculations of `railwright-answers`: bars for users, a watch for requests through the
//! server, and Ctrl-C.

use super::Printer;
use super::progress::{Progress, Stop};
use railwright_answers::{self as answers, Stage};
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A printer that watches.
pub(crate) struct Watched {
    printer: Printer,
    stop: OnceLock<Stop>,
    label: Mutex<String>,
}

impl Watched {
    /// Sets a label of the following bars, for one of several calculations. It has no braces, which have a
    /// meaning in templates.
    pub(crate) fn label(&self, label: String) {
        *self.label.lock().unwrap_or_else(PoisonError::into_inner) = label;
    }
}

impl Printer {
    /// Progress of calculations, with Ctrl-C from the first call on.
    pub(crate) fn watched(&self) -> Watched {
        Watched { printer: self.clone(), stop: OnceLock::new(), label: Mutex::default() }
    }
}

impl answers::Watch for Watched {
    fn is_stopped(&self) -> bool {
        self.stop.get_or_init(|| self.printer.stop()).is_given()
    }

    fn begin(&self, stage: Stage, units: u64) -> Box<dyn answers::Progress + '_> {
        let (bar, doing) = match stage {
            Stage::Ordering => ("ordering {bar:30} {percent}%, {eta} left", "ordering"),
            Stage::Searching => ("searching {bar:30} {percent}% {msg}, {eta} left", "searching"),
            Stage::Simulating => ("simulating {bar:30} {percent}% {msg}, {eta} left", "simulating"),
        };
        let label = self.label.lock().unwrap_or_else(PoisonError::into_inner);
        Box::new(self.printer.progress(&format!("{label}{bar}"), &format!("{label}{doing}"), units))
    }

    fn remedies(&self, _: usize, _: usize) {
        self.printer.note("nothing fits; looking for changes that make it fit");
    }
}

impl answers::Progress for Progress {
    fn advance(&self, units: u64, evaluated: Option<u64>) {
        self.advance_to(units, || Some(format!("{} evaluated", human::count(evaluated? as f64))));
    }

    fn found(&self, step_time: Seconds) {
        Progress::found(self, step_time.get());
    }

    fn finish(&self) {
        Progress::finish(self);
    }
}
