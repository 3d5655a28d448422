//! The processes on this machine whose CPU time and memory are measured: those that are named, and those found by the
//! addresses that receive requests.

use std::fs;
use std::io::Write;

use tollgate_lab::probe::listener::listening_at;
use tollgate_lab::run::RunOptions;
use tollgate_net::http1::client::Target;

use crate::failure::Failure;

/// Checks that the named processes exist, and that variants have these names; `flag` names them.
pub(super) fn check_named(options: &RunOptions, flag: &str) -> Result<(), Failure> {
    for (name, process) in &options.subject_pids {
        options.experiment.variants_named(name).map_err(|error| Failure::usage(format_args!("{flag}: {error}")))?;
        if program(*process).is_none() {
            let message = format_args!("{flag} {name}={process}: there is no process {process} on this machine");
            return Err(Failure::usage(message));
        }
    }
    Ok(())
}

/// Adds the processes that listen at these variants' addresses, and reports all that are watched on stderr. A variant
/// with a process of its own keeps it; `flag` names processes.
pub(super) fn watch_local(
    options: &mut RunOptions,
    asked: impl IntoIterator<Item = (String, String)>,
    flag: &str,
    is_quiet: bool,
) -> Result<(), Failure> {
    for (name, url) in asked {
        if options.subject_pids.iter().any(|(named, _)| *named == name) {
            continue;
        }
        let found = Target::parse(&url).map(|target| listening_at(&target)).unwrap_or_default();
        options.subject_pids.extend(found.into_iter().map(|found| (name.clone(), found.process)));
    }
    if options.subject_pids.is_empty() || is_quiet {
        return Ok(());
    }
    let text = format!("watched on this machine: {}; {flag} names others", told(&options.subject_pids));
    writeln!(std::io::stderr(), "{text}").map_err(Failure::output)
}

/// The processes of each variant; those with the same ones together.
fn told(watched: &[(String, u32)]) -> String {
    let mut groups: Vec<(Vec<&str>, Vec<u32>)> = Vec::new();
    let mut names: Vec<&str> = watched.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    for name in names {
        let processes: Vec<u32> = watched.iter().filter(|(of, _)| of == name).map(|(_, process)| *process).collect();
        match groups.iter_mut().find(|(known, found)| *found == processes || known.contains(&name)) {
            Some((known, _)) if known.contains(&name) => {}
            Some((known, _)) => known.push(name),
            None => groups.push((vec![name], processes)),
        }
    }
    let process = |process: &u32| {
        let program = program(*process).unwrap_or_else(|| "process".to_owned());
        format!("{program} (process {process})")
    };
    let group = |(names, processes): &(Vec<&str>, Vec<u32>)| {
        format!("{} of {}", processes.iter().map(process).collect::<Vec<_>>().join(" and "), names.join(", "))
    };
    groups.iter().map(group).collect::<Vec<_>>().join("; ")
}

/// The name of a process; absent where there is none.
fn program(process: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{process}/comm")).ok().map(|name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_with_the_same_processes_are_told_together() {
        let own = std::process::id();
        let name = program(own).unwrap();
        let watched = [("http", own), ("https", own), ("far", own), ("far", 1)];
        let watched = watched.map(|(name, process)| (name.to_owned(), process));
        let first = program(1).unwrap();
        let expected =
            format!("{name} (process {own}) of http, https; {name} (process {own}) and {first} (process 1) of far");
        assert_eq!(told(&watched), expected);
    }
}
