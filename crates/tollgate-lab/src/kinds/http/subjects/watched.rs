//! A subject as a run sees it: its load targets, its watched processes, and whether it is alive.
//!
//! Several variants may share one process; each has its own requests and distance.

use std::cell::RefCell;
use std::net::{Ipv4Addr, ToSocketAddrs};
use std::num::NonZeroU32;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tollgate_net::http1::client::Target;
use tollgate_net::link::Link;
use tollgate_net::tls::Resumption;

use super::backends::{Backends, Laid};
use super::beside::{beside, load_target};
use super::folder::Folder;
use super::secured::Secured;
use super::sites::{self, Origin, Site};
use crate::conduct::options::RunOptions;
use crate::cores::Cores;
use crate::kinds::http::own::{self, Added};
use crate::kinds::http::remote;
use crate::load::insert::Beside;
use crate::load::scenario::Program;
use crate::load::target::{Connection, LoadTarget};
use crate::plan::Plan;
use crate::probe::cpu::CpuClocks;
use crate::probe::instructions::{Counting, Lack};
use crate::probe::memory;
use crate::probe::meter::Meter;
use crate::probe::metrics::Metrics;
use crate::probe::watch::Extent;
use crate::subject::Child;
use crate::traffic::header::basic_authorization;
use crate::traffic::request::RequestShape;
use tollgate_facts::results::{Connecting, Distance, Encryption, Reading};

/// Placeholder in an argument of a subject for a folder of that process alone.
const FOLDER: &str = "{folder}";

/// Number of looks that measure the cost of one.
const LOOKS: u32 = 50;

/// A running subject.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Position of its variant.
    pub(crate) variant: usize,
    /// The load targets: one for all levels, or one for each in their order.
    places: Vec<(u64, Arc<LoadTarget>)>,
    /// Counters read when a trial begins and stops to count: its CPU clocks, those of the servers behind it as far as
    /// they are known, and the cores of the run.
    pub(crate) meter: Meter,
    /// The reason that its instructions or those of the servers behind it are not counted, though others' can be.
    pub(crate) uncounted: Option<Lack>,
    /// Whether its first valid answers are the model for all others.
    pub(crate) learns: bool,
    /// The format of its answers if it differs from the experiment's.
    pub(crate) by_links: Option<RequestShape>,
    /// Servers behind it with their names.
    backends: Vec<(String, Rc<RefCell<Process>>)>,
    /// Requests of an insert beside its transfers, bypassing any link.
    pub(crate) beside: Option<Beside>,
    process: Rc<RefCell<Process>>,
    /// The link between generator and subject; dropped with this value.
    _link: Option<Link>,
}

/// Surroundings of every subject of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Environment<'a> {
    pub(crate) options: &'a RunOptions,
    /// Header fields beside the variant's.
    pub(crate) added: Added<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) sites: &'a [Site],
    pub(crate) cores: &'a Cores,
    /// The run's folder.
    pub(crate) folder: &'a Path,
    /// Certificates and user of our own gateway.
    pub(crate) secured: Option<&'a Secured>,
    pub(crate) backends: &'a Backends,
    pub(crate) counting: &'a Counting,
}

/// Most load targets of one variant: ways of encrypting, each with a listener of its own.
pub(crate) const PLACES_MAX: usize = 17;

/// The processes of a subject, which several variants may share.
#[derive(Debug, Default)]
pub(crate) struct Process {
    /// Our child process; it ends before its folder is removed.
    child: Option<Child>,
    /// Processes to watch.
    watched: Vec<u32>,
    /// Processes that are watched: the subject alone, or its children, too. Our own gateway has none.
    extent: Extent,
    metrics: Option<Metrics>,
    /// Its own folder.
    _folder: Option<Folder>,
    /// Its own configuration, removed after it.
    _laid: Option<Laid>,
}

impl Process {
    /// The processes of a child.
    pub(crate) fn of(child: Child) -> Process {
        Process { watched: child.watched().to_vec(), child: Some(child), ..Process::default() }
    }

    /// Its URL; empty for an existing server.
    pub(crate) fn url(&self) -> &str {
        self.child.as_ref().map_or("", |child| child.url.as_str())
    }

    /// Starts tollgate's own gateway or a peer, or watches the processes of an existing server.
    ///
    /// # Errors
    /// The reason that it could not be started.
    pub(crate) fn begin(site: &Site, laid: Option<Laid>, around: &Environment<'_>) -> Result<Process, String> {
        let Environment { options, cores, secured, backends, .. } = *around;
        match &site.place {
            Origin::There(_) => {
                Ok(Process { watched: site.processes.clone(), extent: Extent::Tree, ..Process::default() })
            }
            Origin::Child(_) if let Some(peer) = options.peer(&options.experiment.variants[site.variant])? => {
                let mut surroundings = secured.map(|secured| secured.surroundings.clone()).unwrap_or_default();
                surroundings.backends = backends.urls();
                let child = Child::start_peer(peer, &surroundings, cores)?;
                Ok(Process { extent: Extent::Tree, ..Process::of(child) })
            }
            Origin::Child(_) => {
                let folder = around.folder.join(format!("subject-{}", site.process));
                let (mut arguments, _folder) = arguments(options, &folder)?;
                let address = secured.map_or(Ipv4Addr::LOCALHOST, |secured| secured.address);
                let own = laid.as_ref().or(backends.laid.as_ref());
                let configuration = secured.map(|secured| &secured.configuration).or(own.map(|laid| &laid.file));
                arguments.extend(configuration.map(|file| file.display().to_string()));
                let child = Child::start(address, &options.serve_program, &arguments, cores);
                let child = child.map_err(|error| own.map_or(error.clone(), |laid| laid.told(&error)))?;
                let metrics = child.admin_url.as_deref().and_then(Metrics::new);
                Ok(Process { metrics, _folder, _laid: laid, ..Process::of(child) })
            }
        }
    }
}

/// The further arguments of a gateway, and the folder made for it if one of them names it.
fn arguments(options: &RunOptions, folder: &Path) -> Result<(Vec<String>, Option<Folder>), String> {
    let given = || options.experiment.subject_arguments.iter().chain(&options.serve_arguments);
    if !given().any(|argument| argument.contains(FOLDER)) {
        return Ok((given().cloned().collect(), None));
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("needs the folder {}: {error}", folder.display()))?;
    let folder = std::path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let text = folder.display().to_string();
    let folder = Folder { path: folder, made: None };
    Ok((given().map(|argument| argument.replace(FOLDER, &text)).collect(), Some(folder)))
}

impl Watched {
    /// Watches the subject of a site in `process`, through a link if the variant is remote.
    ///
    /// # Errors
    /// An address that cannot be used, or a process that cannot be watched.
    pub(crate) fn begin(
        site: &Site,
        process: Rc<RefCell<Process>>,
        around: &Environment<'_>,
    ) -> Result<Watched, String> {
        let Environment { options, added, plan, sites, backends, .. } = *around;
        let variant = &options.experiment.variants[site.variant];
        let direct = match &site.place {
            Origin::There(target) => target.clone(),
            Origin::Child(path) => target_on(process.borrow().url(), path)?,
        };
        let (link, measured) = match variant.distance {
            Distance::Local => (None, direct.clone()),
            Distance::Remote => {
                let link = link(&direct, plan.round_trip, around.cores)?;
                let url = format!("http://{}{}", link.address(), direct.path_and_query());
                let target = Target::parse(&url).map_err(|error| format!("the link listens at `{url}`: {error}"))?;
                (Some(link), target)
            }
        };
        let beside = beside(&direct, site, options, added)?;
        let places = match variant.own() {
            Some(connecting) => {
                let process = &process.borrow();
                let place = |level: &u64| {
                    let target = secured_target(site, process, *connecting, *level, around)?;
                    Ok((*level, Arc::new(target)))
                };
                plan.levels.iter().map(place).collect::<Result<_, String>>()?
            }
            None => {
                let (headers, tls) = own::access(options, site, added)?;
                let mut target = load_target(measured, own::request(options, site), (tls, &headers))?;
                Arc::make_mut(&mut target).checks = own::checks(options, site);
                if let Some(played) = variant.own() {
                    let program = Arc::new(Program::new(played, &target)?);
                    Arc::make_mut(&mut target).program = Some(program);
                }
                vec![(plan.levels[0], target)]
            }
        };
        let subject = CpuClocks::new(&process.borrow().watched, process.borrow().extent)?;
        let behind = match (&site.place, &variant.backend) {
            (Origin::Child(_), None) => backends.running.clone(),
            (Origin::Child(_), Some(_)) | (Origin::There(_), _) => Vec::new(),
        };
        let ours = behind.iter().flat_map(|(_, process)| process.borrow().watched.clone());
        let mut theirs = sites::processes_behind(site, sites, &options.experiment);
        // What the subject started is the subject.
        let named = theirs.len();
        theirs.retain(|process| !subject.processes().contains(process));
        let behind_is_inside = named > 0 && theirs.is_empty() && behind.is_empty();
        let extent = if theirs.is_empty() { Extent::Alone } else { Extent::Tree };
        let behind_clocks = CpuClocks::new(&ours.chain(theirs).collect::<Vec<u32>>(), extent)?;
        let counters = around.counting.of(&subject.processes());
        let counters = counters.and_then(|own| Ok((own, around.counting.of(&behind_clocks.processes())?)));
        let uncounted = counters.as_ref().err().cloned();
        let (subject_instructions, behind_instructions) = counters.unwrap_or_default();
        let meter = Meter {
            subject,
            behind: behind_clocks,
            behind_is_inside,
            subject_instructions,
            behind_instructions,
            cores: around.cores.all.clone(),
        };
        Ok(Watched {
            variant: site.variant,
            places,
            meter,
            uncounted,
            learns: own::learns(options, site),
            by_links: own::by_links(options, site),
            backends: behind,
            beside,
            process,
            _link: link,
        })
    }

    /// A level for each load target.
    pub(crate) fn levels(&self) -> Vec<u64> {
        self.places.iter().map(|(level, _)| *level).collect()
    }

    /// Number of the load target at a level.
    pub(crate) fn place(&self, level: u64) -> usize {
        self.places.iter().position(|(known, _)| *known == level).unwrap_or(0)
    }

    /// The load target at a level.
    pub(crate) fn target(&self, level: u64) -> &Arc<LoadTarget> {
        &self.places[self.place(level)].1
    }

    /// Reads later answers by this shape.
    pub(crate) fn understand(&mut self, shape: &RequestShape) {
        for (_, target) in &mut self.places {
            *target = Arc::new(target.as_ref().clone().understood(shape.clone()));
        }
    }

    /// Stops checking the length of answers at a level unless they are alike; returns the length if they are.
    pub(crate) fn settle_length(&mut self, level: u64, are_alike: bool) -> Option<u64> {
        let place = self.place(level);
        let checks = &mut Arc::make_mut(&mut self.places[place].1).checks;
        checks.length = checks.length.take().filter(|_| are_alike);
        checks.length.as_ref()?.get().copied()
    }

    /// Whether the run started it, and so may restart it.
    pub(crate) fn is_ours(&self) -> bool {
        self.process.borrow().child.is_some()
    }

    /// Whether a process of it is watched.
    pub(crate) fn is_watched(&self) -> bool {
        !self.process.borrow().watched.is_empty()
    }

    /// Describes its end, if it has ended.
    pub(crate) fn death(&mut self) -> Option<String> {
        for (name, process) in &self.backends {
            if let Some(death) = process.borrow_mut().child.as_mut().and_then(Child::death) {
                return Some(format!("has lost its backend `{name}`, which {death}"));
            }
        }
        let process = &mut *self.process.borrow_mut();
        if let Some(child) = &mut process.child {
            return child.death();
        }
        let gone = !process.watched.is_empty() && self.meter.subject.read_ns().is_none();
        gone.then(|| "is gone: its watched process does not exist any more".to_owned())
    }

    /// Reads its probes.
    pub(crate) fn sample(&mut self) -> Vec<Reading> {
        memory::sample(&self.meter.subject.processes())
    }

    /// CPU time that it spends on one request for its metrics while idle, in microseconds.
    pub(crate) fn look_cpu_us(&mut self) -> Option<f64> {
        // The first one opens the connection.
        self.ask();
        let before_ns = self.meter.subject.read_ns()?;
        (0..LOOKS).for_each(|_| drop(self.ask()));
        Some(self.meter.subject.read_ns()?.saturating_sub(before_ns) as f64 / 1e3 / f64::from(LOOKS))
    }

    /// Reads its metrics.
    pub(crate) fn ask(&mut self) -> Vec<Reading> {
        let metrics = &mut self.process.borrow_mut().metrics;
        metrics.as_mut().map(|metrics| metrics.sample().into_iter().collect()).unwrap_or_default()
    }
}

/// The load target of a variant at a level if connections are studied: the gateway's listener for it, or the single
/// address of an existing server.
fn secured_target(
    site: &Site,
    process: &Process,
    connecting: Connecting,
    level: u64,
    around: &Environment<'_>,
) -> Result<LoadTarget, String> {
    let (options, secured) = (around.options, around.secured);
    let (mut headers, mut tls) = own::access(options, site, around.added)?;
    let target = match &site.place {
        Origin::There(target) => target.clone(),
        Origin::Child(path) => {
            let user = secured.and_then(|secured| secured.surroundings.user.as_ref());
            headers
                .extend(user.map(|(user, password)| ("Authorization".to_owned(), basic_authorization(user, password))));
            tls.authorities = secured.and_then(|secured| secured.authority(level));
            let child = process.child.as_ref();
            let url = match connecting.encryption {
                Encryption::Off => child.map(|child| child.url.as_str()),
                Encryption::Full | Encryption::Resumed => {
                    let listener = secured.and_then(|secured| secured.listener(level));
                    child.zip(listener).and_then(|(child, at)| child.further_urls.get(at)).map(String::as_str)
                }
            };
            target_on(url.ok_or("did not say where it listens with TLS")?, path)?
        }
    };
    tls.resumption = match connecting.encryption {
        Encryption::Resumed => Resumption::Allowed,
        Encryption::Full | Encryption::Off => Resumption::Disabled,
    };
    let connection = match connecting.requests_per_connection.and_then(NonZeroU32::new) {
        None => Connection::KeepAlive,
        Some(requests) if requests.get() == 1 => Connection::New,
        Some(requests) => Connection::Requests(requests),
    };
    let target = LoadTarget::new(target, own::request(options, site), &headers, connection);
    let mut target = target.map_err(|error| error.to_string())?.with_tls(tls);
    target.checks = own::checks(options, site);
    Ok(target)
}

/// The target at a path of a subject with this URL.
fn target_on(url: &str, path: &str) -> Result<Target, String> {
    let url = format!("{}{path}", url.trim_end_matches('/'));
    Target::parse(&url).map_err(|error| format!("the subject listens at `{url}`: {error}"))
}

/// A link of this round trip to `target`.
fn link(target: &Target, round_trip: Duration, cores: &Cores) -> Result<Link, String> {
    let resolved = (target.host(), target.port()).to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    let address = resolved.ok_or_else(|| format!("`{}` has no address to link to", target.authority()))?;
    remote::link(address, round_trip, cores).map_err(|error| format!("cannot be linked to at {round_trip:?}: {error}"))
}
