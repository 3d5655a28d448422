//! Groups on a clock that is moved by hand.

use std::time::{Duration, SystemTime};

use tollgate_net::clock::ManualClock;

use super::place::Look;
use super::*;
use crate::config::Config;

struct World {
    group: Group,
    clock: Clock,
    hand: ManualClock,
}

fn endpoint(rest: &str) -> Endpoint {
    let text = format!("[[endpoint]]\nname = \"e\"\n{rest}\n");
    Config::parse(&text, "gateway.toml").unwrap().endpoints.remove(0)
}

fn world(rest: &str) -> World {
    let (clock, hand) = Clock::manual(SystemTime::UNIX_EPOCH);
    World { group: Group::new(&endpoint(rest), None, &clock).unwrap(), clock, hand }
}

const TWO: &str = "urls = [\"http://127.0.0.1:9001\", \"http://127.0.0.1:9002/base\"]\n";
const ONCE: &str = "suspension = { after_failures = 1, initial_ms = 1500, max_ms = 60000 }\n";

impl World {
    fn pick(&self) -> Result<Permit<'_>, Unavailable> {
        self.group.pick(self.clock.now(), &Tried::default())
    }

    /// Place of the next request, which then ends with `ending`.
    fn goes(&self, ending: Ending) -> Result<usize, Unavailable> {
        let permit = self.pick()?;
        let index = permit.index();
        permit.ended(ending);
        Ok(index)
    }

    fn look(&self, index: usize) -> Look {
        self.group.members[index].place.look(self.clock.now())
    }
}

#[test]
fn each_place_has_its_turn() {
    let world = world(TWO);
    let order: Vec<_> = (0..4).map(|_| world.goes(Ending::Answered(200)).unwrap()).collect();
    assert_eq!(order, [0, 1, 0, 1]);
    assert_eq!(world.look(1).answered, [0, 2, 0, 0, 0]);
}

#[test]
fn the_least_busy_place_is_next_and_among_equals_each_in_turn() {
    let world = world(&format!("{TWO}balance = \"least-busy\""));
    let first = world.pick().unwrap();
    let second = world.pick().unwrap();
    assert_eq!((first.index(), second.index()), (0, 1));
    second.ended(Ending::Answered(200));
    assert_eq!((0..3).map(|_| world.goes(Ending::Answered(200)).unwrap()).collect::<Vec<_>>(), [1, 1, 1]);
    drop(first);
    assert_eq!((world.look(0).in_flight, world.look(1).in_flight), (0, 0));
}

#[test]
fn the_first_that_may_is_next_and_the_others_stand_by() {
    let world = world(&format!("{TWO}balance = \"in-order\"\n{ONCE}"));
    assert_eq!(world.goes(Ending::Answered(200)), Ok(0));
    assert_eq!(world.goes(Ending::ConnectFailed), Ok(0));
    assert_eq!(world.goes(Ending::Answered(200)), Ok(1));
    world.hand.advance(Duration::from_millis(1_500));
    let trial = world.pick().unwrap();
    assert_eq!(trial.index(), 0);
    assert_eq!(world.goes(Ending::Answered(200)), Ok(1), "while one tries, the others are elsewhere");
    trial.ended(Ending::Answered(500));
    assert_eq!(world.goes(Ending::Answered(200)), Ok(0), "an answer is an answer");
}

#[test]
fn a_request_goes_nowhere_twice() {
    let world = world(TWO);
    let mut tried = Tried::default();
    for expected in [Some(0), Some(1), None] {
        let picked = world.group.pick(world.clock.now(), &tried);
        assert_eq!(picked.as_ref().ok().map(Permit::index), expected);
        match picked {
            Ok(permit) => tried.note(permit.index()),
            Err(why) => assert_eq!(why, Unavailable::Tried),
        }
    }
    assert_eq!(world.group.refused(), (0, 0));
}

#[test]
fn beyond_the_limit_of_a_place_comes_the_next_and_then_503() {
    let world = world(&format!("{TWO}in_flight_max = 1\nbalance = \"in-order\"\n{ONCE}"));
    let first = world.pick().unwrap();
    let second = world.pick().unwrap();
    assert_eq!((first.index(), second.index()), (0, 1));
    assert_eq!(world.pick().unwrap_err(), Unavailable::Full { retry_after_seconds: 1 });
    second.ended(Ending::Broken);
    assert_eq!(world.pick().unwrap_err(), Unavailable::Full { retry_after_seconds: 1 }, "who is full is back sooner");
    first.ended(Ending::Answered(200));
    assert_eq!(world.goes(Ending::Answered(200)), Ok(0));
    assert_eq!(world.group.refused(), (0, 2));
}

#[test]
fn where_all_are_suspended_it_is_said_when_the_first_is_back() {
    let world = world(&format!("{TWO}{ONCE}"));
    assert_eq!(world.goes(Ending::TimedOut), Ok(0));
    world.hand.advance(Duration::from_millis(400));
    assert_eq!(world.goes(Ending::TlsFailed), Ok(1));
    assert_eq!(world.pick().unwrap_err(), Unavailable::Suspended { retry_after_seconds: 2 });
    world.hand.advance(Duration::from_millis(400));
    assert_eq!(world.pick().unwrap_err(), Unavailable::Suspended { retry_after_seconds: 1 });
    let look = world.look(0);
    assert_eq!((look.phase, look.suspended_for), (Phase::Suspended, Duration::from_millis(700)));
    assert_eq!((look.failed, look.suspended), ([0, 0, 1, 0], 1));
    assert_eq!(world.group.refused(), (2, 0));
    world.group.members[0].place.reset();
    assert_eq!(world.goes(Ending::Answered(200)), Ok(0));
}

#[test]
fn what_a_client_did_wrong_suspends_nobody_and_5xx_only_where_the_configuration_says() {
    let check = |rest: &str, status: u16, expected: Phase| {
        let world = world(&format!("urls = [\"http://127.0.0.1:9001\"]\n{rest}"));
        world.goes(Ending::Answered(status)).unwrap();
        assert_eq!(world.look(0).phase, expected, "{rest} {status}");
    };
    for status in [200, 400, 404, 429, 499, 500, 502, 503, 504] {
        check(ONCE, status, Phase::Ready);
    }
    let by_status = "suspension = { after_failures = 1, statuses = [502, 503] }";
    for (status, expected) in [(200, Phase::Ready), (404, Phase::Ready), (500, Phase::Ready), (503, Phase::Suspended)] {
        check(by_status, status, expected);
    }
}

#[test]
fn a_place_stays_what_it_is_in_a_new_configuration_that_has_it() {
    let world = world(&format!("{TWO}{ONCE}"));
    let held = world.pick().unwrap();
    assert_eq!(world.goes(Ending::Broken), Ok(1));
    let other = "urls = [\"http://127.0.0.1:9002/base\", \"http://127.0.0.1:9003\"]\nbalance = \"in-order\"\n";
    let after = Group::new(&endpoint(other), Some(&world.group), &world.clock).unwrap();
    let look = |index: usize| after.members[index].place.look(world.clock.now());
    assert_eq!((look(0).phase, look(1).phase), (Phase::Suspended, Phase::Ready));
    assert_eq!(after.members[0].id, world.group.members[1].id);
    assert_ne!(after.members[1].id, world.group.members[0].id);
    assert_eq!(after.pick(world.clock.now(), &Tried::default()).unwrap().index(), 1);
    drop(held);
    let shorter = Group::new(&endpoint(&format!("{other}idle_ms_max = 1")), Some(&after), &world.clock).unwrap();
    assert_eq!(shorter.members[0].place.look(world.clock.now()).phase, Phase::Suspended);
    assert_ne!(shorter.members[0].id, after.members[0].id, "connections that may wait for less long are others");
}

#[test]
fn a_file_of_authorities_that_cannot_be_used_is_told_with_its_line() {
    let endpoint = endpoint("urls = [\"https://backend.example\"]\nca = \"nowhere.pem\"");
    let error = Group::new(&endpoint, None, &Clock::system()).unwrap_err().to_string();
    assert!(error.contains("gateway.toml:4:6") && error.contains("nowhere.pem"), "{error}");
}

#[test]
fn many_loops_at_once_never_exceed_the_limit_and_lose_no_count() {
    let world = world("urls = [\"http://127.0.0.1:9001\"]\nin_flight_max = 3\nsuspension.after_failures = 2");
    let now = world.clock.now();
    let taken: u64 = std::thread::scope(|scope| {
        let loops: Vec<_> = (0..4_u64)
            .map(|number| {
                let group = &world.group;
                scope.spawn(move || {
                    let mut taken = 0;
                    for round in 0..2_000_u64 {
                        let Ok(permit) = group.pick(now, &Tried::default()) else {
                            group.members[0].place.reset();
                            continue;
                        };
                        assert!(group.members[0].place.in_flight() <= 3);
                        taken += 1;
                        permit.ended(if (round + number).is_multiple_of(5) {
                            Ending::Broken
                        } else {
                            Ending::Answered(200)
                        });
                    }
                    taken
                })
            })
            .collect();
        loops.into_iter().map(|joined| joined.join().unwrap()).sum()
    });
    let look = world.look(0);
    assert_eq!((look.in_flight, look.answered[1] + look.failed[3]), (0, taken));
}
