//! Expansions: the related entities of each entity, in document order.

use tollgate_wire::edm::{LeafId, NavigationId, SetId};
use tollgate_wire::plan::{Expand, Options, Plan, Select, Shape};

use crate::stores::on_every_store;
use crate::world::*;

fn world() -> World {
    let item = bare_item;
    World::new(
        vec![item("a", 1, Some("ann")), item("b", 2, Some("ann")), item("c", 3, None), item("d", 4, Some("gone"))],
        vec![owner("ann", Some(1)), owner("bob", Some(2))],
    )
}

fn expand(navigation: NavigationId, target: SetId) -> Expand {
    Expand { navigation, target, select: Select::All }
}

fn check(plan: &Plan, expected: &[&str]) {
    let (_, answer) = world().read(plan, None).unwrap();
    assert_eq!(answer.expanded, expected);
}

on_every_store! {
    #[test]
    fn a_to_one_expansion_has_one_entity_or_none() {
        let options = Options { expand: vec![expand(ITEM_OWNER, OWNERS)], ..Options::default() };
        check(&collection(ITEMS, options), &["a[0: ann]", "b[0: ann]", "c[0:]", "d[0:]"]);
    }

    #[test]
    fn an_ambiguous_to_one_expansion_has_the_first_by_key() {
        let options = Options { expand: vec![expand(ITEM_PEER, ITEMS)], ..Options::default() };
        check(&collection(ITEMS, options), &["a[0: a]", "b[0: a]", "c[0:]", "d[0: d]"]);
    }

    #[test]
    fn a_to_many_expansion_has_all_in_order_of_their_key() {
        let options = Options { expand: vec![expand(OWNER_ITEMS, ITEMS)], ..Options::default() };
        check(&collection(OWNERS, options), &["ann[0: a b]", "bob[0:]"]);
    }

    #[test]
    fn several_expansions_come_in_the_plans_order_for_one_entity_too() {
        let options = Options { expand: vec![expand(ITEM_PEER, ITEMS), expand(ITEM_OWNER, OWNERS)], ..Options::default() };
        let plan = Plan { root: ITEMS, key: Some(item_key("b", 2)), steps: Vec::new(), shape: Shape::Entity, options };
        check(&plan, &["b[0: a]", "b[1: ann]"]);
    }

    #[test]
    fn an_expansion_joins_on_leaves_that_are_not_selected() {
        let options = Options {
            select: Select::Only { leaves: vec![LeafId(1)], navigation: Vec::new() },
            expand: vec![expand(ITEM_OWNER, OWNERS)],
            ..Options::default()
        };
        let (_, answer) = world().read(&collection(ITEMS, options), None).unwrap();
        assert_eq!(answer.rows[0], ["1", "a", "ann"], "the selected leaf, then the key, then what is joined on");
        assert_eq!(answer.expanded[0], "1[0: ann]");
    }
}
