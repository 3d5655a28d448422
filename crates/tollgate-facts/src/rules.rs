//! The rules of validity, once each: name, subjects, whether a rule makes a figure joint; and a rule's finding.
//!
//! It does not judge. The lab adds a check to each entry, and a test compares the two.

use crate::results::load::QuickResult;
use crate::results::{Validity, Verdict};

/// The subject of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The load of a cell in which users wait for their answers.
    Closed,
    /// The load of a cell at equal rate.
    AtRate,
    /// The program that is measured, when it ends by itself.
    Subject,
    /// A toll.
    Toll,
    /// A cell of a batch.
    Batch,
    /// A cell of a command.
    Command,
    /// A single load, which has no cells.
    Single,
}

use About::{AtRate, Batch, Closed, Command, Single, Subject, Toll};

/// A rule of validity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its name in results and thresholds.
    pub name: &'static str,
    /// Its name at equal rate, if it is judged with users who wait, too.
    twin: &'static str,
    /// All of its subjects.
    about: &'static [About],
    /// Whether its finding means that the load generator and the subject competed for the same cores, so that no time can
    /// be attributed to the layer.
    pub is_joint: bool,
}

/// A constant for each rule, and the list of all.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal, about $about:expr $(, joint $joint:literal)?;)*) => {
        $($(#[$doc])* pub const $rule: Rule = Rule {
            name: $name,
            twin: concat!("rate-", $name),
            about: &$about,
            is_joint: false $(|| $joint)?,
        };)*

        /// Every rule of runs, their tolls, batches, commands and single loads.
        pub const RULES: &[Rule] = &[$($rule),*];
    };
}

rules! {
    /// Requests failed.
    ERRORS = "errors", about [Closed, AtRate, Single];
    /// Requests failed by the generator's doing.
    GENERATOR_ERRORS = "generator-errors", about [Closed, AtRate, Single];
    /// A table does not contain the acknowledged records.
    SETTLEMENT = "settlement", about [Closed];
    /// Answers were wrong, or their content was not checked.
    CONTENT = "content", about [Closed, AtRate, Single];
    /// The records do not find the users.
    LITTLES_LAW = "littles-law", about [Closed, Single];
    /// Throughput, response time and thinking do not find the users.
    INTERACTIVE_LAW = "interactive-law", about [Closed];
    /// Times, answers a second or requests under way went one way while a load, or the trials of a cell, lasted.
    STEADY = "steady", about [Closed, AtRate, Batch, Command, Single];
    /// Users who wait spent much of their time beyond the highest percentile.
    HIDDEN_TIME = "hidden-time", about [Closed, Single];
    /// Variant and baseline have two backends: refuses the tolls of the cell on time and CPU.
    DIFFERENT_BACKEND = "different-backend", about [Closed];
    /// Variant and baseline are two servers.
    DIFFERENT_HOST = "different-host", about [Closed];
    /// Answers or blocks are few.
    SAMPLES = "samples", about [Closed, Batch, Command, Single];
    /// A trial was no steady state: refuses the toll on time, and the level no law.
    FEW_ROUNDS = "few-rounds", about [Closed];
    /// The rows of a feed came to an end.
    ROWS = "rows", about [Closed, Single];
    /// Iterations were due and not begun.
    UNSTARTED = "unstarted", about [Closed];
    /// Iterations were begun late.
    BEGUN_LATE = "begun-late", about [Closed];
    /// Requests failed before a load counted.
    SETTLING = "settling", about [Closed, Single];
    /// The generator was at its limit.
    CLIENT_SATURATION = "client-saturation", about [Closed, AtRate, Single], joint true;
    /// The generator waited for its core.
    RUN_QUEUE = "run-queue", about [Closed, AtRate, Single], joint true;
    /// The generator stalled.
    STALLS = "stalls", about [Closed, AtRate, Single];
    /// Percentiles contain the generator's own delay.
    OWN_DELAY = "own-delay", about [Closed, AtRate, Single];
    /// All cores were busy.
    JOINT = "joint", about [Closed, AtRate, Command, Single], joint true;
    /// Other programs had the cores.
    OTHERS = "others", about [Command];
    /// The time is that of the server behind the subject, too.
    BACKEND = "backend", about [Closed], joint true;
    /// Connections were opened again.
    FRESH_CONNECTIONS = "fresh-connections", about [Closed, AtRate, Single];
    /// Connections differ for as long as they live.
    CONNECTIONS_DIFFER = "connections-differ", about [Single];
    /// Connections were turned away.
    LISTEN_OVERFLOW = "listen-overflow", about [Closed, AtRate, Single];
    /// Segments were sent again.
    RETRANSMISSIONS = "retransmissions", about [Closed, AtRate, Single];
    /// Handshakes were of the wrong kind.
    HANDSHAKES = "handshakes", about [Closed, AtRate];
    /// Connections negotiated something else than their label says.
    NEGOTIATED = "negotiated", about [Closed, AtRate];
    /// Requests were sent later than they were due.
    LATENESS = "lateness", about [AtRate, Single];
    /// Requests were due and never sent.
    RATE = "rate", about [AtRate, Single];
    /// Response times did not settle.
    WARM_UP = "warm-up", about [Closed];
    /// The hypervisor took the cores.
    STEAL = "steal", about [Closed, AtRate, Batch, Command, Single];
    /// The subject ended.
    SUBJECT_DIED = "subject-died", about [Subject];
    /// Two tests disagree about a toll.
    RANKS = "ranks", about [Toll];
    /// A toll changed while it was measured.
    DRIFT = "drift", about [Toll];
    /// Documents of a batch are not stored.
    DOCUMENTS = "documents", about [Batch];
    /// A link did not add the requested delay.
    LINK = "link", about [Batch];
    /// There was no answer.
    ANSWERS = "answers", about [Single];
    /// The log of each request was full.
    LOG = "log", about [Single];
}

/// The name for all rules together, if none finds anything.
pub const ALL: &str = "all";

/// With a larger share of all cores' time used, generator and subject were at the limit together.
pub const CORES_BUSY_MAX: f64 = 0.95;

impl Rule {
    /// Whether it is judged of this.
    pub fn is_about(&self, about: About) -> bool {
        self.about.contains(&about)
    }

    /// Its name in findings about the load at equal rate: with `rate-` in front if it also judges the other load.
    pub fn name_at_rate(&self) -> &'static str {
        if self.is_about(Closed) { self.twin } else { self.name }
    }
}

/// The names of all findings there may be.
pub fn names() -> impl Iterator<Item = &'static str> {
    let at_rate = RULES.iter().filter(|rule| rule.is_about(Closed) && rule.is_about(AtRate));
    RULES.iter().map(|rule| rule.name).chain(at_rate.map(Rule::name_at_rate))
}

/// Whether a finding of this name is about the load at equal rate; it then does not affect the closed one.
pub fn is_at_rate(name: &str) -> bool {
    RULES.iter().any(|rule| rule.is_about(AtRate) && rule.name_at_rate() == name)
}

/// Whether it is the generator's own delay, which is about single percentiles.
pub fn is_own_delay(name: &str) -> bool {
    [OWN_DELAY.name, OWN_DELAY.twin].contains(&name)
}

/// Whether a finding of this name makes a time joint.
pub fn is_joint(name: &str) -> bool {
    joint_names().any(|joint| joint == name)
}

/// The names of findings that make a time joint.
pub fn joint_names() -> impl Iterator<Item = &'static str> {
    RULES.iter().filter(|rule| rule.is_joint).map(|rule| rule.name)
}

impl QuickResult {
    /// Whether response times grew as long as the load lasted; it then has no percentiles.
    pub fn is_unsteady(&self) -> bool {
        self.validity.iter().any(|mark| mark.rule == STEADY.name && mark.verdict == Verdict::Refused)
    }
}

/// A rule's finding, before its cell is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Whether the figure can be trusted.
    pub verdict: Verdict,
    /// The finding in words.
    pub reason: String,
    /// The remedy.
    pub remedy: &'static str,
    /// The number that decided.
    pub value: f64,
    /// Its bound.
    pub bound: f64,
}

/// A mark: the observation, the remedy, and the number that decided with its bound.
pub fn marked(reason: String, remedy: &'static str, (value, bound): (f64, f64)) -> Finding {
    Finding { verdict: Verdict::Marked, reason, remedy, value, bound }
}

/// A mark where the number lies above its bound.
pub fn marked_above(reason: String, remedy: &'static str, (value, bound): (f64, f64)) -> Option<Finding> {
    (value > bound).then(|| marked(reason, remedy, (value, bound)))
}

/// The same as [`marked`] of a figure that must not be read.
pub fn refused(reason: String, remedy: &'static str, decided: (f64, f64)) -> Finding {
    Finding { verdict: Verdict::Refused, ..marked(reason, remedy, decided) }
}

impl Finding {
    /// The finding of `rule` in one cell, as it is stored.
    pub fn of(self, variant: &str, level: u64, rule: &str) -> Validity {
        Validity {
            variant: variant.to_owned(),
            level,
            rule: rule.to_owned(),
            verdict: self.verdict,
            reason: self.reason,
            remedy: self.remedy.to_owned(),
            value: self.value,
            bound: self.bound,
        }
    }

    /// The same of one of two loads, which its reason names.
    #[must_use]
    pub fn at_equal_rate(self) -> Finding {
        Finding { reason: format!("at equal rate {}", self.reason), ..self }
    }

    /// The finding that this many rules found nothing.
    pub fn nothing(rules: usize) -> Finding {
        let reason = format!("{rules} rules found nothing");
        Finding { verdict: Verdict::Ok, ..marked(reason, "", (rules as f64, 0.0)) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_finding_has_a_name_of_its_own_and_tells_its_load_by_it() {
        let all: Vec<&str> = names().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
        assert!(RULES.iter().all(|rule| !rule.about.is_empty()));
        for rule in RULES.iter().filter(|rule| rule.is_about(Closed)) {
            assert!(!is_at_rate(rule.name), "{rule:?}");
            assert_eq!(is_at_rate(rule.twin), rule.is_about(AtRate), "{rule:?}");
        }
        assert!(is_at_rate("lateness") && is_at_rate("rate") && is_at_rate("rate-errors") && !is_at_rate("errors"));
        assert!(is_joint("backend") && !is_joint("errors") && !is_joint("rate-joint"));
    }
}
