//! Atom of OData V2, written as SAP Gateway does: links relative to `xml:base`, no `m:type` on primitives, the
//! association as a link's title.

use super::RELATED;
use crate::edm::{Multiplicity, NavigationProperty, Version};
use crate::escape;
use crate::number::write_integer;
use crate::stencil::cell::Form;
use crate::stencil::element::{self, XmlDialect};
use crate::stencil::outline::{Member, Outline};
use crate::stencil::program::Program;
use crate::stencil::{Base, Content, Expansion, FeedHead, NextLink, Notation, Stencil, Whole};
use crate::syntax::tag;

const NAMESPACES: &str = " xmlns=\"http://www.w3.org/2005/Atom\" \
     xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\" \
     xmlns:d=\"http://schemas.microsoft.com/ado/2007/08/dataservices\"";
const PROPERTY_NAMESPACES: &str = " xmlns:d=\"http://schemas.microsoft.com/ado/2007/08/dataservices\" \
     xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\"";
const DATA_SERVICES: &str = "http://schemas.microsoft.com/ado/2007/08/dataservices";
const SCHEME: &str = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme";

/// Atom of OData V2.
#[derive(Debug)]
pub(crate) struct Atom;

impl Notation for Atom {
    fn entities(&self, stencil: &mut Stencil, outline: &Outline<'_>) {
        compile(stencil, outline);
    }

    fn value(&self, stencil: &mut Stencil, outline: &Outline<'_>, _: Whole<'_>, member: &Member<'_>) {
        compile_property(stencil, outline, member);
    }

    fn references(&self, stencil: &mut Stencil, _: &Outline<'_>) {
        compile_references(stencil);
    }

    fn feed_begin(&self, out: &mut Vec<u8>, stencil: &Stencil, base: &Base<'_>, head: &FeedHead<'_>) {
        match stencil.content {
            Content::Entities => feed_begin(out, stencil, base, head),
            Content::References => references_begin(out, head),
        }
    }

    fn feed_end(&self, out: &mut Vec<u8>, stencil: &Stencil, next_link: Option<&str>) {
        match stencil.content {
            Content::Entities => feed_end(out, next_link),
            Content::References => references_end(out, next_link),
        }
    }
}

fn compile(stencil: &mut Stencil, outline: &Outline<'_>) {
    stencil.first = "<entry".to_owned();
    stencil.next = "<entry".to_owned();
    stencil.document.texts(&[tag::DECLARATION, "<entry xml:base=\""]).root().texts(&["\"", NAMESPACES]);
    let Stencil { begin, end, key, etag, .. } = stencil;
    let entity_type = outline.entity_type;
    if let Some(etag) = etag {
        begin.text(" m:etag=\"W/&quot;").append(etag).text("&quot;\"");
    }
    begin.text("><id>").root().address(key).text("</id><title type=\"text\">").address(key);
    begin.text("</title><updated>").updated().text("</updated>");
    begin.texts(&["<category term=\"", &outline.type_name(), "\" scheme=\"", SCHEME, "\"/>"]);
    begin.text("<link href=\"").address(key).texts(&["\" rel=\"edit\" title=\"", &entity_type.name, "\"/>"]);
    for (_, navigation) in outline.links() {
        link(begin, outline, key, navigation, "/>");
    }
    if entity_type.media {
        end.text("<content type=\"")
            .append(&outline.media_type(Form::XmlAttribute))
            .text("\" src=\"")
            .address(key)
            .text("/$value\"/><m:properties>");
    } else {
        end.text("<content type=\"application/xml\"><m:properties>");
    }
    for member in outline.members(Version::V2) {
        match member {
            Member::Primitive(field) => element::element(end, XmlDialect::V2, field, ""),
            Member::Complex { name, complex, fields } => {
                element::complex(end, XmlDialect::V2, name, &fields, &type_attribute(&outline.complex_name(complex)));
            }
        }
    }
    end.text(if entity_type.media { "</m:properties></entry>" } else { "</m:properties></content></entry>" });
    for expand in outline.expand {
        let navigation = &entity_type.navigation[expand.navigation.0];
        let many = navigation.multiplicity == Multiplicity::Many;
        let mut begin = Program::default();
        link(&mut begin, outline, &stencil.key, navigation, "><m:inline>");
        if many {
            let title = &outline.model.entity_sets[expand.target.0].name;
            begin.texts(&["<feed><title type=\"text\">", title, "</title><id>"]).root().address(&stencil.key);
            begin.texts(&["/", &navigation.name, "</id><updated>"]).updated().text("</updated>");
        }
        stencil.expansions.push(Expansion {
            by: None,
            separator: "",
            begin,
            nothing: "",
            list_end: "",
            next: many.then(|| NextLink {
                path: format!("/{}", navigation.name),
                before: "<link rel=\"next\" href=\"".to_owned(),
                after: "\"/>",
                escape: escape::xml_attribute,
            }),
            end: if many { "</feed></m:inline></link>" } else { "</m:inline></link>" }.into(),
            total: None,
            child: stencil.child(outline, expand),
        });
    }
}

fn link(program: &mut Program, outline: &Outline<'_>, key: &Program, to: &NavigationProperty, end: &str) {
    let kind = if to.multiplicity == Multiplicity::Many { "feed" } else { "entry" };
    program.text("<link href=\"").address(key).texts(&["/", &to.name, "\" rel=\"", RELATED, &to.name]);
    program.texts(&["\" type=\"application/atom+xml;type=", kind, "\" title=\"", &outline.model.namespace]);
    program.texts(&[".", &to.association, "\"", end]);
}

fn type_attribute(name: &str) -> String {
    format!(" m:type=\"{name}\"")
}

fn compile_property(stencil: &mut Stencil, outline: &Outline<'_>, member: &Member<'_>) {
    let program = stencil.begin.text(tag::DECLARATION);
    match member {
        Member::Primitive(field) => element::element(program, XmlDialect::V2, *field, PROPERTY_NAMESPACES),
        Member::Complex { name, complex, fields } => {
            let attributes = format!("{PROPERTY_NAMESPACES}{}", type_attribute(&outline.complex_name(*complex)));
            element::complex(program, XmlDialect::V2, name, fields, &attributes);
        }
    }
}

/// References are `uri` elements of plain XML ([MS-ODATA] 2.2.6.2.6).
fn compile_references(stencil: &mut Stencil) {
    stencil.first = "<uri>".to_owned();
    stencil.next = "<uri>".to_owned();
    stencil.document.texts(&[tag::DECLARATION, "<uri xmlns=\"", DATA_SERVICES, "\">"]);
    stencil.begin.root().address(&stencil.key).text("</uri>");
}

fn references_begin(out: &mut Vec<u8>, head: &FeedHead<'_>) {
    for text in [tag::DECLARATION, "<links xmlns=\"", DATA_SERVICES, "\">"] {
        out.extend_from_slice(text.as_bytes());
    }
    if let Some(count) = head.count {
        for text in ["<m:count xmlns:m=\"", DATA_SERVICES, "/metadata\">"] {
            out.extend_from_slice(text.as_bytes());
        }
        write_integer(out, i64::try_from(count).unwrap_or(i64::MAX));
        out.extend_from_slice(b"</m:count>");
    }
}

fn references_end(out: &mut Vec<u8>, next_link: Option<&str>) {
    if let Some(next_link) = next_link {
        out.extend_from_slice(b"<next>");
        escape::xml_text(out, next_link.as_bytes());
        out.extend_from_slice(b"</next>");
    }
    out.extend_from_slice(b"</links>");
}

fn feed_begin(out: &mut Vec<u8>, stencil: &Stencil, base: &Base<'_>, head: &FeedHead<'_>) {
    let (root, title) = (base.service_root().as_bytes(), stencil.set_name.as_bytes());
    let path = |out: &mut Vec<u8>| escape::xml_attribute(out, head.path.as_bytes());
    out.extend_from_slice(tag::DECLARATION.as_bytes());
    out.extend_from_slice(b"<feed xml:base=\"");
    out.extend_from_slice(root);
    out.push(b'"');
    out.extend_from_slice(NAMESPACES.as_bytes());
    out.extend_from_slice(b"><id>");
    out.extend_from_slice(root);
    path(out);
    out.extend_from_slice(b"</id><title type=\"text\">");
    out.extend_from_slice(title);
    out.extend_from_slice(b"</title><updated>");
    out.extend_from_slice(base.updated().as_bytes());
    out.extend_from_slice(b"</updated><author><name/></author><link href=\"");
    path(out);
    out.extend_from_slice(b"\" rel=\"self\" title=\"");
    out.extend_from_slice(title);
    out.extend_from_slice(b"\"/>");
    if let Some(count) = head.count {
        out.extend_from_slice(b"<m:count>");
        write_integer(out, i64::try_from(count).unwrap_or(i64::MAX));
        out.extend_from_slice(b"</m:count>");
    }
}

fn feed_end(out: &mut Vec<u8>, next_link: Option<&str>) {
    if let Some(next_link) = next_link {
        out.extend_from_slice(b"<link rel=\"next\" href=\"");
        escape::xml_attribute(out, next_link.as_bytes());
        out.extend_from_slice(b"\"/>");
    }
    out.extend_from_slice(b"</feed>");
}
