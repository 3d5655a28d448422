//! Declarations at the top of a stylesheet beside templates: variables, keys, output, white space, formats, sets of
//! attributes, aliases.

use super::body::self_is;
use super::scope::BodyScope;
use super::vocabulary::Role;
use super::{Alias, Compiler, SourceNode, TopLevel};
use crate::error::Error;
use crate::serialize::Method;
use crate::xslt::program::{
    AttributeSetPart, Block, ExpandedName, Global, GlobalKind, Instruction, SpaceRule, SpaceTest,
};

impl Compiler<'_> {
    /// A variable or parameter of the stylesheet.
    pub(super) fn global(&mut self, top: TopLevel, kind: GlobalKind) -> Result<(), Error> {
        let name = self.required_name(top.place)?;
        let (slot, precedence) = self.globals[&name];
        if precedence != top.precedence {
            // One of a higher precedence is in its place (section 11.4).
            return Ok(());
        }
        let mut scope = BodyScope::new(self.is_forwards(top.place));
        let value = self.binding(top.place, &mut scope)?;
        let spot = self.spot(top.place);
        self.program.globals[slot as usize] = Global { name, value, spot, kind, slots: scope.slots_max };
        Ok(())
    }

    pub(super) fn attribute_set(&mut self, top: TopLevel) -> Result<(), Error> {
        let place = top.place;
        let name = self.required_name(place)?;
        let uses = self.attribute_sets(place, self.attribute(place, "use-attribute-sets"))?;
        let mut scope = BodyScope::new(self.is_forwards(place));
        let mut body = Block::new();
        for child in self.children(place).collect::<Vec<_>>() {
            if !self_is(self, child, "attribute") {
                return Err(self.wrong(child, "`xsl:attribute-set` holds `xsl:attribute` only"));
            }
            self.is_known(child, Role::Instruction)?;
            let action = self.made_attribute(child, &mut scope)?;
            body.push(Instruction { spot: self.spot(child), action });
        }
        let set = self.sets[&name] as usize;
        self.program.attribute_sets[set].parts.push(AttributeSetPart { uses, body, slots: scope.slots_max });
        Ok(())
    }

    pub(super) fn key(&mut self, place: SourceNode) -> Result<(), Error> {
        self.check_empty(place)?;
        let name = self.required_name(place)?;
        let pattern = self.pattern(place, "match", self.required(place, "match"))?;
        let scope = BodyScope::new(self.is_forwards(place));
        let value = self.expression(place, "use", self.required(place, "use"), &scope)?;
        self.key_of(name).declarations.push((pattern, value));
        Ok(())
    }

    pub(super) fn space(&mut self, top: TopLevel, strips: bool) -> Result<(), Error> {
        let place = top.place;
        self.check_empty(place)?;
        for token in self.required(place, "elements").split_ascii_whitespace() {
            let test = match token.strip_suffix(":*") {
                _ if token == "*" => SpaceTest::Any,
                Some(prefix) => match self.document(place).lookup(place.node, prefix) {
                    Some(uri) => SpaceTest::Namespace(uri.into()),
                    None => return Err(self.wrong(place, format!("prefix `{prefix}` is not declared"))),
                },
                None => SpaceTest::Name(self.expanded(place, token)?),
            };
            self.space_rule(SpaceRule { test, strips, precedence: top.precedence });
        }
        Ok(())
    }

    pub(super) fn namespace_alias(&mut self, place: SourceNode) -> Result<(), Error> {
        self.is_known(place, Role::TopLevel)?;
        self.check_empty(place)?;
        let document = self.document(place);
        let resolved = |attribute: &str| {
            let written = self.required(place, attribute);
            let prefix = if written == "#default" { "" } else { written };
            match document.lookup(place.node, prefix) {
                Some(uri) => Ok((prefix, uri)),
                None if prefix.is_empty() => Ok(("", "")),
                None => Err(self.wrong(place, format!("prefix `{prefix}` is not declared"))),
            }
        };
        let (_, stylesheet_uri) = resolved("stylesheet-prefix")?;
        let (result_prefix, result_uri) = resolved("result-prefix")?;
        self.aliases.push(Alias {
            stylesheet_uri: stylesheet_uri.into(),
            result_uri: result_uri.into(),
            result_prefix: result_prefix.into(),
        });
        Ok(())
    }

    /// `xsl:output`: each attribute by itself, that of the highest precedence counts; lists are put together
    /// (section 16).
    pub(super) fn output(&mut self, top: TopLevel) -> Result<(), Error> {
        let place = top.place;
        self.check_empty(place)?;
        const SINGLE: [&str; 9] = [
            "method",
            "version",
            "encoding",
            "omit-xml-declaration",
            "standalone",
            "doctype-public",
            "doctype-system",
            "indent",
            "media-type",
        ];
        for attribute in SINGLE {
            let Some(text) = self.attribute(place, attribute) else { continue };
            // Top-level elements come in the order of precedence, so a later one always counts.
            self.output_precedences.insert(attribute, top.precedence);
            let yes = |compiler: &Self| compiler.yes_or_no(place, attribute);
            let text = Some(text.to_owned());
            match attribute {
                "method" => self.program.output.method = self.method(place, text.as_deref().unwrap_or_default())?,
                "version" => self.program.output.version = text,
                "encoding" => self.program.output.encoding = text,
                "omit-xml-declaration" => self.program.output.omit_xml_declaration = yes(self)?,
                "standalone" => self.program.output.standalone = yes(self)?,
                "doctype-public" => self.program.output.doctype_public = text,
                "doctype-system" => self.program.output.doctype_system = text,
                "indent" => self.program.output.indent = yes(self)?,
                _ => self.program.output.media_type = text,
            }
        }
        if let Some(list) = self.attribute(place, "cdata-section-elements") {
            for name in list.split_ascii_whitespace() {
                // Here a name without a prefix is in the default namespace (section 16.1).
                let (mut uri, local) = self.expanded(place, name)?;
                if !name.contains(':') {
                    uri = self.document(place).lookup(place.node, "").unwrap_or_default().into();
                }
                self.program.output.cdata_section_elements.push((uri.into(), local.into()));
            }
        }
        Ok(())
    }

    fn method(&self, place: SourceNode, text: &str) -> Result<Option<Method>, Error> {
        match text {
            "xml" => Ok(Some(Method::Xml)),
            "html" => Ok(Some(Method::Html)),
            "text" => Ok(Some(Method::Text)),
            _ => Err(self.wrong(place, format!("method `{text}` is not known: xml, html or text"))),
        }
    }

    pub(super) fn decimal_format(&mut self, top: TopLevel) -> Result<(), Error> {
        let place = top.place;
        self.check_empty(place)?;
        let name: ExpandedName = self.name_attribute(place, "name")?.unwrap_or_default();
        let mut format = crate::xslt::decimal::DecimalFormat::default();
        let characters = [
            ("decimal-separator", &mut format.decimal_separator),
            ("grouping-separator", &mut format.grouping_separator),
            ("minus-sign", &mut format.minus_sign),
            ("percent", &mut format.percent),
            ("per-mille", &mut format.per_mille),
            ("zero-digit", &mut format.zero_digit),
            ("digit", &mut format.digit),
            ("pattern-separator", &mut format.pattern_separator),
        ];
        for (attribute, character) in characters {
            let Some(text) = self.attribute(place, attribute) else { continue };
            let mut found = text.chars();
            match (found.next(), found.next()) {
                (Some(one), None) => *character = one,
                _ => return Err(self.wrong(place, format!("`{attribute}` is one character, found `{text}`"))),
            }
        }
        if let Some(text) = self.attribute(place, "infinity") {
            format.infinity = text.to_owned();
        }
        if let Some(text) = self.attribute(place, "NaN") {
            format.not_a_number = text.to_owned();
        }
        self.program.decimal_formats.insert(name, format);
        Ok(())
    }
}
