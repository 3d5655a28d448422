//! Operations on a database made for the tests, with a clock that is moved by hand.

mod shop;

use std::time::Duration;

use tollgate_net::http1::Method::{Delete, Get, Patch, Post, Put};

use shop::Shop;

#[test]
fn a_key_that_the_database_gives_is_answered_and_passed_on() {
    let mut shop = Shop::open();
    let created = shop.ask(Post, "Customers", &[], r#"{"name":"ann","big":"ignored"}"#);
    created.expect(201, r#""id":1,"name":"ann","status":"new","referrer":null,"big":"ANN""#);
    assert_eq!(created.field("location"), Some("http://localhost/shop/Customers(1)"));
    assert_eq!(created.address, "Customers(1)");
    let together = r#"{"name":"bob","purchases":[{"total":1.50},{"total":2}],"referrer_":{"name":"eve"}}"#;
    let created = shop.ask(Post, "Customers", &[], together);
    created.expect(201, r#""name":"bob""#).expect(201, r#""total":1.50"#).expect(201, r#""customer":3"#);
    shop.ask(Get, "Customers(3)?$select=referrer", &[], "").expect(200, r#""referrer":2"#);
    shop.ask(Get, "Customers(2)", &[], "").expect(200, "eve");
}

#[test]
fn the_time_of_creation_stays_and_that_of_the_last_change_moves() {
    let mut shop = Shop::open();
    let bob = [("Authorization", "Basic Ym9iOg==")];
    let created = shop.ask(Post, "Purchases", &bob, r#"{"total":1}"#);
    created.expect(201, r#""createdAt":"2013-09-25T12:00:00Z","createdBy":"bob""#);
    created.expect(201, r#""modifiedAt":"2013-09-25T12:00:00Z","modifiedBy":"bob""#);
    let path = created.address.clone();
    shop.now += Duration::from_micros(1_500_000);
    let changed = shop.ask(Patch, &path, &[("If-Match", created.field("etag").unwrap())], r#"{"total":2}"#);
    assert_eq!((changed.status, changed.address.as_str()), (204, path.as_str()));
    assert_eq!(changed.field("etag"), Some("W/\"2013-09-25T12:00:01.5Z\""));
    let read = shop.ask(Get, &path, &[], "");
    read.expect(200, r#""createdAt":"2013-09-25T12:00:00Z","createdBy":"bob""#);
    read.expect(200, r#""modifiedAt":"2013-09-25T12:00:01.5Z","modifiedBy":"anonymous""#);
    assert_eq!(read.field("etag"), changed.field("etag"));
}

#[test]
fn of_two_changes_that_know_the_same_state_one_is_refused() {
    let mut shop = Shop::open();
    let created = shop.ask(Post, "Purchases", &[], r#"{"total":1}"#);
    let (path, etag) = (created.address.clone(), created.field("etag").unwrap().to_owned());
    let known = [("If-Match", etag.as_str())];
    // Both have read the state; the second transaction begins when the first has ended, which is all that a database with
    // one writer lets it.
    shop.now += Duration::from_secs(1);
    assert_eq!(shop.ask(Patch, &path, &known, r#"{"total":2}"#).status, 204);
    shop.ask(Patch, &path, &known, r#"{"total":3}"#).expect(412, "has changed");
    shop.ask(Delete, &path, &known, "").expect(412, "has changed");
    shop.ask(Put, &format!("{path}/total"), &known, r#"{"value":4}"#).expect(412, "has changed");
    shop.ask(Get, &path, &[], "").expect(200, r#""total":2,"#);
}

#[test]
fn a_replacement_leaves_what_the_server_provides() {
    let mut shop = Shop::open();
    shop.ask(Post, "Customers", &[], r#"{"name":"ann","status":"old"}"#).expect(201, r#""status":"old""#);
    shop.ask(Post, "Customers", &[], r#"{"name":"bob","referrer":1}"#).expect(201, "");
    shop.ask(Put, "Customers(2)", &[], r#"{"status":"x"}"#).expect(400, r#""target":"name""#);
    assert_eq!(shop.ask(Put, "Customers(2)", &[], r#"{"name":"bo"}"#).status, 204);
    shop.ask(Get, "Customers(2)", &[], "")
        .expect(200, r#""id":2,"name":"bo","status":"new","referrer":null,"big":"BO""#);
    shop.ask(Patch, "Customers(2)", &[], r#"{"name":null}"#).expect(400, r#""target":"name""#);
}

#[test]
fn what_the_database_refuses_is_told_with_its_property() {
    let mut shop = Shop::open();
    shop.ask(Post, "Customers", &[], r#"{"name":"ann"}"#).expect(201, "");
    shop.ask(Post, "Purchases", &[], r#"{"note":"n","customer":1}"#).expect(201, "");
    for (method, path, body, status, fragment) in [
        (Post, "Customers", r#"{"id":1,"name":"bob"}"#, 409, r#""target":"id""#),
        (Post, "Purchases", r#"{"note":"n"}"#, 409, r#""target":"note""#),
        (Post, "Purchases", r#"{"customer":7}"#, 400, "customer refers to an entity that does not exist"),
        (Post, "Purchases", r#"{"total":13}"#, 400, "condition"),
        (Patch, "Customers(1)", r#"{"referrer":7}"#, 400, "referrer refers to an entity that does not exist"),
        (Delete, "Customers(1)", "", 409, "others still refer to it"),
    ] {
        shop.ask(method, path, &[], body).expect(status, fragment);
    }
}

#[test]
fn links_in_a_body_set_foreign_keys_at_either_end() {
    let mut shop = Shop::open();
    shop.ask(Post, "Customers", &[], r#"{"name":"ann"}"#).expect(201, "");
    let bound = r#"{"total":1,"customer_@odata.bind":"Customers(1)"}"#;
    let purchase = shop.ask(Post, "Purchases", &[], bound);
    purchase.expect(201, r#""customer":1"#);
    let path = purchase.address.clone();
    let many = format!(r#"{{"name":"bob","purchases@odata.bind":["{path}"]}}"#);
    shop.ask(Post, "Customers", &[], &many).expect(201, r#""id":2"#);
    shop.ask(Get, &path, &[], "").expect(200, r#""customer":2"#);
    let back = format!(r#"{{"purchases@odata.bind":["http://localhost/shop/{path}"]}}"#);
    assert_eq!(shop.ask(Patch, "Customers(1)", &[], &back).status, 204);
    shop.ask(Get, &path, &[], "").expect(200, r#""customer":1"#);
    shop.ask(Post, "Purchases", &[], r#"{"customer_@odata.bind":"Customers(9)"}"#).expect(400, "customer_");
    shop.ask(Post, "Purchases", &[], r#"{"customer":2,"customer_@odata.bind":"Customers(1)"}"#).expect(400, "customer");
}

#[test]
fn references_are_set_and_cleared_by_themselves() {
    let mut shop = Shop::open();
    for name in ["ann", "bob"] {
        shop.ask(Post, "Customers", &[], &format!(r#"{{"name":"{name}"}}"#)).expect(201, "");
    }
    let purchase = shop.ask(Post, "Purchases", &[], "{}").address;
    let to = |address: &str| format!(r#"{{"@odata.id":"{address}"}}"#);
    let any = [("If-Match", "*")];
    let mut check = |method, path: &str, body: &str, status: u16, customer: &str| {
        let told = shop.ask(method, path, &any, body);
        assert_eq!(told.status, status, "{path} {told:?}");
        shop.ask(Get, &purchase, &[], "").expect(200, &format!("\"customer\":{customer}"));
    };
    let one = format!("{purchase}/customer_/$ref");
    check(Put, &one, &to("Customers(1)"), 204, "1");
    check(Get, &one, "", 200, "1");
    check(Put, &one, &to("Customers(9)"), 400, "1");
    check(Put, &one, &to("Purchases(01234567-89ab-4def-8123-456789abcdef)"), 400, "1");
    check(Delete, &one, "", 204, "null");
    check(Post, &one, &to("Customers(1)"), 405, "null");
    check(Post, "Customers(2)/purchases/$ref", &to(&purchase), 204, "2");
    check(Post, "Customers(9)/purchases/$ref", &to(&purchase), 404, "2");
    check(Delete, "Customers(2)/purchases/$ref", "", 400, "2");
    check(Delete, &format!("Customers(1)/purchases/$ref?$id={purchase}"), "", 404, "2");
    check(Delete, &format!("Customers(2)/purchases/$ref?$id={purchase}"), "", 204, "null");
    check(Post, "Customers(2)/purchases/$ref", &to(&purchase), 204, "2");
    let named = purchase.strip_prefix("Purchases").unwrap();
    check(Delete, &format!("Customers(2)/purchases{named}/$ref"), "", 204, "null");
    check(Get, &one, "", 204, "null");
}

#[test]
fn what_a_request_of_a_batch_created_is_named_by_its_content_id() {
    let mut shop = Shop::open();
    let customer = shop.ask(Post, "Customers", &[], r#"{"name":"ann"}"#);
    shop.content_ids.note("1", customer.address.as_bytes());
    shop.ask(Post, "$1/purchases", &[], r#"{"total":1}"#).expect(201, r#""customer":1"#);
    shop.ask(Post, "Purchases", &[], r#"{"customer_@odata.bind":"$1"}"#).expect(201, r#""customer":1"#);
    assert_eq!(shop.ask(Patch, "$1", &[], r#"{"name":"bob"}"#).status, 204);
    shop.ask(Get, "$1/name", &[], "").expect(200, "bob");
    shop.ask(Post, "Purchases", &[], r#"{"customer_@odata.bind":"$2"}"#).expect(400, "$2");
    shop.ask(Post, "$2/purchases", &[], "{}").expect(404, "$2");
    shop.ask(Post, "Customers", &[], r#"{"name":"x","purchases@odata.bind":["$1"]}"#).expect(400, "purchases");
}

#[test]
fn an_error_within_a_transaction_leaves_the_rest_to_the_caller() {
    use crate::store::Store;
    let mut shop = Shop::open();
    shop.connection.begin().unwrap();
    shop.perform(Post, "Customers", &[], r#"{"name":"ann"}"#).expect(201, "");
    shop.connection.savepoint().unwrap();
    let together = r#"{"name":"bob","purchases":[{"note":"a"},{"note":"a"}]}"#;
    shop.perform(Post, "Customers", &[], together).expect(409, "note");
    shop.connection.undo().unwrap();
    shop.perform(Get, "Customers/$count", &[], "").expect(200, "1");
    shop.perform(Get, "Purchases/$count", &[], "").expect(200, "0");
    shop.connection.commit().unwrap();
    shop.ask(Get, "Customers/$count", &[], "").expect(200, "1");
}

#[test]
fn what_a_set_does_not_allow_is_not_done_by_way_of_another() {
    use tollgate_wire::edm::Changes;
    let mut shop = Shop::open_with(Changes::NONE);
    for (method, path, body, status) in [
        (Post, "Customers", r#"{"name":"ann"}"#, 405),
        (Patch, "Customers(1)", "{}", 405),
        (Delete, "Customers(1)", "", 405),
        (Put, "Customers(1)/name", r#"{"value":"x"}"#, 405),
        (Put, "Customers(1)/referrer_/$ref", r#"{"@odata.id":"Customers(1)"}"#, 403),
        (Post, "Customers(1)/referred/$ref", r#"{"@odata.id":"Customers(1)"}"#, 403),
        (Post, "Purchases", r#"{"customer_":{"name":"ann"}}"#, 403),
    ] {
        let told = shop.ask(method, path, &[], body);
        assert_eq!(told.status, status, "{path} {body} {told:?}");
    }
    let mut shop = Shop::open_with(Changes { insert: true, ..Changes::NONE });
    shop.ask(Post, "Customers", &[], r#"{"name":"ann"}"#).expect(201, "");
    shop.ask(Post, "Customers", &[], r#"{"name":"bob","referred@odata.bind":["Customers(1)"]}"#).expect(403, "changed");
}
