//! Instructions carried out, one by one.

use super::Run;
use super::names::Made;
use crate::budget::exceeded;
use crate::error::{Error, ErrorKind};
use crate::forest::Item;
use crate::xpath::evaluate::Context;
use crate::xpath::expression::Expression;
use crate::xslt::functions::DEFERRED;
use crate::xslt::program::{
    Action, Argument, Binding, Block, Ending, ForEach, Literal, LiteralName, MadeAttribute, MadeElement, Part,
    ValueTemplate,
};
use crate::xslt::result::{Escaping, Output, QualifiedName};

fn value_of<'e>(
    context: &Context<'e, '_>,
    select: &'e Expression,
    escaping: Escaping,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    output.text(&context.string(select)?, escaping)
}

/// The first block whose test is true.
fn chosen<'e>(
    context: &Context<'e, '_>,
    whens: &'e [(Expression, Block)],
    otherwise: &'e Block,
) -> Result<&'e Block, Error> {
    for (test, body) in whens {
        if context.boolean(test)? {
            return Ok(body);
        }
    }
    Ok(otherwise)
}

impl LiteralName {
    fn as_name(&self) -> QualifiedName<'_> {
        QualifiedName { prefix: &self.prefix, local: &self.local, uri: &self.uri }
    }
}

impl<'e> Run<'e> {
    /// Runs one instruction. Those with values of their own are in other functions, so that this costs little of the
    /// stack each time that templates call each other.
    pub(super) fn instruction(
        &self,
        context: &Context<'e, '_>,
        action: &'e Action,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        match action {
            Action::Text(text, escaping) => output.text(text, *escaping),
            Action::ValueOf(select, escaping) => value_of(context, select, *escaping, output),
            Action::Literal(literal) => self.literal(context, literal, output),
            Action::Choose(whens, otherwise) => match chosen(context, whens, otherwise) {
                Ok(body) => self.block(context, body, output),
                Err(error) => Err(error),
            },
            Action::ApplyTemplates(instruction) => self.apply_templates(context, instruction, output),
            Action::ApplyImports => self.apply_imports(context, output),
            Action::CallTemplate(template, arguments) => self.call_template(context, *template, arguments, output),
            Action::ForEach(instruction) => self.for_each(context, instruction, output),
            Action::CopyOf(select) => self.copy_of(context, select, output),
            Action::Copy(sets, body) => self.copy(context, sets, body, output),
            Action::Element(element) => self.made_element(context, element, output),
            Action::Attribute(attribute) => self.made_attribute(context, attribute, output),
            Action::Comment(body) => self.comment(context, body, output),
            Action::Instruction(name, body) => self.made_instruction(context, name, body, output),
            Action::Number(instruction) => self.number(context, instruction, output),
            Action::Variable(slot, binding) => self.variable_set(context, *slot, binding),
            Action::Parameter(slot, _) if self.variables.is_set(*slot) => Ok(()),
            Action::Parameter(slot, binding) => self.variable_set(context, *slot, binding),
            Action::Message(body, ending) => self.message(context, body, *ending),
            Action::Fallback(Some(block), _) => self.block(context, block, output),
            Action::Fallback(None, error) => Err(self.deferred(*error)),
        }
    }

    fn call_template(
        &self,
        context: &Context<'e, '_>,
        template: u32,
        arguments: &'e [Argument],
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let arguments = self.arguments(context, arguments)?;
        self.call(context, template, arguments, output)
    }

    fn comment(&self, context: &Context<'e, '_>, body: &'e Block, output: &mut Output<'_>) -> Result<(), Error> {
        let text = self.text_of(context, body)?;
        output.comment(&text)
    }

    fn variable_set(&self, context: &Context<'e, '_>, slot: u32, binding: &'e Binding) -> Result<(), Error> {
        let value = self.bound(context, binding)?;
        self.variables.set(slot, value);
        Ok(())
    }

    fn deferred(&self, number: u32) -> Error {
        self.program.deferred[(number & !DEFERRED) as usize].clone()
    }

    fn literal(&self, context: &Context<'e, '_>, literal: &'e Literal, output: &mut Output<'_>) -> Result<(), Error> {
        output.start_element(literal.name.as_name())?;
        for (prefix, uri) in &literal.declarations {
            output.namespace(prefix, uri);
        }
        for set in &literal.attribute_sets {
            self.attribute_set(context, *set, output)?;
        }
        for (name, value) in &literal.attributes {
            match value {
                ValueTemplate::Fixed(text) => output.attribute(name.as_name(), text)?,
                ValueTemplate::Parts(_) => output.attribute(name.as_name(), &self.template_text(context, value)?)?,
            }
        }
        self.block(context, &literal.body, output)?;
        output.end_element()
    }

    fn for_each(
        &self,
        context: &Context<'e, '_>,
        instruction: &'e ForEach,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let nodes = self.sorted(context, context.nodes(&instruction.select)?, &instruction.sorts)?;
        let before = self.current.get();
        // Within it there is no rule that imports could override (section 5.6).
        let rule = self.rule.take();
        for (index, item) in nodes.iter().enumerate() {
            context.environment.spend(1)?;
            self.current.set(*item);
            let context = Context { item: *item, position: index + 1, size: nodes.len(), ..*context };
            self.block(&context, &instruction.body, output)?;
        }
        self.rule.set(rule);
        self.current.set(before);
        Ok(())
    }

    /// Adds the attributes of a named set, those of the sets that it uses first (section 7.1.4).
    pub(super) fn attribute_set(
        &self,
        context: &Context<'e, '_>,
        set: u32,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        self.deeper()?;
        for part in &self.program.attribute_sets[set as usize].parts {
            for used in &part.uses {
                self.attribute_set(context, *used, output)?;
            }
            // Only variables of the stylesheet are visible in it.
            let frame = self.variables.enter(part.slots);
            let outcome = self.block(context, &part.body, output);
            self.variables.leave(frame);
            outcome?;
        }
        self.shallower();
        Ok(())
    }

    fn made_element(
        &self,
        context: &Context<'e, '_>,
        element: &'e MadeElement,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let written = self.template_text(context, &element.name)?;
        let namespace = match &element.namespace {
            Some(namespace) => Some(self.template_text(context, namespace)?),
            None => None,
        };
        let name = self.made_name(&written, namespace.as_deref(), element.scope, Made::Element)?;
        output.start_element(name)?;
        for set in &element.attribute_sets {
            self.attribute_set(context, *set, output)?;
        }
        self.block(context, &element.body, output)?;
        output.end_element()
    }

    fn made_attribute(
        &self,
        context: &Context<'e, '_>,
        attribute: &'e MadeAttribute,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let written = self.template_text(context, &attribute.name)?;
        let namespace = match &attribute.namespace {
            Some(namespace) => Some(self.template_text(context, namespace)?),
            None => None,
        };
        let name = self.made_name(&written, namespace.as_deref(), attribute.scope, Made::Attribute)?;
        let value = self.text_of(context, &attribute.body)?;
        output.attribute(name, &value)
    }

    fn made_instruction(
        &self,
        context: &Context<'e, '_>,
        name: &'e ValueTemplate,
        body: &'e Block,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let target = self.template_text(context, name)?;
        if !crate::characters::is_plain_name(&target) || target.eq_ignore_ascii_case("xml") {
            let message = format!("`{target}` is no target of a processing instruction");
            return Err(Error::new(ErrorKind::Dynamic, message));
        }
        let text = self.text_of(context, body)?;
        output.instruction(&target, text.trim_start())
    }

    fn message(&self, context: &Context<'e, '_>, body: &'e Block, ending: Ending) -> Result<(), Error> {
        let text = self.text_of(context, body)?;
        if ending == Ending::Terminate {
            return Err(Error::new(ErrorKind::Dynamic, format!("the stylesheet ended itself: {text}")));
        }
        let bytes = self.message_bytes.get() + text.len() + size_of::<String>();
        if bytes > self.budget.output_bytes_max {
            return Err(exceeded("bytes of messages", self.budget.output_bytes_max as u64));
        }
        self.message_bytes.set(bytes);
        self.messages.borrow_mut().push(text);
        Ok(())
    }

    /// The text that instructions make.
    pub(super) fn text_of(&self, context: &Context<'e, '_>, body: &'e Block) -> Result<String, Error> {
        let mut output = Output::text_only(self.budget, &context.environment.meter);
        self.block(context, body, &mut output)?;
        Ok(output.into_text())
    }

    /// The text of an attribute value template.
    pub(super) fn template_text(
        &self,
        context: &Context<'e, '_>,
        template: &'e ValueTemplate,
    ) -> Result<String, Error> {
        match template {
            ValueTemplate::Fixed(text) => Ok(text.to_string()),
            ValueTemplate::Parts(parts) => {
                let mut whole = String::new();
                for part in parts {
                    match part {
                        Part::Text(text) => whole.push_str(text),
                        Part::Value(expression) => {
                            whole.push_str(&context.string(expression)?);
                            context.environment.check_text(whole.len())?;
                        }
                    }
                }
                Ok(whole)
            }
        }
    }

    /// As [`Run::template_text`], for an attribute that may be absent.
    pub(super) fn optional_text(
        &self,
        context: &Context<'e, '_>,
        template: Option<&'e ValueTemplate>,
    ) -> Result<Option<String>, Error> {
        template.map(|template| self.template_text(context, template)).transpose()
    }

    /// The node that an item is.
    pub(super) fn view_of(&self, item: Item) -> crate::forest::View<'e> {
        self.forest.view(item.document)
    }
}
