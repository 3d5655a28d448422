//! Plain REST documents: the same data without any protocol, as the baseline that OData's cost is measured against.
//!
//! JSON is a flat object with its complex properties nested; a list stands in `items`. It deliberately has no links, no
//! types and no links to related entities.

use crate::edm::Multiplicity;
use crate::escape;
use crate::json::{Dialect, Object};
use crate::number::write_integer;
use crate::stencil::outline::{Member, Outline};
use crate::stencil::program::Program;
use crate::stencil::{Expansion, FeedHead, Stencil};

pub(crate) fn compile_json(stencil: &mut Stencil, outline: &Outline<'_>) {
    stencil.first = "{".to_owned();
    stencil.next = ",{".to_owned();
    stencil.document.text("{");
    let mut object = Object::empty(&mut stencil.begin);
    for member in outline.members() {
        object.member(Dialect::Rest, &member);
    }
    for expand in outline.expand {
        let navigation = &outline.entity_type.navigation[expand.navigation.0];
        let many = navigation.multiplicity == Multiplicity::Many;
        let mut begin = Program::default();
        Object::empty(&mut begin).name(&[&navigation.name]).text(if many { "[" } else { "" });
        stencil.expansions.push(Expansion {
            separator: ",",
            begin,
            nothing: if many { "" } else { "null" },
            end: if many { "]" } else { "" },
            child: Stencil::compile(outline.model, expand.target, stencil.format, &expand.select, &[]),
        });
    }
    stencil.end.text("}");
}

pub(crate) fn compile_json_property(stencil: &mut Stencil, member: &Member<'_>) {
    stencil.begin.text("{");
    Object::empty(&mut stencil.begin).member(Dialect::Rest, member);
    stencil.begin.text("}");
}

pub(crate) fn feed_begin_json(out: &mut Vec<u8>, head: &FeedHead<'_>) {
    out.push(b'{');
    if let Some(count) = head.count {
        out.extend_from_slice(b"\"count\":");
        write_integer(out, i64::try_from(count).unwrap_or(i64::MAX));
        out.push(b',');
    }
    out.extend_from_slice(b"\"items\":[");
}

pub(crate) fn feed_end_json(out: &mut Vec<u8>, next_link: Option<&str>) {
    out.push(b']');
    if let Some(next_link) = next_link {
        out.extend_from_slice(b",\"next\":\"");
        escape::json_text(out, next_link.as_bytes());
        out.push(b'"');
    }
    out.push(b'}');
}
