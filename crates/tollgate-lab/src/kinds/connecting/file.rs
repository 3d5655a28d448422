//! The file of an experiment about encryption: ways of encrypting as levels, users common to all levels, the lifetime
//! of their connections, and the rate that all variants of a level are offered.
//!
//! It does not make a certificate or open a connection.

use std::ops::Bound::{Excluded, Included};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Checker, Connections, Experiment, ExperimentError, Own, UpTo, Users};
use crate::kinds::http::encrypting::{
    Authentication, Encrypting, EncryptionLevel, EqualRateShape, KeyKind, RateSize, TlsVersion,
};
use crate::kinds::http::file::answer;
use crate::kinds::http::file::served::{self, Served};
use tollgate_facts::results::{Arrivals, Connecting, Encryption, NamedLevel, distance_words};

/// Most ways of encrypting in one experiment: each is a listener and a certificate.
const LEVELS_MAX: usize = 16;
/// Most users: above it the ports of one address run short.
const USERS_MAX: u32 = 10_000;
/// Longest ramp-up in milliseconds; the published one took 25 s.
const RAMP_UP_MS_MAX: u32 = 60_000;
/// Most requests on one connection.
const REQUESTS_MAX: u32 = 1_000_000;
/// Most certificates of a chain.
const CHAIN_MAX: u32 = 3;
/// Users if the file does not say.
const USERS_DEFAULT: u32 = 50;
/// Largest share of the least throughput that may be offered; above it queues are measured instead of layers.
const SHARE_MAX: f64 = 0.9;
/// Highest rate in requests per second; no generator sends faster in time.
const PER_SECOND_MAX: f64 = 1e6;
/// Longest round trip of a level in milliseconds.
const ROUND_TRIP_MS_MAX: f64 = 1_000.0;
/// Longest title of a level.
const TITLE_LENGTH_MAX: usize = 64;

/// The keys.
pub(super) const KEYS: &[&[Keys]] = &[
    served::KEYS,
    answer::KEYS,
    &[
        Keys::of::<OfferedFile>(TableName::Top),
        Keys::of::<WaysFile>(TableName::Factor),
        Keys::of::<UsersFile>(TableName::Workload),
        Keys::of::<ConnectingFile>(TableName::Variant),
    ],
];

/// The load at equal rate.
#[derive(Debug, Deserialize, JsonSchema)]
struct OfferedFile {
    /// The rate offered to all variants of a level after the closed load; response times are compared there.
    equal_rate: Option<At<EqualRateFile>>,
}

/// Ways of encrypting.
#[derive(Debug, Deserialize, JsonSchema)]
struct WaysFile {
    /// The levels of `encryption`; the first one is level 1.
    #[serde(default, rename = "level")]
    ways: Vec<LevelFile>,
}

/// Settings of all variants.
#[derive(Debug, Deserialize, JsonSchema)]
struct UsersFile {
    /// The path of a variant without `url`, on tollgate's own gateway.
    path: Option<At<String>>,
    /// Users at every level; absent: 50.
    users: Option<UpTo<USERS_MAX>>,
    /// Milliseconds over which the users come before anything counts; absent: all at once.
    ramp_up_ms: Option<UpTo<RAMP_UP_MS_MAX, 0>>,
    /// Authentication of users. For tollgate's own gateway the run makes a user; for a server of yours use `--basic`.
    authentication: Option<Authentication>,
}

/// The way the users of a variant connect.
#[derive(Debug, Deserialize, JsonSchema)]
struct ConnectingFile {
    /// Lifetime of connections: `"keep-alive"` (as the server keeps them), `{ requests = 10 }`, or `"new"` (one request
    /// each); absent: `"keep-alive"`.
    connection: Option<At<ConnectionFile>>,
    /// Encryption of connections, and its handshake; absent: `"off"`.
    tls: Option<At<Encryption>>,
}

/// One way of encrypting.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a way of encrypting; did you mean `levels`?")]
struct LevelFile {
    /// Title for readers, a few words.
    title: At<String>,
    /// The version of TLS.
    tls: TlsVersion,
    /// The kind of the server's key.
    key: KeyKind,
    /// Certificates that the server sends; absent: 1.
    chain: Option<UpTo<CHAIN_MAX>>,
    /// Round trip to the subject, in milliseconds, over a line of packets (root); in every level or in none.
    round_trip_ms: Option<At<f64>>,
}

/// The rate offered to all variants of a level.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EqualRateFile {
    /// The rate as a share of the least throughput that the closed load found among the variants of the level.
    share: Option<At<f64>>,
    /// The rate in requests per second, instead of `share`.
    per_second: Option<At<f64>>,
    /// Distribution of the intended starts; absent: equal intervals.
    arrivals: Option<Arrivals>,
}

/// Lifetime of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields, expecting = "expected `\"keep-alive\"`, `\"new\"` or `{ requests = N }`")]
enum ConnectionFile {
    /// A lifetime by name.
    Named(ConnectionName),
    /// A number of requests.
    Counted {
        /// Requests on one connection.
        requests: u32,
    },
}

/// Lifetime of connections, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ConnectionName {
    /// As long as the server keeps them open.
    KeepAlive,
    /// One request each.
    New,
}

/// Reads the experiment.
pub(super) fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let served = Served::take(document)?;
    let OfferedFile { equal_rate } = document.take(TableName::Top)?;
    let WaysFile { ways } = document.take(TableName::Factor)?;
    let users: UsersFile = document.take(TableName::Workload)?;
    let connecting: Vec<ConnectingFile> = document.each()?;
    let checker = &document.checker;
    if let Some(path) = users.path.as_ref().filter(|_| served.has_all_urls()) {
        let help = "leave it out: each variant says by its `url` where it is asked";
        return Err(checker.fault(path.span(), "`path` has no meaning here", help));
    }
    let (named_levels, levels) = self::ways(&ways, document)?;
    let encrypting = Encrypting {
        levels,
        ramp_up: users.ramp_up_ms.map_or(Duration::ZERO, UpTo::milliseconds),
        authentication: users.authentication.unwrap_or_default(),
        equal_rate: equal_rate.map(|file| checker.equal_rate(&file)).transpose()?,
    };
    let mut experiment = document.experiment(named_levels.iter().map(|named| named.level).collect())?;
    experiment.connections = Connections::PerBlock;
    experiment.named_levels = named_levels;
    experiment.users = Users::Same(users.users.map_or(USERS_DEFAULT, |UpTo(users)| users));
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(connecting.iter().zip(&document.ways)) {
        let connecting = checker.connecting(file)?;
        if way.title.is_none() {
            variant.title = title(connecting);
        }
        variant.own = Own::new(connecting);
    }
    experiment.own = Own::new(encrypting);
    answer::fill(document, &mut experiment)?;
    let usual = |_: &_| users.path.as_ref().map(|path| document.checker.location(path));
    served.fill(document, experiment, usual)
}

/// The same with the single level of an existing server, which has its own certificate and versions.
pub(super) fn on_one_listener(mut experiment: Experiment) -> Experiment {
    let Some(encrypting) = experiment.own::<Encrypting>() else { return experiment };
    experiment.own = Own::new(Encrypting { levels: Vec::new(), ..encrypting.clone() });
    let title = "the server's own TLS".to_owned();
    experiment.named_levels = vec![NamedLevel { level: 1, title, ..NamedLevel::default() }];
    experiment.levels = vec![1];
    experiment.extents.values_mut().for_each(|extent| extent.levels = None);
    experiment
}

/// The same with this rate offered to all variants.
///
/// # Errors
/// It measures nothing at a rate.
pub(in crate::kinds) fn at_rate(mut experiment: Experiment, per_second: f64) -> Result<Experiment, String> {
    let near = experiment.own::<Encrypting>().filter(|encrypting| !encrypting.is_afar());
    let Some(encrypting) = near else {
        return Err(format!("`{}` offers its variants no rate; `encryption` does", experiment.name));
    };
    let arrivals = encrypting.equal_rate.map(|shape| shape.arrivals).unwrap_or_default();
    let equal_rate = Some(EqualRateShape { size: RateSize::PerSecond(per_second), arrivals });
    experiment.own = Own::new(Encrypting { equal_rate, ..encrypting.clone() });
    Ok(experiment)
}

/// The ways of encrypting, as results store them and as they are measured.
fn ways(
    files: &[LevelFile],
    document: &Document<'_>,
) -> Result<(Vec<NamedLevel>, Vec<EncryptionLevel>), ExperimentError> {
    let checker = &document.checker;
    if let Some(levels) = &document.swept.levels {
        let help = "write a `[[factor.level]]` with `title`, `tls` and `key` for each";
        return Err(checker.fault(levels.span(), "ways of encrypting are no numbers", help));
    }
    if files.is_empty() {
        let help = "add a `[[factor.level]]` with `title`, `tls` and `key`";
        return Err(checker.fault(document.factor_span(), "there is no level", help));
    }
    let help = format!("it is above 0 and at most {ROUND_TRIP_MS_MAX}");
    let lengths = (Excluded(0.0), Included(ROUND_TRIP_MS_MAX));
    let length = |milliseconds| checker.number("round_trip_ms", milliseconds, lengths, &help);
    let mut named: Vec<NamedLevel> = Vec::with_capacity(files.len());
    let mut ways = Vec::with_capacity(files.len());
    for LevelFile { title, tls, key, chain, round_trip_ms } in files {
        let text = title.as_ref().trim();
        let round_trip_ms = round_trip_ms.as_ref().map(length).transpose()?;
        if named.first().is_some_and(|first| first.round_trip_ms.is_some() != round_trip_ms.is_some()) {
            let help = "write `round_trip_ms` in every level or in none";
            return Err(checker.fault(title.span(), &format!("`{text}` is not where the other levels are"), help));
        }
        if text.is_empty() || text.chars().count() > TITLE_LENGTH_MAX || ways.len() == LEVELS_MAX {
            let help = format!("a title has at most {TITLE_LENGTH_MAX} characters, an experiment {LEVELS_MAX} levels");
            return Err(checker.fault(title.span(), &format!("`{text}` is no title of a level"), &help));
        }
        let text = format!("{text}{}", round_trip_ms.map(distance_words).unwrap_or_default());
        if named.iter().any(|known| known.title == text) {
            let message = format!("level `{text}` stands twice");
            return Err(checker.fault(title.span(), &message, "give each level a title of its own"));
        }
        let chain = chain.map_or(1, |UpTo(chain)| chain);
        let round_trip = round_trip_ms.map(|milliseconds| Duration::from_secs_f64(milliseconds / 1e3));
        ways.push(EncryptionLevel { version: *tls, key: *key, chain, round_trip });
        let (tls, key) = (tls.to_string(), key.to_string());
        named.push(NamedLevel { level: ways.len() as u64, title: text, tls, key, chain, round_trip_ms });
    }
    Ok((named, ways))
}

impl Checker<'_> {
    fn equal_rate(&self, file: &At<EqualRateFile>) -> Result<EqualRateShape, ExperimentError> {
        let EqualRateFile { share, per_second, arrivals } = file.as_ref();
        let number = |name, number, most, help: &str| self.number(name, number, (Excluded(0.0), Included(most)), help);
        let size = match (share, per_second) {
            (Some(share), None) => {
                let help = format!("it is above 0 and at most {SHARE_MAX}, of the least throughput of the level");
                RateSize::Share(number("share", share, SHARE_MAX, &help)?)
            }
            (None, Some(rate)) => {
                let help = format!("it is above 0 and at most {PER_SECOND_MAX}");
                RateSize::PerSecond(number("per_second", rate, PER_SECOND_MAX, &help)?)
            }
            (None, None) | (Some(_), Some(_)) => {
                let help = "write `share = 0.5`, or `per_second = 75`";
                return Err(self.fault(file.span(), "the rate is either a share or a number", help));
            }
        };
        Ok(EqualRateShape { size, arrivals: arrivals.unwrap_or_default() })
    }

    fn connecting(&self, file: &ConnectingFile) -> Result<Connecting, ExperimentError> {
        let requests_per_connection = match file.connection.as_ref().map(|named| (named.as_ref(), named.span())) {
            None | Some((ConnectionFile::Named(ConnectionName::KeepAlive), _)) => None,
            Some((ConnectionFile::Named(ConnectionName::New), _)) => Some(1),
            Some((ConnectionFile::Counted { requests }, span)) => {
                if !(1..=REQUESTS_MAX).contains(requests) {
                    let help = format!("it is from 1 to {REQUESTS_MAX}");
                    return Err(self.fault(span, &format!("`requests` is {requests}"), &help));
                }
                Some(*requests)
            }
        };
        let encryption = file.tls.as_ref().map_or(Encryption::Off, |tls| *tls.as_ref());
        if let (Some(tls), Encryption::Resumed, None) = (&file.tls, encryption, requests_per_connection) {
            let help = "add `connection = \"new\"`, or `connection = { requests = 10 }`";
            return Err(self.fault(tls.span(), "who keeps his connection resumes nothing", help));
        }
        Ok(Connecting { requests_per_connection, encryption })
    }
}

/// Title of a way to connect, a few words for readers.
fn title(connecting: Connecting) -> String {
    let handshake = match connecting.encryption {
        Encryption::Off => "plain",
        Encryption::Full => "TLS, full handshakes",
        Encryption::Resumed => "TLS, sessions resumed",
    };
    match connecting.requests_per_connection {
        None => format!("{handshake}, connections kept"),
        Some(1) => format!("{handshake}, a new connection each"),
        Some(requests) => format!("{handshake}, {requests} requests a connection"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    const GOOD: &str = r#"name = "mine"
question = "What does it cost?"

[factor]
name = "encryption"

[[factor.level]]
title = "TLS 1.3"
tls = "1.3"
key = "p256"

[[factor.level]]
title = "TLS 1.2"
tls = "1.2"
key = "rsa-2048"
chain = 3

[workload]
kind = "request"
path = "/x"
users = 7

[equal_rate]
share = 0.5

[[variant]]
name = "plain"
connection = "new"

[[variant]]
name = "encrypted"
baseline = "plain"
connection = { requests = 10 }
tls = "full"
"#;

    #[test]
    fn levels_are_numbered_in_their_order_and_users_stay_the_same() {
        let experiment = Experiment::parse(GOOD, "mine.toml").unwrap();
        assert_eq!((experiment.levels.as_slice(), experiment.users(2)), (&[1, 2][..], 7));
        let named = &experiment.named_levels;
        assert_eq!((named[1].title.as_str(), named[1].key.as_str(), named[1].chain), ("TLS 1.2", "rsa-2048", 3));
        let connecting = |position: usize| *experiment.variants[position].own::<Connecting>().unwrap();
        assert_eq!(connecting(0), Connecting { requests_per_connection: Some(1), encryption: Encryption::Off });
        assert_eq!(connecting(1).requests_per_connection, Some(10));
        assert_eq!(experiment.variants[1].title, "TLS, full handshakes, 10 requests a connection");
    }

    #[test]
    fn a_rate_is_a_share_or_so_many_requests_per_second_and_the_command_line_goes_first() {
        let size = |experiment: &Experiment| experiment.own::<Encrypting>().unwrap().equal_rate.unwrap().size;
        let experiment = Experiment::parse(GOOD, "mine.toml").unwrap();
        assert_eq!(size(&experiment), RateSize::Share(0.5));
        assert_eq!(size(&experiment.at_rate(75.0).unwrap()), RateSize::PerSecond(75.0));
        let experiment = Experiment::parse(&GOOD.replacen("share = 0.5", "per_second = 75", 1), "mine.toml").unwrap();
        assert_eq!(size(&experiment), RateSize::PerSecond(75.0));
        for name in ["protocol", "encryption-afar"] {
            let error = Experiment::builtin(name).unwrap().at_rate(75.0).unwrap_err();
            assert_eq!(error, format!("`{name}` offers its variants no rate; `encryption` does"));
        }
    }

    #[test]
    fn a_level_afar_says_so_in_its_title() {
        let near = "key = \"p256\"\n";
        let text = GOOD.replacen(near, &format!("{near}round_trip_ms = 10\n"), 1);
        let text = text.replacen("chain = 3", "round_trip_ms = 0.5", 1);
        let experiment = Experiment::parse(&text, "mine.toml").unwrap();
        let encrypting = experiment.own::<Encrypting>().unwrap();
        assert!(encrypting.is_afar());
        let titles: Vec<&str> = experiment.named_levels.iter().map(|level| level.title.as_str()).collect();
        assert_eq!(titles, ["TLS 1.3, 10 ms away", "TLS 1.2, 0.5 ms away"]);
        assert_eq!(encrypting.levels[1].round_trip, Some(Duration::from_micros(500)));
    }

    #[test]
    fn a_path_that_no_variant_is_asked_at_is_refused() {
        let url = |name: &str| format!("name = \"{name}\"\nurl = \"https://127.0.0.1/x\"");
        let with_url = |text: &str, name: &str| text.replacen(&format!("name = \"{name}\""), &url(name), 1);
        let one = with_url(GOOD, "plain");
        assert!(Experiment::parse(&one, "mine.toml").is_ok());
        let error = Experiment::parse(&with_url(&one, "encrypted"), "mine.toml").unwrap_err().to_string();
        assert!(error.contains("`path` has no meaning here") && error.contains("path = \"/x\""), "{error}");
    }

    #[test]
    fn what_is_wrong_about_encryption_is_said_with_its_place() {
        let check = |from: &str, to: &str, expected: &str| {
            assert!(GOOD.contains(from), "the good file has no `{from}`");
            let error = Experiment::parse(&GOOD.replacen(from, to, 1), "mine.toml").unwrap_err();
            assert_eq!(error.message, expected);
            assert!(error.span.is_some(), "{error}");
        };
        check("name = \"encryption\"", "name = \"encryption\"\nlevels = [1]", "ways of encrypting are no numbers");
        check("title = \"TLS 1.2\"", "title = \"TLS 1.3\"", "level `TLS 1.3` stands twice");
        check("title = \"TLS 1.2\"", "title = \" \"", "`` is no title of a level");
        check("chain = 3", "chain = 4", "`chain`: 4 is not from 1 to 3");
        check("chain = 3", "round_trip_ms = 0", "`round_trip_ms` is 0");
        check("chain = 3", "round_trip_ms = 1001", "`round_trip_ms` is 1001");
        check("chain = 3", "round_trip_ms = 10", "`TLS 1.2` is not where the other levels are");
        check("kind = \"request\"", "kind = \"walk\"", "factor and workload do not fit");
        check("users = 7", "users = 0", "`users`: 0 is not from 1 to 10000");
        check("users = 7", "ramp_up_ms = 60001", "`ramp_up_ms`: 60001 is not from 0 to 60000");
        check("share = 0.5", "share = 0.95", "`share` is 0.95");
        check("share = 0.5", "per_second = 0", "`per_second` is 0");
        check("share = 0.5", "", "the rate is either a share or a number");
        check("share = 0.5", "share = 0.5\nper_second = 75", "the rate is either a share or a number");
        check("{ requests = 10 }", "{ requests = 0 }", "`requests` is 0");
        check("{ requests = 10 }", "\"keep\"", "expected `\"keep-alive\"`, `\"new\"` or `{ requests = N }`");
        check(
            "connection = { requests = 10 }\ntls = \"full\"",
            "tls = \"resumed\"",
            "who keeps his connection resumes nothing",
        );
        let number = "name = \"concurrency\"\nlevels = [1]";
        check("name = \"encryption\"", number, "`equal_rate` has no meaning here");
    }
}
