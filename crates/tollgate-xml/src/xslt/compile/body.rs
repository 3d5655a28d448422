//! The contents of templates: texts, literal elements and instructions in order, variables as they come.

use super::scope::BodyScope;
use super::vocabulary::Role;
use super::{Compiler, SourceNode};
use crate::error::Error;
use crate::xslt::XSLT;
use crate::xslt::program::{Action, Argument, Binding, Block, ExpandedName, Instruction, Sort};
use crate::xslt::result::Escaping;

impl Compiler<'_> {
    /// The parameters at the beginning of a template; they are instructions of its body too.
    pub(super) fn parameters(
        &mut self,
        place: SourceNode,
        scope: &mut BodyScope,
    ) -> Result<Vec<(ExpandedName, u32)>, Error> {
        let mut parameters: Vec<(ExpandedName, u32)> = Vec::new();
        let children = self.children(place);
        for child in children.take_while(|child| self_is(self, *child, "param")).collect::<Vec<_>>() {
            let name = self.required_name(child)?;
            if parameters.iter().any(|(known, _)| *known == name) {
                return Err(self.wrong(child, format!("a second parameter has the name `{}`", name.1)));
            }
            // Slots are given in order, so that the body finds them by the same count.
            let slot = u32::try_from(parameters.len()).unwrap_or(u32::MAX);
            parameters.push((name, slot));
        }
        debug_assert_eq!(scope.slots_max, 0, "parameters come first");
        Ok(parameters)
    }

    /// The content of an element, as instructions. Variables end with it.
    pub(super) fn body(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Block, Error> {
        self.body_behind(place, scope, &[])
    }

    /// As [`Compiler::body`], without the elements of these names, which come before everything else.
    pub(super) fn body_behind(
        &mut self,
        place: SourceNode,
        scope: &mut BodyScope,
        skipped: &[&str],
    ) -> Result<Block, Error> {
        self.stack.check().map_err(|error| self.program.located(error, self.spot(place)))?;
        self.depth += 1;
        if self.depth > self.depth_max {
            return Err(self.wrong(place, "instructions stand too deep in each other"));
        }
        let mark = scope.mark();
        let mut block = Block::new();
        let is_template = self_is(self, place, "template");
        let mut begins = true;
        for child in self.children(place).collect::<Vec<_>>() {
            if begins && skipped.iter().any(|name| self_is(self, child, name)) {
                continue;
            }
            if self_is(self, child, "param") {
                if !(begins && is_template) {
                    return Err(self.wrong(child, "`xsl:param` stands first in a template, or at the top"));
                }
                block.push(self.parameter(child, scope)?);
                continue;
            }
            begins = false;
            block.extend(self.instruction(child, scope)?);
        }
        scope.reset(mark);
        self.depth -= 1;
        Ok(block)
    }

    fn parameter(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Instruction, Error> {
        self.is_known(place, Role::Part)?;
        let name = self.required_name(place)?;
        let value = self.binding(place, scope)?;
        let slot = scope.declare(name);
        Ok(Instruction { spot: self.spot(place), action: Action::Parameter(slot, value) })
    }

    /// `xsl:variable` in a template.
    pub(super) fn variable(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Action, Error> {
        let name = self.required_name(place)?;
        if scope.has(&name) {
            return Err(self.wrong(place, format!("`{}` is declared already", name.1)));
        }
        let value = self.binding(place, scope)?;
        Ok(Action::Variable(scope.declare(name), value))
    }

    /// The value of a variable or parameter (section 11.2).
    pub(super) fn binding(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Binding, Error> {
        let select = self.attribute(place, "select");
        let is_empty = self.children(place).next().is_none();
        match select {
            Some(_) if !is_empty => {
                let name = self.local_name(place);
                Err(self.wrong(place, format!("`xsl:{name}` has either the attribute `select` or content")))
            }
            Some(text) => Ok(Binding::Select(self.expression(place, "select", text, scope)?)),
            None if is_empty => Ok(Binding::Empty),
            None => Ok(Binding::Fragment(self.body(place, scope)?)),
        }
    }

    /// The `xsl:with-param` of an element, which may contain only these and the elements in `others`.
    pub(super) fn arguments(
        &mut self,
        place: SourceNode,
        scope: &mut BodyScope,
        others: &[&str],
    ) -> Result<Vec<Argument>, Error> {
        let mut arguments: Vec<Argument> = Vec::new();
        for child in self.children(place).collect::<Vec<_>>() {
            if self_is(self, child, "with-param") {
                self.is_known(child, Role::Part)?;
                let name = self.required_name(child)?;
                if arguments.iter().any(|known| known.name == name) {
                    return Err(self.wrong(child, format!("parameter `{}` is given twice", name.1)));
                }
                let value = self.binding(child, scope)?;
                arguments.push(Argument { name, value });
            } else if !others.iter().any(|name| self_is(self, child, name)) {
                let message = format!("`xsl:{}` holds no such thing", self.local_name(place));
                return Err(self.wrong(child, message));
            }
        }
        Ok(arguments)
    }

    /// The `xsl:sort` of an element.
    pub(super) fn sorts(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Vec<Sort>, Error> {
        let mut sorts = Vec::new();
        for child in self.children(place).collect::<Vec<_>>() {
            if !self_is(self, child, "sort") {
                continue;
            }
            self.is_known(child, Role::Part)?;
            self.check_empty(child)?;
            let select = self.attribute(child, "select").unwrap_or(".");
            let select = self.expression(child, "select", select, scope)?;
            let mut template = |name: &str| {
                let text = self.attribute(child, name);
                let offset = self.attribute_offset(child, name);
                text.map(|text| self.value_template(child, text, offset, scope)).transpose()
            };
            sorts.push(Sort {
                select,
                language: template("lang")?,
                data_type: template("data-type")?,
                order: template("order")?,
                case_order: template("case-order")?,
            });
        }
        Ok(sorts)
    }

    /// A text of the stylesheet.
    pub(super) fn text(&self, place: SourceNode) -> Option<Instruction> {
        let text = self.document(place).value(place.node);
        (!text.is_empty())
            .then(|| Instruction { spot: self.spot(place), action: Action::Text(text.into(), Escaping::Enabled) })
    }
}

/// Whether an element is the one of XSLT of this name.
pub(super) fn self_is(compiler: &Compiler<'_>, place: SourceNode, name: &str) -> bool {
    let document = compiler.document(place);
    document.local_name(place.node) == name && document.namespace_uri(place.node) == XSLT
}
