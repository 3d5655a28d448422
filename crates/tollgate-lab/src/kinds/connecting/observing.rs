//! Observations of an experiment about encryption beside its figures: the messages of single exchanges on fresh
//! connections, and the speed of cryptography on this machine. They are made once, after all measurements, while
//! nothing else loads the subjects.
//!
//! No figure depends on them: the pictures leave out what cannot be observed.

use std::net::ToSocketAddrs;
use std::time::Duration;

use tollgate_net::tls::flow::{self, Asked, Exchange, Side};
use tollgate_net::tls::speed::{self, Operation};
use tollgate_net::tls::{Client, HandshakeKind};

use super::Connecting;
use crate::kinds::http::session::Session;
use crate::kinds::http::subjects::watched::Watched;
use crate::load::target::LoadTarget;
use tollgate_facts::results::{self, CryptoSpeed, Encryption, Flow, FlowSide, FlowStep};
use tollgate_facts::stats;

/// Exchanges whose medians are stored; one more before them warms up, and leaves a session to resume.
const EXCHANGES: usize = 21;
/// The same where the subject is far away.
const EXCHANGES_AFAR: usize = 5;
/// Longest silence of a server before it is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// CPU time of one slice of one algorithm, and how many slices each gets: about 2 s for all.
const SPEED_SLICE: Duration = Duration::from_millis(30);
const SPEED_SLICES: u32 = 10;

impl Session<'_, '_, Connecting> {
    /// Stores the messages of single exchanges: of a full handshake at each level, and plain and resumed once for each
    /// version, as far as there are variants that open a connection for each request.
    pub(crate) fn observe(&mut self, subjects: &[Watched]) {
        let experiment = &self.options.experiment;
        let named = &experiment.named_levels;
        let mut flows: Vec<Flow> = Vec::new();
        for subject in subjects {
            let variant = &experiment.variants[subject.variant];
            let opens_each =
                variant.own::<results::Connecting>().copied().filter(|own| own.requests_per_connection == Some(1));
            let (Some(connecting), None) = (opens_each, &variant.peer) else { continue };
            for level in &self.plan.levels {
                let named = named.iter().find(|named| named.level == *level);
                let (version, level_title) =
                    named.map_or(("", "TLS"), |named| (named.tls.as_str(), named.title.as_str()));
                let title = match connecting.encryption {
                    Encryption::Off => "plain".to_owned(),
                    Encryption::Full => format!("{level_title}: full handshake"),
                    Encryption::Resumed => format!("TLS {version}: resumed"),
                };
                if flows.iter().any(|flow| flow.title == title) {
                    continue;
                }
                let place = subject.target(*level);
                let found = match &self.kind.way.line {
                    None => steps(place, connecting.encryption, EXCHANGES),
                    // One distance will do, and there each exchange takes its time.
                    Some(line) if line.round_trip(*level) != line.middle() || line.at(*level).is_err() => None,
                    Some(line) => {
                        let there = line.near().within(|| steps(place, connecting.encryption, EXCHANGES_AFAR));
                        there.ok().flatten()
                    }
                };
                if let Some((steps, n)) = found {
                    flows.push(Flow { title, level: *level, encryption: connecting.encryption, steps, n });
                }
            }
        }
        self.result.flows = flows;
        if self.kind.way.line.is_some() {
            return;
        }
        self.result.crypto = speed::measure(SPEED_SLICE, SPEED_SLICES).map(stored).unwrap_or_default();
    }
}

/// The messages of exchanges at an address with the medians of their times, and the number of exchanges.
fn steps(place: &LoadTarget, encryption: Encryption, count: usize) -> Option<(Vec<FlowStep>, u32)> {
    let target = &place.target;
    let mut request = Vec::new();
    place.render(target.path_and_query(), &mut request);
    let asked = Asked {
        address: (target.host(), target.port()).to_socket_addrs().ok()?.next()?,
        host: target.host(),
        request: &request,
        timeout: PATIENCE,
    };
    let (client, expected) = match encryption {
        Encryption::Off => (None, None),
        Encryption::Full => (Some(Client::new(&place.tls, "http/1.1").ok()?), Some(HandshakeKind::Full)),
        Encryption::Resumed => (Some(Client::new(&place.tls, "http/1.1").ok()?), Some(HandshakeKind::Resumed)),
    };
    let exchanges = (0..=count).map(|_| flow::observe(&asked, client.as_ref()).ok());
    let is_valid = |exchange: &Exchange| exchange.kind == expected && (200..300).contains(&exchange.status);
    let exchanges: Vec<Exchange> = exchanges.skip(1).flatten().filter(is_valid).collect();
    let (steps, n) = flow::median(&exchanges)?;
    let stored = steps.into_iter().map(|step| FlowStep {
        from: match step.from {
            Side::Client => FlowSide::Client,
            Side::Server => FlowSide::Server,
        },
        what: step.what,
        at_us: step.at.as_secs_f64() * 1e6,
        bytes: step.bytes,
    });
    Some((stored.collect(), u32::try_from(n).unwrap_or(u32::MAX)))
}

fn stored(speeds: Vec<speed::Speed>) -> Vec<CryptoSpeed> {
    let one = |speed: speed::Speed| {
        let (operation, unit, factor) = match speed.operation {
            Operation::Sign => ("sign", "1/s", 1.0),
            Operation::Encrypt => ("encrypt", "MB/s", 1e-6),
        };
        let slices: Vec<f64> = speed.per_second.iter().map(|rate| rate * factor).collect();
        let estimate = stats::estimate_above_zero(&slices);
        CryptoSpeed {
            operation: operation.to_owned(),
            algorithm: speed.algorithm.to_owned(),
            value: estimate.mean,
            unit: unit.to_owned(),
            estimate: Some(estimate),
            slice_ms: SPEED_SLICE.as_secs_f64() * 1e3,
        }
    };
    speeds.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_stored_in_their_units_with_an_interval_over_the_slices() {
        let speed = |operation, algorithm, per_second: [f64; 3]| speed::Speed {
            operation,
            algorithm,
            per_second: per_second.to_vec(),
        };
        let found = stored(vec![
            speed(Operation::Sign, "P-256", [90.0, 100.0, 110.0]),
            speed(Operation::Encrypt, "AES-128-GCM", [2e9; 3]),
        ]);
        assert_eq!((found[0].value, found[0].unit.as_str()), (100.0, "1/s"));
        let estimate = found[0].estimate.unwrap();
        assert!(estimate.low < 90.0 && estimate.high > 110.0 && estimate.n == 3, "{estimate:?}");
        assert_eq!((found[1].value, found[1].unit.as_str(), found[1].operation.as_str()), (2000.0, "MB/s", "encrypt"));
    }
}
