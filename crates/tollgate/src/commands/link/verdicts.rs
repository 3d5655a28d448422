//! The findings of `link verify`: a table row each, and the same as JSON.
//!
//! Measuring and judging are not here.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use tollgate_net::link::{Accuracy, LinkMode, TunVerified, Verified};

/// All that was measured.
#[derive(Debug, Default, Serialize)]
pub(super) struct Verdicts {
    /// For each kind of link.
    pub(super) modes: Vec<ModeVerdict>,
}

/// One kind of link.
#[derive(Debug, Serialize)]
pub(super) struct ModeVerdict {
    mode: &'static str,
    /// The reason that it could not be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unavailable: Option<String>,
    /// The requested and the measured values.
    pub(super) links: Vec<LinkVerdict>,
    /// The shortest round trip that is accurate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accuracy: Option<AccuracyVerdict>,
}

/// The verdict on one requested round trip.
#[derive(Debug, Serialize)]
pub(super) struct LinkVerdict {
    asked_us: f64,
    median_us: f64,
    p99_us: Option<f64>,
    direct_us: f64,
    allowed_us: f64,
    samples: usize,
    asked_bytes_per_s: Option<u64>,
    bytes_per_s: Option<f64>,
    /// Properties of packets only.
    #[serde(flatten)]
    packets: Option<PacketVerdict>,
    /// Properties that are not kept, in words; empty if all are.
    not_kept: Vec<&'static str>,
}

/// Properties of packets only.
#[derive(Debug, Serialize)]
struct PacketVerdict {
    handshake_us: f64,
    answer_us: f64,
    answer_round_trips: f64,
    answer_round_trips_least: u32,
    congestion_control: String,
    asked_loss: f64,
    packets: u64,
    lost: u64,
    lateness_median_us: f64,
    lateness_p99_us: f64,
}

/// The accuracy of short round trips.
#[derive(Debug, Serialize)]
pub(super) struct AccuracyVerdict {
    without_delay_us: f64,
    least_us: Option<f64>,
    added: Vec<AddedVerdict>,
}

#[derive(Debug, Serialize)]
struct AddedVerdict {
    asked_us: f64,
    got_us: f64,
}

impl Verdicts {
    /// Whether all properties are kept.
    pub(super) fn is_kept(&self) -> bool {
        self.modes.iter().flat_map(|mode| &mode.links).all(|link| link.not_kept.is_empty())
    }
}

impl ModeVerdict {
    pub(super) fn new(mode: LinkMode) -> ModeVerdict {
        ModeVerdict { mode: mode.name(), unavailable: None, links: Vec::new(), accuracy: None }
    }

    pub(super) fn mode(&self) -> LinkMode {
        self.mode.parse().expect("it was written from a mode")
    }

    /// The kind of link, and the names of its columns.
    pub(super) fn heading(&self) -> String {
        let mode = self.mode();
        let packets = match mode {
            LinkMode::Proxy => "",
            LinkMode::Tun => PACKET_COLUMNS,
        };
        format!(
            "{mode}: {}\n{COLUMNS}{packets}  verdict\n",
            mode.words().split_once(": ").map_or(mode.words(), |(_, rest)| rest)
        )
    }

    /// The shortest accurate round trip, in words.
    pub(super) fn least_in_words(&self) -> String {
        let Some(accuracy) = &self.accuracy else { return String::new() };
        let (mode, without_us) = (self.mode, accuracy.without_delay_us);
        match accuracy.least_us {
            Some(least_us) => format!(
                "{mode}: accurate from a round trip of {} on, within 10 % beyond a link without delay ({without_us:.0} µs)\n",
                milliseconds(least_us)
            ),
            None => format!("{mode}: no round trip is accurate within 10 % on this machine now\n"),
        }
    }
}

impl LinkVerdict {
    /// The verdict on a proxy.
    pub(super) fn of_proxy(verified: &Verified) -> LinkVerdict {
        let mut not_kept = Vec::new();
        if !verified.keeps_its_round_trip() {
            not_kept.push("the round trip");
        }
        if !verified.keeps_its_rate() {
            not_kept.push("the rate");
        }
        LinkVerdict {
            asked_us: micros(verified.asked),
            median_us: micros(verified.got.median()),
            p99_us: verified.got.p99().map(micros),
            direct_us: micros(verified.direct.median()),
            allowed_us: micros(verified.tolerance()),
            samples: verified.got.count(),
            asked_bytes_per_s: verified.asked_bytes_per_s.map(std::num::NonZeroU64::get),
            bytes_per_s: verified.bytes_per_s,
            packets: None,
            not_kept,
        }
    }

    /// The verdict on a line of packets.
    pub(super) fn of_tun(verified: &TunVerified) -> LinkVerdict {
        let mut link = LinkVerdict::of_proxy(&verified.stream);
        let judged = [
            (verified.keeps_its_handshake(), "the handshake"),
            (verified.starts_slowly(), "the slow start"),
            (verified.keeps_its_loss(), "the loss"),
        ];
        link.not_kept.extend(judged.into_iter().filter(|(is_kept, _)| !is_kept).map(|(_, what)| what));
        let answer_us = micros(verified.answers.median());
        link.packets = Some(PacketVerdict {
            handshake_us: micros(verified.handshakes.median()),
            answer_us,
            answer_round_trips: answer_us / link.median_us,
            answer_round_trips_least: TunVerified::answer_round_trips_least(),
            congestion_control: verified.congestion.clone(),
            asked_loss: verified.asked_loss,
            packets: verified.packets,
            lost: verified.lost,
            lateness_median_us: micros(verified.lateness_median),
            lateness_p99_us: micros(verified.lateness_p99),
        });
        link
    }
}

impl From<&Accuracy> for AccuracyVerdict {
    fn from(accuracy: &Accuracy) -> AccuracyVerdict {
        let added = accuracy.added.iter();
        AccuracyVerdict {
            without_delay_us: micros(accuracy.without_delay.median()),
            least_us: accuracy.least().map(micros),
            added: added
                .map(|added| AddedVerdict { asked_us: micros(added.asked), got_us: micros(added.got) })
                .collect(),
        }
    }
}

const COLUMNS: &str = "      asked      median         p99      direct       off   allowed      n       stream";
const PACKET_COLUMNS: &str = "   handshake      100 kB fresh     lost    late p50/p99";

impl fmt::Display for LinkVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stream = self.bytes_per_s.map_or("-".to_owned(), |rate| format!("{:.1} MB/s", rate / 1e6));
        write!(
            formatter,
            "{:>11}{:>12}{:>12}{:>12}{:>10}{:>10}{:>7}{stream:>13}",
            milliseconds(self.asked_us),
            milliseconds(self.median_us),
            self.p99_us.map_or("-".to_owned(), milliseconds),
            milliseconds(self.direct_us),
            format!("{:+.0} µs", self.median_us - self.asked_us),
            format!("{:.0} µs", self.allowed_us),
            self.samples,
        )?;
        if let Some(packets) = &self.packets {
            let answer = format!("{} = {:.1} RTT", milliseconds(packets.answer_us), packets.answer_round_trips);
            let lost = format!("{:.2} %", packets.lost as f64 / (packets.packets.max(1) as f64) * 100.0);
            let late = format!("{:.0}/{:.0} µs", packets.lateness_median_us, packets.lateness_p99_us);
            write!(formatter, "{:>12}{answer:>22}{lost:>9}{late:>12}", milliseconds(packets.handshake_us))?;
        }
        match self.not_kept.as_slice() {
            [] => writeln!(formatter, "  kept"),
            not_kept => writeln!(formatter, "  not kept: {}", not_kept.join(", ")),
        }
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn milliseconds(time_us: f64) -> String {
    format!("{:.3} ms", time_us / 1e3)
}

#[cfg(test)]
mod tests {
    use tollgate_net::link::{Effort, LinkSpec, verify};

    use super::*;

    fn packets() -> PacketVerdict {
        PacketVerdict {
            handshake_us: 10_080.0,
            answer_us: 151_004.0,
            answer_round_trips: 5.1,
            answer_round_trips_least: 4,
            congestion_control: "cubic".to_owned(),
            asked_loss: 0.01,
            packets: 10_000,
            lost: 97,
            lateness_median_us: 3.0,
            lateness_p99_us: 41.0,
        }
    }

    #[test]
    fn a_line_stands_below_its_heading() {
        let verified = verify(&LinkSpec::of_round_trip(Duration::from_millis(1)), Effort::Short).unwrap();
        let mut link = LinkVerdict::of_proxy(&verified);
        link.not_kept.clear();
        let check = |link: &LinkVerdict, mode: LinkMode, expected: &[&str]| {
            let (heading, line) = (ModeVerdict::new(mode).heading(), link.to_string());
            let columns = heading.lines().nth(1).unwrap().chars().count() - "verdict".len();
            let place = line.char_indices().nth(columns).unwrap().0;
            let (figures, verdict) = line.split_at(place);
            assert!(expected.iter().all(|word| figures.contains(word)), "{line}");
            assert_eq!(verdict, "kept\n", "{heading}{line}");
        };
        check(&link, LinkMode::Proxy, &[" 1.000 ms", " 200 "]);
        link.packets = Some(packets());
        check(&link, LinkMode::Tun, &[" 10.080 ms", "151.004 ms = 5.1 RTT", " 0.97 %", "3/41 µs"]);
    }

    #[test]
    fn what_is_not_kept_is_named() {
        let verified = verify(&LinkSpec::of_round_trip(Duration::from_millis(1)), Effort::Short).unwrap();
        let mut link = LinkVerdict::of_proxy(&verified);
        link.not_kept = vec!["the round trip", "the loss"];
        assert!(link.to_string().ends_with("  not kept: the round trip, the loss\n"));
        let mut verdicts = Verdicts::default();
        verdicts.modes.push(ModeVerdict::new(LinkMode::Tun));
        assert!(verdicts.is_kept());
        verdicts.modes[0].links.push(link);
        assert!(!verdicts.is_kept());
    }
}
