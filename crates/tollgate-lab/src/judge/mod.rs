//! Decides which figures can be read: each rule compares one number with its bound, and says what follows and what to
//! do.
//!
//! Pure rules over records, so that each can be tested with a made-up fault. They do not repair a figure or drop a
//! trial.

pub(crate) mod answers;
pub(crate) mod at_rate;
pub mod bounds;
pub mod cells;
mod evidence;
pub(crate) mod held_up;
pub(crate) mod intervals;
pub(crate) mod negotiated;
pub(crate) mod own_delay;
mod scenario;
mod seen;
pub(crate) mod settling;
pub mod spread;
pub(crate) mod stalls;
mod systems;
pub(crate) mod tail;
pub(crate) mod trend;
pub(crate) mod unsent;
mod users;

pub(crate) use evidence::WithinTrials;
pub use evidence::{Evidence, OwnCpu, SeenBeside, Systems};

use bounds::{BACKEND_PART_MIN, BLOCKS_MIN, REQUESTS_MIN, SUBJECT_CORES_BUSY_MAX};
use own_delay::own_delay;
use seen::LoadSeen;
use stalls::stalled;
use trend::{OfRate, Trend};

use crate::load::record::recorder::Transfers;
use tollgate_facts::results::load::LittlesLaw;
use tollgate_facts::results::{Cell, Settlement, Validity};
use tollgate_facts::rules::About::{self, AtRate, Closed};
use tollgate_facts::rules::{self, ALL, Finding, Rule, marked, marked_above, refused};

/// A rule's check of one load of a cell.
type Check = fn(&LoadSeen<'_>) -> Option<Finding>;

/// All rules in the order of the report; each knows whether it is about users who wait, a load at equal rate, or both.
const RULES: &[(Rule, Check)] = &[
    (rules::ERRORS, answers::errors),
    (rules::GENERATOR_ERRORS, |seen| answers::generator_errors(seen.errors)),
    (rules::SETTLEMENT, settlement),
    (rules::CONTENT, answers::content),
    (rules::LITTLES_LAW, littles_law),
    (rules::STEADY, steady),
    (rules::INTERACTIVE_LAW, scenario::interactive_law),
    (rules::HIDDEN_TIME, hidden_time),
    (rules::DIFFERENT_BACKEND, systems::different_backend),
    (rules::DIFFERENT_HOST, systems::different_host),
    (rules::SAMPLES, samples),
    (rules::FEW_ROUNDS, users::few_rounds),
    (rules::ROWS, scenario::rows),
    (rules::UNSTARTED, scenario::unstarted),
    (rules::BEGUN_LATE, scenario::begun_late),
    (rules::SETTLING, users::settling),
    (rules::CLIENT_SATURATION, |seen| held_up::client_saturation(seen.generator.cpu_share)),
    (rules::RUN_QUEUE, |seen| held_up::run_queue(seen.generator.run_queue_share)),
    (rules::STALLS, |seen| stalled(seen.beside.beats, seen.shown.response_ms, seen.undelayed_ms)),
    (rules::OWN_DELAY, |seen| own_delay(seen.shown.response_ms, seen.undelayed_ms)),
    (rules::JOINT, |seen| held_up::joint(seen.beside.ticks, seen.beside.own)),
    (rules::BACKEND, backend),
    (rules::FRESH_CONNECTIONS, answers::fresh_connections),
    (rules::LISTEN_OVERFLOW, |seen| seen.shown.turned_away(seen.tcp?)),
    (rules::RETRANSMISSIONS, |seen| seen.shown.sent_again(seen.tcp?)),
    (rules::HANDSHAKES, at_rate::handshakes),
    (rules::NEGOTIATED, negotiated::otherwise),
    (rules::LATENESS, at_rate::lateness),
    (rules::RATE, at_rate::rate),
    (rules::WARM_UP, users::warm_up),
    (rules::STEAL, |seen| held_up::steal(seen.beside.ticks)),
];

/// The findings of all rules for a cell, first for users who wait, then at equal rate; a single `ok` without findings.
pub fn judge(evidence: &Evidence<'_>) -> Vec<Validity> {
    let about = |about: About| RULES.iter().filter(move |(rule, _)| rule.is_about(about));
    let (closed, at_rate) = (evidence.closed(), evidence.at_rate());
    let with_users_who_wait = about(Closed).filter_map(|(rule, check)| Some((rule.name, check(&closed)?)));
    let at_equal_rate = about(AtRate).filter_map(|(rule, check)| {
        let finding = check(at_rate.as_ref()?)?;
        Some((rule.name_at_rate(), finding.at_equal_rate()))
    });
    let rules = about(Closed).count() + about(AtRate).count();
    told(evidence.cell, with_users_who_wait.chain(at_equal_rate), rules)
}

/// The findings of `rules` rules for a cell; a single `ok` without findings.
pub(crate) fn told<'r>(cell: &Cell, found: impl Iterator<Item = (&'r str, Finding)>, rules: usize) -> Vec<Validity> {
    let of = |(rule, finding): (&str, Finding)| finding.of(&cell.variant, cell.level, rule);
    let found: Vec<Validity> = found.map(of).collect();
    if found.is_empty() { vec![of((ALL, Finding::nothing(rules)))] } else { found }
}

/// Marks a cell with too few blocks.
pub(crate) fn few_blocks(cell: &Cell) -> Option<Finding> {
    let (blocks, trials) = (cell.rounds, cell.trials);
    let s = |count: u32| if count == 1 { "" } else { "s" };
    let reason = format!("only {blocks} whole block{} ({trials} trial{})", s(blocks), s(trials));
    let remedy = "run at least 8 blocks: intervals from fewer are wide";
    (blocks < BLOCKS_MIN).then(|| marked(reason, remedy, (f64::from(blocks), f64::from(BLOCKS_MIN))))
}

/// The doubt about a variant whose subject died or was stopped while it was measured.
pub fn subject_died(variant: &str, level: u64, how: &str) -> Validity {
    let finding = refused(format!("the subject {how}"), "see its last words, and run again", (1.0, 0.0));
    finding.of(variant, level, rules::SUBJECT_DIED.name)
}

/// The doubt about a cell without figures whose account was not settled.
pub fn unsettled(variant: &str, level: u64, transfers: &Transfers) -> Option<Validity> {
    let finding = unsettled_finding(transfers.settlement, transfers.fault.as_deref()?);
    Some(finding.of(variant, level, rules::SETTLEMENT.name))
}

fn settlement(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let settlement = evidence.cell.inserted.map(|inserted| inserted.settlement).unwrap_or_default();
    evidence.unsettled.map(|fault| unsettled_finding(settlement, fault))
}

fn unsettled_finding(settlement: Settlement, fault: &str) -> Finding {
    let Settlement { counted, lost, surplus, wrong, .. } = settlement;
    refused(
        format!("{lost} records lost, {surplus} too many, {wrong} wrong in {counted} transfers; the first: {fault}"),
        "what is not stored was not inserted, however fast: find out why, and let nobody else write to the table",
        ((lost + surplus + wrong) as f64, 0.0),
    )
}

fn littles_law(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let law = evidence.littles_law.filter(LittlesLaw::is_broken)?;
    let reason = format!("answers x response time find {:.2} users where {} asked", law.found, law.users);
    let remedy = "this is a defect of the generator or a response time beyond 60 s: please report it";
    Some(refused(reason, remedy, (law.off, law.bound)))
}

/// Finds a trend: at a rate within trials, as each begins without a queue; for users who wait over all trials.
fn steady(seen: &LoadSeen<'_>) -> Option<Finding> {
    let SeenBeside { within, over, .. } = seen.beside;
    let of_rate = within.and_then(|WithinTrials { trend, lasted_ms, answered }| {
        trend.at_a_rate(OfRate {
            lasted_ms,
            what: "trials",
            answered: &format!("{answered:.0} requests/s were answered"),
            is_trials: true,
        })
    });
    of_rate.or_else(|| over_trials(over))
}

/// Finds a trend over trials in their order: each should be like the others.
pub(crate) fn over_trials(over: Option<Trend>) -> Option<Finding> {
    let remedy = "see what changes with the time: caches, tables that grow, other programs";
    over?.of_users("from the first trials to the last", remedy)
}

fn hidden_time(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let remedy = "load the same at a rate (`tollgate load --rate`, or `rate` of a scenario): it charges a stall to all that \
                  was due meanwhile";
    tail::hidden(evidence.cell.tail, remedy)
}

fn samples(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let cell = evidence.cell;
    // Of an insert the records count: one answer may stand for thousands.
    let (count, what) = match cell.inserted {
        Some(inserted) => (inserted.records, "records"),
        None => (cell.requests, "answers"),
    };
    if count > 0 && count < REQUESTS_MIN {
        let decided = (count as f64, REQUESTS_MIN as f64);
        return Some(marked(format!("only {count} {what}"), "run longer: --blocks, or without --quick", decided));
    }
    let few = few_blocks(cell)?;
    let remedy = match cell.inserted.is_some() && cell.rounds < evidence.blocks_planned {
        true => "give each cell more time: `cell_ms` of the extent in the experiment's file, or a longer extent",
        false => few.remedy,
    };
    Some(Finding { remedy, ..few })
}

fn backend(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let (backend, subject) = (evidence.cell.backend?, evidence.cell.subject?);
    let cores = evidence.subject_cores as f64;
    let busy = (backend.cpu_share + subject.cpu_share) / cores.max(1.0);
    if evidence.subject_cores == 0 || backend.cpu_share <= subject.cpu_share * BACKEND_PART_MIN {
        return None;
    }
    let reason = format!(
        "subject and backend used {:.0} % of their {cores:.0} core(s), the backend alone {:.0} %: the time is both's",
        busy * 100.0,
        backend.cpu_share / cores * 100.0
    );
    let remedy = "read the subject's CPU per request instead of times, or run on a machine with more cores";
    marked_above(reason, remedy, (busy, SUBJECT_CORES_BUSY_MAX))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;
    use std::sync::LazyLock;

    use super::trend::Stretch;
    use super::*;
    use crate::load::record::recorder::Tally;
    use crate::probe::system::Ticks;
    use tollgate_facts::fixture;
    use tollgate_facts::results::Cell;
    use tollgate_facts::results::{BackendUse, Inserted, SubjectUse, Verdict};

    /// Asserts that exactly the rules about this are judged.
    fn judged(about: About, names: impl Iterator<Item = &'static str>) {
        let all = tollgate_facts::rules::RULES.iter().filter(|rule| rule.is_about(about));
        let known: BTreeSet<&str> = all.map(|rule| rule.name).collect();
        assert_eq!(names.collect::<BTreeSet<&str>>(), known, "{about:?}");
    }

    #[test]
    fn every_rule_is_judged_of_all_that_it_is_about() {
        let of_runs = |about: About| RULES.iter().map(|(rule, _)| rule).filter(move |rule| rule.is_about(about));
        judged(About::Closed, of_runs(About::Closed).map(|rule| rule.name));
        judged(About::AtRate, of_runs(About::AtRate).map(|rule| rule.name));
        judged(About::Batch, crate::kinds::distance::rules::names());
        judged(About::Command, crate::kinds::command::rules::names());
        judged(About::Single, crate::single::mark_names());
        judged(About::Subject, [rules::SUBJECT_DIED.name].into_iter());
        // Their checks stand beside the tolls.
        judged(About::Toll, [rules::RANKS.name, rules::DRIFT.name].into_iter());
    }

    const TICKS: Ticks = Ticks { total: 1000, idle: 400, steal: 0, interrupts: 0 };
    static NOTHING_BEFORE: LazyLock<Tally> = LazyLock::new(Tally::default);
    static NO_CLAIMS: LazyLock<negotiated::Claims> = LazyLock::new(negotiated::Claims::default);

    /// A cell without any fault, and the evidence that shows it.
    pub(crate) fn sound() -> Cell {
        let mut cell = fixture::cell("odata-v2-atom", 20);
        cell.requests = 10_000;
        cell.rounds = 8;
        cell.errors.clear();
        cell.error_examples.clear();
        cell.connections = 20;
        cell.response_time_ms.mean = 0.4;
        cell.generator.cpu_share = 0.5;
        cell.generator.run_queue_share = 0.01;
        cell
    }

    pub(super) fn evidence(cell: &Cell) -> Evidence<'_> {
        Evidence {
            cell,
            checked: cell.requests,
            littles_law: Some(LittlesLaw {
                users: 20,
                found: 20.1,
                off: 0.005,
                bound: 0.01,
                without_core: 0.0,
                holds: Some(true),
            }),
            answers_per_user: None,
            settling: &NOTHING_BEFORE,
            beside: SeenBeside { ticks: TICKS, ..SeenBeside::default() },
            rate_beside: SeenBeside { ticks: TICKS, ..SeenBeside::default() },
            unsteady_starts: 0,
            systems: Systems::Same,
            unsettled: None,
            connecting: None,
            claims: &NO_CLAIMS,
            subject_cores: 1,
            blocks_planned: 16,
        }
    }

    /// Ten parts whose times begin here, and grow by so much from each to the next.
    pub(super) fn growing(from_ms: f64, by_ms: f64) -> Option<Trend> {
        let total_ms = |part: u32| 10.0 * (from_ms + by_ms * f64::from(part));
        let stretch = |part: u32| Stretch { answers: 10.0, total_ms: total_ms(part), lasted_ms: 25.0 };
        Trend::of(&(0..10).map(stretch).collect::<Vec<_>>())
    }

    /// Asserts the findings after a made-up fault.
    fn check(fault: impl FnOnce(&mut Cell, &mut Evidence<'_>), expected: &[(&str, Verdict)]) {
        let (mut cell, sound) = (sound(), sound());
        let mut evidence = evidence(&sound);
        fault(&mut cell, &mut evidence);
        let found = judge(&Evidence { cell: &cell, ..evidence });
        let names: Vec<(&str, Verdict)> = found.iter().map(|doubt| (doubt.rule.as_str(), doubt.verdict)).collect();
        assert_eq!(names, expected, "{found:?}");
        for doubt in found.iter().filter(|doubt| doubt.verdict != Verdict::Ok) {
            assert!(!doubt.remedy.is_empty() && doubt.reason.contains(char::is_numeric), "{doubt:?}");
        }
    }

    #[test]
    fn a_sound_cell_is_ok() {
        check(|_, _| {}, &[("all", Verdict::Ok)]);
    }

    #[test]
    fn times_that_grow_are_refused_within_trials_at_a_rate_and_marked_over_trials_of_users_who_wait() {
        let within =
            |by_ms: f64| growing(1.0, by_ms).map(|trend| WithinTrials { trend, lasted_ms: 250.0, answered: 400.0 });
        check(|_, evidence| evidence.beside.within = within(0.01), &[("all", Verdict::Ok)]);
        check(|_, evidence| evidence.beside.within = within(0.2), &[("steady", Verdict::Marked)]);
        check(|_, evidence| evidence.beside.within = within(2.0), &[("steady", Verdict::Refused)]);
        check(|_, evidence| evidence.beside.over = growing(1.0, 1.0), &[("steady", Verdict::Marked)]);
        check(|_, evidence| evidence.beside.over = growing(10.0, -0.9), &[("steady", Verdict::Marked)]);
    }

    #[test]
    fn one_error_in_a_thousand_is_marked_and_more_are_refused() {
        let fail = |count: u64| {
            move |cell: &mut Cell, _: &mut Evidence<'_>| cell.errors.extend([("timeout".to_owned(), count)])
        };
        check(fail(10), &[("errors", Verdict::Marked)]);
        check(fail(11), &[("errors", Verdict::Refused)]);
        let ports = |cell: &mut Cell, _: &mut Evidence<'_>| {
            cell.errors.insert("ports-exhausted".to_owned(), 1);
        };
        check(ports, &[("errors", Verdict::Marked), ("generator-errors", Verdict::Refused)]);
    }

    #[test]
    fn wrong_content_is_refused_and_unverified_content_marked() {
        check(
            |cell, _| cell.errors.extend([("content".to_owned(), 1)]),
            &[("errors", Verdict::Marked), ("content", Verdict::Refused)],
        );
        check(|_, evidence| evidence.checked = 9_000, &[("content", Verdict::Marked)]);
    }

    #[test]
    fn a_table_that_does_not_hold_what_was_acknowledged_is_refused() {
        let inserted = Inserted {
            records: 10_000,
            settlement: Settlement { counted: 16, lost: 3, ..Settlement::default() },
            ..Inserted::default()
        };
        check(
            |cell, evidence| {
                cell.inserted = Some(inserted);
                evidence.unsettled = Some("record 7 was acknowledged and is not stored");
            },
            &[("settlement", Verdict::Refused)],
        );
        // An answer for thousands of records is one answer, and enough.
        check(
            |cell, evidence| {
                (cell.requests, evidence.checked) = (16, 16);
                cell.inserted = Some(inserted);
            },
            &[("all", Verdict::Ok)],
        );
    }

    #[test]
    fn users_whom_the_records_do_not_find_are_refused() {
        let broken =
            LittlesLaw { users: 20, found: 19.5, off: 0.025, bound: 0.01, without_core: 0.0, holds: Some(false) };
        check(|_, evidence| evidence.littles_law = Some(broken), &[("littles-law", Verdict::Refused)]);
        check(|_, evidence| evidence.littles_law = None, &[("all", Verdict::Ok)]);
    }

    #[test]
    fn a_baseline_on_another_system_is_marked() {
        check(|_, evidence| evidence.systems = Systems::BuiltInAndTheirs, &[("different-backend", Verdict::Marked)]);
        check(|_, evidence| evidence.systems = Systems::BothTheirs, &[("different-host", Verdict::Marked)]);
    }

    #[test]
    fn a_generator_whose_heartbeat_is_late_is_marked_by_the_beats_of_that_load() {
        let mut cell = sound();
        cell.equal_rate = Some(at_rate::tests::offered());
        let late = stalls::tests::beats(1_600, &[100]);
        let rules = |evidence: &Evidence<'_>| judge(evidence).into_iter().map(|doubt| doubt.rule).collect::<Vec<_>>();
        let of = |beats| SeenBeside { ticks: TICKS, beats: Some(beats), ..SeenBeside::default() };
        assert_eq!(rules(&Evidence { beside: of(&late), ..evidence(&cell) }), ["stalls"]);
        assert_eq!(rules(&Evidence { rate_beside: of(&late), ..evidence(&cell) }), ["rate-stalls"]);
        let sound = stalls::tests::beats(1_600, &[]);
        assert_eq!(rules(&Evidence { beside: of(&sound), rate_beside: of(&sound), ..evidence(&cell) }), ["all"]);
    }

    #[test]
    fn a_generator_at_its_limit_or_kept_waiting_is_marked() {
        check(|cell, _| cell.generator.cpu_share = 0.81, &[("client-saturation", Verdict::Marked)]);
        check(|cell, _| cell.generator.run_queue_share = 0.051, &[("run-queue", Verdict::Marked)]);
        check(|_, evidence| evidence.beside.ticks.idle = 40, &[("joint", Verdict::Marked)]);
    }

    #[test]
    fn a_backend_that_shares_cores_that_are_full_is_marked() {
        let use_of = |backend: f64, subject: f64| {
            move |cell: &mut Cell, _: &mut Evidence<'_>| {
                cell.backend = Some(BackendUse { cpu_share: backend, ..BackendUse::default() });
                cell.subject = Some(SubjectUse { cpu_share: subject, ..SubjectUse::default() });
            }
        };
        check(use_of(0.3, 0.65), &[("backend", Verdict::Marked)]);
        check(use_of(0.3, 0.6), &[("all", Verdict::Ok)]);
        check(use_of(0.05, 0.94), &[("all", Verdict::Ok)]);
    }

    #[test]
    fn too_few_answers_or_blocks_are_marked() {
        check(
            |cell, evidence| (cell.requests, evidence.checked, cell.rounds) = (299, 299, 1),
            &[("samples", Verdict::Marked)],
        );
        check(|cell, _| cell.rounds = 7, &[("samples", Verdict::Marked)]);
        let mut cell = sound();
        (cell.rounds, cell.trials) = (0, 1);
        cell.inserted = Some(Inserted { records: 10_000, ..Inserted::default() });
        let found = samples(&evidence(&cell).closed()).unwrap();
        assert_eq!(found.reason, "only 0 whole blocks (1 trial)");
        assert!(found.remedy.contains("cell_ms"), "{}", found.remedy);
        check(|cell, evidence| (cell.requests, evidence.checked) = (0, 0), &[("errors", Verdict::Refused)]);
    }

    #[test]
    fn connections_opened_again_are_marked_above_one_in_a_hundred_answers() {
        check(|_, evidence| evidence.beside.fresh_connections = 100, &[("all", Verdict::Ok)]);
        check(|_, evidence| evidence.beside.fresh_connections = 101, &[("fresh-connections", Verdict::Marked)]);
    }

    #[test]
    fn an_unsteady_start_and_stolen_time_are_marked() {
        check(|_, evidence| evidence.unsteady_starts = 1, &[("warm-up", Verdict::Marked)]);
        check(|_, evidence| evidence.beside.ticks.steal = 11, &[("steal", Verdict::Marked)]);
    }
}
