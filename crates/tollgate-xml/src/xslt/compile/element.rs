//! The attributes of an element of XSLT: that it has those it needs and no others, and what they say.

use super::vocabulary::{self, Role};
use super::{Compiler, SourceNode};
use crate::characters::split_name;
use crate::error::Error;
use crate::tree::NodeKind;
use crate::xslt::XSLT;
use crate::xslt::program::ExpandedName;

impl<'d> Compiler<'d> {
    /// The value of an attribute without a namespace.
    pub(super) fn attribute(&self, place: SourceNode, name: &str) -> Option<&'d str> {
        let document = self.document(place);
        let mut attributes = document.attributes(place.node);
        let found =
            attributes.find(|node| document.local_name(*node) == name && document.namespace_uri(*node).is_empty())?;
        Some(document.value(found))
    }

    /// The offset in the module of an attribute's value, if it is there as it is.
    pub(super) fn attribute_offset(&self, place: SourceNode, name: &str) -> Option<usize> {
        let document = self.document(place);
        let mut attributes = document.attributes(place.node);
        let found =
            attributes.find(|node| document.local_name(*node) == name && document.namespace_uri(*node).is_empty())?;
        document.source_offset(found)
    }

    /// The value of an attribute that the element has for sure: [`Compiler::is_known`] has looked.
    pub(super) fn required(&self, place: SourceNode, name: &str) -> &'d str {
        self.attribute(place, name).unwrap_or_default()
    }

    /// `yes` or `no`.
    pub(super) fn yes_or_no(&self, place: SourceNode, name: &str) -> Result<Option<bool>, Error> {
        match self.attribute(place, name).map(str::trim) {
            None => Ok(None),
            Some("yes") => Ok(Some(true)),
            Some("no") => Ok(Some(false)),
            Some(other) => Err(self.wrong(place, format!("`{name}` is `yes` or `no`, found `{other}`"))),
        }
    }

    /// The name in an attribute; without a prefix it is in no namespace (section 2.4).
    pub(super) fn name_attribute(&self, place: SourceNode, attribute: &str) -> Result<Option<ExpandedName>, Error> {
        self.attribute(place, attribute).map(|text| self.expanded(place, text.trim())).transpose()
    }

    pub(super) fn required_name(&self, place: SourceNode) -> Result<ExpandedName, Error> {
        match self.name_attribute(place, "name")? {
            Some(name) => Ok(name),
            None => Err(self.wrong(place, format!("`xsl:{}` needs the attribute `name`", self.local_name(place)))),
        }
    }

    /// A name with its prefix resolved.
    pub(super) fn expanded(&self, place: SourceNode, text: &str) -> Result<ExpandedName, Error> {
        let Some((prefix, local)) = split_name(text) else {
            return Err(self.wrong(place, format!("`{text}` is no name")));
        };
        if prefix.is_empty() {
            return Ok(("".into(), local.into()));
        }
        match self.document(place).lookup(place.node, prefix) {
            Some(uri) => Ok((uri.into(), local.into())),
            None => Err(self.wrong(place, format!("prefix `{prefix}` is not declared"))),
        }
    }

    /// Whether unknown elements may be from a later version here: the nearest element with a version has one beyond 1.0
    /// (section 2.5).
    pub(super) fn is_forwards(&self, place: SourceNode) -> bool {
        let document = self.document(place);
        let version = std::iter::once(place.node).chain(document.ancestors(place.node)).find_map(|element| {
            if document.kind(element) != NodeKind::Element {
                return None;
            }
            let is_xslt = document.namespace_uri(element) == XSLT;
            let is_sheet = is_xslt && matches!(document.local_name(element), "stylesheet" | "transform");
            let uri = if is_sheet { "" } else { XSLT };
            if is_xslt && !is_sheet {
                return None;
            }
            let mut attributes = document.attributes(element);
            attributes
                .find(|node| document.local_name(*node) == "version" && document.namespace_uri(*node) == uri)
                .map(|node| document.value(node))
        });
        // What is no number is no 1.0 either.
        version.is_some_and(|version| version.trim().parse::<f64>().is_ok_and(|version| version > 1.0))
    }

    /// Whether an element of XSLT is one of 1.0 in its place, with the attributes that it needs and no others; `false`
    /// if it is none and may be from a later version.
    pub(super) fn is_known(&self, place: SourceNode, role: Role) -> Result<bool, Error> {
        let name = self.local_name(place);
        let forwards = self.is_forwards(place);
        let Some(element) = vocabulary::known(name) else {
            if forwards {
                return Ok(false);
            }
            let hint = vocabulary::nearest(name).map(|near| format!(": did you mean `xsl:{near}`?"));
            let hint = hint.unwrap_or_default();
            return Err(self.wrong(place, format!("`xsl:{name}` is no element of XSLT 1.0{hint}")));
        };
        if !element.roles.contains(&role) {
            let where_ = match role {
                Role::TopLevel => "at the top of a stylesheet",
                Role::Instruction => "in a template",
                Role::Part | Role::Whole => "here",
            };
            return Err(self.wrong(place, format!("`xsl:{name}` has no place {where_}")));
        }
        let document = self.document(place);
        for attribute in document.attributes(place.node) {
            let attribute_name = document.local_name(attribute);
            match document.namespace_uri(attribute) {
                "" if element.has(attribute_name) || forwards => {}
                "" => {
                    let near = element.nearest(attribute_name);
                    let hint = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
                    let message = format!("`xsl:{name}` has no attribute `{attribute_name}`{hint}");
                    return Err(self.wrong(place, message));
                }
                XSLT => {
                    return Err(self.wrong(place, format!("`xsl:{attribute_name}` stands on literal elements only")));
                }
                // Attributes of other namespaces are for other programs.
                _ => {}
            }
        }
        for required in element.required {
            if self.attribute(place, required).is_none() {
                return Err(self.wrong(place, format!("`xsl:{name}` needs the attribute `{required}`")));
            }
        }
        Ok(true)
    }

    /// Checks that an element has no content.
    pub(super) fn check_empty(&self, place: SourceNode) -> Result<(), Error> {
        match self.document(place).first_child(place.node) {
            None => Ok(()),
            Some(_) => Err(self.wrong(place, format!("`xsl:{}` is empty", self.local_name(place)))),
        }
    }

    /// The elements in an element; comments and processing instructions mean nothing.
    pub(super) fn children(&self, place: SourceNode) -> impl Iterator<Item = SourceNode> + use<'d> {
        let document = self.document(place);
        let module = place.module;
        document
            .children(place.node)
            .filter(|node| matches!(document.kind(*node), NodeKind::Element | NodeKind::Text))
            .map(move |node| SourceNode { module, node })
    }

    pub(super) fn is_text(&self, place: SourceNode) -> bool {
        self.document(place).kind(place.node) == NodeKind::Text
    }

    /// The named sets of attributes in an attribute (section 7.1.4).
    pub(super) fn attribute_sets(&self, place: SourceNode, list: Option<&str>) -> Result<Vec<u32>, Error> {
        let names = list.unwrap_or_default().split_ascii_whitespace();
        let sets = names.map(|name| {
            let expanded = self.expanded(place, name)?;
            match self.sets.get(&expanded) {
                Some(set) => Ok(*set),
                None => Err(self.wrong(place, format!("there is no set of attributes `{name}`"))),
            }
        });
        sets.collect()
    }
}
