//! Input and output of the command line: help, mistakes and exit codes.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use tollgate_gateway::Config;

use crate::helper::tollgate;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

#[test]
fn help_names_every_verb_with_examples_and_exit_codes() {
    let help = tollgate(["--help"]).finish();
    for verb in [
        "run",
        "plan",
        "list",
        "report",
        "load",
        "serve",
        "password",
        "doctor",
        "selfcheck",
        "link",
        "schema",
        "completions",
    ] {
        help.check(0, &format!("\n  {verb} "), "");
        tollgate([verb, "--help"]).finish().check(0, "Usage: tollgate", "");
    }
    help.check(0, "tollgate run protocol --quick", "").check(0, "130 interrupted", "");
}

#[test]
fn a_wrong_command_line_says_what_is_wrong_and_ends_with_2() {
    let check = |line: &[&str], expected: &str| {
        tollgate(line).finish().check(2, "", expected);
    };
    check(&[], "Usage: tollgate <COMMAND>");
    check(&["rum"], "a similar subcommand exists: 'run'");
    check(&["run"], "<EXPERIMENT|FILE.toml>");
    check(&["run", "protocol", "--quick", "--full"], "cannot be used with");
    check(&["run", "protocol", "--blocks", "0"], "'0' for '--blocks <N>'");
    check(&["run", "protocol", "--until-width", "2"], "does not end in `%`");
    check(&["run", "protocol", "--until-width", "0%"], "no interval is of no width");
    check(&["run", "protocol", "--until-width", "2%", "--blocks", "8"], "cannot be used with");
    check(&["run", "protocol", "--until-width", "2%", "--rounds", "8"], "cannot be used with");
    check(&["plan", "batching", "--until-width", "2%"], "`batching` cannot be stopped by its intervals");
    check(&["run", "protocol", "--header", "No colon here"], "there is no `:`");
    check(&["run", "protocol", "--subject", "rest-json"], "has no `=`");
    check(&["run", "protocol", "--subject-pid", "rest-json=me"], "`me` for `rest-json`");
    check(&["plan", "protocl"], "did you mean `protocol`?");
    check(&["plan", "protocol", "--only", "odata-v2-atm"], "did you mean `odata-v2-atom`?");
    check(&["plan", "protocol", "--level", "0"], "level 0 of `protocol`");
    check(&["plan", "batching", "--subjects", "cpa,tollgate"], "did you mean `cap`?");
    check(&["plan", "batching", "--subjects", "tollgate,tollgate"], "subject `tollgate` stands twice");
    check(&["plan", "protocol", "--subjects", "cap"], "it is no subject of `protocol`, but of `batching`");
    check(&["plan", "missing.toml"], "cannot read missing.toml");
    let gateway = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gateway.toml");
    check(&["plan", gateway], "this is a gateway's configuration: tollgate serve ");
    // What a run would refuse without touching the network, a plan refuses too.
    check(&["plan", "protocol", "--subject", "rest-json=garbage"], "rest-json");
    check(&["plan", "protocol", "--subject", "rest-json=http://192.0.2.1/"], "--i-may-load");
    check(&["plan", "protocol", "--subject-pid", "rest-json=1"], "rest-json");
    check(&["serve", "missing.toml"], "cannot read missing.toml");
    check(&["serve", "--listen", "here"], "'here' for '--listen <ADDRESS>'");
    check(&["serve", "--admin", "192.0.2.1:80"], "expected a loopback address");
    check(&["serve", "--work-processes", "0"], "0 is not in 1..=1000");
    check(&["serve", "--pool-wait-ms", "0"], "0 is not in 1..=600000");
    check(&["serve", "--records", "records.db"], "--records: expected sqlite:FILE");
    check(&["serve", "--database", "sqlite:records.db"], "`records` is taken");
    check(&["serve", "--database", "sqlite:a.db", "--records", "sqlite:b.db"], "cannot be used with");
    check(&["serve", "--database", "mysql://me:hunter2@host/shop"], "`mysql://me:*******@host/shop`");
    check(&["serve", "--users", "missing"], "users file missing: cannot be read");
    check(&["password"], "<NAME>");
    check(&["password", "a:b"], "expected a name");
    check(&["password", "ann"], "expected a password of 1 to 1024 bytes");
    check(&["load"], "<URL>");
    check(&["selfcheck", "--comparisons", "1"], "1 is not in 2..=1000");
    check(&["selfcheck", "--quick", "--full"], "cannot be used with");
    check(&["probe"], "<PID>");
    check(&["probe", "nginx"], "'nginx' for '<PID>'");
    check(&["probe", "1", "--interval", "1ms"], "expected at least 10 ms");
    tollgate(["probe", "4194303"]).finish().check(1, "", "there is no process 4194303");
    check(&["load", "-t", "0", "http://127.0.0.1/"], "'0' for '--duration <TIME>'");
    check(
        &["link", "proxy", "--to", "127.0.0.1:1", "--rtt", "20mss"],
        "'--rtt <TIME>': column 3: `mss` is no unit of time",
    );
    check(&["link", "proxy", "--to", "192.0.2.1:80", "--rtt", "20ms"], "--i-may-load 192.0.2.1");
    check(&["link", "proxy", "--to", "127.0.0.1:1", "--rtt", "1ms", "--jitter", "2ms"], "at most 1ms");
    check(&["link", "proxy", "--to", "127.0.0.1:1", "--rtt", "61s"], "give a shorter `--rtt`");
    check(&["link", "proxy", "--to", "127.0.0.1:1", "--rtt", "1ms", "--window", "1kB"], "leave `--window` out");
    check(&["link", "verify", "--through", "127.0.0.1:1"], "such as `--rtt 20ms`");
    check(&["link", "verify", "--mode", "netem"], "`netem` is no kind of link: write proxy or tun");
    check(&["link", "verify", "--mode", "proxy", "--loss", "1%"], "add `--mode tun`");
    check(&["link", "tun", "--rtt", "1ms", "--loss", "91%", "--", "true"], "give a smaller `--loss`");
    check(&["link", "tun", "--rtt", "1ms", "--loss", "0.1", "--", "true"], "does not end in `%`");
    check(&["link", "tun", "--rtt", "0ms", "--reorder", "1%", "--", "true"], "leave `--reorder` out");
    check(&["link", "tun", "--rtt", "1ms", "--ready", "80", "--", "true"], "--far <COMMAND>");
    check(&["report", "missing"], "cannot read missing");
    check(&["report", ".", "-f", "pdf"], "'pdf' for '--format <FORMAT>'");
}

#[test]
fn a_wrong_experiment_is_shown_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), "name = \"mine\"\nquestoin = \"What?\"\n").unwrap();
    let plan = tollgate(["plan", "mine.toml"]).within(folder.path()).finish();
    plan.check(2, "", "mine.toml:2").check(2, "", "did you mean `question`?");
    // The run ends the same way, and leaves nothing behind.
    tollgate(["run", "mine.toml"]).within(folder.path()).finish().check(2, "", "mine.toml:2");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_wrong_configuration_is_shown_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("gateway.toml"), "[listen]\n\n[work_processes]\nlimt = 3\n").unwrap();
    let serve = tollgate(["serve", "gateway.toml"]).within(folder.path()).finish();
    serve.check(2, "", "gateway.toml:4").check(2, "", "did you mean `limit`?");
}

#[test]
fn a_plan_says_how_long_a_run_takes_at_least() {
    let plan = tollgate(["plan", "protocol", "--quick"]).finish();
    plan.check(0, "What does OData cost over plain REST?", "").check(0, "duration  about", "");
    // `--rounds` is what blocks were called first.
    for flag in ["--blocks", "--rounds"] {
        let one = tollgate(["plan", "protocol", "--only", "odata-v2-atom", "--level", "3", flag, "5"]).finish();
        one.check(0, "2 cells x 5 blocks x 2 = 20 trials", "");
    }
}

#[test]
fn the_list_shows_each_experiment_with_its_variants() {
    let list = tollgate(["list"]).finish();
    list.check(0, "protocol  What does OData cost over plain REST?", "").check(0, "odata-v4-json-full", "");
    list.check(0, "SAP CAP 10 on Node 24", "").check(0, "for batching", "");
}

#[test]
fn the_doctor_tells_every_finding_with_what_mends_it() {
    let doctor = tollgate(["doctor", "--json"]).finish();
    let told: serde_json::Value = serde_json::from_str(&doctor.out).unwrap();
    let findings = told["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["name"] == "port-range"), "{told}");
    assert!(findings.iter().all(|finding| (finding["verdict"] == "ok") == finding["mend"].is_null()), "{told}");
    // Whatever machine this is, the exit code says the same as the worst finding.
    assert_eq!(doctor.code, if told["verdict"] == "bad" { 3 } else { 0 });
}

#[test]
fn schemas_are_json() {
    for of in ["experiment", "subject", "config", "result", "status"] {
        let schema = tollgate(["schema", of]).finish();
        let schema: serde_json::Value = serde_json::from_str(&schema.check(0, "", "").out).unwrap();
        assert!(schema["properties"].is_object(), "{of}");
    }
}

#[test]
fn completions_know_the_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = tollgate(["completions", shell]).finish();
        script.check(0, "schema", "");
        // These know no values of flags.
        let is_poor = ["elvish", "powershell"].contains(&shell);
        script.check(0, if is_poor { "" } else { "odata-v2-atom" }, "");
    }
    tollgate(["completions", "bash"]).finish().check(0, "protocol", "");
}

#[test]
fn every_example_is_right() {
    let own = format!("{EXAMPLES}/own");
    for entry in [EXAMPLES, &own].into_iter().flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("[[variant]]") {
            tollgate([OsStr::new("plan"), path.as_os_str(), OsStr::new("--i-may-load"), OsStr::new("sap.example")])
                .finish()
                .check(0, "trials", "");
        } else if text.contains("[[scenario]]") {
            // It is for `load` alone.
            tollgate_lab::scenario(&text, &path.display().to_string()).unwrap();
        } else {
            Config::parse(&text, &path.display().to_string()).unwrap();
        }
    }
}

#[test]
fn the_example_of_users_and_rules_is_right() {
    let text = fs::read_to_string(Path::new(EXAMPLES).join("secured.toml")).unwrap();
    let config = Config::parse(&text, "secured.toml").unwrap();
    assert_eq!((config.authentication.rules.len(), config.authentication.certificate_users.len()), (3, 2));
}

#[test]
fn the_example_of_a_configuration_shows_the_defaults() {
    let text = fs::read_to_string(Path::new(EXAMPLES).join("gateway.toml")).unwrap();
    let mut config = Config::parse(&text, "gateway.toml").unwrap();
    // Where it does not, the example says so.
    let default = Config::default();
    config.listen.threads = default.listen.threads;
    config.admin.address = default.admin.address;
    assert_eq!(config.limits.connections_per_client_max, Some(default.limits.connections_per_client()));
    config.limits.connections_per_client_max = None;
    for (service, default) in config.services.iter_mut().zip(&default.services) {
        service.location = default.location.clone();
    }
    assert_eq!(config, default);
}
