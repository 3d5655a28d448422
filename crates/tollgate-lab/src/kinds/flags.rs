//! The flags of `run` that each workload can use. A flag that would be ignored is refused by its name.
//!
//! It does not check whether there is a server of the user's to which the flag applies (see [`super::http`]).

use tollgate_net::link::LinkMode;
use tollgate_net::tls::{Resumption, ServerNameSent, TlsChoice};

use crate::conduct::options::{RunError, RunOptions};
use crate::traffic::request::AnswerLength;

/// Whether a flag was used.
type IsSaid = fn(&RunOptions) -> bool;

/// The workloads that load a server.
const ASKING: &[&str] = &["request", "walk", "scenario", "insert"];
/// The workload whose requests and answers the user may specify.
const SINGLE: &[&str] = &["request"];
/// Flags, the workloads that can use them, and whether they were used.
const FLAGS: &[(&str, &[&str], IsSaid)] = &[
    ("--subject", ASKING, |options| !options.subjects.is_empty()),
    ("--subject-pid", ASKING, |options| !options.subject_pids.is_empty()),
    ("--subjects", ASKING, |options| !options.peers.is_empty()),
    ("--serve-arg", ASKING, |options| !options.serve_arguments.is_empty()),
    ("--detail", &["walk"], |options| !options.own_request.details.is_empty()),
    ("--leave-out", &["walk"], |options| !options.own_request.leave_out.is_empty()),
    ("--post (-p), --put (-u)", SINGLE, |options| options.own_request.body.is_some()),
    ("--method (-m), -i", SINGLE, |options| options.own_request.method.is_some()),
    ("--expect-body", SINGLE, |options| options.own_request.contains.is_some()),
    ("-l", SINGLE, |options| options.own_request.length == AnswerLength::Any),
    ("--header (-H), -C", ASKING, |options| !options.headers.is_empty()),
    ("--basic (-A)", ASKING, |options| options.basic.is_some()),
    ("--insecure", ASKING, |options| options.tls.choice == TlsChoice::Insecure),
    ("--ca", ASKING, |options| options.tls.authorities.is_some()),
    ("--tls, -f", ASKING, |options| options.tls.version.is_some()),
    ("-Z", ASKING, |options| !options.tls.suites.is_empty()),
    ("-E", ASKING, |options| options.tls.identity.is_some()),
    ("-I", ASKING, |options| options.tls.server_name == ServerNameSent::No),
    ("--no-resumption", ASKING, |options| options.tls.resumption == Resumption::Disabled),
    ("--database", &["batch"], |options| options.database.is_some()),
    ("--link", &["batch"], |options| options.link != Some(LinkMode::default())),
];

/// Refuses the first flag that this workload cannot use.
pub(super) fn check(workload: &str, options: &RunOptions) -> Result<(), RunError> {
    let refused = FLAGS.iter().find(|(_, users, is_said)| is_said(options) && !users.contains(&workload));
    let Some((flag, users, _)) = refused else { return Ok(()) };
    let users = users.iter().map(|user| format!("`{user}`")).collect::<Vec<_>>().join(", ");
    let name = &options.experiment.name;
    Err(RunError::Usage(format!("{flag}: `{name}` is of kind `{workload}`, which cannot use it; it is for {users}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::kinds::{BUILT_IN, KINDS};

    #[test]
    fn each_workload_that_can_use_a_flag_is_one() {
        for user in FLAGS.iter().flat_map(|(_, users, _)| users.iter()) {
            assert!(KINDS.iter().any(|kind| kind.workload == *user), "{user}");
        }
    }

    #[test]
    fn nothing_is_said_of_an_experiment_as_it_stands() {
        for (name, _) in BUILT_IN {
            let options = RunOptions::of(Experiment::builtin(name).unwrap(), "/nowhere".into());
            assert!(FLAGS.iter().all(|(_, _, is_said)| !is_said(&options)), "{name}");
        }
    }

    #[test]
    fn a_flag_that_would_be_ignored_is_refused_with_those_that_can_use_it() {
        let check = |workload: &str, change: fn(&mut RunOptions), expected: Option<&str>| {
            let mut options = RunOptions::of(Experiment::builtin("distance").unwrap(), "/nowhere".into());
            change(&mut options);
            let refused = check(workload, &options).err().map(|error| error.to_string());
            assert_eq!(refused.as_deref(), expected, "{workload}");
        };
        let contains = |options: &mut RunOptions| options.own_request.contains = Some("a".to_owned());
        let text = "--expect-body: `distance` is of kind `walk`, which cannot use it; it is for `request`";
        check("request", contains, None);
        check("walk", contains, Some(text));
        let insecure = |options: &mut RunOptions| options.tls.choice = TlsChoice::Insecure;
        let text = "--insecure: `distance` is of kind `command`, which cannot use it; \
                    it is for `request`, `walk`, `scenario`, `insert`";
        check("command", insecure, Some(text));
        check("scenario", insecure, None);
        check("batch", |options| options.link = None, None);
        let text = "--link: `distance` is of kind `insert`, which cannot use it; it is for `batch`";
        check("insert", |options| options.link = None, Some(text));
    }
}
