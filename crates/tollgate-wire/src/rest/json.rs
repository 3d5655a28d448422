//! JSON of plain REST, as stencils write it; it is read as JSON of OData V4 is.
//!
//! It deliberately has no control information.

use crate::edm::{Multiplicity, Version};
use crate::escape;
use crate::json::{JsonDialect, Object};
use crate::number::write_integer;
use crate::stencil::outline::{Member, Outline};
use crate::stencil::program::Program;
use crate::stencil::{Base, Expansion, FeedHead, Notation, Stencil, Whole};

/// JSON without any protocol.
#[derive(Debug)]
pub(crate) struct RestJson;

impl Notation for RestJson {
    fn entities(&self, stencil: &mut Stencil, outline: &Outline<'_>) {
        compile(stencil, outline);
    }

    fn value(&self, stencil: &mut Stencil, _: &Outline<'_>, _: Whole<'_>, member: &Member<'_>) {
        compile_property(stencil, member);
    }

    fn references(&self, stencil: &mut Stencil, outline: &Outline<'_>) {
        self.entities(stencil, outline);
    }

    fn feed_begin(&self, out: &mut Vec<u8>, _: &Stencil, _: &Base<'_>, head: &FeedHead<'_>) {
        feed_begin(out, head);
    }

    fn feed_end(&self, out: &mut Vec<u8>, _: &Stencil, next_link: Option<&str>) {
        feed_end(out, next_link);
    }
}

fn compile(stencil: &mut Stencil, outline: &Outline<'_>) {
    stencil.first = "{".to_owned();
    stencil.next = ",{".to_owned();
    stencil.document.text("{");
    let mut object = Object::empty(&mut stencil.begin);
    for member in outline.members(Version::V4) {
        object.member(JsonDialect::Rest, &member);
    }
    for expand in outline.expand {
        let navigation = &outline.entity_type.navigation[expand.navigation.0];
        let many = navigation.multiplicity == Multiplicity::Many;
        let mut begin = Program::default();
        Object::empty(&mut begin).name(&[&navigation.name]).text(if many { "[" } else { "" });
        stencil.expansions.push(Expansion {
            by: None,
            separator: ",",
            begin,
            nothing: if many { "" } else { "null" },
            list_end: if many { "]" } else { "" },
            next: None,
            end: "".into(),
            total: None,
            child: stencil.child(outline, expand),
        });
    }
    stencil.end.text("}");
}

fn compile_property(stencil: &mut Stencil, member: &Member<'_>) {
    stencil.begin.text("{");
    Object::empty(&mut stencil.begin).member(JsonDialect::Rest, member);
    stencil.begin.text("}");
}

fn feed_begin(out: &mut Vec<u8>, head: &FeedHead<'_>) {
    out.push(b'{');
    if let Some(count) = head.count {
        out.extend_from_slice(b"\"count\":");
        write_integer(out, i64::try_from(count).unwrap_or(i64::MAX));
        out.push(b',');
    }
    out.extend_from_slice(b"\"items\":[");
}

fn feed_end(out: &mut Vec<u8>, next_link: Option<&str>) {
    out.push(b']');
    if let Some(next_link) = next_link {
        out.extend_from_slice(b",\"next\":\"");
        escape::json_text(out, next_link.as_bytes());
        out.push(b'"');
    }
    out.push(b'}');
}
