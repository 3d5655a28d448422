//! Tests of parsing and error messages.

use super::*;

/// A service without a database, with defaults.
fn built_in(name: &str) -> BuiltInService {
    let kind = BUILT_IN.iter().find(|kind| kind.name == name).unwrap();
    kind.configured(&WorkProcesses::default())
}

fn check_error(text: &str, expected: &str) {
    let fault = Config::parse(text, "gateway.toml").expect_err(text);
    assert_eq!(format!("\n{fault}\n"), expected, "{text}");
}

#[test]
fn nothing_is_the_default() {
    assert_eq!(Config::parse("", "gateway.toml").unwrap(), Config::default());
}

#[test]
fn the_examples_for_users_are_read() {
    Config::parse(include_str!("../../../../examples/gateway.toml"), "gateway.toml").unwrap();
    let backends = Config::parse(include_str!("../../../../examples/backends.toml"), "backends.toml").unwrap().built_in;
    assert_eq!(backends, [built_in("echo"), built_in("stock-quote")]);
    let config = include_str!("../../../../examples/your-own-database.toml");
    let config = Config::parse(config, "your-own-database.toml").unwrap();
    let names: Vec<&str> = config.services.iter().map(|service| service.name.as_str()).collect();
    assert_eq!(names, ["shop", "orders"]);
}

#[test]
fn the_defaults_of_the_engines_limits_are_the_engines_own() {
    let (ours, engine) = (Config::default().engine_limits(), tollgate_net::limits::Limits::default());
    let expected = tollgate_net::limits::Limits {
        drain_timeout: Duration::from_secs(30),
        // Larger bodies are held to limits of their own by the services.
        body_bytes_max: 64 << 20,
        held_bytes_max: 36 << 20,
        connections_per_client_max: engine.connections_max / 2,
        unsent_bytes_max: 32 << 20,
        ..engine
    };
    assert_eq!(ours, expected);
}

#[test]
fn every_key_is_read() {
    let text = r#"
            drain_seconds = 5
            [listen]
            addresses = ["127.0.0.1:0", "[::1]:8080"]
            threads = 2
            backlog = 10
            may_expose = true
            [admin]
            address = "127.0.0.1:9090"
            [work_processes]
            limit = 3
            queue_max = 0
            wait_ms_max = 50
            [pages]
            size = 100
            [cache]
            enabled = false
            bytes_max = 1
            entries_max = 2
            entry_bytes_max = 3
            wait_ms_max = 4
            [limits]
            connections_max = 10
            connections_waiting_max = 20
            connections_per_client_max = 30
            header_ms_max = 1
            idle_ms_max = 2
            stall_ms_max = 3
            held_bytes_max = 4
            unsent_bytes_max = 5
            [[service]]
            kind = "flights"
            database = "sqlite:flights.db"
            seed = 7
            read_ms_max = 100
            synchronous = "normal"
            [[service]]
            kind = "records"
            csrf = "required"
            if_match = "optional"
            user = "alice"
            cache_control = "public, max-age=60"
            limits = { answer_bytes_max = 9, answer_entities_max = 10, batch_requests_max = 1, batch_bytes_max = 2, batch_answer_bytes_max = 6, batch_ms_max = 7, body_bytes_max = 3, array_bytes_max = 4, array_rows_max = 5, array_ms_max = 8 }
            [[service]]
            kind = "database"
            database = "postgres://me@localhost/shop"
            mapping = "shop.toml"
            work_processes.limit = 1
            [[service]]
            kind = "database"
            name = "old-shop"
            database = "sqlite:shop.db"
            read_only = true
            [[service]]
            kind = "fibonacci"
            lifetime_seconds = 60
            work_processes.limit = 250
            [[service]]
            kind = "echo"
            limits.body_bytes_max = 9
            [[service]]
            kind = "stock-quote"
        "#;
    let config = Config::parse(text, "gateway.toml").unwrap();
    let work_processes = WorkProcesses { limit: 3, queue_max: 0, wait_ms_max: 50 };
    let of = |service: Service| Service { work_processes: work_processes.clone(), ..service };
    let rules = Rules {
        csrf: Csrf::Required,
        if_match: IfMatch::Optional,
        user: "alice".into(),
        cache_control: Some("public, max-age=60".into()),
        answer_bytes_max: 9,
        answer_entities_max: 10,
        batch_requests_max: 1,
        batch_bytes_max: 2,
        batch_answer_bytes_max: 6,
        batch_ms_max: 7,
        body_bytes_max: 3,
        array_bytes_max: 4,
        array_rows_max: 5,
        array_ms_max: 8,
    };
    let flights = Service {
        kind: Kind::Flights { seed: 7 },
        location: Location::File("flights.db".into()),
        synchronous: Synchronous::Normal,
        read_ms_max: 100,
        ..of(Service::flights())
    };
    let shop = Service {
        kind: Kind::Database { mapping: Some("shop.toml".into()) },
        work_processes: WorkProcesses { limit: 1, ..work_processes.clone() },
        ..Service::of_database(Location::parse("postgres://me@localhost/shop").unwrap()).unwrap()
    };
    let old_shop = Service::named_database("old-shop", Location::File("shop.db".into())).unwrap();
    assert_eq!(
        config,
        Config {
            listen: Listen {
                addresses: vec!["127.0.0.1:0".parse().unwrap(), "[::1]:8080".parse().unwrap()],
                threads: Some(2),
                backlog: 10,
                may_expose: true,
            },
            tls: Vec::new(),
            admin: Admin { address: "127.0.0.1:9090".parse().unwrap(), ..Admin::default() },
            authentication: Authentication::default(),
            pages: Pages { size: 100 },
            services: vec![
                flights,
                Service { rules, ..of(Service::records()) },
                shop,
                Service { read_only: true, ..of(old_shop) }
            ],
            built_in: vec![
                BuiltInService {
                    work_processes: Some(WorkProcesses { limit: 250, ..work_processes }),
                    lifetime_seconds: 60,
                    ..built_in("fibonacci")
                },
                BuiltInService { body_bytes_max: 9, ..built_in("echo") },
                built_in("stock-quote"),
            ],
            endpoints: Vec::new(),
            routes: Vec::new(),
            mediation: Mediation::default(),
            cache: Cache { enabled: false, bytes_max: 1, entries_max: 2, entry_bytes_max: 3, wait_ms_max: 4 },
            limits: Limits {
                connections_max: 10,
                connections_waiting_max: 20,
                connections_per_client_max: Some(30),
                header_ms_max: 1,
                idle_ms_max: 2,
                stall_ms_max: 3,
                held_bytes_max: 4,
                unsent_bytes_max: 5
            },
            clients: ClientsConfig::default(),
            drain_seconds: 5,
        }
    );
}

#[test]
fn what_a_service_cannot_be_is_shown_with_file_line_and_text() {
    for (table, line, text) in [
        ("kind = \"flight\"", 2, "did you mean `flights`?"),
        ("kind = \"records\"\nseed = 3", 3, "`seed` is only for services of kind `flights`"),
        ("kind = \"records\"\nname = \"mine\"", 3, "`name` is only for services of kind `database`"),
        ("kind = \"records\"\nmapping = \"m.toml\"", 3, "`mapping` is only for services of kind `database`"),
        ("kind = \"records\"\nsynchronous = \"off\"", 3, "`synchronous` is only for SQLite files"),
        ("kind = \"records\"\ndatabase = \"records.db\"", 3, "expected sqlite:FILE"),
        ("kind = \"database\"", 1, "needs `database"),
        ("kind = \"database\"\ndatabase = \"sqlite::memory:\"", 3, "has no tables"),
        ("kind = \"database\"\nname = \"x\"\ndatabase = \"sqlite::memory:\"", 4, "has no tables"),
        ("kind = \"database\"\ndatabase = \"sqlite:4711.db\"", 3, "`4711` cannot stand in a URL"),
        ("kind = \"database\"\ndatabase = \"sqlite:x.db\"\nname = \"a/b\"", 4, "`a/b` cannot stand in a URL"),
        ("kind = \"database\"\ndatabase = \"sqlite:records.db\"", 3, "the name `records` is taken"),
        ("kind = \"records\"\nlifetime_seconds = 3", 1, "`lifetime_seconds` is only for services of kind `fibonacci`"),
        ("kind = \"fibonacci\"\ndatabase = \"sqlite:f.db\"", 3, "`database` is not for services of kind `fibonacci`"),
        ("kind = \"fibonacci\"\ncsrf = \"off\"", 1, "`csrf` is not for services of kind `fibonacci`"),
        ("kind = \"fibonacci\"\nlifetime_seconds = -1", 3, "expected a number from 0 to 31536000, found -1"),
        ("kind = \"fibonacci\"\n[[service]]\nkind = \"fibonacci\"", 3, "the service `fibonacci` is there already"),
        ("kind = \"records\"\ncache_control = \"max-age\"", 3, "such as `max-age=60`"),
        ("kind = \"records\"\ncache_control = \"pubic\"", 3, "`pubic` is no directive of an answer's Cache-Control"),
        ("kind = \"fibonacci\"\ncache_control = \"public\"", 3, "`cache_control` is not for services of kind"),
        ("kind = \"echo\"\nwork_processes.limit = 3", 1, "`work_processes` is not for services of kind `echo`"),
        ("kind = \"echo\"\nlimits.array_rows_max = 3", 1, "`limits` is not for services of kind `echo`"),
        ("kind = \"echo\"\n[[service]]\nkind = \"echo\"", 3, "the service `echo` is there already"),
        ("kind = \"stock-quote\"\nseed = 1", 3, "`seed` is not for services of kind `stock-quote`"),
        ("kind = \"stock-quote\"\nlimits.body_bytes_max = 1", 1, "`limits.body_bytes_max` is not for services of"),
        ("kind = \"stock_quote\"", 2, "did you mean `stock-quote`?"),
        ("kind = \"records\"\nusr = \"me\"", 3, "did you mean `user`?"),
        ("kind = \"records\"\nwork_processes.limit = 0", 3, "expected a number from 1 to 1000, found 0"),
        ("kind = \"records\"\nlimits.array_rows_max = 0", 3, "found 0"),
        ("kind = \"records\"\n[[service]]\nkind = \"records\"", 3, "the service `records` is there already"),
    ] {
        let error = Config::parse(&format!("[[service]]\n{table}\n"), "gateway.toml").expect_err(table).to_string();
        assert!(error.contains(text) && error.contains(&format!("gateway.toml:{line}:")), "{table}\n{error}");
    }
}

#[test]
fn a_password_is_in_no_message() {
    for key in ["database = \"mysql://me:hunter2@h/s\"", "databse = \"postgres://me:hunter2@h/s\""] {
        let error = Config::parse(&format!("[[service]]\nkind = \"database\"\n{key}\n"), "gateway.toml").unwrap_err();
        let error = error.to_string();
        assert!(error.contains("me:*******@h") && !error.contains("hunter2"), "{error}");
    }
    let config = "[[service]]\nkind = \"database\"\ndatabase = \"postgres://me:hunter2@h/s\"\n";
    let config = Config::parse(config, "gateway.toml").unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn an_unknown_key_is_shown_with_the_one_that_was_meant() {
    check_error(
        "drain_seconds = 5\n[work_processes]\nlimits = 3\n",
        r#"
error: unknown key `limits`
 --> gateway.toml:3:1
  |
3 | limits = 3
  | ^^^^^^ did you mean `limit`?
"#,
    );
    check_error(
        "[work_processes]\ncolour = 3\n",
        r#"
error: unknown key `colour`
 --> gateway.toml:2:1
  |
2 | colour = 3
  | ^^^^^^ expected `limit`, `queue_max` or `wait_ms_max`
"#,
    );
}

#[test]
fn a_wrong_type_is_shown_with_file_line_and_text() {
    check_error(
        "[work_processes]\nlimit = \"many\"\n",
        r#"
error: invalid type: string "many", expected a whole number
 --> gateway.toml:2:9
  |
2 | limit = "many"
  |         ^^^^^^
"#,
    );
}

#[test]
fn a_number_out_of_range_is_shown_with_the_range() {
    check_error(
        "[work_processes]\nlimit = 0\n",
        r#"
error: expected a number from 1 to 1000, found 0
 --> gateway.toml:2:9
  |
2 | limit = 0
  |         ^
"#,
    );
    check_error(
        "[listen]\nthreads = 257\n",
        r#"
error: expected a number from 1 to 256, found 257
 --> gateway.toml:2:11
  |
2 | threads = 257
  |           ^^^
"#,
    );
}

#[test]
fn an_admin_address_off_loopback_is_refused() {
    check_error(
        "admin.address = \"0.0.0.0:9090\"\n",
        r#"
error: expected a loopback address such as 127.0.0.1:9090, found 0.0.0.0:9090: elsewhere the operator must sign in (`user`)
 --> gateway.toml:1:17
  |
1 | admin.address = "0.0.0.0:9090"
  |                 ^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn an_operator_who_signs_in_may_be_elsewhere_where_passwords_may() {
    check_error(
        "[admin]\nuser = \"berta\"\n",
        r#"
error: expected a users file (`[users]`) that has the operator
 --> gateway.toml:2:8
  |
2 | user = "berta"
  |        ^^^^^^^
"#,
    );
    let elsewhere = "[admin]\naddress = \"10.0.0.1:9090\"\nuser = \"berta\"\nhosts = [\"monitor.example\"]\n[users]\nfile = \"users\"\n";
    check_error(
        elsewhere,
        r#"
error: expected a loopback address such as 127.0.0.1:9090, found 10.0.0.1:9090: the operator's password would cross the network as it is, unless `authentication.plain_basic` allows that
 --> gateway.toml:2:11
  |
2 | address = "10.0.0.1:9090"
  |           ^^^^^^^^^^^^^^^
"#,
    );
    let config =
        Config::parse(&format!("{elsewhere}[authentication]\nplain_basic = \"anywhere\""), "gateway.toml").unwrap();
    assert_eq!(
        (config.admin.user.as_deref(), &*config.admin.hosts),
        (Some("berta"), &["monitor.example".to_owned()][..])
    );
}

#[test]
fn a_syntax_error_is_shown_where_it_is() {
    check_error(
        "[listen\n",
        r#"
error: unclosed table, expected `]`
 --> gateway.toml:1:8
  |
1 | [listen
  |        ^
"#,
    );
}

#[test]
fn the_schema_names_every_key() {
    let schema = schema();
    for key in
        ["addresses", "threads", "queue_max", "wait_ms_max", "drain_seconds", "database", "seed", "array_rows_max"]
    {
        assert!(schema.contains(&format!("\"{key}\"")), "{key} is missing in {schema}");
    }
}

#[test]
fn just_the_named_services_are_served() {
    let text = "[[service]]\nkind = \"flights\"\nseed = 7\n[[service]]\nkind = \"echo\"\nlimits.body_bytes_max = 9\n";
    let serving = |services: &[&str]| {
        let mut config = Config::parse(text, "gateway.toml").unwrap();
        config.serve_only(services);
        let kinds: Vec<_> = config.services.into_iter().map(|service| service.kind).collect();
        (kinds, config.built_in)
    };
    let echo = BuiltInService { body_bytes_max: 9, ..built_in("echo") };
    assert_eq!(serving(&["echo"]), (vec![], vec![echo]));
    let both = vec![built_in("fibonacci"), built_in("stock-quote")];
    assert_eq!(serving(&["stock-quote", "fibonacci"]), (vec![], both));
    let of_databases = vec![Kind::Flights { seed: 7 }, Kind::Records];
    assert_eq!(serving(&["records", "flights"]), (of_databases, vec![]));
}
