//! Configurations of users and rules: meaning and refusals.

use super::{ANN, BOB, Guarded};
use crate::config::Config;
use crate::front::Gateway;
use crate::tests::client::{Running, V2, V4};

#[test]
fn rules_are_by_path_set_and_method_and_the_first_decides() {
    let Guarded { gateway, .. } = Guarded::start(
        r#"
        [authentication]
        default = ["group:editors"]
        [[rule]]
        path = "/odata/v4/flights/"
        entity_sets = ["CarrierCollection"]
        methods = ["GET"]
        allow = ["anyone"]
        [[rule]]
        path = "/rest/bookings"
        allow = ["user:ann"]
        [[rule]]
        path = "/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection"
        allow = []
        [[rule]]
        path = "/fibonacci"
        allow = ["anyone"]
        "#,
    );
    let status = |path: &str, user: &[(&str, &str)]| gateway.get_with(path, user).status;
    for (path, expected) in [
        (format!("{V4}CarrierCollection"), [200, 200, 200]),
        (format!("{V2}CarrierCollection"), [401, 403, 200]),
        (format!("{V4}$metadata"), [401, 403, 200]),
        ("/rest/carriers".to_owned(), [401, 403, 200]),
        ("/rest/bookings".to_owned(), [401, 200, 403]),
        (format!("{V2}FlightCollection"), [401, 403, 403]),
        (format!("{V2}CarrierCollection('AA')/carrierFlights"), [401, 403, 403]),
        ("/sap/opu/sdata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection".to_owned(), [401, 403, 200]),
        ("/fibonacci?n=1".to_owned(), [200, 200, 200]),
        ("/".to_owned(), [401, 403, 200]),
    ] {
        assert_eq!([status(&path, &[]), status(&path, &[ANN]), status(&path, &[BOB])], expected, "{path}");
    }
}

#[test]
fn rules_without_users_make_a_gateway_that_only_reads() {
    let gateway = Running::start(
        "[[rule]]\nmethods = [\"GET\"]\nallow = [\"anyone\"]\n[[rule]]\nallow = []\n[[service]]\nkind = \"records\"",
    );
    gateway.get("/rest/records").expect(200, "[]");
    let refused = gateway.connect().ask_with("POST", "/rest/records", &[super::JSON], "{}");
    refused.expect(403, "only known users may create entities of TestRecords");
    assert_eq!(refused.header("www-authenticate"), None);
    // Nobody is asked who they are, so whoever says a name is let through with it.
    gateway.get_with("/rest/records", &[ANN]).expect(200, "");
}

#[test]
fn a_configuration_that_cannot_be_meant_is_refused_with_its_place() {
    for (text, expected) in [
        ("[authentication]\nbasic = true", "there is nobody to be authenticated"),
        ("users.file = \"u\"\n[authentication]\nrealm = \"a\\nb\"", "visible characters"),
        ("[[rule]]\nallow = [\"authenticated\"]", "can be nobody"),
        ("[[rule]]\nallow = [\"group:x\"]", "can be nobody"),
        ("[[rule]]\nallow = [\"everyone\"]", "expected `anyone`, `authenticated`"),
        ("users.file = \"u\"\n[[rule]]\nallow = [\"user:\"]", "found `user:`"),
        ("[[rule]]\npath = \"odata\"\nallow = []", "expected a path"),
        ("[[rule]]\npath = \"/odata/%76\"\nallow = []", "without `%`"),
        ("[[rule]]\nmethods = []\nallow = []", "is for nothing"),
        ("[[rule]]\nentity_sets = []\nallow = []", "is for nothing"),
        ("[[rule]]\nmethods = [\"get\"]\nallow = []", "unknown key `get`"),
        ("[[rule]]\nentity_set = [\"X\"]\nallow = []", "did you mean `entity_sets`?"),
        ("[[rule]]\npath = \"/\"", "missing field `allow`"),
        ("users.file = \"u\"\n[authentication]\nhashes_at_once = 0", "from 1 to 64"),
    ] {
        let error = Config::parse(text, "gateway.toml").unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("gateway.toml:"), "{text}: {error}");
    }
}

#[test]
fn a_gateway_does_not_start_with_a_rule_for_nothing_or_passwords_that_can_be_read_on_the_way() {
    let refused = |text: &str| {
        let config = Config::parse(text, "gateway.toml").unwrap();
        Gateway::start(config).err().map(|error| error.to_string()).unwrap_or_default()
    };
    for (rule, line) in [("path = \"/odata/v5/\"", 2), ("entity_sets = [\"Flights\"]", 2), ("path = \"/rest/recs\"", 2)]
    {
        let error = refused(&format!("listen.addresses = [\"127.0.0.1:0\"]\n[[rule]]\n{rule}\nallow = []"));
        assert!(error.starts_with(&format!("gateway.toml:{line}: the rule is for nothing")), "{rule}: {error}");
    }
    assert!(
        refused("users.file = \"missing\"\nlisten.addresses = [\"127.0.0.1:0\"]")
            .contains("users file missing: cannot be read")
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    let error = refused(&format!("users.file = {file:?}\nlisten.addresses = [\"0.0.0.0:0\"]"));
    assert!(error.contains("plain text: listen with TLS or on a loopback address"), "{error}");
    let anywhere = "[authentication]\nplain_basic = \"anywhere\"";
    assert_eq!(refused(&format!("users.file = {file:?}\nlisten.addresses = [\"0.0.0.0:0\"]\n{anywhere}")), "");
}
