//! From the flags of `tollgate load` to the lab's load: reads files, and refuses contradictions.
//!
//! Faults that only the lab can find are not here, such as a placeholder in a body that no column fills.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tollgate_lab::load::answer::odata_batch::BatchForm;
use tollgate_lab::load::answer::soap::Version as Soap;
use tollgate_lab::load::target::Connection;
use tollgate_lab::single::{AnswerLength, QuickLoad, Rate, Via, Wrapping};
use tollgate_lab::traffic::feed::csv::Table;
use tollgate_lab::traffic::feed::{Feed, FeedEnd, Order};
use tollgate_lab::traffic::header::{basic_authorization, completed};
use tollgate_lab::traffic::model::Arrivals;
use tollgate_lab::traffic::scenario::Played;
use tollgate_lab::traffic::stages::Unit;
use tollgate_net::connect::SocketOptions;
use tollgate_net::http1::client::{BodyFraming, Target};

use super::arguments::{Arguments, BatchFormat, FeedEnding, FeedOrder, SoapVersion};
use super::files::Export;
use crate::commands::asking::{Fed, PLAIN, read};
use crate::failure::Failure;
use crate::values::Credentials;

/// Default number of users at a rate.
const USERS_AT_A_RATE: usize = 1000;
/// The same of a scenario.
const SCENARIO_USERS_AT_A_RATE: usize = 200;
/// Size limit of a scenario's file.
const SCENARIO_BYTES_MAX: u64 = 1 << 20;
/// Size limit of a feed.
const FEED_BYTES_MAX: u64 = 1 << 30;
/// Maximum number of requests that are logged one by one, for -g and JTL.
const LOG_REQUESTS_MAX: usize = 1_000_000;
/// Content type of the parts of a batch.
const PART: &str = "application/json";

/// The load for the lab.
pub(super) fn quick_load(arguments: &Arguments) -> Result<QuickLoad, Failure> {
    let request = &arguments.request;
    if arguments.soap.is_some() && !request.has_body() {
        return Err(Failure::usage("--soap needs a payload: say -p FILE or --body TEXT"));
    }
    let stages = arguments.stages.clone();
    let staged_rate = stages.as_ref().filter(|stages| stages.unit() == Unit::PerSecond).map(|stages| stages.most());
    let staged_users = stages.as_ref().filter(|stages| stages.unit() == Unit::Users).map(|stages| stages.most());
    let rate = arguments.rate.or(staged_rate);
    if arguments.poisson && rate.is_none() {
        return Err(Failure::usage(
            "--poisson says how requests come at a rate: say --rate N/s too, or --stages of rates",
        ));
    }
    if staged_users.is_some() && arguments.concurrency.is_some() {
        return Err(Failure::usage("the stages say how many users there are: leave -c out"));
    }
    let duration = arguments.duration.or(stages.as_ref().map(|stages| stages.lasts()));
    let seed = arguments.seed.unwrap_or_else(drawn);
    let feed = feed(arguments, seed)?;
    let scenario = arguments.scenario.as_deref().map(scenario).transpose()?;
    let played = scenario.iter().flat_map(|played| &played.scenario.feeds).map(|fed| &fed.feed);
    let ends_itself = feed.iter().chain(played).any(|feed| feed.end == FeedEnd::Stop);
    if rate.is_some() && arguments.requests.is_none() && duration.is_none() && !ends_itself {
        return Err(Failure::usage("--rate needs an end: say --duration TIME or -n N"));
    }
    let users = match staged_users {
        Some(most) => most.ceil() as usize,
        // Each of them does the setup.
        None if rate.is_some() && arguments.scenario.is_some() => SCENARIO_USERS_AT_A_RATE,
        None if rate.is_some() => USERS_AT_A_RATE,
        None => 1,
    };
    let headers = headers(arguments);
    if scenario.is_some() && headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        return Err(Failure::usage("a scenario is played on the URL's own host: leave -H Host out"));
    }
    let is_logged = arguments.gnuplot.is_some() || arguments.export.iter().any(Export::is_of_requests);
    let differs = arguments.any_length || feed.is_some() || arguments.batch.is_some();
    Ok(QuickLoad {
        requests: match (arguments.requests, ends_itself) {
            (None, true) => Some(u64::MAX),
            (requests, _) => requests.map(u64::from),
        },
        duration,
        concurrency: arguments.concurrency.map_or(users, NonZeroUsize::get),
        stages,
        rate: rate.map(|per_second| Rate {
            per_second,
            arrivals: if arguments.poisson { Arrivals::Poisson } else { Arrivals::Constant },
            seed,
        }),
        ramp_up: arguments.ramp_up.unwrap_or_default(),
        connection: match arguments.requests_per_connection {
            Some(requests) => Connection::Requests(requests),
            // Users of a scenario keep theirs, as browsers do.
            None if arguments.keep_alive || scenario.is_some() => Connection::KeepAlive,
            None => Connection::New,
        },
        method: request.method(),
        headers,
        body: request.body(if feed.is_some() { Fed::Yes } else { Fed::No })?.unwrap_or_default(),
        tls: arguments.tls.settings(),
        timeout: arguments.timeout,
        threads: arguments.threads.map(usize::from),
        may_load: arguments.may_load.clone(),
        framing: arguments.chunked.map_or(BodyFraming::Length, BodyFraming::Chunked),
        feed,
        scenario,
        seed,
        wrapping: wrapping(arguments),
        statuses: arguments.expect_status.clone(),
        length: if differs { AnswerLength::Any } else { AnswerLength::AsFirst },
        contains: arguments.expect_body.clone(),
        json: arguments.expect_json.clone(),
        via: via(arguments)?,
        socket: SocketOptions { from: arguments.bind, buffer_bytes: arguments.buffer_bytes.filter(|bytes| *bytes > 0) },
        log_requests_max: is_logged.then_some(LOG_REQUESTS_MAX),
        ..QuickLoad::new(arguments.url.clone())
    })
}

fn drawn() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since: Duration| since.as_nanos() as u64)
}

/// The scenario of a file.
fn scenario(file: &Path) -> Result<Played, Failure> {
    let bytes = read(file, SCENARIO_BYTES_MAX)?;
    let name = file.display();
    let text = String::from_utf8(bytes).map_err(|_| Failure::usage(format_args!("{name} is not UTF-8")))?;
    tollgate_lab::scenario(&text, &name.to_string()).map_err(Failure::usage)
}

fn feed(arguments: &Arguments, seed: u64) -> Result<Option<Feed>, Failure> {
    let Some(file) = &arguments.feed else { return Ok(None) };
    if file == Path::new("-") && arguments.request.file() == Some(file) {
        return Err(Failure::usage("stdin cannot be both the body and the feed: write one of them to a file"));
    }
    let table = Table::parse(&read(file, FEED_BYTES_MAX)?);
    let table = table.map_err(|error| Failure::usage(format_args!("{}, {error}", file.display())))?;
    let order = match arguments.feed_order {
        FeedOrder::InOrder => Order::InOrder,
        FeedOrder::Random => Order::Random,
        FeedOrder::Unique => Order::Unique,
    };
    let end = match (arguments.feed_end, order) {
        (Some(FeedEnding::Stop), Order::Random) => {
            return Err(Failure::usage("random rows have no last one: --feed-end stop goes with in-order and unique"));
        }
        (Some(FeedEnding::Stop), _) | (None, Order::Unique) => FeedEnd::Stop,
        (Some(FeedEnding::Again), _) | (None, Order::InOrder | Order::Random) => FeedEnd::Again,
    };
    Ok(Some(Feed { table: Arc::new(table), order, end, seed }))
}

fn headers(arguments: &Arguments) -> Vec<(String, String)> {
    let default = match (arguments.batch, &arguments.soap) {
        (Some(_), _) => Some(PART),
        (None, Some(_)) => None,
        (None, None) => Some(PLAIN),
    };
    let mut ours = arguments.request.implied(default);
    if arguments.batch.is_some() {
        // It would be each part's.
        ours.retain(|(name, _)| name != "Accept");
    }
    ours.extend(
        arguments.proxy_basic.as_ref().map(|Credentials { user, password }| {
            ("Proxy-Authorization".to_owned(), basic_authorization(user, password))
        }),
    );
    completed(arguments.request.said(), ours)
}

fn wrapping(arguments: &Arguments) -> Wrapping {
    match (&arguments.soap, arguments.batch) {
        (Some(action), _) => Wrapping::Soap {
            action: action.clone(),
            version: arguments.soap_version.map(|version| match version {
                SoapVersion::V11 => Soap::V11,
                SoapVersion::V12 => Soap::V12,
            }),
        },
        (None, Some(requests)) => Wrapping::Batch {
            form: match arguments.batch_form {
                BatchFormat::Multipart => BatchForm::Multipart,
                BatchFormat::ChangeSet => BatchForm::ChangeSet,
                BatchFormat::Json => BatchForm::Json,
            },
            requests: requests.get(),
            root: arguments.batch_root.clone(),
        },
        (None, None) => Wrapping::None,
    }
}

fn via(arguments: &Arguments) -> Result<Option<Via>, Failure> {
    if let Some(path) = &arguments.unix_socket {
        return Ok(Some(Via::Socket(path.clone())));
    }
    let Some(place) = &arguments.resolve else { return Ok(arguments.proxy.clone().map(Via::Proxy)) };
    // A URL that is none is refused by whoever loads it.
    if let Ok(target) = Target::parse(&arguments.url) {
        let (host, port) = (target.host(), target.port());
        if !host.eq_ignore_ascii_case(&place.host) || port != place.address.port() {
            let (said, said_port) = (&place.host, place.address.port());
            return Err(Failure::usage(format_args!(
                "--resolve says where {said}:{said_port} is, but the URL asks {host}:{port}"
            )));
        }
    }
    Ok(Some(Via::Address(place.address)))
}

/// The destination of connections, as in `--resolve`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    host: String,
    address: SocketAddr,
}

/// `host:port:address`, as in curl; host and port are those of the URL.
impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected HOST:PORT:ADDRESS, such as sap.example:443:127.0.0.1, but `{text}` came");
        let (host, rest) = text.split_once(':').ok_or_else(wrong)?;
        let (port, address) = rest.split_once(':').ok_or_else(wrong)?;
        let address: IpAddr = address.trim_matches(['[', ']']).parse().map_err(|_| wrong())?;
        let port = port.parse().map_err(|_| wrong())?;
        Ok(Place { host: host.to_owned(), address: SocketAddr::new(address, port) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_curl_has_it() {
        let check = |text: &str, expected: Option<&str>| {
            let expected = expected.map(|address| address.parse().unwrap());
            assert_eq!(text.parse::<Place>().ok().map(|place| place.address), expected, "{text}");
        };
        check("sap.example:443:127.0.0.1", Some("127.0.0.1:443"));
        check("sap.example:443:[::1]", Some("[::1]:443"));
        check("sap.example:127.0.0.1", None);
        check("sap.example:x:127.0.0.1", None);
    }
}
