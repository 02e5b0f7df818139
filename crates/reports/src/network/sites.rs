//! `network sites`: traffic between sites of one training run, and the time that it leaves for compute.

use crate::network::tables::sites as tables;
use railwright_network::sites::{self, Question};
use railwright_report::document::{Block, Cell, Document};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;

/// Traffic and time of every number of local steps.
pub struct Answered(pub sites::Answer);

impl Answer for Answered {
    const KIND: &'static str = "network_sites";

    type Json<'a> = &'a sites::Answer;

    fn json(&self) -> &sites::Answer {
        &self.0
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let Question { parameters, sites, step, bandwidth, .. } = &self.0.question;
        if let Some(best) = self.0.rows.iter().max_by(|a, b| a.utilization.total_cmp(&b.utilization)) {
            let (share, steps) = (human::percent(best.utilization), human::whole(best.local_steps));
            document.verdict(format!("with {steps} local steps, {share} of the time is compute"));
        }
        let parameters = human::count(*parameters);
        let each = human::bandwidth(*bandwidth);
        document.heading_with(
            "sites",
            format!(
                "{sites} sites at {each} each, {parameters} parameters, {} per step",
                human::seconds(*step)
            ),
        );
        document.table(tables::rows(&self.0.rows));
        document.heading_with("bandwidth of a site", "by share of time available for compute");
        document.table(tables::needed(&self.0.rows));
        document.blocks.push(Block::Bullets(vec![
            Cell::from("bytes per sync: sent by each site for the whole model (ring all-reduce over sites)"),
            Cell::from("one local step is plain data parallelism over sites; overlap with the backward pass, which hides at most two thirds of a step, is not modelled"),
            Cell::from("more local steps affect convergence, which is not predicted"),
        ]));
        document.next_step("`railwright estimate` computes the step within a site");
        document
    }
}
