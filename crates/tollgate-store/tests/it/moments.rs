//! Moments moved by durations, and the time between two of them.

use tollgate_wire::edm::{Primitive, Version};
use tollgate_wire::plan::Resource;
use tollgate_wire::url;
use tollgate_wire::value::Value;

use crate::stores::on_every_store;
use crate::world::*;

fn world() -> World {
    let item = |id, moments: Option<[&str; 3]>| {
        let mut item = bare_item(id, 1, None);
        if let Some([date, moment, instant]) = moments {
            item[8] = Value::Text(Primitive::Date, date.to_owned());
            item[9] = Value::Text(MOMENT, moment.to_owned());
            item[10] = Value::Text(INSTANT, instant.to_owned());
            item[12] = Value::Text(Primitive::Duration, "P1DT12H".to_owned());
        }
        item
    };
    World::new(
        vec![
            item("a", Some(["2024-02-28", "2024-02-28T23:00:00", "2024-02-28T23:00:00Z"])),
            item("b", Some(["2024-03-01", "2024-03-01T00:00:00", "2024-03-01T00:00:00.5Z"])),
            item("c", None),
        ],
        Vec::new(),
    )
}

/// Checks the items for which a condition is true.
fn check(world: &World, filter: &str, expected: &str) {
    let (resource, _) = url::parse(&world.model, Version::V4, "Items", Some(&format!("$filter={filter}"))).unwrap();
    let Resource::Read(plan) = resource else { panic!("it reads data") };
    let (_, answer) = world.read(&plan, None).unwrap();
    let ids: Vec<&str> = answer.rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(ids.join(" "), expected, "{filter}");
}

/// Checks a condition whose moments are outside the valid years.
fn check_refused(world: &World, filter: &str) {
    let (resource, _) = url::parse(&world.model, Version::V4, "Items", Some(&format!("$filter={filter}"))).unwrap();
    let Resource::Read(plan) = resource else { panic!("it reads data") };
    let refusal = world.read(&plan, None).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refusal, "an expression has no value: a moment outside of the years 0001 to 9999", "{filter}");
}

/// The same as [`check_refused`] for a computed value.
fn check_uncomputed(world: &World, computed: &str) {
    let query = format!("$compute={computed} as m&$select=id,m");
    let (resource, _) = url::parse(&world.model, Version::V4, "Items", Some(&query)).unwrap();
    let Resource::Read(plan) = resource else { panic!("it reads data") };
    let refusal = world.read(&plan, None).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refusal, "an expression has no value: a moment outside of the years 0001 to 9999", "{computed}");
}

on_every_store! {
    #[test]
    fn no_moment_leaves_the_years_that_a_version_can_write() {
        let mut items = world().rows[0].clone();
        items.push({
            let mut item = bare_item("last", 1, None);
            item[8] = Value::Text(Primitive::Date, "9999-12-31".to_owned());
            item[9] = Value::Text(MOMENT, "9999-12-31T10:00:00".to_owned());
            item[10] = Value::Text(INSTANT, "9999-12-31T23:59:59.999999Z".to_owned());
            item
        });
        items.push({
            let mut item = bare_item("first", 1, None);
            item[8] = Value::Text(Primitive::Date, "0001-01-01".to_owned());
            item[10] = Value::Text(INSTANT, "0001-01-01T00:00:00Z".to_owned());
            item
        });
        let world = World::new(items, Vec::new());
        check(&world, "instant add duration'PT0S' eq 9999-12-31T23:59:59.999999Z", "last");
        check(&world, "moment add duration'PT13H' eq 9999-12-31T23:00:00Z", "last");
        check(&world, "date sub duration'PT0S' eq 0001-01-01", "first");
        check_refused(&world, "moment add duration'P1D' gt 2000-01-01T00:00:00Z");
        check_refused(&world, "date(instant add duration'PT0.000001S') eq 2000-01-01");
        check_refused(&world, "instant sub duration'PT1S' lt 2000-01-01T00:00:00Z");
        check_refused(&world, "date sub duration'P1D' lt 2000-01-01");
        check_refused(&world, "year(date add duration'P1D') gt 1");
        check_uncomputed(&world, "date sub duration'P1D'");
        check_uncomputed(&world, "moment add duration'P1D'");
    }

    #[test]
    fn moments_are_moved_by_durations() {
        let world = world();
        check(&world, "instant add duration'PT2H' eq 2024-02-29T01:00:00Z", "a");
        check(&world, "instant sub duration'P1DT0.5S' ge 2024-02-29T00:00:00Z", "b");
        check(&world, "moment add duration eq 2024-03-01T11:00:00Z", "a");
        check(&world, "moment sub duration'-PT1H' gt 2024-02-28T23:59:59Z", "a b");
        check(&world, "date add duration eq 2024-02-29", "a");
        check(&world, "date sub duration eq 2024-02-28", "b");
        check(&world, "year(instant add duration'P365D') eq 2025", "a b");
        check(&world, "now() sub duration'P7D' gt instant", "a b");
        check(&world, "instant add duration eq null", "c");
    }

    #[test]
    fn what_lies_between_two_moments_is_a_duration() {
        let world = world();
        check(&world, "2024-03-01T00:00:00Z sub instant eq duration'PT25H'", "a");
        check(&world, "instant sub moment eq duration'PT0.5S'", "b");
        check(&world, "instant sub moment lt duration'PT1H'", "a b");
        check(&world, "date sub 2024-02-28 eq duration'P2D'", "b");
        check(&world, "2024-02-28 sub date lt duration'PT0S'", "b");
        check(&world, "totalseconds(instant sub 2024-02-28T23:00:00Z) gt 3600", "b");
        check(&world, "now() sub instant gt duration'P7D'", "a b");
        check(&world, "date sub date eq duration'PT0S'", "a b");
    }
}
