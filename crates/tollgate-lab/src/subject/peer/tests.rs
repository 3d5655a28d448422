//! Rules for a subject's file, and the messages for violations.

use super::*;

const RIGHT: &str = r#"
name = "peer"
title = "Peer 1.0"
install = "make -C {folder}"
installed = ["bin/peer"]

[start]
command = ["bin/peer", "--port", "{port}", "--data", "{folder}/data"]
env = { HOME = "{folder}" }
watch = { descendant = "java" }

[ready]
url = "http://127.0.0.1:{port}/health"
within_s = 30

[experiment.protocol.paths]
"/rest/flights" = "/api/v1/flights"
"/rest" = "/other"
"#;

fn parse(text: &str) -> Result<Peer, ExperimentError> {
    Peer::parse(text, Path::new("mine/subject.toml"))
}

fn refused(from: &str, to: &str) -> String {
    assert!(RIGHT.contains(from), "{from}");
    parse(&RIGHT.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn a_file_says_how_to_install_start_and_wait() {
    let peer = parse(RIGHT).unwrap();
    assert_eq!((peer.name.as_str(), peer.install.as_str()), ("peer", "make -C mine"));
    assert_eq!(peer.missing(), Some(Path::new("mine/bin/peer")));
    let data = format!("{}/data", std::path::absolute("mine").unwrap().display());
    assert_eq!(peer.command[..3], ["bin/peer", "--port", "{port}"].map(str::to_owned));
    assert_eq!(peer.command[4], data);
    assert_eq!(peer.watch, Watch::Descendant("java".to_owned()));
    assert_eq!(peer.ready, Ready::Url("http://127.0.0.1:{port}/health".to_owned()));
    assert_eq!(peer.ready_within, Duration::from_secs(30));
}

#[test]
fn paths_of_an_experiment_become_those_of_the_subject() {
    let peer = parse(RIGHT).unwrap();
    let check = |experiment: &str, path: &str, expected: Option<&str>| {
        assert_eq!(peer.path(experiment, path).as_deref(), expected, "{experiment} {path}");
    };
    check("protocol", "/rest/flights?$top=1", Some("/api/v1/flights?$top=1"));
    check("protocol", "/rest/carriers", Some("/other/carriers"));
    check("protocol", "/odata/v4", Some("/odata/v4"));
    check("batching", "/rest/flights", None);
}

#[test]
fn a_line_may_say_where_it_serves() {
    let with = |line: &str| {
        let ready = format!("line = \"{line}\"");
        parse(&RIGHT.replacen("url = \"http://127.0.0.1:{port}/health\"", &ready, 1)).unwrap()
    };
    let peer = with("listening {url} now");
    assert_eq!(peer.ready, Ready::LineWithUrl("listening ".to_owned(), " now".to_owned()));
    assert!(!peer.is_told_its_port());
    let peer = with("started");
    assert_eq!(peer.ready, Ready::Line("started".to_owned()));
    assert!(peer.is_told_its_port());
}

#[test]
fn the_peers_that_come_with_tollgate_are_right() {
    let known = Peer::known().unwrap();
    assert_eq!(
        known.iter().map(|peer| peer.name.as_str()).collect::<Vec<_>>(),
        ["camel", "cap", "haproxy", "nginx", "nginx-xslt", "synapse"]
    );
    for (name, text) in BUILT_IN {
        let embedded = parse(text).unwrap();
        assert_eq!(embedded.name, *name);
        // What is refused elsewhere cannot be measured: a peer serves at least one experiment of ours.
        let ours = crate::kinds::BUILT_IN.iter().any(|(experiment, _)| embedded.path(experiment, "/").is_some());
        assert!(ours, "{name}");
        for (experiment, served) in &embedded.experiments {
            let experiment = crate::experiment::Experiment::builtin(experiment.as_ref()).unwrap();
            for variant in served.variants.iter().flatten() {
                assert!(experiment.variant(variant).is_ok(), "{name} {variant}");
            }
        }
    }
}

#[test]
fn a_peer_says_what_it_can_do_and_gets_the_backends_urls() {
    let (_, text) = BUILT_IN.iter().find(|(name, _)| *name == "haproxy").unwrap();
    let haproxy = parse(text).unwrap();
    assert!(haproxy.can_do("mediation", "pass-through-1k") && !haproxy.can_do("mediation", "routing"));
    assert_eq!(haproxy.path("mediation", "/routing").as_deref(), Some("/routing"));
    let urls = [("echo".to_owned(), "http://127.0.0.1:7".to_owned())];
    assert_eq!(with_backends("a {echo} b {quote} {folder}", &urls), "a http://127.0.0.1:7 b  {folder}");
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_one() {
    let error = Peer::find("cpa").unwrap_err().to_string();
    assert!(error.contains("there is no subject `cpa`") && error.contains("did you mean `cap`?"), "{error}");
    let error = Peer::find("mine/nowhere.toml").unwrap_err().to_string();
    assert!(error.starts_with("mine/nowhere.toml: cannot be read"), "{error}");
}

#[test]
fn what_is_wrong_is_shown_with_its_line() {
    let check = |from: &str, to: &str, expected: &[&str]| {
        let error = refused(from, to);
        assert!(expected.iter().all(|part| error.contains(part)), "{expected:?} in {error}");
    };
    check("name = \"peer\"", "name = \"Peer\"", &["`Peer` is not a name", "mine/subject.toml:2", "lower-case"]);
    check("name = \"peer\"", "name = \"tollgate\"", &["the name is taken"]);
    check("title = \"Peer 1.0\"", "titel = \"Peer\"", &["unknown key `titel`", "did you mean `title`?"]);
    check("install = \"make -C {folder}\"", "install = \" \"", &["it is empty", "the line that installs it"]);
    check("[\"bin/peer\"]", "[\"/bin/peer\"]", &["give a relative path"]);
    check("command = [\"bin/peer\", ", "command = [\"\", ", &["there is no program to start", "subject.toml:8"]);
    check("descendant", "granddaughter", &["subject.toml:10", "known are"]);
    check("url = \"http://127.0.0.1:{port}/health\"", "", &["it is not clear when it is ready"]);
    check("within_s = 30", "line = \"ready\"", &["it is not clear when it is ready"]);
    check("within_s = 30", "within_s = 601", &["601 is not from 1 to 600"]);
    check("within_s = 30", "within_s = 0", &["from 1 to 600"]);
    check("127.0.0.1:{port}/health", "10.1.2.3:{port}/", &["is on loopback"]);
    check("\"/other\"", "\"other\"", &["`other` is no path", "both begin with `/`"]);
}
