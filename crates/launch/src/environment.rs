//! Variables of the environment that change the time of a step under any program.
//!
//! Responsible for: remarks on those that no estimate has. Variables of a framework belong to its reader.

use crate::{Launch, Remark, RemarkKind};

/// Variables with their usual values, and the effect of others.
const VARIABLES: &[(&str, &[&str], &str)] = &[(
    "CUDA_LAUNCH_BLOCKING",
    &["0", ""],
    "the host waits for each kernel, without overlap of communication: not modelled, so the time is a lower bound",
)];

/// Lists the variables of a script that are not modelled.
pub(crate) fn note(launch: &mut Launch, script: &str) {
    for (name, usual, why) in VARIABLES {
        let set = script.lines().enumerate().find_map(|(index, line)| {
            let rest = line.trim_start().trim_start_matches("export ").trim_start();
            let (_, value) = rest.split_once(name).filter(|(before, _)| is_prefix(before))?;
            let value = value.strip_prefix('=')?.split([' ', ';', '\t']).next()?.trim_matches(['"', '\'']);
            (!usual.contains(&value)).then(|| (index + 1, format!("{name}={value}")))
        });
        if let Some((line, source)) = set {
            let message = (*why).to_owned();
            let remark =
                Remark { kind: RemarkKind::NotModelled, source, line: Some(line), message, file: None };
            launch.remarks.push(remark);
            launch.remarks.sort_by_key(|remark| (remark.kind, remark.line));
        }
    }
}

/// Tests whether words before a variable are other variables or options of a launcher: no comment, and no part of a longer name.
fn is_prefix(before: &str) -> bool {
    !before.contains('#') && before.chars().next_back().is_none_or(|last| matches!(last, ' ' | '"' | '\''))
}
