//! Paths: targets that exist, exist but are empty, and do not exist.

use tollgate_store::{Outcome, StoreError};
use tollgate_wire::edm::{LeafId, NavigationId, SetId};
use tollgate_wire::plan::{Key, Options, Plan, Shape, Step};

use crate::stores::on_every_store;
use crate::world::*;

/// ann has a/1 and b/2, bob has none, cem has c/3; d/4 has no owner and e/5 one that does not exist.
fn world() -> World {
    let item = bare_item;
    World::new(
        vec![
            item("a", 1, Some("ann")),
            item("b", 2, Some("ann")),
            item("c", 3, Some("cem")),
            item("d", 4, None),
            item("e", 5, Some("gone")),
        ],
        vec![owner("ann", Some(1)), owner("bob", Some(2)), owner("cem", None)],
    )
}

fn step(navigation: NavigationId, target: SetId) -> Step {
    Step { navigation, target, key: None }
}

fn keyed(step: Step, key: Key) -> Step {
    Step { key: Some(key), ..step }
}

fn to_owner() -> Step {
    step(ITEM_OWNER, OWNERS)
}

fn to_peer() -> Step {
    step(ITEM_PEER, ITEMS)
}

fn to_items() -> Step {
    step(OWNER_ITEMS, ITEMS)
}

/// Reads a path and checks the result: the first column of each row, or the reason why there is none.
fn check(root: SetId, key: Key, steps: Vec<Step>, shape: Shape, expected: &str) {
    let plan = Plan { root, key: Some(key), steps, shape, options: Options::default() };
    let (outcome, answer) = world().read(&plan, None).unwrap();
    let rows: Vec<_> = answer.rows.iter().map(|row| row[0].as_str()).collect();
    let seen = match (outcome.found, answer.total) {
        (false, _) => "not found".to_owned(),
        (true, Some(total)) => format!("{total} counted"),
        (true, None) => format!("[{}]", rows.join(" ")),
    };
    assert_eq!(seen, expected, "{plan:?}");
    assert_eq!(outcome.rows, rows.len() as u64);
}

fn name(name: &str) -> Key {
    Key(vec![string(name)])
}

on_every_store! {
    #[test]
    fn a_key_leads_to_its_entity_or_nowhere() {
        check(ITEMS, item_key("a", 1), vec![], Shape::Entity, "[a]");
        check(ITEMS, item_key("a", 2), vec![], Shape::Entity, "not found");
        check(ITEMS, item_key("a", 1), vec![], Shape::Property(3), "[a]");
        check(ITEMS, item_key("x", 1), vec![], Shape::RawValue(LeafId(3)), "not found");
    }

    #[test]
    fn to_many_navigation_answers_related_entities_in_order_of_their_key() {
        check(OWNERS, name("ann"), vec![to_items()], Shape::Collection, "[a b]");
    }

    #[test]
    fn an_empty_collection_under_an_entity_that_exists_is_found() {
        check(OWNERS, name("bob"), vec![to_items()], Shape::Collection, "[]");
        check(OWNERS, name("bob"), vec![to_items()], Shape::Count, "0 counted");
        check(OWNERS, name("ann"), vec![to_items()], Shape::Count, "2 counted");
    }

    #[test]
    fn a_collection_under_an_entity_that_does_not_exist_is_not_found() {
        check(OWNERS, name("eve"), vec![to_items()], Shape::Collection, "not found");
        check(OWNERS, name("eve"), vec![to_items()], Shape::Count, "not found");
    }

    #[test]
    fn to_one_navigation_that_leads_to_nothing_is_found_without_rows() {
        check(ITEMS, item_key("a", 1), vec![to_owner()], Shape::Entity, "[ann]");
        check(ITEMS, item_key("d", 4), vec![to_owner()], Shape::Entity, "[]");
        check(ITEMS, item_key("e", 5), vec![to_owner()], Shape::Entity, "[]");
        check(ITEMS, item_key("d", 5), vec![to_owner()], Shape::Entity, "not found");
    }

    #[test]
    fn to_one_navigation_that_several_match_means_the_first_by_key() {
        check(ITEMS, item_key("b", 2), vec![to_peer()], Shape::Entity, "[a]");
        check(ITEMS, item_key("b", 2), vec![to_peer(), to_owner()], Shape::Entity, "[ann]");
        check(ITEMS, item_key("b", 2), vec![to_peer(), to_owner(), to_items()], Shape::Count, "2 counted");
    }

    #[test]
    fn a_key_behind_a_step_must_be_among_the_related() {
        check(OWNERS, name("ann"), vec![keyed(to_items(), item_key("b", 2))], Shape::Entity, "[b]");
        check(OWNERS, name("ann"), vec![keyed(to_items(), item_key("c", 3))], Shape::Entity, "not found");
        check(OWNERS, name("bob"), vec![keyed(to_items(), item_key("c", 3)), to_owner()], Shape::Entity, "not found");
        check(OWNERS, name("cem"), vec![keyed(to_items(), item_key("c", 3)), to_owner()], Shape::Entity, "[cem]");
    }

    #[test]
    fn a_step_beyond_nothing_is_not_found() {
        check(ITEMS, item_key("e", 5), vec![to_owner(), to_items()], Shape::Collection, "not found");
    }

    #[test]
    fn a_filter_that_nothing_passes_leaves_the_path_found() {
        let none = crate::plans::compare(
            tollgate_wire::plan::Comparison::Equal,
            crate::plans::item_leaf("id"),
            crate::plans::literal(STRING, string("nobody")),
        );
        let options = Options { filter: Some(none), ..Options::default() };
        let plan = |key| Plan {
            root: OWNERS,
            key: Some(name(key)),
            steps: vec![to_items()],
            shape: Shape::Collection,
            options: options.clone(),
        };
        let outcome = |key| world().read(&plan(key), None).unwrap().0;
        assert_eq!(outcome("ann"), Outcome { rows: 0, next: None, found: true });
        assert_eq!(outcome("eve"), Outcome { rows: 0, next: None, found: false });
    }

    #[test]
    fn a_key_with_too_few_values_is_the_clients_fault() {
        let plan =
            Plan { root: ITEMS, key: Some(name("a")), steps: vec![], shape: Shape::Entity, options: Options::default() };
        let error = world().read(&plan, None).unwrap_err();
        assert!(matches!(error, StoreError::Key { expected: 2, found: 1 }), "{error:?}");
    }
}
