//! Placement in the report of a simulated step: positions of ranks, orders of hosts, and two runs on one
//! network.

use crate::network::tables::placement;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_spec::human;
use railwright_spec::quantity::Bytes;
use railwright_tuner::simulate::{Order, Placed, Simulation};

/// Writes the parts that a simulation has.
pub(super) fn write(document: &mut Document, simulation: &Simulation) {
    if let Some(placed) = &simulation.placed {
        if let Some(survey) = &placed.survey {
            placement::write(document, survey);
        }
        let median =
            if placed.seeds > 1 { format!("; median of {} hash seeds", placed.seeds) } else { String::new() };
        document.heading_with(
            "order of hosts",
            format!("one step without other jobs; bytes are sums over all ranks{median}"),
        );
        document.table(orders(placed));
        document.spans(vec![advice(placed)]);
    }
    if !simulation.jobs.is_empty() {
        document.heading_with("runs on this network", "both repeat their steps and start together");
        document.table(jobs(simulation));
    }
}

fn bytes(amount: Bytes) -> Cell {
    Cell::number(human::bytes_decimal(amount), amount.get())
}

fn orders(placed: &Placed) -> Table {
    let rows = placed.orders.iter().map(|row| {
        let step = Cell::seconds(row.step_time);
        vec![
            row.order.words().into(),
            if row.order == placed.best { step.toned(Tone::Strong) } else { step },
            match row.over_contiguous.filter(|_| row.order != Order::Contiguous) {
                Some(over) => Cell::number(format!("{:+.1}%", over * 100.0), over),
                None => Cell::default(),
            },
            bytes(row.bytes.same_leaf_group),
            bytes(row.bytes.same_pod),
            bytes(row.bytes.other_pod),
            bytes(row.bytes.other_rail),
        ]
    });
    Table {
        columns: vec![
            Column::words("hosts"),
            Column::numbers("step").unit("s"),
            Column::numbers("vs. contiguous").unit("share"),
            Column::numbers("within leaf groups").unit("bytes").expendable(2),
            Column::numbers("between leaf groups").unit("bytes").expendable(1),
            Column::numbers("between pods").unit("bytes"),
            Column::numbers("to other rails").unit("bytes").expendable(3),
        ],
        rows: rows.collect(),
    }
}

fn advice(placed: &Placed) -> Cell {
    match placed.best {
        Order::Contiguous | Order::Given => Cell::from("no other order of these hosts is faster"),
        best => Cell::new(
            format!(
                "{}: {} less time per step. `--reordered hosts.txt` writes it. {}Slurm: `SLURM_HOSTFILE` with a \
                 line per task and `srun --distribution=arbitrary`. torchrun: line number as `--node-rank`",
                best.words(),
                human::percent(placed.gain),
                // No launcher reads the devices of a host from this file.
                if placed.is_plain { "Open MPI: `mpirun --hostfile hosts.txt --map-by slot`. " } else { "" }
            ),
            Tone::Strong,
        ),
    }
}

fn jobs(simulation: &Simulation) -> Table {
    let rows = simulation.jobs.iter().map(|job| {
        vec![
            job.name.as_str().into(),
            Cell::whole(job.ranks),
            Cell::seconds(job.alone),
            Cell::seconds(job.mean),
            Cell::seconds(job.least),
            Cell::seconds(job.most),
            Cell::whole(job.steps as u64),
            Cell::number(format!("{:.3}", job.slowdown), job.slowdown),
        ]
    });
    Table {
        columns: vec![
            Column::words("run"),
            Column::numbers("ranks"),
            Column::numbers("alone").unit("s"),
            Column::numbers("together").unit("s"),
            Column::numbers("fastest").unit("s").expendable(2),
            Column::numbers("slowest").unit("s").expendable(1),
            Column::numbers("steps").expendable(3),
            Column::numbers("slowdown"),
        ],
        rows: rows.collect(),
    }
}
