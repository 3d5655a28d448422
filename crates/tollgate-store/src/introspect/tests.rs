//! Tests of introspection: models as one line for each set, property and navigation.

use insta::assert_snapshot;
use tollgate_wire::value::Value;

use super::*;

const TEXT: Primitive = Primitive::String { length_max: 40 };

fn column(name: &str, primitive: Primitive) -> CatalogColumn {
    CatalogColumn {
        name: name.into(),
        declared: "SOME TYPE".into(),
        primitive: Some(primitive),
        form: Form::Checked,
        nullable: true,
        provided: None,
        label: None,
    }
}

fn required(name: &str, primitive: Primitive) -> CatalogColumn {
    CatalogColumn { nullable: false, ..column(name, primitive) }
}

/// A table with its first column as key.
fn table(name: &str, columns: Vec<CatalogColumn>) -> CatalogTable {
    CatalogTable {
        schema: None,
        name: name.into(),
        kind: TableKind::Table,
        changes: Changes::ALL,
        label: None,
        columns,
        primary_key: vec![0],
        unique: Vec::new(),
        row_id: None,
        foreign_keys: Vec::new(),
    }
}

fn reference(columns: &[usize], target: &str) -> ForeignKey {
    ForeignKey { columns: columns.to_vec(), target_schema: None, target: target.into(), target_columns: Vec::new() }
}

fn told(tables: Vec<CatalogTable>, custom: &str) -> String {
    let catalog = Catalog { tables, ..Catalog::default() };
    match Customisation::parse(custom).and_then(|custom| introspected(&catalog, "my shop", &custom)) {
        Ok(made) => {
            assert_eq!(made.mapping.mismatch(&made.model), None);
            lines(&made)
        }
        Err(error) => refusal(custom, &error),
    }
}

/// Place of an error in a mapping file, the text there, the error, and the known names.
fn refusal(text: &str, error: &CustomisationError) -> String {
    let span = error.span();
    let before = &text[..span.start];
    let (line, column) = (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap().len() + 1);
    let known = match error {
        CustomisationError::Unknown { known, .. } => format!(" of {}", known.join(", ")),
        _ => String::new(),
    };
    format!("shop.toml:{line}:{column} {}: {error}{known}", &text[span])
}

fn lines(made: &Introspected) -> String {
    let mut lines = Vec::new();
    for (set, table) in made.model.entity_sets.iter().zip(&made.mapping.tables) {
        let entity_type = &made.model.entity_types[set.entity_type.0];
        let Changes { insert, update, delete } = set.changes;
        let changes = [(insert, " insert"), (update, " update"), (delete, " delete")];
        let changes: String = changes.iter().filter(|(may, _)| *may).map(|(_, word)| *word).collect();
        let changes = if changes.is_empty() { " read-only" } else { &changes };
        lines.push(format!("{} of {} = {}{changes}", set.name, entity_type.name, table.name));
        for (leaf, column) in entity_type.leaves.iter().zip(&table.columns) {
            let id = entity_type.leaf(&leaf.path).unwrap();
            let key = if entity_type.key.contains(&id) { "key " } else { "" };
            let null = if leaf.nullable { "?" } else { "" };
            let provided = entity_type.provided(id).map_or(String::new(), |provided| format!(" by {provided:?}"));
            let etag = if entity_type.etag == Some(id) { " etag" } else { "" };
            lines.push(format!("  {key}{}{null} = {}{provided}{etag}", leaf.path, column.name));
        }
        for navigation in &entity_type.navigation {
            let target = &made.model.entity_sets[navigation.target.0].name;
            let multiplicity = match navigation.multiplicity {
                tollgate_wire::edm::Multiplicity::One => "1",
                tollgate_wire::edm::Multiplicity::ZeroOrOne => "0..1",
                tollgate_wire::edm::Multiplicity::Many => "*",
            };
            lines.push(format!("  -> {} {multiplicity} {target}", navigation.name));
        }
    }
    lines.extend(made.remarks.iter().map(|remark| format!("! {remark}")));
    lines.join("\n")
}

#[test]
fn tables_become_sets_and_foreign_keys_ways_both_there_and_back() {
    let customers = table("customers", vec![required("id", Primitive::Int64), column("full name", TEXT)]);
    let mut orders = table(
        "orders",
        vec![
            required("id", Primitive::Int64),
            required("customer_id", Primitive::Int64),
            column("payer_id", Primitive::Int64),
        ],
    );
    orders.columns[0].provided = Some(Provided::Database);
    orders.foreign_keys = vec![reference(&[1], "customers"), reference(&[2], "CUSTOMERS")];
    let mut details = table("order details", vec![required("order_id", Primitive::Int64), column("note", TEXT)]);
    details.columns[1].provided = Some(Provided::Default(Value::String("none".into())));
    details.foreign_keys = vec![reference(&[0], "orders")];
    let mut people = table("people", vec![required("id", Primitive::Int64), column("boss", Primitive::Int64)]);
    people.foreign_keys = vec![reference(&[1], "people")];
    assert_snapshot!(told(vec![customers, orders, details, people], ""), @r#"
    customers of customer = customers insert update delete
      key id = id
      full_name? = full name
      -> orders_by_customer * orders
      -> orders_by_payer * orders
    orders of order = orders insert update delete
      key id = id by Database
      customer_id = customer_id
      payer_id? = payer_id
      -> customer 1 customers
      -> payer 0..1 customers
      -> order_detail 0..1 order_details
    order_details of order_detail = order details insert update delete
      key order_id = order_id
      note? = note by Default(String("none"))
      -> order 1 orders
    people of people = people insert update delete
      key id = id
      boss? = boss
      -> boss_people 0..1 people
      -> people_by_boss_people * people
    "#);
}

#[test]
fn a_table_without_a_key_is_read_only_and_told() {
    let by_unique = CatalogTable {
        primary_key: Vec::new(),
        unique: vec![vec![1], vec![0]],
        ..table("by_unique", vec![required("code", TEXT), column("name", TEXT)])
    };
    let by_row = CatalogTable {
        primary_key: Vec::new(),
        row_id: Some("rowid".into()),
        ..table("by_row", vec![column("a", TEXT)])
    };
    let view = CatalogTable {
        kind: TableKind::View,
        primary_key: Vec::new(),
        changes: Changes::NONE,
        ..table("totals", vec![column("name", TEXT), column("total", Primitive::Double)])
    };
    let none = CatalogTable { primary_key: Vec::new(), ..table("floats", vec![column("a", Primitive::Double)]) };
    assert_snapshot!(told(vec![by_unique, by_row, view, none], ""), @r"
    by_unique of by_unique = by_unique insert update delete
      key code = code
      name? = name
    by_row of by_row = by_row read-only
      a? = a
      key rowid = rowid by Computed
    totals of totalsType = totals read-only
      key name = name
      total? = total
    ! by_row: it has no key: it is read-only, by rowid
    ! totals: it has no key: it is read-only, and its rows are told apart by name, of which any may be null
    ! floats: it is left out: none of its columns could be a key
    ");
}

#[test]
fn what_cannot_be_served_is_left_out_and_told() {
    let mut places =
        table("places", vec![required("id", Primitive::Guid), required("shape", TEXT), column("extra", TEXT)]);
    places.columns[1].primitive = None;
    places.columns[1].declared = "polygon".into();
    places.foreign_keys = vec![reference(&[2], "places")];
    assert_snapshot!(told(vec![places], ""), @r"
    places of place = places update delete
      key id = id
      extra? = extra
    ! places: rows cannot be inserted: shape must have a value and is not served
    ! places: shape is left out: nothing is like its type polygon
    ! places: its reference (extra) to places is no navigation: extra is of another type than id
    ");
}

#[test]
fn names_that_collide_are_told_apart() {
    let tables = vec![
        table("a b", vec![required("x y", TEXT), column("x_y", TEXT)]),
        table("a_b", vec![required("id", TEXT)]),
        table("name", vec![required("name", TEXT)]),
    ];
    assert_snapshot!(told(tables, ""), @r"
    a_b of a_b = a b insert update delete
      key x_y = x y
      x_y_2? = x_y
    a_b_2 of a_b_2 = a_b insert update delete
      key id = id
    name of nameType = name insert update delete
      key name = name
    ");
}

fn shop() -> Vec<CatalogTable> {
    let mut orders = table(
        "orders",
        vec![
            required("id", Primitive::Int64),
            column("cust", Primitive::Int64),
            column("at", Primitive::Int64),
            column("secret", Primitive::Double),
        ],
    );
    orders.foreign_keys = vec![reference(&[1], "customers")];
    vec![table("customers", vec![required("id", Primitive::Int64)]), orders]
}

#[test]
fn a_mapping_file_renames_hides_and_restricts() {
    let custom = r#"
        [tables.customers]
        name = "Clients"
        type = "Client"
        read_only = true
        [tables.orders]
        etag = "at"
        columns.cust = { name = "client", label = "Client", read_only = true }
        columns.at = { stored = "seconds" }
        columns.secret.hidden = true
    "#;
    assert_snapshot!(told(shop(), custom), @r#"
    Clients of Client = customers read-only
      key id = id
      -> orders * orders
    orders of order = orders insert update delete
      key id = id
      client? = cust by Computed
      at? = at etag
      -> Client 0..1 Clients
    ! orders: its ETag is at, which the gateway does not maintain: unless a trigger changes it with each change of a row, a change of an outdated state is not refused (say managed = "modified_at" of a timestamp column)
    "#);
    assert_snapshot!(told(shop(), "others = \"hidden\"\ntables.orders.key = [\"cust\", \"id\"]"), @r"
    orders of order = orders insert update delete
      key id = id
      key cust = cust
      at? = at
      secret? = secret
    ");
}

/// A table with columns for the user and the time of changes.
fn noted() -> Vec<CatalogTable> {
    let columns = vec![
        required("id", Primitive::Int64),
        required("made", Primitive::DateTime { precision: 6 }),
        required("maker", TEXT),
        required("changed", Primitive::DateTimeOffset { precision: 6 }),
        column("second", Primitive::DateTimeOffset { precision: 0 }),
    ];
    vec![table("notes", columns)]
}

#[test]
fn managed_columns_are_written_by_the_gateway() {
    let custom = r#"
        [tables.notes]
        etag = "changed"
        columns.made.managed = "created_at"
        columns.maker.managed = "created_by"
        columns.changed.managed = "modified_at"
    "#;
    assert_snapshot!(told(noted(), custom), @r"
    notes of note = notes insert update delete
      key id = id
      made = made by CreatedAt
      maker = maker by CreatedBy
      changed = changed by ModifiedAt etag
      second? = second
    ");
}

#[test]
fn an_etag_that_may_stay_as_it_is_is_told() {
    let remarks = |custom: &str| {
        let told = told(noted(), custom);
        told.lines().filter(|line| line.starts_with('!')).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(remarks("tables.notes.etag = \"changed\""), @r#"! notes: its ETag is changed, which the gateway does not maintain: unless a trigger changes it with each change of a row, a change of an outdated state is not refused (say managed = "modified_at" of a timestamp column)"#);
    assert_snapshot!(remarks("[tables.notes]\netag = \"second\"\ncolumns.second.managed = \"modified_at\""), @"! notes: its ETag is second: changes within the same second are not told apart");
    assert_snapshot!(remarks("[tables.notes]\netag = \"changed\"\nread_only = true"), @"");
}

#[test]
fn a_column_that_cannot_be_managed_is_refused_with_its_line() {
    let refused = |columns: &str| told(noted(), &format!("[tables.notes.columns]\n{columns}"));
    assert_snapshot!(refused("changed.managed = \"modified_by\""), @r#"shop.toml:2:19 "modified_by": column `changed` is of type SOME TYPE: a user's name needs a text"#);
    assert_snapshot!(refused("id.managed = \"modified_by\""), @r#"shop.toml:2:14 "modified_by": column `id` is part of the key, which never changes"#);
}

#[test]
fn a_mapping_file_that_names_what_is_not_there_is_refused_with_its_line() {
    assert_snapshot!(told(shop(), "[tables.order]\nhidden = true"), @r"shop.toml:1:9 order: unknown table `order` of customers, orders");
    assert_snapshot!(told(shop(), "[tables.orders.columns.custt]\nhidden = true"), @r"shop.toml:1:24 custt: unknown column `custt` of id, cust, at, secret");
    assert_snapshot!(told(shop(), "[tables.orders]\nkey = [\"secret\"]"), @r#"shop.toml:2:8 "secret": column `secret` cannot be a key: it is of type SOME TYPE"#);
    assert_snapshot!(told(shop(), "[tables.orders]\netag = \"secret\"\ncolumns.secret.hidden = true"), @r#"shop.toml:2:8 "secret": column `secret` is not served"#);
    assert_snapshot!(told(shop(), "[tables.orders]\nname = \"the orders\""), @r#"shop.toml:2:8 "the orders": `the orders` is no name: `the_orders` would be one"#);
    assert_snapshot!(told(shop(), "[tables.orders]\nname = \"customers\""), @r#"shop.toml:2:8 "customers": the name `customers` is taken"#);
    assert_snapshot!(told(shop(), "[tables.orders.columns.id]\nhidden = true"), @r"shop.toml:1:24 id: column `id` is part of the key: hide the table, or name another key");
    let told = told(shop(), "[tables.orders]\nreadonly = true");
    assert!(told.starts_with("shop.toml:2:1 readonly: unknown field `readonly`, expected one of `name`"), "{told}");
}

#[test]
fn a_function_that_cannot_be_is_told_with_its_line() {
    let told = |function: &str| told(shop(), &format!("[functions.Of]\nreturns = \"orders\"\n{function}"));
    let parameter = r#"parameters = [{ name = "who", type = "Edm.Int64" }]"#;
    for (function, expected) in [
        (format!("where = \"cust eq @who\"\n{parameter}"), ""),
        (format!("where = \"custt eq @who\"\n{parameter}"), "order has cust"),
        (format!("where = \"cust add @who\"\n{parameter}"), "expected a Boolean expression"),
        (format!("where = \"cust eq @whom\"\n{parameter}"), "`@whom` is no parameter"),
        (format!("where = \"cust eq '@whom'\"\n{parameter}"), "where"),
        ("where = \"true\"\nparameters = [{ name = \"a\", type = \"Int\" }]".to_owned(), "expected one of Edm.Boolean"),
        ("where = \"true\"\nparameters = [{ name = \"a b\", type = \"Edm.Date\" }]".to_owned(), "is no name"),
    ] {
        let told = told(&function);
        assert!(told.contains(expected) && (expected.is_empty() || told.contains("shop.toml")), "{function}: {told}");
    }
    assert!(Customisation::parse("functions.Of.return = 1").is_err());
    let other = |text: &str| self::told(shop(), text);
    assert!(other("[functions.orders]\nreturns = \"orders\"\nwhere = \"true\"").contains("taken by a set"));
    assert!(other("[functions.Of]\nreturns = \"order\"\nwhere = \"true\"").contains("customers, orders"));
}

#[test]
fn an_action_that_cannot_be_is_told_with_its_line() {
    let told = |action: &str| told(shop(), &format!("[actions.Of]\n{action}"));
    let who = r#"parameters = [{ name = "who", type = "Edm.Int64" }]"#;
    for (action, expected) in [
        ("bound_to = \"orders\"\nset = { cust = \"@who\" }", ""),
        (
            "bound_to = \"orders\"\nset = { cust = \"'a'\" }",
            "cust is Edm.Int64, which a value of Edm.String does not fit",
        ),
        ("bound_to = \"orders\"\nset = { custt = \"1\" }", "has no property `custt`"),
        ("bound_to = \"orders\"\nset = { id = \"1\" }", "part of the key"),
        ("bound_to = \"orders\"\nset = { cust = \"@whom\" }", "`@whom` is no parameter"),
        ("bound_to = \"orders\"\nwhen = \"cust add 1\"\nset = {}", "expected a Boolean expression"),
        ("bound_to = \"orders\"\nkey = [\"who\"]\nset = {}", "expected neither `key` nor `where`"),
        ("bound_to = \"Collection(orders)\"\nset = {}", "expected `where`"),
        ("changes = \"orders\"\nset = {}", "expected either `key`"),
        ("changes = \"orders\"\nkey = [\"whom\"]\nset = {}", "each part of the key: id"),
        ("changes = \"orders\"\nbound_to = \"orders\"\nset = {}", "expected either `bound_to`"),
        ("bound_to = \"order\"\nset = {}", "customers, orders"),
    ] {
        let told = told(&format!("{action}\n{who}"));
        assert!(told.contains(expected) && (expected.is_empty() || told.contains("shop.toml")), "{action}: {told}");
    }
}

#[test]
fn an_enumeration_or_a_complex_property_that_cannot_be_is_told_with_its_line() {
    let of = |members: &str, column: &str| {
        told(shop(), &format!("[enumerations.Of]\n{members}\n[tables.orders.columns.{column}]\nenumeration = \"Of\""))
    };
    let numbers = "members = [{ name = \"A\" }, { name = \"B\", stored = 7 }]";
    for (members, column, expected) in [
        (numbers, "cust", ""),
        (numbers, "id", "part of the key"),
        ("members = []", "cust", "a member at least"),
        ("members = [{ name = \"A\" }, { name = \"A\" }]", "cust", "stands twice"),
        ("members = [{ name = \"A\" }, { name = \"B\", stored = 0 }]", "cust", "stands twice"),
        ("members = [{ name = \"A b\" }]", "cust", "no name"),
        ("members = [{ name = \"A\", stored = \"a\" }]", "cust", "its members are texts"),
        ("members = [{ name = \"A\", stored = \"a\" }, { name = \"B\" }]", "cust", "texts for others"),
        ("flags = true\nmembers = [{ name = \"A\", stored = \"a\" }]", "cust", "bits of a number"),
        ("flags = true\nmembers = [{ name = \"A\", stored = -1 }]", "cust", "not negative"),
    ] {
        let told = of(members, column);
        assert!(told.contains(expected) && (expected.is_empty() || told.contains("shop.toml")), "{members}: {told}");
    }
    let unknown = told(shop(), "[tables.orders.columns.cust]\nenumeration = \"Off\"");
    assert!(unknown.contains("unknown enumeration `Off`"), "{unknown}");
    let complex =
        |members: &str| told(shop(), &format!("[tables.orders.complex.of]\ntype = \"Of\"\nmembers = {{ {members} }}"));
    for (members, expected) in [
        ("a = \"id\"", "part of the key"),
        ("a = \"cust\"", "refers to another table"),
        ("a = \"nothing\"", "is not in the table"),
        ("", "expected `members`"),
    ] {
        let told = complex(members);
        assert!(told.contains(expected) && told.contains("shop.toml"), "{members}: {told}");
    }
}

#[test]
fn what_is_wrong_with_derived_types_is_told_with_its_line() {
    let columns = ["kind", "salary", "until", "grade"].map(|name| column(name, TEXT));
    let people = || vec![table("people", [vec![required("id", Primitive::Int64)], columns.to_vec()].concat())];
    let told = |more: &str| {
        let whole = format!("[tables.people]\ndiscriminator = \"kind\"\nstored = \"p\"\n{more}");
        told(people(), &whole)
    };
    let employee = "[tables.people.derived.Employee]\nstored = \"e\"\ncolumns = [\"salary\"]\n";
    let guest = "[tables.people.derived.Guest]\n";
    for (more, expected, line) in [
        ("", "expected derived types beside it", 2),
        ("derived.Employee.columns = [\"salary\"]", "expected `stored`, what the column holds for rows of the type", 4),
        ("derived.Employee.stored = \"p\"", "what is stored for `Employee` means another type", 4),
        ("derived.Employee.stored = 5", "the column that tells types apart holds no whole numbers", 4),
        ("derived.Employee = { stored = \"e\", abstract = true }", "no rows are of an abstract type", 4),
        ("derived.Employee.abstract = true", "`Employee` is abstract, and nothing derives from it", 4),
        ("derived.people.stored = \"e\"", "the name `people` is taken", 4),
        (&format!("{employee}{guest}stored = \"g\"\ncolumns = [\"salary\"]"), "column `salary` is of another type", 9),
        (&format!("{employee}{guest}stored = \"g\"\ncolumns = [\"id\"]"), "column `id` is not served, managed, or", 9),
        (
            &format!("{employee}{guest}stored = \"g\"\nbase = \"Employe\""),
            "`Employe` is no derived type of this table",
            9,
        ),
        (&format!("{employee}{guest}stored = \"g\"\nbase = \"Guest\""), "`Guest` is no derived type of this table", 9),
        (&format!("{employee}{guest}colums = []"), "unknown field `colums`", 8),
        (
            &format!("complex.both = {{ type = \"Both\", members = {{ a = \"salary\", b = \"until\" }} }}\n{employee}"),
            "its columns are of one type",
            4,
        ),
    ] {
        let error = told(more);
        let place = format!("shop.toml:{line}:");
        assert!(error.contains(expected) && error.contains(&place), "{more}: {error}");
    }
}
