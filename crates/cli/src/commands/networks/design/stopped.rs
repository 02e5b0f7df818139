//! Results of a stopped search by class.

use crate::args::design::Design;
use crate::commands::networks::design::axes_of;
use crate::input::Disk;
use crate::input::open_run;
use clap::Parser;
use railwright_answers::{Searcher, Watch, priced};
use railwright_report::{Answer as _, Terminal};
use railwright_reports::network::design::Answered;
use railwright_tuner::codesign::Searched;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    design: Design,
}

/// A user who stops a search after a number of checks.
struct StopsAfter(AtomicUsize);

impl Watch for StopsAfter {
    fn is_stopped(&self) -> bool {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| Some(n.saturating_sub(1)));
        left.unwrap_or(0) == 0
    }
}

fn stopped_after(questions: usize) -> Answered {
    let words = "design llama-3-8b --cluster dgx-h100 --gpus 64 --domains 8,32 --speeds 100G,800G --topologies clos,dragonfly --threads 1";
    let line = Line::try_parse_from(words.split(' ')).expect("arguments");
    let asked = open_run::ask(&line.design.run).map_err(|_| "a run").expect("a question");
    let watch = StopsAfter(AtomicUsize::new(questions));
    let searcher = Searcher::new(line.design.effort.wanted(), &watch).expect("workers");
    let axes = axes_of(&line.design).expect("prices");
    let priced = priced(&axes, (&asked, &asked.settings[0]), None, (&searcher, &|_, _| ()), &Disk);
    let priced = priced.map_err(|_| "networks").expect("networks");
    Answered {
        title: String::new(),
        codesign: priced.codesign,
        shows_all: true,
        chosen: priced.chosen,
        is_complete: priced.is_complete,
        device_price: priced.device_price,
        years: 4.0,
        next: None,
    }
}

/// The fit of a layout on a network that was not searched is unknown, in JSON and in the table.
#[test]
fn networks_that_a_stop_left_out_are_not_searched() {
    let mut found = Vec::new();
    for questions in [0, 400, usize::MAX] {
        let answered = stopped_after(questions);
        let of =
            |searched| answered.codesign.classes.iter().filter(|class| class.searched == searched).count();
        let (classes, left) = (answered.codesign.classes.len(), of(Searched::NotSearched));
        assert_eq!(of(Searched::NothingFits), 0, "{questions}");
        assert_eq!(answered.is_complete, questions == usize::MAX);
        let text = format!("{:?}", answered.document(Terminal::file(false)));
        assert!(!text.contains("nothing fits"), "{questions}: {text}");
        assert_eq!(text.contains("not searched"), left > 0, "{questions}: {text}");
        found.push((of(Searched::Found), classes));
    }
    assert_eq!(found[0].0, 0);
    assert!(found[1].0 > 0 && found[1].0 < found[1].1, "{found:?}");
    assert_eq!(found[2].0, found[2].1);
}
