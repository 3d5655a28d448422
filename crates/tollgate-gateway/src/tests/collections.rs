//! Collections of values in all protocols: arrays that PostgreSQL has, and arrays of JSON in SQLite declared by a
//! mapping file.

use super::client::Running;
use super::own::{AS_JSON, JSON, OWN_V2, OWN_V4, json, on_both, send};

const SQLITE: &str = r#"
    CREATE TABLE airlines (id TEXT PRIMARY KEY, hubs TEXT, counts TEXT NOT NULL DEFAULT '[]', rates TEXT, opened TEXT,
        moods TEXT, partner TEXT REFERENCES airlines);
    INSERT INTO airlines VALUES
        ('LH', '["FRA", "MUC"]', '[1,2,2]', '[1.50,"2"]', '["1955-04-01"]', '[0,7]', NULL),
        ('AA', '["DFW","JFK","FRA"]', '[]', NULL, '[]', '[]', 'LH'),
        ('UA', NULL, '[9223372036854775807]', '[]', NULL, NULL, 'AA'),
        ('SQ', '["S\"N"]', '[7]', '["0.1"]', '["2013-09-25","1972-10-01"]', '[7,5]', NULL);
"#;

const POSTGRES: &str = r#"
    CREATE TABLE airlines (id text PRIMARY KEY, hubs varchar(3)[], counts int8[] NOT NULL DEFAULT '{}', rates numeric[],
        opened date[], moods int4[], partner text REFERENCES airlines);
    INSERT INTO airlines VALUES
        ('LH', '{FRA,MUC}', '{1,2,2}', '{1.50,2}', '{1955-04-01}', '{0,7}', NULL),
        ('AA', '{DFW,JFK,FRA}', '{}', NULL, '{}', '{}', 'LH'),
        ('UA', NULL, '{9223372036854775807}', '{}', NULL, NULL, 'AA'),
        ('SQ', '{"S\"N"}', '{7}', '{0.1}', '{2013-09-25,1972-10-01}', '{7,5}', NULL);
"#;

const MAPPING: &str = r#"
    [enumerations.Mood]
    members = [{ name = "Calm" }, { name = "Busy" }, { name = "Late", stored = 7 }]

    [tables.airlines.columns]
    hubs.collection = "Edm.String"
    counts.collection = "Edm.Int64"
    rates.collection = "Edm.Decimal"
    opened.collection = "Edm.Date"
    moods.collection = "Edm.Int32"
    moods.enumeration = "Mood"
"#;

/// The airlines found by a query.
fn ids(gateway: &Running, query: &str) -> String {
    let query = query.replace(' ', "%20").replace('"', "%22");
    let answer = gateway.get(&format!("{OWN_V4}airlines?$select=id&$orderby=id&{query}"));
    let told = json(answer.expect(200, "value"));
    let ids = told["value"].as_array().unwrap().iter().map(|airline| airline["id"].as_str().unwrap());
    ids.collect::<Vec<_>>().join(" ")
}

#[test]
fn collections_are_arrays_in_documents_of_v4() {
    on_both("collections_read", [SQLITE, POSTGRES], MAPPING, "", |gateway| {
        let metadata = gateway.get(&format!("{OWN_V4}$metadata"));
        metadata.expect(200, "<Property Name=\"hubs\" Type=\"Collection(Edm.String)\" Nullable=\"false\"");
        metadata.expect(200, "<Property Name=\"moods\" Type=\"Collection(own.Mood)\" Nullable=\"false\"/>");
        let as_json = gateway.get(&format!("{OWN_V4}$metadata?$format=json"));
        as_json.expect(200, "\"counts\":{\"$Collection\":true,\"$Type\":\"Edm.Int64\"");
        let airline = |id: &str| json(&gateway.get(&format!("{OWN_V4}airlines('{id}')")));
        let lufthansa = airline("LH");
        assert_eq!(lufthansa["hubs"], serde_json::json!(["FRA", "MUC"]));
        assert_eq!(lufthansa["counts"], serde_json::json!([1, 2, 2]));
        assert_eq!(lufthansa["opened"], serde_json::json!(["1955-04-01"]));
        assert_eq!(lufthansa["moods"], serde_json::json!(["Calm", "Late"]));
        assert_eq!(airline("SQ")["moods"], serde_json::json!(["Late", "5"]));
        assert_eq!(airline("SQ")["hubs"], serde_json::json!(["S\"N"]));
        assert_eq!(airline("UA")["hubs"], serde_json::json!([]));
        gateway.get(&format!("{OWN_V4}airlines('LH')")).expect(200, "\"rates\":[1.50,2],");
        let exact = [("Accept", "application/json;IEEE754Compatible=true;odata.metadata=full")];
        let full = gateway.get_with(&format!("{OWN_V4}airlines('UA')"), &exact);
        full.expect(200, "\"counts@odata.type\":\"#Collection(Int64)\",\"counts\":[\"9223372036854775807\"]");
        full.expect(200, "\"moods@odata.type\":\"#Collection(own.Mood)\",\"moods\":[]");
        gateway
            .get(&format!("{OWN_V4}airlines('LH')/hubs"))
            .expect(200, "$metadata#airlines('LH')/hubs\",\"value\":[\"FRA\",\"MUC\"]}");
        gateway.get(&format!("{OWN_V4}airlines('UA')/hubs")).expect(200, "\"value\":[]");
        assert_eq!(gateway.get(&format!("{OWN_V4}airlines('LH')/counts/$count")).text(), "3");
        assert_eq!(gateway.get(&format!("{OWN_V4}airlines('UA')/hubs/$count")).text(), "0");
        gateway.get(&format!("{OWN_V4}airlines('XX')/hubs/$count")).expect(404, "");
        gateway.get(&format!("{OWN_V4}airlines('LH')/hubs/$value")).expect(404, "only $count can");
        for options in ["hubs?$top=1", "hubs?$filter=true", "hubs/$count?$filter=true"] {
            gateway.get(&format!("{OWN_V4}airlines('LH')/{options}")).expect(501, "of a collection of values");
        }
        gateway.get(&format!("{OWN_V4}airlines('LH')/hubs?$expand=x")).expect(400, "names a collection of values");
        gateway.get(&format!("{OWN_V4}airlines?$select=hubs&$top=1&$orderby=id")).expect(200, "\"hubs\":[\"DFW\"");
        gateway
            .get(&format!("{OWN_V4}airlines('AA')?$expand=partner_airline($select=counts)&$select=id"))
            .expect(200, "\"counts\":[1,2,2]}");
    });
}

#[test]
fn collections_are_asked_by_any_all_count_and_in() {
    on_both("collections_asked", [SQLITE, POSTGRES], MAPPING, "", |gateway| {
        for (query, expected) in [
            ("$filter=hubs/any(h:h eq 'FRA')", "AA LH"),
            ("$filter=hubs/any()", "AA LH SQ"),
            ("$filter=not hubs/any()", "UA"),
            ("$filter=hubs/all(h:startswith(h,'F') or h eq 'MUC')", "LH UA"),
            ("$filter=hubs/$count gt 2", "AA"),
            ("$filter=hubs/$count($filter=contains($this,'F')) eq 3", "AA"),
            ("$filter=counts/$count eq counts/$count($filter=$this gt 1)", "AA SQ UA"),
            ("$filter='FRA' in hubs", "AA LH"),
            ("$filter=not ('FRA' in hubs)", "SQ UA"),
            ("$filter=id in hubs", ""),
            ("$filter=rates/any(r:r eq 1.5)", "LH"),
            ("$filter=rates/any(r:r lt 1)", "SQ"),
            ("$filter=counts/any(c:c sub 1 eq 0)", "LH"),
            ("$filter=opened/any(d:year(d) lt 1960)", "LH"),
            ("$filter=opened/any(d:d gt 2000-01-01)", "SQ"),
            ("$filter=moods/any(m:m eq own.Mood'Late')", "LH SQ"),
            ("$filter=own.Mood'Calm' in moods", "LH"),
            ("$filter=moods/any(m:m gt own.Mood'Busy')", "LH SQ"),
            ("$filter=partner_airline/hubs/any(h:h eq 'MUC')", "AA"),
            ("$filter=airlines_by_partner_airline/any(a:a/hubs/any(h:h eq 'FRA' and a/id eq 'AA'))", "LH"),
            ("$filter=hubs/any(h:h eq $it/id or h eq 'JFK')", "AA"),
            ("$filter=hassubset(hubs,[\"MUC\",\"FRA\"])", "LH"),
            ("$filter=hassubset(counts,[2,2])", "LH"),
            ("$filter=hassubset(counts,[7,7])", ""),
            ("$filter=hassubset(hubs,[])", "AA LH SQ UA"),
            ("$filter=hassubsequence(hubs,[\"DFW\",\"FRA\"])", "AA"),
            ("$filter=hassubsequence(hubs,[\"FRA\",\"DFW\"])", ""),
            ("$filter=hassubsequence(counts,[2,2])", "LH"),
            ("$filter=hassubsequence(hubs,[])", "AA LH SQ UA"),
            ("$filter=hassubset(moods,[\"Late\"])", "LH SQ"),
            ("$filter=hassubsequence(rates,[1.5,2.00])", "LH"),
            ("$filter=hassubset(rates,[1.5,2.0])", "LH"),
            ("$filter=hassubset(rates,[1.5,1.50])", ""),
            ("$filter='FRA' in @a&@a=hubs", "AA LH"),
            ("$filter=hassubset(@a,[\"FRA\"])&@a=hubs", "AA LH"),
            ("$filter=hassubset((hubs),[\"FRA\"])", "AA LH"),
            ("$apply=filter(hubs/any(h:h eq 'FRA'))", "AA LH"),
        ] {
            assert_eq!(ids(gateway, query), expected, "{query}");
        }
        let by_count = gateway.get(&format!("{OWN_V4}airlines?$orderby=hubs/$count%20desc,id&$select=id"));
        by_count.expect(200, "[{\"id\":\"AA\"},{\"id\":\"LH\"},{\"id\":\"SQ\"},{\"id\":\"UA\"}]");
        gateway
            .get(&format!("{OWN_V4}airlines?$compute=hubs/$count%20as%20n&$select=n&$top=1&$orderby=id"))
            .expect(200, "\"n\":3}]");
        for (query, status, part) in [
            ("$filter=hubs eq 'FRA'", 400, "'hubs' is a collection of values"),
            ("$filter=hubs eq null", 400, "is a collection"),
            ("$orderby=hubs", 400, "is a collection"),
            ("$compute=hubs as h", 400, "is a collection"),
            ("$apply=groupby((hubs))", 400, "is a collection"),
            ("$apply=aggregate(hubs with max as m)", 400, "is a collection"),
            ("$filter=length(hubs) gt 1", 400, "is a collection"),
            ("$filter=hubs/any(h:h gt 1)", 400, "cannot compare Edm.String with"),
            ("$filter=hubs/any(h:h/x eq 1)", 400, "nothing can follow a value"),
            ("$filter=hubs/first(h:h eq 'a')", 400, "expected ')'"),
            ("$filter=1 in hubs", 400, "cannot compare Edm.String with"),
            ("$filter='a' in id", 400, "takes a collection of values, not Edm.String"),
            ("$filter=hassubset(hubs,[1])", 400, "expected values of Edm.String"),
            ("$filter=hassubset(hubs,[\"a\"", 400, "broken or does not end"),
            ("$filter=hassubset(id,[\"a\"])", 400, "takes a collection of values"),
            ("$filter=hassubset(hubs,hubs)", 501, "anything but an array"),
            ("$filter='FRA' in tolower(hubs)", 400, "is a collection"),
            ("$filter='FRA' in contains(hubs,'zz')", 400, "is a collection"),
            ("$filter='FRA' in case(true:id,false:hubs)", 400, "is a collection"),
            ("$filter='FRA' in not hubs", 400, "not what is computed of one"),
            ("$filter='FRA' in hubs/any(h:hubs)", 400, "is a collection"),
            ("$filter=1 in counts/$count($filter=counts)", 400, "is a collection"),
            ("$filter=hassubset(length(hubs),[\"FRA\"])", 400, "is a collection"),
            ("$filter=hassubset((hubs eq null),[\"FRA\"])", 400, "not what is computed of one"),
            ("$filter=hassubsequence(-counts,[1])", 400, "not what is computed of one"),
            ("$filter='FRA' in @a&@a=name", 400, "unknown property"),
            ("$filter=hassubset(moods,[0])", 400, "expected values of own.Mood in the array, found 0"),
            ("$filter=hubs/$count($filter=$this eq 'a';$search=b) gt 1", 501, "a second option"),
            ("$filter=moods/any(m:m eq own.Mood'Happy')", 400, "no member of own.Mood"),
        ] {
            let query = query.replace(' ', "%20").replace('"', "%22");
            gateway.get(&format!("{OWN_V4}airlines?{query}")).expect(status, part);
        }
    });
}

#[test]
fn collections_are_written_as_a_whole() {
    on_both("collections_written", [SQLITE, POSTGRES], MAPPING, "", |gateway| {
        let v4 = |method: &str, below: &str, body: &str| send(gateway, method, &format!("{OWN_V4}{below}"), &[], body);
        let body = r##"{"id":"XY","hubs":["a\"b","{,}",""],"rates":[1.10,2],"opened@odata.type":"#Collection(Date)","opened":["2013-09-25"],"moods":["Busy","Late"]}"##;
        v4("POST", "airlines", body).expect(201, "\"hubs\":[\"a\\\"b\",\"{,}\",\"\"],\"counts\":[],\"rates\":[1.10,2]");
        let seen = json(&gateway.get(&format!("{OWN_V4}airlines('XY')")));
        assert_eq!(seen["moods"], serde_json::json!(["Busy", "Late"]));
        assert_eq!(ids(gateway, "$filter=rates/any(r:r eq 1.1)"), "XY");
        v4("PATCH", "airlines('XY')", r#"{"hubs":["FRA"],"counts":["9223372036854775807",1]}"#).expect(204, "");
        v4("PUT", "airlines('XY')/rates", r#"{"value":[]}"#).expect(204, "");
        v4("PATCH", "airlines('XY')/moods", r#"{"value":["Calm"]}"#).expect(204, "");
        gateway
            .get(&format!("{OWN_V4}airlines('XY')"))
            .expect(200, "\"hubs\":[\"FRA\"],\"counts\":[9223372036854775807,1],\"rates\":[],\"opened\":[\"2013-09-25\"],\"moods\":[\"Calm\"]");
        for (body, part) in [
            (r#"{"hubs":null}"#, "cannot be null, but empty"),
            (r#"{"hubs":[null]}"#, "hubs[0]"),
            (r#"{"hubs":"FRA"}"#, "expected Collection(Edm.String)"),
            (r#"{"hubs":"[\"FRA\"]"}"#, "expected Collection(Edm.String)"),
            (r#"{"hubs":[1]}"#, "expected Edm.String"),
            (r#"{"hubs":[["a"]]}"#, "found an array"),
            (r#"{"hubs":["a",{}]}"#, "hubs[1]"),
            (r#"{"counts":[9223372036854775808]}"#, "expected Edm.Int64"),
            (r#"{"opened":["2013-02-30"]}"#, "expected Edm.Date"),
            (r#"{"moods":["Happy"]}"#, "expected a member such as Calm"),
            (r#"{"hubs":["a""b"]}"#, "expected ',' or ']'"),
        ] {
            v4("PATCH", "airlines('XY')", body).expect(400, part);
        }
        v4("DELETE", "airlines('XY')/hubs", "").expect(400, "cannot be null");
        let allowed = v4("POST", "airlines('XY')/hubs", "1");
        assert_eq!(allowed.expect(405, "").header("allow"), Some("GET, HEAD, OPTIONS, PATCH, PUT"));
        let nullable = v4("POST", "airlines('XY')/partner", "1");
        assert_eq!(nullable.expect(405, "").header("allow"), Some("DELETE, GET, HEAD, OPTIONS, PATCH, PUT"));
        v4("PUT", "airlines('XY')/hubs/$count", "3").expect(405, "");
        v4("PUT", "airlines('XY')", r#"{"rates":["0.5"]}"#).expect(204, "");
        gateway.get(&format!("{OWN_V4}airlines('XY')")).expect(200, "\"hubs\":[],");
        v4("DELETE", "airlines('XY')", "").expect(204, "");
    });
}

#[test]
fn plain_rest_has_collections_and_v2_hides_them() {
    on_both("collections_rest", [SQLITE, POSTGRES], MAPPING, "", |gateway| {
        gateway
            .get("/rest/own/airlines/LH")
            .expect(200, "\"hubs\":[\"FRA\",\"MUC\"],\"counts\":[1,2,2],\"rates\":[1.50,2]");
        let xml = gateway.get_with("/rest/own/airlines/LH", &[("Accept", "application/xml")]);
        xml.expect(200, "<hubs><item>FRA</item><item>MUC</item></hubs><counts><item>1</item>");
        gateway.get("/rest/own/airlines?hubs=FRA&fields=id&sort=id").expect(200, "[{\"id\":\"AA\"},{\"id\":\"LH\"}]");
        gateway.get("/rest/own/airlines?hubs=DFW&hubs=MUC&fields=id&count=true").expect(200, "\"count\":2");
        gateway
            .get("/rest/own/airlines?hubs.ne=FRA&fields=id&sort=id")
            .expect(200, "[{\"id\":\"SQ\"},{\"id\":\"UA\"}]");
        xml.expect(200, "<moods><item>Calm</item><item>Late</item></moods>");
        gateway.get("/rest/own/airlines/SQ").expect(200, "\"moods\":[\"Late\",\"5\"]");
        gateway.get("/rest/own/airlines?moods=Calm&fields=id").expect(200, "[{\"id\":\"LH\"}]");
        gateway.get("/rest/own/airlines?moods=Glad").expect(400, "expected one of Calm");
        gateway.get("/rest/own/airlines?counts=many").expect(400, "expected a whole number");
        gateway.get("/rest/own/airlines?hubs.gt=A").expect(400, "no order");
        gateway.get("/rest/own/airlines?sort=hubs").expect(400, "no order");
        let patch = |body: &str| gateway.connect().ask_with("PATCH", "/rest/own/airlines/LH", &[JSON], body);
        patch(r#"{"hubs":["BER"]}"#).expect(200, "\"hubs\":[\"BER\"]");
        patch(r#"{"moods":["Calm","Busy"]}"#).expect(200, "\"moods\":[\"Calm\",\"Busy\"]");
        let as_xml = ("Content-Type", "application/xml");
        let body = "<airline><hubs><item>FRA</item><item>&lt;</item></hubs><counts/></airline>";
        gateway
            .connect()
            .ask_with("PATCH", "/rest/own/airlines/LH", &[as_xml, AS_JSON], body)
            .expect(200, "\"hubs\":[\"FRA\",\"<\"],\"counts\":[]");
        let openapi = json(&gateway.get("/rest/own/openapi.json"));
        let hubs = &openapi["components"]["schemas"]["airlines"]["properties"]["hubs"];
        assert_eq!((&hubs["type"], &hubs["items"]["type"]), (&"array".into(), &"string".into()), "{hubs}");

        let v2 = gateway.get(&format!("{OWN_V2}$metadata"));
        assert!(!v2.text().contains("hubs"), "{}", v2.text());
        let entity = gateway.get_with(&format!("{OWN_V2}airlines('LH')"), &[AS_JSON]);
        assert!(!entity.expect(200, "\"id\":\"LH\"").text().contains("hubs"));
        let atom = gateway.get(&format!("{OWN_V2}airlines('LH')"));
        assert!(!atom.expect(200, "<d:id>LH</d:id>").text().contains("hubs"));
        gateway.get(&format!("{OWN_V2}airlines('LH')/hubs")).expect(404, "has no property");
        gateway.get(&format!("{OWN_V2}airlines?$select=hubs")).expect(400, "hubs");
        gateway.get(&format!("{OWN_V2}airlines?$filter=hubs%20eq%20'a'")).expect(400, "unknown property");
        gateway.get(&format!("{OWN_V2}airlines?$orderby=hubs")).expect(400, "unknown property");
        for hidden in ["/airlines('LH')/hubs", "/airlines?$select=hubs", "/airlines?$orderby=hubs"] {
            let told = gateway.get(&format!("{}{hidden}", OWN_V2.trim_end_matches('/'))).text();
            assert!(!told.contains("has hubs"), "{told}");
        }
        send(gateway, "MERGE", &format!("{OWN_V2}airlines('LH')"), &[], r#"{"hubs":["a"]}"#)
            .expect(400, "no collections");
        send(gateway, "MERGE", &format!("{OWN_V2}airlines('LH')"), &[], r#"{"partner":"AA"}"#).expect(204, "");
        gateway.get(&format!("{OWN_V4}airlines('LH')/hubs")).expect(200, "\"value\":[\"FRA\",\"<\"]");
    });
}

#[test]
fn a_replacement_empties_what_its_client_sees_and_nothing_else() {
    on_both("collections_replaced", [SQLITE, POSTGRES], MAPPING, "", |gateway| {
        let hubs = |id: &str| json(&gateway.get(&format!("{OWN_V4}airlines('{id}')/hubs")))["value"].clone();
        send(gateway, "PUT", &format!("{OWN_V2}airlines('LH')"), &[], r#"{"partner":"AA"}"#).expect(204, "");
        assert_eq!(hubs("LH"), serde_json::json!(["FRA", "MUC"]));
        gateway.get(&format!("{OWN_V4}airlines('LH')")).expect(
            200,
            "\"counts\":[1,2,2],\"rates\":[1.50,2],\"opened\":[\"1955-04-01\"],\"moods\":[\"Calm\",\"Late\"]",
        );
        // The default of its column is that of what is left out, as of any property.
        send(gateway, "PUT", &format!("{OWN_V4}airlines('LH')"), &[], r#"{"partner":"UA"}"#).expect(204, "");
        gateway.get(&format!("{OWN_V4}airlines('LH')")).expect(200, "\"hubs\":[],\"counts\":[],\"rates\":[]");
        gateway
            .connect()
            .ask_with("PUT", "/rest/own/airlines/UA", &[JSON], r#"{"hubs":["FRA"]}"#)
            .expect(200, "\"hubs\":[\"FRA\"],\"counts\":[]");
    });
}

#[test]
fn texts_of_a_fixed_length_are_shown_as_they_are_compared() {
    let sqlite = "CREATE TABLE fares (id INTEGER PRIMARY KEY, class TEXT, codes TEXT);
        INSERT INTO fares VALUES (1, 'AB', '[\"AB\",\"C\"]');";
    let postgres = "CREATE TABLE fares (id int4 PRIMARY KEY, class char(3), codes char(3)[]);
        INSERT INTO fares VALUES (1, 'AB', '{AB,C}');";
    let mapping = "[tables.fares.columns]\ncodes.collection = \"Edm.String\"\n";
    on_both("collections_fixed", [sqlite, postgres], mapping, "", |gateway| {
        let fares = |query: &str| gateway.get(&format!("{OWN_V4}fares?{}", query.replace(' ', "%20")));
        fares("$select=class,codes").expect(200, "\"class\":\"AB\",\"codes\":[\"AB\",\"C\"]");
        fares("$filter='AB' in codes and codes/any(c:length(c) eq 1)").expect(200, "\"id\":1");
        send(gateway, "PATCH", &format!("{OWN_V4}fares(1)"), &[], r#"{"codes":["C","D"]}"#).expect(204, "");
        fares("$expand=*&$filter='D' in codes").expect(200, "\"codes\":[\"C\",\"D\"]");
    });
}
