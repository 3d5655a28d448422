//! `xsl:sort` (XSLT 1.0, section 10): keys of all nodes first, then a stable sort.
//!
//! Texts are compared by their characters' numbers. If a language or an order of cases is requested, letters are
//! compared without their case first; no other rule of a language is known here.

use std::cmp::Ordering;
use std::rc::Rc;

use super::Run;
use crate::error::{Error, ErrorKind};
use crate::forest::Item;
use crate::xpath::evaluate::Context;
use crate::xpath::value::Text;
use crate::xslt::program::Sort;

/// The comparison of one key.
struct Collation {
    is_number: bool,
    is_descending: bool,
    cases: Cases,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cases {
    /// By the characters' numbers.
    Exact,
    LowerFirst,
    UpperFirst,
}

enum Key<'e> {
    Number(f64),
    Text(Text<'e>),
    /// Without its case, then as it is.
    Folded(String, Text<'e>),
}

impl<'e> Run<'e> {
    /// The nodes in the order that `sorts` say.
    pub(super) fn sorted(
        &self,
        context: &Context<'e, '_>,
        nodes: Rc<Vec<Item>>,
        sorts: &'e [Sort],
    ) -> Result<Rc<Vec<Item>>, Error> {
        if sorts.is_empty() {
            return Ok(nodes);
        }
        let rules = sorts.iter().map(|sort| self.rule(context, sort)).collect::<Result<Vec<_>, _>>()?;
        let before = self.current.get();
        // The keys of all nodes behind each other.
        let mut keys = Vec::with_capacity(nodes.len() * sorts.len());
        let mut key_bytes = 0;
        for (index, item) in nodes.iter().enumerate() {
            context.environment.spend(sorts.len() as u64)?;
            self.current.set(*item);
            let context = Context { item: *item, position: index + 1, size: nodes.len(), ..*context };
            for (sort, rule) in sorts.iter().zip(&rules) {
                let text = context.string(&sort.select)?;
                key_bytes += text.len() as u64;
                keys.push(if rule.is_number {
                    Key::Number(context.environment.read_number(&text)?)
                } else if rule.cases == Cases::Exact {
                    Key::Text(text)
                } else {
                    context.environment.meter.walk(text.len())?;
                    Key::Folded(text.to_lowercase(), text)
                });
            }
        }
        self.current.set(before);
        // Each is compared with as many as its number has bits, at worst over its whole length.
        let rounds = u64::from((nodes.len() as u64 + 1).ilog2());
        context.environment.spend((key_bytes / 64 + 2 * nodes.len() as u64) * rounds)?;
        let keys_of = |index: u32| &keys[index as usize * sorts.len()..][..sorts.len()];
        let mut order: Vec<u32> = (0..crate::names::number(nodes.len())).collect();
        order.sort_by(|left, right| {
            let pairs = keys_of(*left).iter().zip(keys_of(*right)).zip(&rules);
            let mut compared = pairs.map(|((left, right), rule)| compare(left, right, rule));
            compared.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
        });
        Ok(Rc::new(order.into_iter().map(|index| nodes[index as usize]).collect()))
    }

    fn rule(&self, context: &Context<'e, '_>, sort: &'e Sort) -> Result<Collation, Error> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Dynamic, message));
        let is_number = match self.optional_text(context, sort.data_type.as_ref())?.as_deref() {
            None | Some("text") => false,
            Some("number") => true,
            // A name with a prefix is a type of somebody's: texts then.
            Some(other) if other.contains(':') => false,
            Some(other) => return wrong(format!("`data-type` is `text` or `number`, found `{other}`")),
        };
        let is_descending = match self.optional_text(context, sort.order.as_ref())?.as_deref() {
            None | Some("ascending") => false,
            Some("descending") => true,
            Some(other) => return wrong(format!("`order` is `ascending` or `descending`, found `{other}`")),
        };
        let has_language = self.optional_text(context, sort.language.as_ref())?.is_some();
        let cases = match self.optional_text(context, sort.case_order.as_ref())?.as_deref() {
            None if has_language => Cases::LowerFirst,
            None => Cases::Exact,
            Some("lower-first") => Cases::LowerFirst,
            Some("upper-first") => Cases::UpperFirst,
            Some(other) => return wrong(format!("`case-order` is `upper-first` or `lower-first`, found `{other}`")),
        };
        Ok(Collation { is_number, is_descending, cases })
    }
}

fn compare(left: &Key<'_>, right: &Key<'_>, rule: &Collation) -> Ordering {
    let ordering = match (left, right) {
        // What is no number comes before all numbers (section 10).
        (Key::Number(left), Key::Number(right)) => match (left.is_nan(), right.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => left.partial_cmp(right).unwrap_or(Ordering::Equal),
        },
        (Key::Text(left), Key::Text(right)) => (**left).cmp(right),
        (Key::Folded(left, left_exact), Key::Folded(right, right_exact)) => {
            // Capital letters have the smaller numbers.
            let exact = (**left_exact).cmp(right_exact);
            let exact = if rule.cases == Cases::LowerFirst { exact.reverse() } else { exact };
            left.cmp(right).then(exact)
        }
        _ => Ordering::Equal,
    };
    if rule.is_descending { ordering.reverse() } else { ordering }
}
