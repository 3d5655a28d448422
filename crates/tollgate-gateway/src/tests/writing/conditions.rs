//! Conditional writing: a client that changes an entity with an ETag names the state it means.

use super::{JSON, RECORDS_V4, Writer};
use crate::tests::client::{Running, V2, V4};

const BOOKING: &str = "BookingCollection(carrid='AA',connid='0017',fldate=2011-06-01,bookid='99999999')";
const BOOKING_V2: &str =
    "BookingCollection(carrid='AA',connid='0017',fldate=datetime'2011-06-01T00:00:00',bookid='99999999')";
const NEW: &str =
    r#"{"carrid":"AA","connid":"0017","fldate":"2011-06-01","bookid":"99999999","ORDER_DATE":"2011-05-01"}"#;

#[test]
fn a_change_must_name_the_state_that_the_entity_is_in() {
    let mut writer = Writer::start();
    let created = writer.send("POST", &format!("{V4}BookingCollection"), NEW);
    created.expect(201, "\"@odata.etag\":\"W/");
    let etag = created.header("etag").unwrap().to_owned();
    let path = format!("{V4}{BOOKING}");
    let body = r#"{"ORDER_DATE":"2011-05-02"}"#;
    for method in ["PATCH", "PUT", "DELETE"] {
        writer.send(method, &path, body).expect(428, "If-Match");
        writer.send_with(method, &path, &[("If-Match", "W/\"other\"")], body).expect(412, "If-Match");
        writer.send_with(method, &path, &[("If-None-Match", &etag)], body).expect(412, "If-None-Match");
    }
    writer.send("PUT", &format!("{path}/CLASS"), r#"{"value":"Y"}"#).expect(428, "If-Match");
    assert_eq!(writer.get(&path).header("etag"), Some(etag.as_str()));
    let changed = writer.send_with("PATCH", &path, &[("If-Match", &etag)], body);
    assert_eq!(changed.status, 204);
    let new_etag = changed.header("etag").unwrap().to_owned();
    assert_ne!(new_etag, etag);
    assert_eq!(writer.get(&path).header("etag"), Some(new_etag.as_str()));
    // The state that was read before is gone.
    writer.send_with("PATCH", &path, &[("If-Match", &etag)], body).expect(412, "has changed");
    assert_eq!(writer.send_with("PATCH", &path, &[("If-Match", "*")], r#"{"CLASS":"Y"}"#).status, 204);
    let several = format!("\"x\", {new_etag}");
    assert_eq!(writer.send_with("DELETE", &path, &[("If-Match", &several)], "").status, 204);
    assert_eq!(writer.send_with("DELETE", &path, &[("If-Match", &new_etag)], "").status, 404);
}

#[test]
fn v2_keeps_the_same_conditions() {
    let mut writer = Writer::start();
    writer.send("POST", &format!("{V4}BookingCollection"), NEW).expect(201, "");
    let path = format!("{V2}{BOOKING_V2}");
    let read = writer.get(&path);
    let etag = read.header("etag").unwrap().to_owned();
    read.expect(200, "\"etag\":\"W/");
    writer.send("MERGE", &path, r#"{"CLASS":"Y"}"#).expect(428, "If-Match");
    writer.send_with("MERGE", &path, &[("If-Match", "W/\"other\"")], r#"{"CLASS":"Y"}"#).expect(412, "If-Match");
    let merged = writer.send_with("MERGE", &path, &[("If-Match", &etag)], r#"{"CLASS":"Y"}"#);
    assert_eq!((merged.status, merged.header("etag")), (204, Some(etag.as_str())));
    writer.send("DELETE", &path, "").expect(428, "If-Match");
    assert_eq!(writer.send_with("DELETE", &path, &[("If-Match", &etag)], "").status, 204);
}

#[test]
fn an_entity_without_an_etag_is_named_by_the_asterisk_only() {
    let mut writer = Writer::start();
    let path = super::location(&writer.send("POST", RECORDS_V4, "{}"));
    writer.send_with("PATCH", &path, &[("If-Match", "\"a\"")], "{}").expect(412, "");
    assert_eq!(writer.send_with("PATCH", &path, &[("If-Match", "*")], "{}").status, 204);
    writer.send_with("DELETE", &path, &[("If-None-Match", "*")], "").expect(412, "");
    assert_eq!(writer.send_with("DELETE", &path, &[("If-None-Match", "\"a\"")], "").status, 204);
}

/// Clients that each move the date on by one day, again and again, while the others do the same.
#[test]
fn no_change_is_lost_between_clients_that_keep_to_the_etag() {
    const CLIENTS: usize = 4;
    const DAYS: usize = 10;
    for config in [
        "[listen]\nthreads = 2\n",
        "[listen]\nthreads = 2\n[[service]]\nkind = \"flights\"\ndatabase = \"sqlite:FILE\"\n",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("flights.db");
        let gateway = Running::start(&config.replace("FILE", file.to_str().unwrap()));
        let path = format!("{V4}{BOOKING}");
        gateway.connect().ask_with("POST", &format!("{V4}BookingCollection"), &[JSON], NEW).expect(201, "");
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let mut client = gateway.connect();
                    let mut moved = 0;
                    while moved < DAYS {
                        let read = client.ask("GET", &path, &[]);
                        let etag = read.header("etag").unwrap();
                        let day: u32 = etag.trim_end_matches('"').rsplit('-').next().unwrap().parse().unwrap();
                        let next = if day == 30 { "2011-05-01".to_owned() } else { format!("2011-05-{:02}", day + 1) };
                        let body = format!(r#"{{"ORDER_DATE":"{next}"}}"#);
                        match client.ask_with("PATCH", &path, &[JSON, ("If-Match", etag)], &body).status {
                            204 => moved += 1,
                            412 => {}
                            other => panic!("{other} to a change"),
                        }
                    }
                });
            }
        });
        let end = gateway.get(&path);
        // 40 days from the first of May, which here has 30.
        end.expect(200, "\"ORDER_DATE\":\"2011-05-11\"");
    }
}
