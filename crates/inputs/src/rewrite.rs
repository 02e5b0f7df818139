//! The user's file with a different layout, read back like the original.
//!
//! Responsible for: passing the file to the editor of its format and resolving the edited text with the same
//! command line. An edit with a run other than the intended one is rejected, except for settings that the
//! framework cannot express. An edit that changes the inferred software generation gets a comment that keeps
//! it.

use crate::run::{self, Sources, slots};
use crate::{LOG_LIMIT, Refused, instead, read};
use railwright_launch::{
    Edited, Format, Launch, Original, Refused as Unwritable, differences, edit, writer_of,
};
use railwright_spec::human;
use railwright_spec::plan::Plan;
use railwright_spec::run::Run;
use std::cell::RefCell;

/// The file that a command line names.
pub fn open(arguments: &Sources, launch: Option<&Launch>) -> Result<Original, Refused> {
    let sorted = slots::sorted(arguments)?;
    let named = match launch {
        Some(launch) => {
            let path = sorted.launch.or(sorted.model).unwrap_or_default();
            Some((path, launch.format))
        }
        None => sorted.run.map(|path| (path, Format::RunFile)),
    };
    Ok(match named {
        Some((path, format)) => Original { text: read(&path, LOG_LIMIT)?, path, format: Some(format) },
        None => {
            Original { path: arguments.model.clone().unwrap_or_default(), text: String::new(), format: None }
        }
    })
}

/// The file with a plan instead of the user's own, and the plan that it then has.
pub fn with(
    original: &Original,
    own: &Run,
    plan: &Plan,
    arguments: &Sources,
) -> (Option<Result<Edited, Unwritable>>, Option<Plan>) {
    let Some(format) = original.format else { return (None, None) };
    let to = Run { plan: plan.clone(), ..own.clone() };
    let writer = writer_of(format, &original.text);
    let mut lost: Vec<String> = writer.map_or_else(Vec::new, |writer| {
        writer.write(&writer.determined(&to)).not_expressed.into_iter().map(|lost| lost.key).collect()
    });
    // A division of the layers that the file leaves to the framework.
    lost.push("plan.uneven_stages".to_owned());
    if !own.model.is_mixture_of_experts() {
        lost.push("plan.expert_tensor_parallel".to_owned());
    }
    let back: RefCell<Option<Plan>> = RefCell::new(None);
    // The generation is inferred from the present flags; an edit of flags does not update the software.
    let own_software = own.plan.software.as_str();
    let mut fixed = arguments.clone();
    fixed.set.push(format!("plan.software={own_software}"));
    let is_right = |text: &str| -> Result<(), String> {
        let resolved = instead(&original.path, text, || run::resolve(&fixed));
        let resolved = resolved.map_err(|Refused(problems)| {
            problems.first().map_or_else(String::new, |problem| format!("the edited file: {problem}"))
        })?;
        if resolved.run.model.parameters().total != own.model.parameters().total
            || resolved.run.cluster.devices != own.cluster.devices
        {
            return Err("the edited file would have a different model or number of GPUs".to_owned());
        }
        let others: Vec<String> =
            differences(plan, &resolved.run.plan).into_iter().filter(|key| !lost.contains(key)).collect();
        if !others.is_empty() {
            return Err(format!(
                "the edited file would have a different {}",
                human::shorten(&others.join(", "))
            ));
        }
        back.replace(Some(resolved.run.plan));
        Ok(())
    };
    let edited = edit(format, &original.text, own, &to, &is_right).map(|edited| {
        let software_of = |edited: &Edited| {
            let resolved = instead(&original.path, &edited.text, || run::resolve(arguments));
            resolved.ok().map(|resolved| resolved.run.plan.software)
        };
        let is_kept = |edited: &Edited| software_of(edited).as_deref() == Some(own_software);
        if is_kept(&edited) {
            return edited;
        }
        // Formats without such comments are estimated by what their reader infers.
        Some(edited.keeping_software(own_software)).filter(is_kept).unwrap_or(edited)
    });
    let source = back.into_inner().filter(|_| edited.is_ok());
    (Some(edited), source)
}
