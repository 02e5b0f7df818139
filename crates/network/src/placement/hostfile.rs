//! Host files of MPI launchers, read and written.
//!
//! Responsible for: `HOST`, `HOST slots=N` (Open MPI), `HOST:N` (MPICH, Hydra), and `HOST gpus=LIST` for
//! chosen devices of a host. Unsupported keys that would change the placement are errors, and so are
//! contradictory numbers of devices.

use super::names::host_names;
use super::{Allocation, Host, Inventory};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use std::fmt::Write as _;

/// Hosts of a file, by the devices that the network has for each name.
pub fn read_hosts(text: &str, file: &str, inventory: &Inventory) -> Result<Vec<Host>, Problem> {
    let mut hosts = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let content = line.split('#').next().unwrap_or_default().trim();
        let mut words = content.split_whitespace();
        let Some(first) = words.next() else { continue };
        let placed = |problem: Problem| problem.at_offset(text, start).in_file(file);
        let (mut name, mut slots, mut gpus) = (first, None, None);
        if let Some((host, number)) = first.rsplit_once(':').filter(|_| !first.contains('[')) {
            (name, slots) = (host, Some(slots_of(number, inventory).map_err(placed)?));
        }
        for word in words {
            match word.split_once('=') {
                Some(("slots", number)) => slots = Some(slots_of(number, inventory).map_err(placed)?),
                Some(("gpus", list)) => gpus = Some(list_of(list, inventory).map_err(placed)?),
                Some(("max_slots" | "max-slots", _)) => {}
                _ => {
                    let problem = Problem::new(format!("`{}` is not valid in a host file", shorten(word)))
                        .hint("use `slots=8`, or `gpus=4-7` for chosen devices of the host");
                    return Err(placed(problem));
                }
            }
        }
        if let (Some(slots), Some(gpus)) = (&slots, &gpus)
            && slots.len() != gpus.len()
        {
            let problem = Problem::new(format!("{} slots, but {} devices", slots.len(), gpus.len()))
                .hint("set only one of `slots` and `gpus`, or the same number in both");
            return Err(placed(problem));
        }
        let local = gpus.or(slots);
        for name in host_names(name).map_err(placed)? {
            hosts.push(inventory.host(name, local.as_deref()).map_err(placed)?);
        }
    }
    if hosts.is_empty() {
        return Err(Problem::new("the file lists no host").in_file(file).hint("use one host per line"));
    }
    Ok(hosts)
}

/// The first devices of a host, by their number.
fn slots_of(text: &str, inventory: &Inventory) -> Result<Vec<u32>, Problem> {
    match text.parse::<u32>() {
        Ok(slots) if slots > 0 && slots <= inventory.per_host => Ok((0..slots).collect()),
        _ => Err(Problem::new(format!(
            "`{}` is not between 1 and {} devices of a host",
            shorten(text),
            inventory.per_host
        ))),
    }
}

/// `0-3,6`.
fn list_of(text: &str, inventory: &Inventory) -> Result<Vec<u32>, Problem> {
    let mut all: Vec<u32> = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.parse::<u32>(), last.parse::<u32>()) {
            (Ok(first), Ok(last)) if first <= last && last < inventory.per_host => all.extend(first..=last),
            _ => {
                return Err(Problem::new(format!(
                    "`{}` is not a list of devices from 0 to {}",
                    shorten(text),
                    inventory.per_host - 1
                ))
                .hint("use local numbers such as `gpus=0-3` or `gpus=0,2,4,6`"));
            }
        }
    }
    Ok(all)
}

/// A host file with one line per host: `HOST slots=N`, or `HOST gpus=LIST` if the devices are not the first
/// ones.
pub fn written_hosts(allocation: &Allocation, per_host: u32) -> String {
    let mut text = String::new();
    for host in &allocation.hosts {
        let first = host.devices.first().copied().unwrap_or(0) / per_host * per_host;
        let local: Vec<u32> = host.devices.iter().map(|device| device - first).collect();
        let is_plain = local.iter().enumerate().all(|(n, device)| n as u32 == *device);
        let list: Vec<String> = local.iter().map(u32::to_string).collect();
        let devices =
            if is_plain { format!("slots={}", local.len()) } else { format!("gpus={}", list.join(",")) };
        let _ = writeln!(text, "{} {devices}", host.name);
    }
    text
}
