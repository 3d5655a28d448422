//! Instructions (XSLT 1.0, sections 5 to 13), one by one.

use super::body::self_is;
use super::scope::BodyScope;
use super::vocabulary::Role;
use super::{Compiler, SourceNode};
use crate::error::{Error, ErrorKind};
use crate::xslt::numbering::Level;
use crate::xslt::program::{
    Action, ApplyTemplates, Block, Ending, ForEach, Instruction, MadeAttribute, MadeElement, NumberInstruction,
    ValueTemplate,
};
use crate::xslt::result::Escaping;

impl Compiler<'_> {
    /// The instruction of a text or an element in a template; `None` if it is from a later version and has no place.
    pub(super) fn instruction(
        &mut self,
        place: SourceNode,
        scope: &mut BodyScope,
    ) -> Result<Option<Instruction>, Error> {
        if self.is_text(place) {
            return Ok(self.text(place));
        }
        let spot = self.spot(place);
        let action = if self.is_xslt(place) {
            if self.is_known(place, Role::Instruction)? {
                match self.xslt(place, scope)? {
                    Some(action) => action,
                    None => return Ok(None),
                }
            } else {
                let name = self.local_name(place);
                self.fallback(place, scope, format!("`xsl:{name}` is no instruction of XSLT 1.0"))?
            }
        } else if self.is_extension(place) {
            let name = self.local_name(place);
            self.fallback(place, scope, format!("the extension `{name}` is not known here"))?
        } else {
            self.literal(place, scope)?
        };
        Ok(Some(Instruction { spot, action }))
    }

    /// An unknown instruction: its `xsl:fallback` elements, or an error when it is run (section 15).
    fn fallback(&mut self, place: SourceNode, scope: &mut BodyScope, message: String) -> Result<Action, Error> {
        let mut blocks: Option<Block> = None;
        for child in self.children(place).collect::<Vec<_>>() {
            if self_is(self, child, "fallback") {
                let body = self.body(child, scope)?;
                blocks.get_or_insert_default().extend(body);
            }
        }
        let error = self.program.located(Error::new(ErrorKind::Dynamic, message), self.spot(place));
        let error = self.deferred(error);
        Ok(Action::Fallback(blocks, error))
    }

    fn xslt(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Option<Action>, Error> {
        Ok(Some(match self.local_name(place) {
            "apply-imports" => {
                self.check_empty(place)?;
                Action::ApplyImports
            }
            "apply-templates" => self.apply_templates(place, scope)?,
            "attribute" => self.made_attribute(place, scope)?,
            "call-template" => self.call_template(place, scope)?,
            "choose" => self.choose(place, scope)?,
            "comment" => Action::Comment(self.body(place, scope)?),
            "copy" => {
                let sets = self.attribute_sets(place, self.attribute(place, "use-attribute-sets"))?;
                Action::Copy(sets, self.body(place, scope)?)
            }
            "copy-of" => {
                self.check_empty(place)?;
                Action::CopyOf(self.required_expression(place, "select", scope)?)
            }
            "element" => self.made_element(place, scope)?,
            // It means something only within what is not known.
            "fallback" => return Ok(None),
            "for-each" => {
                let select = self.required_expression(place, "select", scope)?;
                let sorts = self.sorts(place, scope)?;
                let body = self.body_behind(place, scope, &["sort"])?;
                Action::ForEach(Box::new(ForEach { select, sorts, body }))
            }
            "if" => {
                let test = self.required_expression(place, "test", scope)?;
                Action::Choose(vec![(test, self.body(place, scope)?)], Block::new())
            }
            "message" => {
                let ending = match self.yes_or_no(place, "terminate")? {
                    Some(true) => Ending::Terminate,
                    Some(false) | None => Ending::GoOn,
                };
                Action::Message(self.body(place, scope)?, ending)
            }
            "number" => self.number(place, scope)?,
            "processing-instruction" => {
                let name = self.required_template(place, "name", scope)?;
                Action::Instruction(name, self.body(place, scope)?)
            }
            "text" => {
                let document = self.document(place);
                if document.children(place.node).any(|child| document.kind(child) == crate::tree::NodeKind::Element) {
                    return Err(self.wrong(place, "`xsl:text` holds text only"));
                }
                let text = document.string_value(place.node);
                Action::Text(text.into(), self.escaping(place)?)
            }
            "value-of" => {
                self.check_empty(place)?;
                Action::ValueOf(self.required_expression(place, "select", scope)?, self.escaping(place)?)
            }
            _ => self.variable(place, scope)?,
        }))
    }

    fn escaping(&self, place: SourceNode) -> Result<Escaping, Error> {
        Ok(match self.yes_or_no(place, "disable-output-escaping")? {
            Some(true) => Escaping::Disabled,
            Some(false) | None => Escaping::Enabled,
        })
    }

    fn required_expression(
        &mut self,
        place: SourceNode,
        attribute: &str,
        scope: &BodyScope,
    ) -> Result<crate::xpath::expression::Expression, Error> {
        let text = self.required(place, attribute);
        self.expression(place, attribute, text, scope)
    }

    fn required_template(
        &mut self,
        place: SourceNode,
        attribute: &str,
        scope: &BodyScope,
    ) -> Result<ValueTemplate, Error> {
        let text = self.required(place, attribute);
        let offset = self.attribute_offset(place, attribute);
        self.value_template(place, text, offset, scope)
    }

    fn optional_template(
        &mut self,
        place: SourceNode,
        attribute: &str,
        scope: &BodyScope,
    ) -> Result<Option<ValueTemplate>, Error> {
        match self.attribute(place, attribute) {
            Some(_) => Ok(Some(self.required_template(place, attribute, scope)?)),
            None => Ok(None),
        }
    }

    fn apply_templates(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Action, Error> {
        let select = match self.attribute(place, "select") {
            Some(text) => Some(self.expression(place, "select", text, scope)?),
            None => None,
        };
        let mode = self.name_attribute(place, "mode")?;
        let mode = self.mode(mode);
        let sorts = self.sorts(place, scope)?;
        let arguments = self.arguments(place, scope, &["sort"])?;
        Ok(Action::ApplyTemplates(Box::new(ApplyTemplates { select, mode, sorts, arguments })))
    }

    fn call_template(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Action, Error> {
        let name = self.required_name(place)?;
        let Some((template, _)) = self.named_templates.get(&name).copied() else {
            return Err(self.wrong(place, format!("there is no template of the name `{}`", name.1)));
        };
        let arguments = self.arguments(place, scope, &[])?;
        Ok(Action::CallTemplate(template, arguments))
    }

    fn choose(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Action, Error> {
        let mut whens = Vec::new();
        let mut otherwise = None;
        for child in self.children(place).collect::<Vec<_>>() {
            let is_when = self_is(self, child, "when");
            if !is_when && !self_is(self, child, "otherwise") {
                return Err(self.wrong(child, "`xsl:choose` holds `xsl:when` and `xsl:otherwise` only"));
            }
            if otherwise.is_some() {
                return Err(self.wrong(child, "nothing stands behind `xsl:otherwise`"));
            }
            self.is_known(child, Role::Part)?;
            if is_when {
                let test = self.required_expression(child, "test", scope)?;
                whens.push((test, self.body(child, scope)?));
            } else {
                otherwise = Some(self.body(child, scope)?);
            }
        }
        if whens.is_empty() {
            return Err(self.wrong(place, "`xsl:choose` needs at least one `xsl:when`"));
        }
        Ok(Action::Choose(whens, otherwise.unwrap_or_default()))
    }

    fn made_element(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Action, Error> {
        Ok(Action::Element(Box::new(MadeElement {
            name: self.required_template(place, "name", scope)?,
            namespace: self.optional_template(place, "namespace", scope)?,
            scope: self.scope_number(place),
            attribute_sets: self.attribute_sets(place, self.attribute(place, "use-attribute-sets"))?,
            body: self.body(place, scope)?,
        })))
    }

    pub(super) fn made_attribute(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Action, Error> {
        Ok(Action::Attribute(Box::new(MadeAttribute {
            name: self.required_template(place, "name", scope)?,
            namespace: self.optional_template(place, "namespace", scope)?,
            scope: self.scope_number(place),
            body: self.body(place, scope)?,
        })))
    }

    fn number(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Action, Error> {
        self.check_empty(place)?;
        let level = match self.attribute(place, "level") {
            None | Some("single") => Level::Single,
            Some("multiple") => Level::Multiple,
            Some("any") => Level::Any,
            Some(other) => {
                let message = format!("`level` is `single`, `multiple` or `any`, found `{other}`");
                return Err(self.wrong(place, message));
            }
        };
        let mut pattern = |name: &str| match self.attribute(place, name) {
            Some(text) => self.pattern(place, name, text).map(Some),
            None => Ok(None),
        };
        let (count, from) = (pattern("count")?, pattern("from")?);
        let value = match self.attribute(place, "value") {
            Some(text) => Some(self.expression(place, "value", text, scope)?),
            None => None,
        };
        let format = self.optional_template(place, "format", scope)?;
        // Languages other than those of the letters are not told apart; a template there is still checked.
        self.optional_template(place, "lang", scope)?;
        Ok(Action::Number(Box::new(NumberInstruction {
            value,
            level,
            count,
            from,
            format: format.unwrap_or(ValueTemplate::Fixed("1".into())),
            letter_value: self.optional_template(place, "letter-value", scope)?,
            grouping_separator: self.optional_template(place, "grouping-separator", scope)?,
            grouping_size: self.optional_template(place, "grouping-size", scope)?,
        })))
    }
}
