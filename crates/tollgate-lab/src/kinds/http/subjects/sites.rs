//! The site of each variant: checks addresses from the experiment and the command line before anything starts.
//!
//! It opens no connection; the caller has to correct what is refused here.

use tollgate_net::http1::client::{Scheme, Target};

use crate::conduct::options::{RunError, RunOptions};
use crate::cores::Cores;
use crate::experiment::{Author, Experiment, Location, Variant};
use crate::judge::Systems;
use crate::plan::Plan;
use crate::secret;
use crate::subject::{Peer, check_loadable};
use tollgate_facts::results::{Connecting, Distance, Encryption};

/// The place where one variant is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// Position of the variant in the experiment.
    pub(crate) variant: usize,
    /// The place.
    pub(crate) place: Origin,
    /// Processes of the user's that are watched.
    pub(crate) processes: Vec<u32>,
    /// Number of the process that serves it: sites with the same number share one.
    pub(crate) process: usize,
}

/// The number of our processes, and the variants that each serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Processes {
    /// One for each variant, so that memory and threads are its own; but one for all variants of a configuration.
    AsConfigured,
    /// One for each variant at each level.
    OfEachLevel,
    /// One for all variants: a process with only the easy work would differ from one with all of it.
    OfAll,
}

/// A place to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This path on a gateway that is started for the run.
    Child(String),
    /// A server that is there already.
    There(Target),
}

/// The places of all planned variants.
pub(crate) fn sites(options: &RunOptions, plan: &Plan, processes: Processes) -> Result<Vec<Site>, RunError> {
    let experiment = &options.experiment;
    let subjects = options.subjects.iter().map(|(name, _)| ("--subject", name));
    let watched = options.subject_pids.iter().map(|(name, _)| ("--subject-pid", name));
    let told = options.own_request.details.iter().map(|(name, _)| ("--detail", name));
    for (flag, name) in subjects.chain(watched).chain(told) {
        experiment.variants_named(name).map_err(|message| RunError::Usage(format!("{flag}: {message}")))?;
    }
    let mut sites: Vec<Site> =
        plan.variants.iter().map(|variant| site(options, experiment, *variant)).collect::<Result<_, _>>()?;
    for index in 0..sites.len() {
        sites[index].process =
            (0..index).find(|other| share(experiment, processes, (&sites[*other], &sites[index]))).unwrap_or(index);
    }
    Ok(sites)
}

/// Whether two sites are served by one process.
fn share(experiment: &Experiment, processes: Processes, (one, other): (&Site, &Site)) -> bool {
    let (one_variant, other_variant) = (&experiment.variants[one.variant], &experiment.variants[other.variant]);
    let is_one = match processes {
        Processes::AsConfigured => experiment.configuration.is_some(),
        Processes::OfEachLevel => false,
        Processes::OfAll => true,
    };
    is_one
        && matches!((&one.place, &other.place), (Origin::Child(_), Origin::Child(_)))
        && (&one_variant.peer, &one_variant.backend) == (&other_variant.peer, &other_variant.backend)
}

/// Compares the systems on which a variant and its baseline are measured.
pub(crate) fn systems(sites: &[Site], experiment: &Experiment, variant: usize) -> Systems {
    let place = |variant: usize| sites.iter().find(|site| site.variant == variant).map(|site| &site.place);
    let baseline = experiment.baseline(variant).and_then(place);
    // Plain and encrypted are two ports of one server.
    let by_host = experiment.variants[variant].own::<Connecting>().is_some();
    match (place(variant), baseline) {
        (Some(Origin::There(one)), Some(Origin::There(other))) => {
            let is_same = one.authority() == other.authority() || by_host && one.host() == other.host();
            if is_same { Systems::Same } else { Systems::BothTheirs }
        }
        (Some(Origin::Child(_)), Some(Origin::There(_))) | (Some(Origin::There(_)), Some(Origin::Child(_))) => {
            Systems::BuiltInAndTheirs
        }
        _ => Systems::Same,
    }
}

/// Number of cores of a variant's subject and the servers behind it; 0 for a server of the user's, which is not pinned.
pub(crate) fn cores(sites: &[Site], cores: &Cores, variant: usize) -> usize {
    let is_ours = |site: &Site| site.variant == variant && matches!(site.place, Origin::Child(_));
    if sites.iter().any(is_ours) { cores.subjects.len() } else { 0 }
}

/// The user's processes behind a server of the user's: those given for the variant without it. No one else can know
/// them; a process watched as the server itself is not behind it.
pub(crate) fn processes_behind(site: &Site, sites: &[Site], experiment: &Experiment) -> Vec<u32> {
    let Origin::There(_) = site.place else { return Vec::new() };
    let past = experiment.baseline(site.variant).filter(|past| experiment.variants[*past].backend.is_some());
    let past = past.and_then(|past| sites.iter().find(|other| other.variant == past));
    let Some(Site { place: Origin::There(_), processes, .. }) = past else { return Vec::new() };
    processes.iter().copied().filter(|process| !site.processes.contains(process)).collect()
}

fn site(options: &RunOptions, experiment: &Experiment, variant: usize) -> Result<Site, RunError> {
    let shape = &experiment.variants[variant];
    let is_meant = |name: &str| name == shape.name || name == shape.base_name();
    let is_alike = |name: &str| is_of_its_kind(name, experiment, shape);
    let url_of = |means: &dyn Fn(&str) -> bool| {
        options.subjects.iter().rev().find(|(name, _)| means(name)).map(|(_, url)| url.as_str())
    };
    let own = url_of(&is_meant);
    let given = own.or_else(|| url_of(&is_alike));
    let peer = options.peer(shape).map_err(RunError::Usage)?;
    let place = match (given, &shape.at) {
        (None, at) if let Some(peer) = peer => Origin::Child(path_on(peer, experiment, at)?),
        (Some(url), at) => {
            let url = if has_path_of_ours(experiment, shape) { url.to_owned() } else { with_path(url, at) };
            Origin::There(target(&url, &format!("--subject {}", shape.name), options)?)
        }
        (None, Location::Url(url)) => Origin::There(target(url, &format!("variant `{}`", shape.name), options)?),
        (None, Location::Gateway(path)) => Origin::Child(path.clone()),
        (None, Location::Here(what)) => {
            return Err(RunError::Failed(format!("variant `{}` is done by no server: {what}", shape.name)));
        }
    };
    let of = |means: &dyn Fn(&str) -> bool| -> Vec<u32> {
        options.subject_pids.iter().filter(|(name, _)| means(name)).map(|(_, process)| *process).collect()
    };
    let mut processes = of(&is_meant);
    if processes.is_empty() && given.is_some() && own.is_none() {
        // Of a server that is given once its processes are, too.
        processes = of(&is_alike);
    }
    if matches!(place, Origin::Child(_)) && !processes.is_empty() {
        let name = &shape.name;
        return Err(RunError::Usage(format!(
            "--subject-pid {name}: that variant is served by a child whose process is known; --subject {name}=URL measures yours"
        )));
    }
    if let (Distance::Remote, Origin::There(target)) = (shape.distance, &place)
        && target.scheme() == Scheme::Https
    {
        let name = &shape.name;
        return Err(RunError::Usage(format!(
            "{name}: the emulated link carries http only, as a certificate is another host's: give an http URL, or leave the remote variants out (--only)"
        )));
    }
    Ok(Site { variant, place, processes, process: 0 })
}

/// The path on a peer that is to be started.
fn path_on(peer: &Peer, experiment: &Experiment, at: &Location) -> Result<String, RunError> {
    let refused = |why: String| RunError::Usage(format!("--subjects {}: {why}", peer.name));
    let Location::Gateway(path) = at else {
        return Err(refused("the experiment names URLs, so there is nothing to start".to_owned()));
    };
    let own = peer.path(&experiment.name, path).ok_or_else(|| {
        let served: Vec<&str> = peer.experiments().collect();
        refused(format!("it is no subject of `{}`, but of `{}`", experiment.name, served.join("`, `")))
    })?;
    match peer.missing() {
        None => Ok(own),
        Some(missing) => Err(RunError::Failed(format!(
            "the subject `{}` is not installed, as {} is missing; this installs it: {}",
            peer.name,
            missing.display(),
            peer.install
        ))),
    }
}

/// Whether a variant of this name is encrypted as this one is, or both are not. If encryption is swept, a server is
/// given once, for all variants alike.
fn is_of_its_kind(name: &str, experiment: &Experiment, variant: &Variant) -> bool {
    let is_plain =
        |variant: &Variant| variant.own().map(|connecting: &Connecting| connecting.encryption == Encryption::Off);
    let is_like_it = |other: &Variant| is_plain(other).is_some() && is_plain(other) == is_plain(variant);
    experiment.variants.iter().any(|other| other.base_name() == name && is_like_it(other))
}

fn target(url: &str, who: &str, options: &RunOptions) -> Result<Target, RunError> {
    let target =
        Target::parse(url).map_err(|error| RunError::Usage(format!("{who}: `{}`: {error}", secret::hide(url))))?;
    check_loadable(target.host(), &options.may_load).map_err(|error| RunError::Usage(format!("{who}: {error}")))?;
    Ok(target)
}

/// Whether only our own gateway has its path: a peer is given what the path serves, and a user with `--subject
/// https=https://host` means what that host serves.
fn has_path_of_ours(experiment: &Experiment, variant: &Variant) -> bool {
    experiment.author == Author::Tollgate && variant.own::<Connecting>().is_some()
}

/// Adds the variant's path on the gateway to a URL of only scheme and host.
fn with_path(url: &str, at: &Location) -> String {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    match at {
        Location::Gateway(path) if !authority.contains(['/', '?']) => format!("{url}{path}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanOptions;
    use crate::run::tests::options;

    fn found(change: impl FnOnce(&mut RunOptions)) -> Result<Vec<Site>, String> {
        let mut options = options();
        change(&mut options);
        let plan = Plan::new(&options.experiment, &PlanOptions::default()).unwrap();
        sites(&options, &plan, Processes::AsConfigured).map_err(|error| {
            assert!(matches!(error, RunError::Usage(_)));
            error.to_string()
        })
    }

    #[test]
    fn behind_a_server_of_the_users_is_what_is_watched_past_it() {
        let check = |processes: &[(&str, u32)], expected: &[u32]| {
            let experiment = Experiment::builtin("mediation").unwrap();
            let given = ["direct-1k", "pass-through-1k"].map(|name| (name.to_owned(), "http://127.0.0.1:9".to_owned()));
            let options = RunOptions {
                subjects: given.to_vec(),
                subject_pids: processes.iter().map(|(name, process)| ((*name).to_owned(), *process)).collect(),
                plan: PlanOptions { only: vec!["pass-through-1k".to_owned()], ..PlanOptions::default() },
                experiment: experiment.clone(),
                ..options()
            };
            let plan = Plan::new(&experiment, &options.plan).unwrap();
            let sites = sites(&options, &plan, Processes::OfAll).unwrap();
            let of = |position: usize| processes_behind(&sites[position], &sites, &experiment);
            assert_eq!((of(0), of(1)), (Vec::new(), expected.to_vec()), "{processes:?}");
            let one = Cores { subjects: vec![1], ..Cores::default() };
            assert_eq!(cores(&sites, &one, sites[1].variant), 0, "nobody holds the user's to a core");
        };
        check(&[("direct-1k", 7), ("pass-through-1k", 8)], &[7]);
        check(&[("direct-1k", 7), ("pass-through-1k", 7)], &[]);
        check(&[("pass-through-1k", 8)], &[]);
    }

    #[test]
    fn a_url_of_only_a_host_keeps_the_variants_path() {
        let check = |url: &str, expected: &str| {
            let sites = found(|options| options.subjects.push(("rest-json".to_owned(), url.to_owned()))).unwrap();
            let Origin::There(target) = &sites[0].place else { panic!("{sites:?}") };
            assert_eq!(target.to_string(), expected);
            assert!(matches!(sites[1].place, Origin::Child(_)));
        };
        check("http://127.0.0.1:81", "http://127.0.0.1:81/rest/flights");
        check("http://127.0.0.1:81/", "http://127.0.0.1:81/");
        check("https://localhost/api/flights?x=1", "https://localhost/api/flights?x=1");
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        let check = |subject: (&str, &str), expected: &str| {
            let (name, url) = subject;
            let refused = found(|options| options.subjects.push((name.to_owned(), url.to_owned())));
            assert_eq!(refused.unwrap_err(), expected);
        };
        check(
            ("rest-jsn", "http://127.0.0.1"),
            "--subject: experiment `protocol` has no variant `rest-jsn`: did you mean `rest-json`?",
        );
        check(
            ("rest-json", "127.0.0.1:80"),
            "--subject rest-json: `127.0.0.1:80/rest/flights`: column 1: a URL begins with http:// or https://",
        );
        check(
            ("rest-json", "http://10.1.2.3/"),
            "--subject rest-json: 10.1.2.3 is not loopback, and load can harm it: if you may load it, say --i-may-load 10.1.2.3",
        );
    }

    #[test]
    fn a_variant_and_its_baseline_are_on_one_system_only_if_both_are_ours_or_at_one_authority() {
        let check = |subjects: &[(&str, &str)], expected: Systems| {
            let given = subjects.iter().map(|(name, url)| ((*name).to_owned(), (*url).to_owned()));
            let sites = found(|options| options.subjects.extend(given)).unwrap();
            let experiment = options().experiment;
            let variant = experiment.variants.iter().position(|variant| variant.name == "odata-v2-atom").unwrap();
            assert_eq!(systems(&sites, &experiment, variant), expected, "{subjects:?}");
        };
        let atom = ("odata-v2-atom", "http://127.0.0.1:81");
        check(&[], Systems::Same);
        check(&[atom], Systems::BuiltInAndTheirs);
        check(&[("rest-json", "http://127.0.0.1:81")], Systems::BuiltInAndTheirs);
        check(&[atom, ("rest-json", "http://127.0.0.1:82")], Systems::BothTheirs);
        check(&[atom, ("rest-json", "http://127.0.0.1:81/rest")], Systems::Same);
    }

    #[test]
    fn a_server_is_given_once_for_all_that_are_encrypted_as_the_variant_is() {
        let sites = found(|options| {
            options.experiment = Experiment::builtin("encryption").unwrap().elsewhere();
            let given = [
                ("http", "http://127.0.0.1:81"),
                ("https", "https://localhost:82/x"),
                ("https-new", "https://127.0.0.1:83"),
            ];
            options.subjects.extend(given.map(|(name, url)| (name.to_owned(), url.to_owned())));
            options.subject_pids.push(("https".to_owned(), 7));
        })
        .unwrap();
        let places: Vec<String> = sites
            .iter()
            .map(|site| match &site.place {
                Origin::There(target) => target.to_string(),
                Origin::Child(path) => path.clone(),
            })
            .collect();
        let expected = [
            "http://127.0.0.1:81/",
            "https://127.0.0.1:83/",
            "http://127.0.0.1:81/",
            "http://127.0.0.1:81/",
            "https://localhost:82/x",
            "https://127.0.0.1:83/",
            "https://127.0.0.1:83/",
        ];
        assert_eq!(places, expected);
        let processes: Vec<usize> = sites.iter().map(|site| site.processes.len()).collect();
        assert_eq!(processes, [0, 1, 0, 0, 1, 0, 1]);
        let experiment = Experiment::builtin("encryption").unwrap();
        assert_eq!(systems(&sites, &experiment, 5), Systems::Same, "two ports of one server");
    }

    #[test]
    fn a_process_is_watched_only_for_a_subject_of_the_users() {
        let pid = ("rest-json".to_owned(), 7);
        let refused = found(|options| options.subject_pids.push(pid.clone())).unwrap_err();
        assert!(refused.starts_with("--subject-pid rest-json: that variant is served by a child"), "{refused}");
        let sites = found(|options| {
            options.subject_pids.push(pid.clone());
            options.subjects.push(("rest-json".to_owned(), "http://127.0.0.1:1".to_owned()));
        });
        assert_eq!(sites.unwrap()[0].processes, [7]);
    }
}
