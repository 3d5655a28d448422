//! Verbose JSON of OData V2: everything below `d`, links as `__metadata` and `__deferred`.

use super::{Dialect, Object};
use crate::edm::Multiplicity;
use crate::escape;
use crate::number::write_integer;
use crate::stencil::outline::{Member, Outline};
use crate::stencil::program::Program;
use crate::stencil::{Expansion, FeedHead, Stencil};

/// The model does not say of what type a media entity's stream is.
const MEDIA_TYPE: &str = "application/octet-stream";

pub(crate) fn compile(stencil: &mut Stencil, outline: &Outline<'_>) {
    stencil.first = "{".to_owned();
    stencil.next = ",{".to_owned();
    stencil.document.text("{\"d\":{");
    stencil.document_end = "}";
    stencil.end.text("}");
    let Stencil { begin, key, etag, .. } = stencil;
    let mut object = Object::empty(begin);
    let metadata = object.name(&["__metadata"]);
    metadata.text("{\"id\":\"").root().address(key).text("\",\"uri\":\"").root().address(key);
    metadata.texts(&["\",\"type\":\"", &outline.type_name(), "\""]);
    if let Some(etag) = etag {
        metadata.text(",\"etag\":\"W/\\\"").append(etag).text("\\\"\"");
    }
    if outline.entity_type.media {
        metadata.texts(&[",\"content_type\":\"", MEDIA_TYPE, "\",\"media_src\":\""]).root().address(key);
        metadata.text("/$value\",\"edit_media\":\"").root().address(key).text("/$value\"");
    }
    metadata.text("}");
    for member in outline.members() {
        write_member(&mut object, outline, &member);
    }
    for link in outline.links() {
        let deferred = object.name(&[&link.name]).text("{\"__deferred\":{\"uri\":\"");
        deferred.root().address(key).texts(&["/", &link.name, "\"}}"]);
    }
    for expand in outline.expand {
        let navigation = &outline.entity_type.navigation[expand.navigation.0];
        let many = navigation.multiplicity == Multiplicity::Many;
        let mut begin = Program::default();
        Object::empty(&mut begin).name(&[&navigation.name]).text(if many { "{\"results\":[" } else { "" });
        stencil.expansions.push(Expansion {
            separator: ",",
            begin,
            nothing: if many { "" } else { "null" },
            end: if many { "]}" } else { "" }.into(),
            child: Stencil::compile(outline.model, expand.target, stencil.format, &expand.select, &[]),
        });
    }
}

fn write_member(object: &mut Object<'_>, outline: &Outline<'_>, member: &Member<'_>) {
    match member {
        Member::Primitive(field) => object.field(Dialect::V2, *field),
        Member::Complex { name, complex, fields } => {
            let program = object.name(&[name]).text("{");
            let mut inner = Object::empty(program);
            inner.name(&["__metadata"]).texts(&["{\"type\":\"", &outline.complex_name(*complex), "\"}"]);
            for field in fields {
                inner.field(Dialect::V2, *field);
            }
            program.text("}");
        }
    }
}

pub(crate) fn compile_property(stencil: &mut Stencil, outline: &Outline<'_>, member: &Member<'_>) {
    stencil.begin.text("{\"d\":{");
    write_member(&mut Object::empty(&mut stencil.begin), outline, member);
    stencil.begin.text("}}");
}

pub(crate) fn feed_begin(out: &mut Vec<u8>, head: &FeedHead<'_>) {
    out.extend_from_slice(b"{\"d\":{");
    if let Some(count) = head.count {
        out.extend_from_slice(b"\"__count\":\"");
        write_integer(out, i64::try_from(count).unwrap_or(i64::MAX));
        out.extend_from_slice(b"\",");
    }
    out.extend_from_slice(b"\"results\":[");
}

pub(crate) fn feed_end(out: &mut Vec<u8>, next_link: Option<&str>) {
    out.push(b']');
    if let Some(next_link) = next_link {
        out.extend_from_slice(b",\"__next\":\"");
        escape::json_text(out, next_link.as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"}}");
}
