//! Starts a peer in its folder, with its port, waits until it is ready, and finds the processes to watch.
//!
//! It installs nothing.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use tollgate_net::http1::client::{Answers, Collect, Connector, RequestTemplate, Target};
use tollgate_net::listen::free_port;
use tollgate_net::tls::TlsChoice;

use super::super::child::Child;
use super::file::Watch;
use super::{PASSWORD_PLACE, Peer, Ready, Surroundings, TLS_PLACE, USER_PLACE, filled, with_backends};
use crate::cores::Cores;
use crate::probe::process::{self, Stat};

/// Interval between checks whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// Time limit of a check.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Characters of a process's name that the kernel keeps.
const COMMAND_LENGTH_MAX: usize = 15;

impl Child {
    /// Starts a peer on the subjects' cores, with its ways of encrypting and the account to accept, and waits until it
    /// is ready.
    ///
    /// # Errors
    /// A missing installation and its install line, or the peer's last words.
    pub fn start_peer(peer: &Peer, surroundings: &Surroundings, cores: &Cores) -> Result<Child, String> {
        let refused = |message: String| format!("{}: {message}", peer.name);
        if let Some(missing) = peer.missing() {
            let (missing, install) = (missing.display(), &peer.install);
            return Err(refused(format!("is not installed, as {missing} is missing; this installs it: {install}")));
        }
        if !surroundings.listeners.is_empty() && !peer.is_told_listeners() {
            return Err(refused(format!("its command has no `{TLS_PLACE}`, so it cannot encrypt")));
        }
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let free = || free_port(any).map_err(|error| refused(format!("there is no port for it: {error}")));
        let port = if peer.is_told_its_port() { free()? } else { 0 };
        let tls_ports = surroundings.listeners.iter().map(|_| free()).collect::<Result<Vec<_>, _>>()?;
        let command = command(peer, port, &tls_ports, surroundings).map_err(refused)?;
        let ready = peer.ready.clone();
        let (child, said) = Child::spawn(command, cores, move |line| heard(&ready, line))?;
        let child = child.once_ready(|child| {
            child.url = match &peer.ready {
                Ready::Url(url) => wait_for_answer(child, &filled(url, port), peer.ready_within)?,
                Ready::LineWithUrl(..) => {
                    let url = wait_for_line(child, &said, peer.ready_within)?;
                    for _ in &surroundings.listeners {
                        child.further_urls.push(wait_for_line(child, &said, peer.ready_within)?);
                    }
                    url
                }
                Ready::Line(_) => {
                    wait_for_line(child, &said, peer.ready_within)?;
                    format!("http://127.0.0.1:{port}")
                }
            };
            child.watched = watched(&peer.watch, child.process())?;
            Ok(())
        });
        child.map_err(refused)
    }
}

fn command(peer: &Peer, port: u16, tls_ports: &[u16], surroundings: &Surroundings) -> Result<Command, String> {
    let folder = std::path::absolute(&peer.folder).map_err(|error| format!("{}: {error}", peer.folder.display()))?;
    let (program, arguments) = peer.command.split_first().ok_or("there is no program to start")?;
    let program = filled(program, port);
    // One without a slash is the system's.
    let mut command =
        if program.contains('/') { Command::new(folder.join(&program)) } else { Command::new(Path::new(&program)) };
    for argument in arguments {
        if argument == TLS_PLACE {
            command.args(surroundings.listeners.iter().zip(tls_ports).map(|(listener, port)| {
                let (certificate, key) = (listener.certificate.display(), listener.key.display());
                format!("{port}:{}:{certificate}:{key}", listener.version)
            }));
        } else {
            command.arg(filled(&with_backends(argument, &surroundings.backends), port));
        }
    }
    // In the environment only: what stands on a command line, everybody on the machine can read.
    let (user, password) = surroundings.user.as_ref().map_or(("", ""), |(user, password)| (user, password));
    let known = |value: &str| {
        with_backends(&filled(value, port), &surroundings.backends)
            .replace(USER_PLACE, user)
            .replace(PASSWORD_PLACE, password)
    };
    command.envs(peer.environment.iter().map(|(name, value)| (name, known(value))));
    command.current_dir(folder);
    Ok(command)
}

/// Finds the URL in a line on standard output; empty if the line only reports readiness.
fn heard(ready: &Ready, line: &str) -> Option<String> {
    match ready {
        Ready::Url(_) => None,
        Ready::Line(text) => line.contains(text.as_str()).then(String::new),
        Ready::LineWithUrl(before, behind) => {
            let rest = line.split_once(before.as_str())?.1;
            let url = if behind.is_empty() { rest.trim_end() } else { rest.split_once(behind.as_str())?.0 };
            url.starts_with("http").then(|| url.trim_end_matches('/').to_owned())
        }
    }
}

fn wait_for_line(child: &Child, said: &Receiver<String>, within: Duration) -> Result<String, String> {
    child.hear(said, Instant::now() + within, "that it is ready", &format!("{within:?}"))
}

/// Waits until a URL is answered, and returns its scheme, host and port.
fn wait_for_answer(child: &Child, url: &str, within: Duration) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot be asked: {error}"))?;
    let target = Target::parse(url).map_err(|error| format!("`{url}`: {error}"))?;
    let mut request = Vec::new();
    RequestTemplate::builder("GET", target.authority())
        .target_text(target.path_and_query())
        .build()
        .map_err(|error| format!("`{url}`: {error}"))?
        .render::<&[u8]>(&[], &mut request);
    let connector = Connector::new(TlsChoice::Insecure).connect_timeout(PATIENCE).exchange_timeout(PATIENCE);
    let (deadline, whole) = (Instant::now() + within, target.to_string());
    loop {
        let mut body = Collect::up_to(ANSWER_BYTES_MAX);
        let asked = runtime.block_on(async {
            let mut connection = connector.open(&target).await.map_err(|error| error.to_string())?;
            let exchanged = connection.exchange(&request, Answers::Ordinary, &mut body).await;
            exchanged.map(|exchanged| exchanged.status).map_err(|error| error.to_string())
        });
        let last = match asked {
            Ok(200..=399) => return Ok(whole.trim_end_matches(target.path_and_query()).to_owned()),
            Ok(status) => format!("status {status}"),
            Err(error) => error,
        };
        if child.exited(ASK_EVERY) {
            return Err("ended before it was ready".to_owned());
        }
        if Instant::now() >= deadline {
            return Err(format!("was not ready at {url} within {within:?}: {last}"));
        }
    }
}

fn watched(watch: &Watch, leader: u32) -> Result<Vec<u32>, String> {
    let Watch::Descendant(name) = watch else { return Ok(vec![leader]) };
    let kept: String = name.chars().take(COMMAND_LENGTH_MAX).collect();
    let all = process::all().map_err(|error| format!("/proc cannot be read: {error}"))?;
    let is_meant = |(process, stat): (u32, Stat)| (stat.group == leader && stat.name == kept).then_some(process);
    let found: Vec<u32> = all.filter_map(is_meant).collect();
    if found.is_empty() { Err(format!("is ready, but none of its processes is named `{name}`")) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::super::TlsListener;
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    /// Creates a peer that is a shell script.
    fn peer(script: &str, more: &str) -> Peer {
        let text = format!(
            "name = \"mine\"\ntitle = \"a script\"\ninstall = \"none\"\n[start]\ncommand = [\"/bin/sh\", \"-c\", '''{script}''']\n{more}\n[experiment.mine]\n"
        );
        Peer::parse(&text, &std::env::temp_dir().join("subject.toml")).unwrap()
    }

    fn start(script: &str, more: &str) -> Child {
        Child::start_peer(&peer(script, more), &Surroundings::default(), &Cores::default()).unwrap()
    }

    fn refusal(peer: &Peer) -> String {
        Child::start_peer(peer, &Surroundings::default(), &Cores::default()).unwrap_err()
    }

    const LINE: &str = "[ready]\nline = \"serving at {url} now\"";
    const URL: &str = "[ready]\nurl = \"http://127.0.0.1:{port}/?x\"";
    const FOR_EVER: &str = "exec tail -f /dev/null";

    #[test]
    fn a_line_says_where_it_serves() {
        let child = start(&format!("echo starting; echo serving at http://127.0.0.1:4711/ now; {FOR_EVER}"), LINE);
        assert_eq!((child.url.as_str(), child.watched()), ("http://127.0.0.1:4711", &[child.process()][..]));
    }

    #[test]
    fn a_line_without_a_url_means_the_port_that_it_was_given() {
        let child = start(&format!("echo up at {{port}}; {FOR_EVER}"), "[ready]\nline = \"up at\"");
        let port = child.url.strip_prefix("http://127.0.0.1:").unwrap();
        assert!(port.parse::<u16>().unwrap() > 0);
    }

    #[test]
    fn one_that_encrypts_is_told_how_and_says_where() {
        let command = r#"["/bin/sh", "-c", 'for at in "$@"; do echo serving at http://$at:$WHO now; done; exec tail -f /dev/null', "sh", "{port}", "{tls}"]"#;
        let text = format!(
            "name = \"mine\"\ntitle = \"a script\"\ninstall = \"none\"\n[start]\ncommand = {command}\nenv = {{ WHO = \"{{user}}-{{password}}\" }}\n{LINE}\n[experiment.mine]\n"
        );
        let listener =
            |version: &str| TlsListener { version: version.into(), certificate: "c.pem".into(), key: "k.pem".into() };
        let user = Some(("me".to_owned(), "word".to_owned()));
        let surroundings =
            Surroundings { listeners: vec![listener("1.3"), listener("1.2")], user, ..Surroundings::default() };
        let told = Peer::parse(&text, &std::env::temp_dir().join("subject.toml")).unwrap();
        let child = Child::start_peer(&told, &surroundings, &Cores::default()).unwrap();
        assert!(child.url.ends_with(":me-word"), "{}", child.url);
        let versions = ["1.3", "1.2"].map(|version| format!(":{version}:c.pem:k.pem:me-word"));
        let are_told = versions.iter().zip(&child.further_urls).filter(|(end, url)| url.ends_with(end.as_str()));
        assert_eq!(are_told.count(), 2, "{:?}", child.further_urls);
        let untold = Child::start_peer(&peer(FOR_EVER, LINE), &surroundings, &Cores::default());
        assert_eq!(untold.unwrap_err().to_string(), "mine: its command has no `{tls}`, so it cannot encrypt");
    }

    #[test]
    fn an_answer_below_400_says_that_it_is_ready() {
        if Command::new("python3").arg("--version").output().is_err() {
            return;
        }
        let server = peer("exec python3 -m http.server --bind 127.0.0.1 {port}", URL);
        let started = || Child::start_peer(&server, &Surroundings::default(), &Cores::default());
        // Between the choice of a port and its use another test may take it.
        let child = (0..5).find_map(|_| started().ok()).unwrap_or_else(|| started().unwrap());
        assert!(child.url.starts_with("http://127.0.0.1:") && !child.url.contains('?'), "{}", child.url);
    }

    #[test]
    fn a_descendant_is_watched_and_ends_with_the_subject() {
        // It is the descendant that says that it is ready, so it has its name by then.
        let script = "{ echo serving at http://127.0.0.1:1 now; tail -f /dev/null; } | cat & wait";
        let named = |name: &str| peer(script, &format!("watch = {{ descendant = \"{name}\" }}\n{LINE}"));
        let child = Child::start_peer(&named("cat"), &Surroundings::default(), &Cores::default()).unwrap();
        let [cat] = *child.watched() else { panic!("{:?}", child.watched()) };
        assert_ne!(cat, child.process());
        let watched = pidfd_open(Pid::from_raw(cat as i32).unwrap(), PidfdFlags::empty()).unwrap();
        drop(child);
        let patience = Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(poll(&mut [PollFd::new(&watched, PollFlags::IN)], Some(&patience)), Ok(1));
        assert_eq!(refusal(&named("java")), "mine: is ready, but none of its processes is named `java`");
    }

    #[test]
    fn one_that_is_not_ready_says_why() {
        assert_eq!(
            refusal(&peer("echo no database >&2; exit 3", LINE)),
            "mine: ended with exit status 3; its last words: no database"
        );
        assert_eq!(refusal(&peer("exit 0", URL)), "mine: ended with exit status 0");
        let hasty = |more: &str| Peer { ready_within: Duration::ZERO, ..peer(FOR_EVER, more) };
        assert_eq!(refusal(&hasty(LINE)), "mine: did not say that it is ready within 0ns");
        let refused = refusal(&hasty(URL));
        assert!(refused.starts_with("mine: was not ready at http://127.0.0.1:"), "{refused}");
    }

    #[test]
    fn one_that_is_not_installed_says_how_to_install_it() {
        let text = "name = \"mine\"\ntitle = \"t\"\ninstall = \"make -C {folder}\"\ninstalled = [\"it\"]\n[start]\ncommand = [\"it\"]\n[ready]\nline = \"x\"\n[experiment.mine]\n";
        let peer = Peer::parse(text, Path::new("nowhere/subject.toml")).unwrap();
        assert_eq!(
            refusal(&peer),
            "mine: is not installed, as nowhere/it is missing; this installs it: make -C nowhere"
        );
    }
}
