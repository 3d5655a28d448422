//! Invariants of every text: the bodies of the fuzz targets, and the replay of their corpus as a plain test.

use crate::fixture;
use tollgate_wire::edm::Version;
use tollgate_wire::plan::{Expression, ExpressionKind, Plan, Resource};
use tollgate_wire::query::{follows_grammar, rest, skip_token};
use tollgate_wire::url::{self, UrlError};
use tollgate_wire::value::Value;

/// Largest height of a tree: above the parser's limit, far below that of a stack.
const HEIGHT_MAX: usize = 200;

/// A URL below the service root. It is written and reads the same again.
pub(crate) fn url(version: Version, text: &str) {
    let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
    let model = fixture::model();
    let plan = match url::parse(&model, version, path, query) {
        Err(error) => return check_error(&error, text),
        Ok((Resource::Read(plan), _)) => plan,
        Ok(_) => return,
    };
    check_heights(&plan);
    if let Some(key) = &plan.key {
        let columns: Vec<usize> = (0..key.0.len()).collect();
        let mut written = model.entity_sets[plan.root.0].name.clone().into_bytes();
        url::write_key(&mut written, version, model.type_of(plan.root), key.0.as_slice(), &columns);
        let written = String::from_utf8(written).expect("a key is written in ASCII");
        let again = url::parse(&model, version, &written, None).expect("a written key is a right key");
        let Resource::Read(again) = again.0 else { panic!("{written} names no entity") };
        assert_eq!(again.key.as_ref(), Some(key), "{written}");
    }
    if let Some(token) = &plan.options.skip_token {
        assert_eq!(
            skip_token::parse(&skip_token::write(token)).map(|again| again.after.len()),
            Some(token.after.len())
        );
    }
}

/// An expression, not percent-encoded.
pub(crate) fn filter(text: &str) {
    let mut coded = String::with_capacity(text.len() * 3);
    text.bytes().for_each(|byte| coded.push_str(&format!("%{byte:02x}")));
    let model = fixture::model();
    for version in [Version::V2, Version::V4] {
        for (set, option) in
            [("FlightCollection", "filter"), ("EverythingSet", "filter"), ("BookingCollection", "orderby")]
        {
            match url::parse(&model, version, set, Some(&format!("${option}={coded}"))) {
                Ok((Resource::Read(plan), _)) => check_heights(&plan),
                Ok(other) => panic!("{other:?}"),
                Err(error) => check_error(&error, text),
            }
        }
    }
}

/// An option of V4 with its value, decoded: its grammar places an error, and accepts all that the parser accepts.
pub(crate) fn v4_option(text: &str) {
    let Some((name, value)) = text.split_once('=') else { return };
    let grammatical = follows_grammar(name, value);
    if let Err(at) = grammatical {
        assert!(value.is_char_boundary(at), "{text}: {at}");
    }
    let mut coded = String::with_capacity(value.len() * 3);
    value.bytes().for_each(|byte| coded.push_str(&format!("%{byte:02x}")));
    let model = fixture::model();
    for set in ["FlightCollection", "EverythingSet"] {
        let query = Some(format!("{name}={coded}"));
        let read =
            !name.contains(['&', '=', '%', '+']) && url::parse(&model, Version::V4, set, query.as_deref()).is_ok();
        assert!(!read || grammatical.is_ok(), "{text} is read, and departs at {grammatical:?}");
    }
}

/// A query of plain REST: the height of its condition is at most the number of its parameters.
pub(crate) fn rest_query(text: &str) {
    let model = fixture::model();
    for entity_type in &model.entity_types {
        match rest::parse(&model, entity_type, text) {
            Ok(asked) => {
                let filter = asked.options.filter.iter();
                assert!(filter.map(height).all(|height| height <= text.split('&').count() + 4), "{text}");
            }
            Err(error) => check_error(&error, text),
        }
        let _ = rest::parse_of_one(entity_type, text);
    }
}

fn check_error(error: &UrlError, text: &str) {
    assert!(matches!(error.status(), 400 | 404 | 501));
    assert!(error.position <= text.chars().count(), "{error:?}");
    assert!(!error.message.is_empty() && error.message.len() < 1_000, "{error:?}");
}

fn check_heights(plan: &Plan) {
    let orders = plan.options.order_by.iter().map(|order| &order.expression);
    for expression in plan.options.filter.iter().chain(orders) {
        assert!(height(expression) < HEIGHT_MAX);
    }
}

fn height(expression: &Expression) -> usize {
    1 + match &expression.kind {
        ExpressionKind::Literal(value) => {
            assert_eq!(expression.primitive.is_none(), *value == Value::Null);
            0
        }
        ExpressionKind::Leaf { .. } | ExpressionKind::Column(_) | ExpressionKind::Item(_) => 0,
        ExpressionKind::Not(operand) | ExpressionKind::Negate(operand) => height(operand),
        ExpressionKind::Logic(_, left, right)
        | ExpressionKind::Compare(_, left, right)
        | ExpressionKind::Arithmetic(_, left, right) => height(left).max(height(right)),
        ExpressionKind::In(operand, _) | ExpressionKind::Cast(operand) => height(operand),
        ExpressionKind::Case(branches) => {
            branches.iter().map(|(condition, value)| height(condition).max(height(value))).max().unwrap_or(0)
        }
        ExpressionKind::Related(related) => related.condition.as_ref().map_or(0, height),
        ExpressionKind::Items(items) => items.condition.as_ref().map_or(0, height),
        ExpressionKind::Call(_, arguments) => arguments.iter().map(height).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod replay {
    use super::*;
    use crate::corpus;

    /// Texts only: the caller of a URL parser has checked its bytes.
    fn replay(target: &str, run: impl Fn(&str)) {
        let files = corpus::files(target);
        let texts: Vec<_> = files.iter().filter_map(|bytes| std::str::from_utf8(bytes).ok()).collect();
        assert!(!texts.is_empty(), "{target} has texts");
        texts.into_iter().for_each(run);
    }

    #[test]
    fn the_corpus_of_v2_urls_holds() {
        replay("v2_url", |text| url(Version::V2, text));
    }

    #[test]
    fn the_corpus_of_v4_urls_holds() {
        replay("v4_url", |text| url(Version::V4, text));
    }

    #[test]
    fn the_corpus_of_v4_options_holds() {
        replay("v4_option", v4_option);
    }

    #[test]
    fn the_corpus_of_filters_holds() {
        replay("filter", filter);
    }

    #[test]
    fn the_corpus_of_rest_queries_holds() {
        replay("rest_query", rest_query);
    }

    proptest::proptest! {
        #[test]
        fn damaged_rest_queries_are_read_or_refused((_, bytes) in corpus::damaged(&["rest_query"])) {
            rest_query(&String::from_utf8_lossy(&bytes));
        }
    }
}
