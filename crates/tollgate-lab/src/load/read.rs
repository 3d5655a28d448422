//! What a walk reads out of answers: where a list's entities are, and which entity an answer is.
//!
//! It takes documents as a client would meet them, whoever wrote them, and deliberately reads no more of them than links
//! and key properties.

mod json;
mod xml;

use super::target::resolve;
use crate::experiment::{ListFormat, RequestShape};

/// A collection's answer, or one page of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listing {
    /// Its entities in order.
    pub(super) entities: Vec<Entity>,
    /// Where the next page is.
    pub(super) next: Option<String>,
}

/// What says which entity this is, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entity {
    /// Where it is: relative to the list, or absolute. Empty where a single entity's answer does not say.
    pub(super) link: String,
    /// Its name for itself.
    id: Option<String>,
    /// The values of the key properties.
    key: Vec<String>,
}

/// Whether two answers are about the same entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sameness {
    /// They are.
    Same,
    /// Neither a key nor an id says so: the content is unverified.
    Unknown,
}

/// An entity as the formats give it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// `id`, `__metadata.uri`, `@odata.id`.
    id: Option<String>,
    /// A link to it that is not its id.
    link: Option<String>,
    /// Primitive properties as text.
    properties: Vec<(String, String)>,
}

/// A document as the formats give it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Document {
    /// What links are relative to, where the document says so.
    base: Option<String>,
    found: Vec<Found>,
    next: Option<String>,
}

/// Reads a list.
pub(super) fn list(shape: &RequestShape, body: &[u8]) -> Result<Listing, String> {
    let document = document(shape, body, Kind::List)?;
    let base = document.base.as_deref();
    let against_base = |link: &str| base.map_or_else(|| link.to_owned(), |base| resolve(&resolve("/", base), link));
    let mut entities = Vec::with_capacity(document.found.len());
    for (index, found) in document.found.iter().enumerate() {
        let link = match (&shape.detail, found.link.as_ref().or(found.id.as_ref())) {
            (Some(template), _) => fill(template, found)?,
            (None, Some(link)) => against_base(link),
            (None, None) => return Err(format!("entity {} of the list has no link", index + 1)),
        };
        entities.push(entity_of(found, link, shape)?);
    }
    Ok(Listing { entities, next: document.next.as_deref().map(against_base) })
}

/// Reads a single entity.
pub(super) fn entity(shape: &RequestShape, body: &[u8]) -> Result<Entity, String> {
    let document = document(shape, body, Kind::Single)?;
    let [found] = &document.found[..] else {
        return Err(format!("the answer has {} entities instead of one", document.found.len()));
    };
    entity_of(found, String::new(), shape)
}

impl Entity {
    /// Whether `other`, an answer, is this entity.
    ///
    /// # Errors
    /// What differs.
    pub(super) fn compare(&self, other: &Entity) -> Result<Sameness, String> {
        if self.key != other.key {
            return Err(format!("asked for ({}), came ({})", self.key.join(", "), other.key.join(", ")));
        }
        match (&self.id, &other.id) {
            (Some(ours), Some(theirs)) if ours != theirs => Err(format!("asked for {ours}, came {theirs}")),
            (Some(_), Some(_)) => Ok(Sameness::Same),
            _ if self.key.is_empty() => Ok(Sameness::Unknown),
            _ => Ok(Sameness::Same),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    Single,
}

fn document(shape: &RequestShape, body: &[u8], kind: Kind) -> Result<Document, String> {
    let text = std::str::from_utf8(body).map_err(|error| format!("the answer is not UTF-8: {error}"))?;
    match shape.format {
        Some(ListFormat::OdataV2Atom) => xml::atom(text),
        Some(ListFormat::Xml) => xml::plain(text, kind),
        Some(ListFormat::OdataV2Json) => json::v2(text, kind),
        Some(ListFormat::OdataV4Json) => json::v4(text, kind),
        Some(ListFormat::Json) => json::plain(text, kind),
        None => Err("the variant does not say how its list is read".to_owned()),
    }
}

fn entity_of(found: &Found, link: String, shape: &RequestShape) -> Result<Entity, String> {
    let key = shape.key.iter().map(|name| property(found, name).map(str::to_owned)).collect::<Result<_, _>>()?;
    Ok(Entity { link, id: found.id.clone(), key })
}

fn property<'a>(found: &'a Found, name: &str) -> Result<&'a str, String> {
    let property = found.properties.iter().find(|(known, _)| known == name);
    property.map(|(_, value)| value.as_str()).ok_or_else(|| format!("an entity has no property `{name}`"))
}

/// Puts an entity's properties into the braces of `template`, percent-encoded.
fn fill(template: &str, found: &Found) -> Result<String, String> {
    let mut link = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        link.push_str(before);
        for byte in property(found, name)?.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                link.push(char::from(byte));
            } else if byte == b'\'' {
                // Doubled, as OData's string literals want it; plain REST has none in braces of its own.
                link.push_str("%27%27");
            } else {
                link.push_str(&format!("%{byte:02X}"));
            }
        }
        rest = after;
    }
    link.push_str(rest);
    Ok(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(format: ListFormat, detail: Option<&str>, key: &[&str]) -> RequestShape {
        RequestShape {
            format: Some(format),
            detail: detail.map(str::to_owned),
            key: key.iter().map(|name| (*name).to_owned()).collect(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            contains: None,
        }
    }

    /// Links and keys of a list, and its next link.
    fn listed(shape: &RequestShape, body: &str) -> (Vec<(String, Vec<String>)>, Option<String>) {
        let listing = list(shape, body.as_bytes()).unwrap();
        (listing.entities.into_iter().map(|entity| (entity.link, entity.key)).collect(), listing.next)
    }

    fn pair(link: &str, key: &[&str]) -> (String, Vec<String>) {
        (link.to_owned(), key.iter().map(|value| (*value).to_owned()).collect())
    }

    #[test]
    fn an_atom_feed_gives_ids_edit_links_keys_and_the_next_page() {
        let feed = r#"<?xml version="1.0"?><feed xml:base="http://h/s/" xmlns="http://www.w3.org/2005/Atom"
            xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <id>http://h/s/Flights</id><link rel="self" href="Flights"/>
            <entry><id>http://h/s/Flights('A&amp;A')</id><link rel="edit" href="Flights('A&amp;A')"/>
            <link rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/Carrier" href="Flights('A')/Carrier"/>
            <content type="application/xml"><m:properties><d:carrid>A&amp;&#65;</d:carrid><d:details><d:carrid>no</d:carrid></d:details>
            <d:none m:null="true"/></m:properties></content></entry>
            <entry><id>http://h/s/Flights('B')</id><content><m:properties><d:carrid>B</d:carrid></m:properties></content></entry>
            <link rel="next" href="http://h/s/Flights?$skiptoken=2"/></feed>"#;
        assert_eq!(
            listed(&shape(ListFormat::OdataV2Atom, None, &["carrid"]), feed),
            (
                vec![pair("/s/Flights('A&A')", &["A&A"]), pair("/s/Flights('B')", &["B"])],
                Some("/s/Flights?$skiptoken=2".to_owned())
            )
        );
    }

    #[test]
    fn verbose_json_gives_uris_keys_and_the_next_page() {
        let body = r#"{"d":{"results":[{"__metadata":{"uri":"http://h/s/F('A')"},"carrid":"A","n":7,"x":null}],
            "__next":"http://h/s/F?$skiptoken='A'"}}"#;
        assert_eq!(
            listed(&shape(ListFormat::OdataV2Json, None, &["carrid", "n"]), body),
            (vec![pair("http://h/s/F('A')", &["A", "7"])], Some("http://h/s/F?$skiptoken='A'".to_owned()))
        );
        let body = r#"{"d":[{"__metadata":{"uri":"http://h/s/F('A')"},"carrid":"A"}]}"#;
        assert_eq!(listed(&shape(ListFormat::OdataV2Json, None, &["carrid"]), body).0.len(), 1);
    }

    #[test]
    fn v4_json_gives_ids_relative_to_its_context_or_a_link_by_its_key() {
        let body = r#"{"@odata.context":"http://h/v4/$metadata#F","value":[{"@odata.id":"F('A')","carrid":"A'B"}],
            "@odata.nextLink":"F?$skiptoken=1"}"#;
        assert_eq!(
            listed(&shape(ListFormat::OdataV4Json, None, &["carrid"]), body),
            (vec![pair("/v4/F('A')", &["A'B"])], Some("/v4/F?$skiptoken=1".to_owned()))
        );
        let minimal = shape(ListFormat::OdataV4Json, Some("F(carrid='{carrid}')"), &["carrid"]);
        assert_eq!(listed(&minimal, body).0, [pair("F(carrid='A%27%27B')", &["A'B"])]);
    }

    #[test]
    fn plain_json_and_xml_give_links_by_their_properties() {
        let expected = vec![pair("flights/A%20A/2011-06-01", &["A A"])];
        let detail = Some("flights/{carrid}/{fldate}");
        let json = shape(ListFormat::Json, detail, &["carrid"]);
        assert_eq!(listed(&json, r#"[{"carrid":"A A","fldate":"2011-06-01"}]"#).0, expected);
        let wrapped = r#"{"count":1,"flights":[{"carrid":"A A","fldate":"2011-06-01"}]}"#;
        assert_eq!(listed(&json, wrapped).0, expected);
        let xml = "<flights><flight><carrid>A A</carrid><fldate>2011-06-01</fldate><d><carrid>x</carrid></d></flight></flights>";
        assert_eq!(listed(&shape(ListFormat::Xml, detail, &["carrid"]), xml).0, expected);
    }

    #[test]
    fn a_single_entity_is_compared_with_the_one_of_the_list() {
        let check = |format: ListFormat, body: &str, expected: Result<Sameness, &str>| {
            let shape = shape(format, None, &["carrid"]);
            let asked =
                Entity { link: String::new(), id: Some("http://h/F('A')".to_owned()), key: vec!["A".to_owned()] };
            let came = entity(&shape, body.as_bytes()).and_then(|came| asked.compare(&came));
            assert_eq!(came, expected.map_err(str::to_owned), "{body}");
        };
        check(ListFormat::OdataV4Json, r#"{"carrid":"A"}"#, Ok(Sameness::Same));
        check(ListFormat::Json, r#"{"carrid":"B"}"#, Err("asked for (A), came (B)"));
        check(ListFormat::Json, r#"{"x":"B"}"#, Err("an entity has no property `carrid`"));
        check(
            ListFormat::OdataV2Json,
            r#"{"d":{"__metadata":{"uri":"http://h/F('B')"},"carrid":"A"}}"#,
            Err("asked for http://h/F('A'), came http://h/F('B')"),
        );
        check(ListFormat::Xml, "<flight><carrid>A</carrid></flight>", Ok(Sameness::Same));
        check(
            ListFormat::OdataV2Atom,
            r#"<entry xmlns="http://www.w3.org/2005/Atom"><id>http://h/F('A')</id><content><properties><carrid>A</carrid></properties></content></entry>"#,
            Ok(Sameness::Same),
        );
        check(ListFormat::OdataV2Atom, "<feed></feed>", Err("the answer has 0 entities instead of one"));
    }

    #[test]
    fn without_key_and_id_nothing_is_verified() {
        let shape = shape(ListFormat::Json, None, &[]);
        let one = entity(&shape, b"{\"a\":1}").unwrap();
        assert_eq!(one.compare(&one), Ok(Sameness::Unknown));
    }

    proptest::proptest! {
        #[test]
        fn no_answer_whatever_its_bytes_breaks_the_reader(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..20),
        ) {
            let body = pieces.concat();
            for format in [
                ListFormat::Json, ListFormat::Xml, ListFormat::OdataV2Atom, ListFormat::OdataV2Json, ListFormat::OdataV4Json,
            ] {
                let shape = shape(format, Some("{a}"), &["a"]);
                drop((list(&shape, body.as_bytes()), entity(&shape, body.as_bytes())));
            }
        }
    }

    /// What answers are made of, whole and broken.
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        "\"a\"",
        ":",
        ",",
        "\"value\"",
        "\"d\"",
        "\"results\"",
        "null",
        "1",
        "\"@odata.id\"",
        "<feed>",
        "<entry>",
        "</entry>",
        "</feed>",
        "<id>",
        "</id>",
        "<a>",
        "</a>",
        "<link rel=\"edit\" href=\"x\"/>",
        "&amp;",
        "&#x110000;",
        "&#0;",
        "&none;",
        "<!DOCTYPE a>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<a b",
        "\u{0}",
        "x",
    ];

    #[test]
    fn what_is_no_document_is_refused() {
        for format in [ListFormat::Json, ListFormat::Xml, ListFormat::OdataV2Atom, ListFormat::OdataV4Json] {
            let shape = shape(format, Some("{a}"), &[]);
            for body in ["", "{", "<a><b></a>", "null", "{\"value\":3}", "\u{fffd}"] {
                let listed = list(&shape, body.as_bytes());
                assert!(listed.is_err() || listed.unwrap().entities.is_empty(), "{format:?} {body}");
            }
        }
        assert!(list(&shape(ListFormat::Json, None, &[]), &[0xff]).is_err());
    }
}
