//! The overview under `railwright -h`: commands grouped by task, on one screen. `--help` has all of them with their summaries.

/// Commands by task. A test checks that every command is listed.
pub(super) const OVERVIEW: &str = "\
Model, profile and tune distributed LLM training: step time, memory and cost

Usage: railwright COMMAND [OPTIONS]

Plan
  estimate               Estimate step time, memory and cost of a training run
  memory                 Break down peak memory per pipeline stage
  timeline               Write one predicted step as a Perfetto trace or SVG
  search                 Search for the best strategy on a cluster
  tune                   Tune a launch file and write the change as a diff
  check                  Check launch files: valid, and within memory
  size, goodput          Size a cluster for a goal; estimate goodput over time
  whatif, sensitivity    Compare a run with changes; rank parameters by effect
  recompute, balance     Choose selective recompute; balance pipeline stages
Measure
  profile, compare       Break down measured step time; compare it
  comm                   Break communication down into wait and transfer time
  stragglers             Find straggler ranks, their cause and their cost
  pipeline               Analyze pipeline bubbles and stalls across all stages
  log                    Analyze a training log: step time, MFU, restarts
  hang, memory-snapshot  Diagnose a hung job; break down a memory snapshot
  query                  Query traces with SQL
  digest                 Reduce traces of large jobs to one small file per rank
  save, export-perfetto  Save traces for fast reloading; merge them for Perfetto
  calibrate              Fit the cost model to your own measurements
  validate               Predict measured runs and summarize the error
Network
  network                Design, simulate and price cluster networks
Data
  models, gpus, clusters List or show entries of the catalogue
Files
  detect, export         Read or write launch files of training frameworks
  init, examples         Write or print run files
  keys, schema           List run-file keys; print their JSON schema
Tool
  explain                Explain a metric, a warning or a convention
  serve                  Start the web UI and HTTP API on localhost
  completions            Generate a shell completion script

Run `railwright COMMAND --help` for options and examples.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::CommandFactory;

    #[test]
    fn all_commands_are_on_one_screen() {
        assert!(OVERVIEW.lines().count() <= 40);
        assert!(OVERVIEW.lines().all(|line| line.len() <= 80));
        let listed: Vec<&str> = OVERVIEW
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .flat_map(|line| line.split("  ").next().unwrap_or_default().split([',', ' ']))
            .collect();
        for command in Arguments::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(listed.contains(&command.get_name()), "{}", command.get_name());
        }
    }
}
