//! Pages, pauses and tokens, beyond what the random plans cover.

use tollgate_store::{Fault, Flow, Outcome, RowSink, StoreError};
use tollgate_wire::edm::LeafId;
use tollgate_wire::plan::{Counting, Direction, Options, OrderBy, Plan, Select, Shape, SkipToken};
use tollgate_wire::value::{Row, Value};

use crate::plans::item_leaf;
use crate::stores::on_every_store;
use crate::world::*;

fn world() -> World {
    World::new((0..7).map(|number| bare_item("a", number, None)).collect(), Vec::new())
}

on_every_store! {
    #[test]
    fn a_full_page_without_more_behind_it_has_no_next() {
        let (outcome, _) = world().read(&collection(ITEMS, Options::default()), Some(7)).unwrap();
        assert_eq!((outcome.rows, outcome.next), (7, None));
    }

    #[test]
    fn a_next_page_begins_after_the_last_row() {
        let (outcome, _) = world().read(&collection(ITEMS, Options::default()), Some(3)).unwrap();
        assert_eq!(outcome.rows, 3);
        assert_eq!(outcome.next, Some(SkipToken { after: vec![string("a"), Value::Integer(2)], answered: 3 }));
    }

    #[test]
    fn a_page_size_of_zero_is_one_so_that_paging_ends() {
        let (outcome, _) = world().read(&collection(ITEMS, Options::default()), Some(0)).unwrap();
        assert_eq!(outcome.rows, 1);
    }

    #[test]
    fn a_sink_that_pauses_goes_on_where_it_stopped() {
        let world = world();
        let mut plan = collection(ITEMS, Options { top: Some(5), ..Options::default() });
        let mut numbers = Vec::new();
        loop {
            let mut answer = Answer::stopping_after(2);
            let outcome = world.read_into(&plan, None, &mut answer).unwrap();
            numbers.extend(answer.rows.into_iter().map(|row| row[1].clone()));
            let Some(next) = outcome.next else { break };
            plan.options.skip_token = Some(next);
        }
        assert_eq!(numbers, ["0", "1", "2", "3", "4"]);
    }

    #[test]
    fn a_sink_that_gives_up_within_an_entity_has_found_it() {
        struct GivesUp;
        impl RowSink for GivesUp {
            fn entity<R: Row>(&mut self, _row: &R) -> Flow {
                Flow::Stop
            }
        }
        let world = world();
        let plan = Plan {
            root: ITEMS,
            key: Some(item_key("a", 1)),
            steps: Vec::new(),
            shape: Shape::Entity,
            options: Options {
                select: Select::Only { leaves: vec![LeafId(0)], navigation: Vec::new() },
                ..Options::default()
            },
        };
        let outcome = world.read_into(&plan, None, &mut GivesUp).unwrap();
        assert_eq!(outcome, Outcome { rows: 1, next: None, found: true });
    }

    #[test]
    fn the_total_counts_what_matches_whatever_the_page() {
        let options = Options { top: Some(0), skip: Some(3), count: Counting::Total, ..Options::default() };
        let (outcome, answer) = world().read(&collection(ITEMS, options), Some(2)).unwrap();
        assert_eq!((outcome.rows, answer.total), (0, Some(7)));
    }

    #[test]
    fn a_token_of_another_order_is_the_clients_fault() {
        let order = OrderBy { expression: item_leaf("text"), direction: Direction::Ascending };
        let token = SkipToken { after: vec![string("a"), Value::Integer(1)], answered: 0 };
        let options = Options { order_by: vec![order], skip_token: Some(token), ..Options::default() };
        let error = world().read(&collection(ITEMS, options), None).unwrap_err();
        assert!(matches!(error, StoreError::Token { expected: 3, found: 2 }), "{error:?}");
        assert_eq!(error.fault(), Fault::Client);
    }
}
