//! Expansions: the related entities of each entity, in document order.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tollgate_wire::edm::{LeafId, NavigationId, SetId, Version};
use tollgate_wire::plan::{Expand, Options, Plan, Resource, Select, Shape};
use tollgate_wire::query::skip_token;
use tollgate_wire::url;

use crate::stores::{cases, on_every_store};
use crate::world::*;

fn world() -> World {
    let item = bare_item;
    World::new(
        vec![item("a", 1, Some("ann")), item("b", 2, Some("ann")), item("c", 3, None), item("d", 4, Some("gone"))],
        vec![owner("ann", Some(1)), owner("bob", Some(2))],
    )
}

fn expand(navigation: NavigationId, target: SetId) -> Expand {
    Expand::new(navigation, target, Select::All)
}

fn check(plan: &Plan, expected: &[&str]) {
    let (_, answer) = world().read(plan, None).unwrap();
    assert_eq!(answer.expanded, expected);
}

/// Checks the expansions of a URL: `#n` is their number, brackets are expansions within.
fn check_url(path: &str, query: &str, expected: &[&str]) {
    let world = crowded();
    let (resource, _) = url::parse(&world.model, Version::V4, path, Some(query)).unwrap();
    let Resource::Read(plan) = resource else { panic!("{path} reads no data") };
    let (_, answer) = world.read(&plan, None).unwrap();
    assert_eq!(answer.expanded, expected, "{path}?{query}");
}

/// Ann has four items, Bob one and Cid none.
fn crowded() -> World {
    let item = |id, number, text: &str| {
        let mut item = bare_item(id, number, Some(if id == "z" { "bob" } else { "ann" }));
        item[6] = string(text);
        item
    };
    World::new(
        vec![item("a", 4, "x"), item("b", 3, "y"), item("c", 2, "x"), item("d", 1, "'; --"), item("z", 0, "x")],
        vec![owner("ann", Some(1)), owner("bob", Some(2)), owner("cid", None)],
    )
}

/// The same with a limit of entities for each parent; `…` is where more follow.
fn check_cut(page: u64, path: &str, query: &str, expected: &[&str]) {
    let world = crowded();
    let (resource, _) = url::parse(&world.model, Version::V4, path, Some(query)).unwrap();
    let Resource::Read(mut plan) = resource else { panic!("{path} reads no data") };
    Expand::cut(&mut plan.options.expand, page);
    let (_, answer) = world.read(&plan, None).unwrap();
    assert_eq!(answer.expanded, expected, "{page} of {path}?{query}");
}

/// Follows the rest of Ann's items to the end, page by page, in the way in which its link is made.
fn check_followed(page: u64, options: &str, expected: &[&str]) {
    let world = crowded();
    let query = format!("$expand=items({options})");
    let (resource, _) = url::parse(&world.model, Version::V4, "Owners('ann')", Some(&query)).unwrap();
    let Resource::Read(mut plan) = resource else { panic!("it reads data") };
    Expand::cut(&mut plan.options.expand, page);
    let (_, answer) = world.read(&plan, None).unwrap();
    let mut pages = vec![answer.expanded[0].clone()];
    let mut next = answer.more.first().cloned();
    while let Some(token) = next {
        let query = format!("{}&$skiptoken={}", plan.options.expand[0].query, skip_token::write(&token));
        let (resource, _) = url::parse(&world.model, Version::V4, "Owners('ann')/items", Some(&query)).unwrap();
        let Resource::Read(rest) = resource else { panic!("it reads data") };
        let (outcome, answer) = world.read(&rest, Some(page)).unwrap();
        let ids: Vec<&str> = answer.rows.iter().map(|row| row[0].as_str()).collect();
        pages.push(ids.join(" "));
        next = outcome.next;
    }
    assert_eq!(pages, expected, "{options}");
}

/// Items with an identifier, a number and an owner, partly expanded by owner and by identifier: for the latter, the
/// first leaf of the key, PostgreSQL has a statement of its own.
fn check_parts(related: &[(usize, i64, usize)], window: (Option<u64>, u64, Option<u64>, bool)) {
    const NAMES: [&str; 3] = ["ann", "bob", "cid"];
    let (top, skip, page, backwards) = window;
    let distinct: BTreeMap<(usize, i64), usize> =
        related.iter().map(|(id, number, by)| ((*id, *number), *by)).collect();
    let item = |((id, number), by): (&(usize, i64), &usize)| bare_item(NAMES[*id], *number, Some(NAMES[*by]));
    let owners = NAMES.iter().map(|name| owner(name, None));
    let mut world = World::new(distinct.iter().map(item).collect(), owners.collect());
    let order = if backwards { "$orderby=number desc;" } else { "" };
    let top_option = top.map_or_else(String::new, |top| format!("$top={top};"));
    let query = format!("$expand=items({order}{top_option}$skip={skip})");
    for by_identifier in [false, true] {
        let joined = if by_identifier { LeafId(0) } else { ITEM_OWNER_NAME };
        world.model.entity_types[1].navigation[0].on = vec![(LeafId(0), joined)];
        let (resource, _) = url::parse(&world.model, Version::V4, "Owners", Some(&query)).unwrap();
        let Resource::Read(mut plan) = resource else { panic!("it reads data") };
        plan.options.expand[0].options.select = Select::Only { leaves: vec![LeafId(1)], navigation: Vec::new() };
        page.iter().for_each(|page| Expand::cut(&mut plan.options.expand, *page));
        let expected = NAMES.iter().enumerate().map(|(name, text)| {
            let own = distinct.iter().filter(|((id, _), by)| name == if by_identifier { *id } else { **by });
            let mut own: Vec<(usize, i64)> = own.map(|(key, _)| *key).collect();
            own.sort_by_key(|(id, number)| (if backwards { -number } else { 0 }, *id, *number));
            let wanted = own.iter().skip(skip as usize).take(top.map_or(usize::MAX, |top| top as usize));
            let wanted: Vec<String> = wanted.map(|(_, number)| format!(" {number}")).collect();
            let cut = page.map_or(wanted.len(), |page| wanted.len().min(page as usize));
            let more = if cut < wanted.len() { " …" } else { "" };
            format!("{text}[0:{}{more}]", wanted[..cut].concat())
        });
        let (_, answer) = world.read(&plan, None).unwrap();
        assert_eq!(answer.expanded, expected.collect::<Vec<_>>(), "{query} {page:?} {by_identifier}");
    }
}

on_every_store! {
    #[test]
    fn an_expansion_is_cut_for_each_parent() {
        check_cut(2, "Owners", "$expand=items", &["ann[0: a b …]", "bob[0: z]", "cid[0:]"]);
        check_cut(1, "Owners", "$expand=items", &["ann[0: a …]", "bob[0: z]", "cid[0:]"]);
        check_cut(4, "Owners", "$expand=items", &["ann[0: a b c d]", "bob[0: z]", "cid[0:]"]);
        check_cut(2, "Owners", "$expand=items($top=2)", &["ann[0: a b]", "bob[0: z]", "cid[0:]"]);
        check_cut(2, "Owners", "$expand=items($top=3;$skip=1)", &["ann[0: b c …]", "bob[0:]", "cid[0:]"]);
        check_cut(2, "Owners", "$expand=items($top=3;$skip=2)", &["ann[0: c d]", "bob[0:]", "cid[0:]"]);
        check_cut(2, "Owners", "$expand=items($orderby=text desc,number;$count=true)", &["ann[#4 0: b c …]", "bob[#1 0: z]", "cid[#0 0:]"]);
        check_cut(1, "Owners", "$expand=items/$ref", &["ann[0: a …]", "bob[0: z]", "cid[0:]"]);
        check_cut(1, "Owners", "$expand=items/$count", &["ann[#4 0:]", "bob[#1 0:]", "cid[#0 0:]"]);
        check_cut(2, "Owners", "$expand=items($expand=owner($expand=items($orderby=number)))", &[
            "ann[0: a[0: ann[0: d c …]] b[0: ann[0: d c …]] …]", "bob[0: z[0: bob[0: z]]]", "cid[0:]",
        ]);
        check_cut(1, "Items", "$expand=owner&$top=1", &["a[0: ann]"]);
    }

    #[test]
    fn what_was_cut_goes_on_behind_the_cut() {
        check_followed(1, "$select=id", &["ann[0: a …]", "b", "c", "d"]);
        check_followed(2, "$orderby=text desc,number", &["ann[0: b c …]", "a d"]);
        check_followed(2, "$orderby=number mul -1;$filter=text ne 'y'", &["ann[0: a c …]", "d"]);
        check_followed(1, "$top=3;$skip=1", &["ann[0: b …]", "c", "d"]);
        check_followed(3, "$filter=contains(text,'; -')", &["ann[0: d]"]);
    }

    #[test]
    fn an_expansion_is_filtered_ordered_and_cut_for_each_parent() {
        check_url("Owners", "$expand=items($filter=text eq 'x')", &["ann[0: a c]", "bob[0: z]", "cid[0:]"]);
        check_url("Owners", "$expand=items($orderby=number)", &["ann[0: d c b a]", "bob[0: z]", "cid[0:]"]);
        check_url("Owners", "$expand=items($orderby=text desc,number;$top=2;$skip=1)", &["ann[0: c a]", "bob[0:]", "cid[0:]"]);
        check_url("Owners", "$expand=items($top=0)", &["ann[0:]", "bob[0:]", "cid[0:]"]);
        check_url("Owners", "$expand=items($skip=3)", &["ann[0: d]", "bob[0:]", "cid[0:]"]);
        check_url("Owners", "$expand=items($search=X)", &["ann[0: a c]", "bob[0: z]", "cid[0:]"]);
        check_url("Owners", "$expand=items($filter=text eq '''; --' and contains(text,@q))&@q=''''", &["ann[0: d]", "bob[0:]", "cid[0:]"]);
        check_url("Owners", "$expand=items($filter=peer/number gt 0;$orderby=peer/number,number desc;$top=1)", &["ann[0: a]", "bob[0:]", "cid[0:]"]);
        check_url("Owners('ann')", "$expand=items($top=1)", &["ann[0: a]"]);
    }

    #[test]
    fn an_expansion_counts_whatever_it_hands_out() {
        check_url("Owners", "$expand=items($count=true;$top=1)", &["ann[#4 0: a]", "bob[#1 0: z]", "cid[#0 0:]"]);
        check_url("Owners", "$expand=items/$count", &["ann[#4 0:]", "bob[#1 0:]", "cid[#0 0:]"]);
        check_url("Owners", "$expand=items/$count($filter=text eq 'x')", &["ann[#2 0:]", "bob[#1 0:]", "cid[#0 0:]"]);
        check_url("Owners", "$expand=items/$ref($top=2)", &["ann[0: a b]", "bob[0: z]", "cid[0:]"]);
    }

    #[test]
    fn expansions_stand_within_expansions() {
        check_url("Owners", "$expand=items($expand=owner($expand=items($top=1;$count=true));$orderby=number;$top=2)", &[
            "ann[0: d[0: ann[#4 0: a]] c[0: ann[#4 0: a]]]", "bob[0: z[0: bob[#1 0: z]]]", "cid[0:]",
        ]);
        check_url("Items", "$expand=peer($levels=3;$select=number)&$top=2", &["a[0: 4[0: 4[0: 4]]]", "b[0: 4[0: 4[0: 4]]]"]);
        check_url("Items(id='z',number=0)", "$expand=*", &["z[0: bob]", "z[1: z]"]);
        check_url("Items(id='z',number=0)", "$expand=*($levels=2)", &["z[0: bob[0: z]]", "z[1: z[0: bob][1: z]]"]);
    }

    #[test]
    fn parts_of_related_entities_are_those_of_a_naive_reading() {
        let related = proptest::collection::vec((0_usize..3, 0_i64..40, 0_usize..3), 0..40);
        let window = (proptest::option::of(0_u64..5), 0_u64..4, proptest::option::of(1_u64..5), any::<bool>());
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases() / 4) };
        let mut runner = TestRunner::new(config);
        runner.run(&(related, window), |(related, window)| {
            check_parts(&related, window);
            Ok(())
        }).unwrap();
    }

    #[test]
    fn many_parents_and_many_related_entities_come_in_parts() {
        let items = (0..1_200).map(|number| bare_item("i", number, Some(if number % 2 == 0 { "ann" } else { "bob" })));
        let world = World::new(items.collect(), vec![owner("ann", None), owner("bob", None)]);
        let (resource, _) = url::parse(&world.model, Version::V4, "Owners", Some("$expand=items($expand=owner,peer($select=number))")).unwrap();
        let Resource::Read(plan) = resource else { panic!("it reads data") };
        let (_, answer) = world.read(&plan, None).unwrap();
        assert_eq!(answer.expanded.len(), 2);
        assert_eq!(answer.expanded[0].matches(" i[0: ann][1: 0]").count(), 600);
        assert_eq!(answer.expanded[1].matches(" i[0: bob][1: 1]").count(), 600);
    }

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
