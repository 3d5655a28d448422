//! The text of the main statements, as a database administrator would see it in a log.

use insta::assert_snapshot;
use tollgate_store::Mapping;
use tollgate_store::sql::dialect::Dialect;
use tollgate_store::sql::statement::{Source, Window};
use tollgate_wire::edm::{LeafId, Primitive, SetId, Version};
use tollgate_wire::plan::{
    Columns, Comparison, Direction, Expand, Function, Key, Logic, Options, OrderBy, Plan, Resource, Select, Shape,
    SkipToken, Step,
};
use tollgate_wire::url;
use tollgate_wire::value::Value;

use crate::plans::{call, compare, item_leaf, leaf, literal, logic, not};
use crate::world::*;

const ALL: Window = Window { limit: None, offset: None };

fn names() -> Select {
    Select::Only { leaves: vec![LeafId(0)], navigation: Vec::new() }
}

fn page(plan: &Plan, window: Window) -> String {
    let model = model();
    let mapping = Mapping::by_type_name(&model);
    let columns = Columns::new(model.type_of(plan.set()), &plan.options.select, &plan.options.expand);
    let sql =
        Source { model: &model, mapping: &mapping, dialect: Dialect::Sqlite }.page(plan, &columns, window).unwrap();
    format!("{} <- {}", sql.text, sql.parameters.len())
}

fn items(options: Options) -> Plan {
    collection(ITEMS, Options { select: names(), ..options })
}

fn filtered(filter: tollgate_wire::plan::Expression) -> String {
    let text = page(&items(Options { filter: Some(filter), ..Options::default() }), ALL);
    let text = text.strip_prefix("SELECT t.\"id\", t.\"number\" FROM \"Item\" AS t WHERE ").unwrap();
    text.replace(" ORDER BY t.\"id\", t.\"number\"", "")
}

#[test]
fn an_entity_by_key() {
    let plan = Plan {
        root: ITEMS,
        key: Some(item_key("a", 1)),
        steps: Vec::new(),
        shape: Shape::Entity,
        options: Options { select: names(), ..Options::default() },
    };
    assert_snapshot!(page(&plan, ALL), @r#"SELECT t."id", t."number" FROM "Item" AS t WHERE t."id" = ? AND t."number" = ? <- 2"#);
}

#[test]
fn a_page_after_a_token_in_the_order_of_the_key() {
    let token = SkipToken { after: vec![string("a"), Value::Integer(1)], answered: 0 };
    let plan = items(Options { skip_token: Some(token), ..Options::default() });
    assert_snapshot!(page(&plan, Window { limit: Some(3), offset: None }), @r#"SELECT t."id", t."number" FROM "Item" AS t WHERE (t."id", t."number") > (?, ?) ORDER BY t."id", t."number" LIMIT ? <- 3"#);
}

#[test]
fn a_page_after_a_token_in_a_mixed_order_with_null() {
    let order = |name, direction| OrderBy { expression: item_leaf(name), direction };
    let token = SkipToken { after: vec![Value::Null, string("x"), string("a"), Value::Integer(1)], answered: 0 };
    let plan = items(Options {
        order_by: vec![order("amount", Direction::Ascending), order("text", Direction::Descending)],
        skip_token: Some(token),
        ..Options::default()
    });
    assert_snapshot!(page(&plan, Window { limit: Some(3), offset: None }), @r#"SELECT t."id", t."number", t."amount", t."text" FROM "Item" AS t WHERE ((t."amount" COLLATE "DECIMAL" IS NOT NULL) OR (t."amount" COLLATE "DECIMAL" IS NULL COLLATE "DECIMAL" AND (t."text" < ? OR t."text" IS NULL)) OR (t."amount" COLLATE "DECIMAL" IS NULL COLLATE "DECIMAL" AND t."text" IS ? AND t."id" > ?) OR (t."amount" COLLATE "DECIMAL" IS NULL COLLATE "DECIMAL" AND t."text" IS ? AND t."id" IS ? AND t."number" > ?)) ORDER BY t."amount" COLLATE "DECIMAL", t."text" DESC, t."id", t."number" LIMIT ? <- 7"#);
}

#[test]
fn what_is_skipped_without_a_limit() {
    assert_snapshot!(page(&items(Options::default()), Window { limit: None, offset: Some(5) }), @r#"SELECT t."id", t."number" FROM "Item" AS t ORDER BY t."id", t."number" LIMIT -1 OFFSET ? <- 1"#);
}

#[test]
fn a_filter_may_use_an_index_where_null_is_as_good_as_false() {
    let less = || compare(Comparison::Less, item_leaf("number"), literal(Primitive::Int32, Value::Integer(3)));
    assert_snapshot!(filtered(logic(Logic::And, less(), less())), @r#"((t."number" < ?) AND (t."number" < ?)) <- 2"#);
    assert_snapshot!(filtered(not(less())), @r#"(NOT ((t."number" < ?) IS TRUE)) <- 1"#);
}

#[test]
fn numbers_are_promoted() {
    let compared = |left, right| filtered(compare(Comparison::Equal, item_leaf(left), item_leaf(right)));
    assert_snapshot!(compared("whole", "amount"), @r#"(CAST(t."whole" AS TEXT) COLLATE "DECIMAL" IS t."amount" COLLATE "DECIMAL") <- 0"#);
    assert_snapshot!(compared("amount", "real"), @r#"(tollgate_real_from_decimal(t."amount") IS t."real") <- 0"#);
}

#[test]
fn dates_are_compared_as_instants() {
    let compared = |left, right| filtered(compare(Comparison::Greater, item_leaf(left), item_leaf(right)));
    assert_snapshot!(compared("date", "moment"), @r#"((t."date" || 'T00:00:00') > t."moment") <- 0"#);
    assert_snapshot!(compared("date", "instant"), @r#"(rtrim((t."date" || 'T00:00:00'), 'Z') > rtrim(t."instant", 'Z')) <- 0"#);
    assert_snapshot!(compared("duration", "duration"), @r#"(tollgate_duration_seconds(t."duration") COLLATE "DECIMAL" > tollgate_duration_seconds(t."duration") COLLATE "DECIMAL") <- 0"#);
}

#[test]
fn texts_are_searched_without_patterns() {
    let part = || literal(STRING, string("50%"));
    assert_snapshot!(filtered(call(Primitive::Boolean, Function::Contains, vec![item_leaf("text"), part()])), @r#"(instr(t."text", ?) > 0) <- 1"#);
    assert_snapshot!(filtered(call(Primitive::Boolean, Function::StartsWith, vec![item_leaf("text"), part()])), @r#"tollgate_starts_with(t."text", ?) <- 1"#);
}

#[test]
fn navigation_in_an_expression_is_a_scalar_subquery() {
    let rank = leaf(&[(ITEM_PEER, ITEMS), (ITEM_OWNER, OWNERS)], 1, Primitive::Int32);
    assert_snapshot!(filtered(compare(Comparison::Equal, rank, literal(Primitive::Int32, Value::Null))), @r#"((SELECT n1."rank" FROM "Item" AS n0 LEFT JOIN "Owner" AS n1 ON n1."name" = n0."owner" WHERE n0."owner" = t."owner" ORDER BY n0."id", n0."number", n1."name" LIMIT 1) IS NULL) <- 0"#);
}

#[test]
fn a_path_of_several_steps() {
    let step = |navigation, target: SetId| Step { navigation, target, key: None };
    let plan = Plan {
        root: ITEMS,
        key: Some(item_key("a", 1)),
        steps: vec![step(ITEM_PEER, ITEMS), step(ITEM_OWNER, OWNERS)],
        shape: Shape::Entity,
        options: Options { select: names(), ..Options::default() },
    };
    assert_snapshot!(page(&plan, ALL), @r#"SELECT t."name" FROM "Owner" AS t JOIN "Item" AS p1 ON t."name" = p1."owner" JOIN "Item" AS p0 ON p1."owner" = p0."owner" WHERE p0."id" = ? AND p0."number" = ? AND (p1."id", p1."number") = (SELECT f."id", f."number" FROM "Item" AS f WHERE f."owner" = p0."owner" ORDER BY f."id", f."number" LIMIT 1) <- 2"#);
    let model = model();
    let mapping = Mapping::by_type_name(&model);
    let source = Source { model: &model, mapping: &mapping, dialect: Dialect::Sqlite };
    assert_snapshot!(source.parent(&plan).unwrap().text, @r#"SELECT 1 FROM "Item" AS t JOIN "Item" AS p0 ON t."owner" = p0."owner" WHERE p0."id" = ? AND p0."number" = ? AND (t."id", t."number") = (SELECT f."id", f."number" FROM "Item" AS f WHERE f."owner" = p0."owner" ORDER BY f."id", f."number" LIMIT 1) LIMIT 1"#);
    let counted =
        Plan { steps: vec![step(OWNER_ITEMS, ITEMS)], root: OWNERS, key: Some(Key(vec![string("a")])), ..plan };
    assert_snapshot!(source.count(&counted).unwrap().text, @r#"SELECT COUNT(*) FROM "Item" AS t JOIN "Owner" AS p0 ON t."owner" = p0."name" WHERE p0."name" = ?"#);
}

#[test]
fn an_expansion() {
    let model = model();
    let mapping = Mapping::by_type_name(&model);
    let source = Source { model: &model, mapping: &mapping, dialect: Dialect::Sqlite };
    let expand = Expand::new(ITEM_PEER, ITEMS, names());
    let columns = Columns::new(model.type_of(ITEMS), &expand.options.select, &[]);
    assert_snapshot!(source.expansion(ITEMS, &expand, &columns).unwrap().text, @r#"SELECT t."id", t."number" FROM "Item" AS t WHERE t."owner" = ? ORDER BY t."id", t."number" LIMIT 1"#);
}

#[test]
fn to_one_paths_of_groups_are_joined_once_however_often_they_are_mentioned() {
    let mut model = model();
    // Its other name is a property's, which a path would mean.
    model.entity_types[0].navigation[0].name = "holder".into();
    let mapping = Mapping::by_type_name(&model);
    let query =
        "$apply=filter(holder/rank gt 1)/groupby((holder/rank,holder/name),aggregate(holder/rank with sum as s))";
    let (resource, _) = url::parse(&model, Version::V4, "Items", Some(query)).unwrap();
    let Resource::Read(plan) = resource else { panic!("it reads data") };
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        let source = Source { model: &model, mapping: &mapping, dialect };
        let text = source.page(&plan, &source.columns(&plan), ALL).unwrap().text;
        assert_eq!(text.matches("LEFT JOIN \"Owner\" AS j0").count(), 1, "{text}");
        assert!(!text.contains("(SELECT n0") && text.contains("WHERE (j0.\"rank\" > "), "{text}");
    }
    // The first of several peers is no join: it would repeat the item.
    let query = "$apply=groupby((peer/number),aggregate($count as n))";
    let (resource, _) = url::parse(&model, Version::V4, "Items", Some(query)).unwrap();
    let Resource::Read(plan) = resource else { panic!("it reads data") };
    let source = Source { model: &model, mapping: &mapping, dialect: Dialect::Sqlite };
    let text = source.page(&plan, &source.columns(&plan), ALL).unwrap().text;
    assert!(text.contains("(SELECT n0.") && !text.contains("LEFT JOIN"), "{text}");
}
