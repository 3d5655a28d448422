//! From the modules of a stylesheet to a [`Program`]: names resolved, expressions compiled, everything unknown refused with
//! its place, unless the recommendation defers the error (sections 2.5 and 15).

mod body;
mod declarations;
mod element;
mod instruction;
mod literal;
mod scope;
pub(crate) mod vocabulary;

use std::collections::HashMap;

use super::XSLT;
use super::load::{Modules, Sheet};
use super::pattern::Pattern;
use super::program::{
    AttributeSet, Block, ExpandedName, Global, GlobalKind, Key, Program, ScopeOf, SpaceRule, Spot, Template,
};
use super::rules::{Rule, Rules};
use crate::budget::{Budget, Stack};
use crate::error::{Error, ErrorKind};
use crate::forest::NameTable;
use crate::names::number;
use crate::serialize::OutputSettings;
use crate::tree::{Document, NodeId};

/// Compiles a stylesheet.
pub(super) fn compile(sheet: &Sheet, modules: Modules, budget: &Budget) -> Result<Program, Error> {
    let Modules { documents, modules } = modules;
    let mut compiler = Compiler {
        documents: &documents,
        program: Program {
            modules,
            names: NameTable::default(),
            output: OutputSettings::default(),
            templates: Vec::new(),
            modes: Vec::new(),
            globals: Vec::new(),
            keys: Vec::new(),
            decimal_formats: HashMap::new(),
            attribute_sets: Vec::new(),
            spaces: Vec::new(),
            deferred: Vec::new(),
            scopes: Vec::new(),
        },
        found: Vec::new(),
        aliases: Vec::new(),
        named_templates: HashMap::new(),
        globals: HashMap::new(),
        sets: HashMap::new(),
        modes: vec![(ExpandedName::default(), Vec::new())],
        output_precedences: HashMap::new(),
        depth: 0,
        depth_max: budget.depth_max,
        stack: Stack::new(budget.stack_bytes_max),
    };
    let mut next_precedence = 0;
    compiler.collect(sheet, &mut next_precedence);
    compiler.names()?;
    compiler.contents()?;
    compiler.finish()
}

struct Compiler<'d> {
    documents: &'d [Document<'static>],
    program: Program,
    /// The top-level elements, those of the least precedence first.
    found: Vec<TopLevel>,
    /// Namespace of the stylesheet, namespace and prefix of the result, precedence (section 7.1.1).
    aliases: Vec<Alias>,
    named_templates: HashMap<ExpandedName, (u32, u32)>,
    globals: HashMap<ExpandedName, (u32, u32)>,
    sets: HashMap<ExpandedName, u32>,
    modes: Vec<(ExpandedName, Vec<Rule>)>,
    /// The precedence that set each attribute of `xsl:output`.
    output_precedences: HashMap<&'static str, u32>,
    depth: usize,
    depth_max: usize,
    stack: Stack,
}

struct Alias {
    stylesheet_uri: Box<str>,
    result_uri: Box<str>,
    result_prefix: Box<str>,
}

/// An element at the top of a stylesheet.
#[derive(Debug, Clone, Copy)]
struct TopLevel {
    place: SourceNode,
    precedence: u32,
    least_imported: u32,
}

/// An element of a module.
#[derive(Debug, Clone, Copy)]
struct SourceNode {
    module: u32,
    node: NodeId,
}

impl<'d> Compiler<'d> {
    /// Numbers stylesheets by precedence (section 2.6.2): what is imported comes before who imports it.
    fn collect(&mut self, sheet: &Sheet, next_precedence: &mut u32) {
        let least_imported = *next_precedence;
        for imported in &sheet.imports {
            self.collect(imported, next_precedence);
        }
        let precedence = *next_precedence;
        *next_precedence += 1;
        for part in &sheet.parts {
            for node in &part.elements {
                let place = SourceNode { module: number(part.module), node: *node };
                self.found.push(TopLevel { place, precedence, least_imported });
            }
        }
    }

    fn document(&self, place: SourceNode) -> &'d Document<'static> {
        &self.documents[place.module as usize]
    }

    fn spot(&self, place: SourceNode) -> Spot {
        let offset = self.document(place).source_offset(place.node).unwrap_or(0);
        Spot { module: place.module, offset: number(offset) }
    }

    fn wrong(&self, place: SourceNode, message: impl Into<String>) -> Error {
        self.program.located(Error::new(ErrorKind::Static, message), self.spot(place))
    }

    fn is_xslt(&self, place: SourceNode) -> bool {
        self.document(place).namespace_uri(place.node) == XSLT
    }

    fn local_name(&self, place: SourceNode) -> &'d str {
        self.document(place).local_name(place.node)
    }

    /// Everything that has a name, before anything that may use it.
    fn names(&mut self) -> Result<(), Error> {
        for (module, document) in (0_u32..).zip(self.documents) {
            if let Some(node) = document.document_element() {
                let place = SourceNode { module, node };
                if self.is_xslt(place) {
                    self.is_known(place, vocabulary::Role::Whole)?;
                }
            }
        }
        for index in 0..self.found.len() {
            let TopLevel { place, precedence, .. } = self.found[index];
            if !self.is_xslt(place) {
                continue;
            }
            match self.local_name(place) {
                "template" => {
                    if let Some(name) = self.name_attribute(place, "name")? {
                        let template = number(index);
                        self.keep_named(place, precedence, name, template)?;
                    }
                }
                "variable" | "param" => {
                    let name = self.required_name(place)?;
                    if let Some((_, before)) = self.globals.get(&name)
                        && *before == precedence
                    {
                        return Err(self.wrong(place, format!("`{}` is declared twice", name.1)));
                    }
                    let slot = self.globals.get(&name).map_or(number(self.globals.len()), |(slot, _)| *slot);
                    self.globals.insert(name, (slot, precedence));
                }
                "attribute-set" => {
                    let name = self.required_name(place)?;
                    let next = number(self.sets.len());
                    self.sets.entry(name).or_insert_with(|| {
                        self.program.attribute_sets.push(AttributeSet { parts: Vec::new() });
                        next
                    });
                }
                "namespace-alias" => self.namespace_alias(place)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn keep_named(&mut self, place: SourceNode, precedence: u32, name: ExpandedName, index: u32) -> Result<(), Error> {
        match self.named_templates.get(&name) {
            Some((_, before)) if *before == precedence => {
                Err(self.wrong(place, format!("a second template has the name `{}`", name.1)))
            }
            _ => {
                self.named_templates.insert(name, (index, precedence));
                Ok(())
            }
        }
    }

    /// Compiles every top-level element.
    fn contents(&mut self) -> Result<(), Error> {
        // Templates are numbered before their bodies name each other.
        let mut templates = HashMap::new();
        for (index, top) in self.found.iter().enumerate() {
            let is_template = self.is_xslt(top.place) && self.local_name(top.place) == "template";
            let is_whole = !self.is_xslt(top.place) && self.is_document_element(top.place);
            if is_template || is_whole {
                let next = number(templates.len());
                templates.insert(number(index), next);
            }
        }
        for (index, _) in self.named_templates.values_mut() {
            *index = templates[index];
        }
        for _ in 0..self.globals.len() {
            self.program.globals.push(Global {
                name: ExpandedName::default(),
                value: super::program::Binding::Empty,
                spot: Spot::default(),
                kind: GlobalKind::Variable,
                slots: 0,
            });
        }
        for index in 0..self.found.len() {
            let top = self.found[index];
            self.top_level(top, number(index))?;
        }
        Ok(())
    }

    fn is_document_element(&self, place: SourceNode) -> bool {
        self.document(place).document_element() == Some(place.node)
    }

    fn top_level(&mut self, top: TopLevel, order: u32) -> Result<(), Error> {
        let place = top.place;
        if !self.is_xslt(place) {
            if self.is_document_element(place) {
                return self.simplified(top, order);
            }
            // Elements of other namespaces are for other programs; without a namespace they are a mistake (section 2.2).
            if self.document(place).namespace_uri(place.node).is_empty() {
                let name = self.local_name(place);
                return Err(self.wrong(place, format!("`{name}` has no place at the top of a stylesheet")));
            }
            return Ok(());
        }
        if !self.is_known(place, vocabulary::Role::TopLevel)? {
            return Ok(());
        }
        match self.local_name(place) {
            "template" => self.template(top, order),
            "variable" => self.global(top, GlobalKind::Variable),
            "param" => self.global(top, GlobalKind::Parameter),
            "attribute-set" => self.attribute_set(top),
            "output" => self.output(top),
            "key" => self.key(place),
            "decimal-format" => self.decimal_format(top),
            "strip-space" => self.space(top, true),
            "preserve-space" => self.space(top, false),
            // Read before, when names were collected.
            _ => Ok(()),
        }
    }

    /// A stylesheet that is one literal result element: a template for the root (section 2.3).
    fn simplified(&mut self, top: TopLevel, order: u32) -> Result<(), Error> {
        let place = top.place;
        let document = self.document(place);
        let version = document
            .attributes(place.node)
            .find(|node| document.namespace_uri(*node) == XSLT && document.local_name(*node) == "version");
        if version.is_none() {
            let name = document.local_name(place.node);
            return Err(self.wrong(place, format!("`{name}` is no stylesheet: neither xsl:stylesheet nor xsl:version")));
        }
        let mut scope = scope::BodyScope::new(self.is_forwards(place));
        let instruction = self.instruction(place, &mut scope)?;
        let body = instruction.into_iter().collect();
        let pattern = self.pattern_text("/", place)?;
        self.add_template(body, Vec::new(), scope.slots_max, top);
        self.add_rules(pattern, None, 0, top, order)
    }

    fn add_template(&mut self, body: Block, parameters: Vec<(ExpandedName, u32)>, slots: u32, top: TopLevel) {
        self.program.templates.push(Template {
            body,
            parameters,
            slots,
            precedence: top.precedence,
            least_imported: top.least_imported,
        });
    }

    fn add_rules(
        &mut self,
        pattern: Pattern,
        priority: Option<f64>,
        mode: u32,
        top: TopLevel,
        order: u32,
    ) -> Result<(), Error> {
        let template = number(self.program.templates.len() - 1);
        let spot = self.spot(top.place);
        for alternative in pattern.alternatives {
            let priority = priority.unwrap_or_else(|| alternative.default_priority());
            let rule = Rule { alternative, template, precedence: top.precedence, priority, order, spot };
            self.modes[mode as usize].1.push(rule);
        }
        Ok(())
    }

    fn template(&mut self, top: TopLevel, order: u32) -> Result<(), Error> {
        let place = top.place;
        let matches = self.attribute(place, "match");
        let mode = self.name_attribute(place, "mode")?;
        if matches.is_none() {
            if self.attribute(place, "name").is_none() {
                return Err(self.wrong(place, "a template needs the attribute `match` or `name`"));
            }
            for alone in ["mode", "priority"] {
                if self.attribute(place, alone).is_some() {
                    return Err(self.wrong(place, format!("a template without `match` has no `{alone}`")));
                }
            }
        }
        let priority = match self.attribute(place, "priority") {
            None => None,
            Some(text) => match crate::xpath::number::from_text(text) {
                number if number.is_nan() => return Err(self.wrong(place, format!("priority `{text}` is no number"))),
                number => Some(number),
            },
        };
        let mut scope = scope::BodyScope::new(self.is_forwards(place));
        let parameters = self.parameters(place, &mut scope)?;
        let body = self.body(place, &mut scope)?;
        self.add_template(body, parameters, scope.slots_max, top);
        if let Some(text) = matches {
            let pattern = self.pattern(place, "match", text)?;
            let mode = self.mode(mode);
            self.add_rules(pattern, priority, mode, top, order)?;
        }
        Ok(())
    }

    /// The number of a mode.
    fn mode(&mut self, name: Option<ExpandedName>) -> u32 {
        let name = name.unwrap_or_default();
        let known = self.modes.iter().position(|(known, _)| *known == name);
        number(known.unwrap_or_else(|| {
            self.modes.push((name, Vec::new()));
            self.modes.len() - 1
        }))
    }

    /// Checks that no set of attributes uses itself, directly or through others (section 7.1.4).
    fn check_attribute_sets(&self) -> Result<(), Error> {
        let sets = &self.program.attribute_sets;
        // Sets whose uses all end are taken away until none is left; what stays uses itself.
        let mut ends = vec![false; sets.len()];
        loop {
            let next = (0..sets.len())
                .filter(|set| !ends[*set])
                .find(|set| sets[*set].parts.iter().flat_map(|part| &part.uses).all(|used| ends[*used as usize]));
            match next {
                Some(set) => ends[set] = true,
                None => break,
            }
        }
        let circle = self.found.iter().find(|top| {
            let is_set = self.is_xslt(top.place) && self.local_name(top.place) == "attribute-set";
            let name = if is_set { self.required_name(top.place).ok() } else { None };
            name.is_some_and(|name| !ends[self.sets[&name] as usize])
        });
        match circle {
            Some(top) => Err(self.wrong(top.place, "a set of attributes uses itself, or one that does")),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Program, Error> {
        self.check_attribute_sets()?;
        let names = self.program.names.count();
        self.program.modes = self.modes.drain(..).map(|(_, rules)| Rules::new(rules, names)).collect();
        self.program.decimal_formats.entry(ExpandedName::default()).or_default();
        Ok(self.program)
    }

    /// The number of the declarations in scope at an element.
    fn scope_number(&mut self, place: SourceNode) -> u32 {
        let document = self.document(place);
        let declarations = document
            .namespaces_in_scope(place.node)
            .map(|found| (document.prefix_text(found.prefix).into(), document.namespace_text(found.namespace).into()))
            .collect();
        let scope = ScopeOf { module: place.module, declarations };
        let known = self.program.scopes.iter().position(|known| *known == scope);
        number(known.unwrap_or_else(|| {
            self.program.scopes.push(scope);
            self.program.scopes.len() - 1
        }))
    }

    fn space_rule(&mut self, rule: SpaceRule) {
        self.program.spaces.push(rule);
    }

    fn key_of(&mut self, name: ExpandedName) -> &mut Key {
        let known = self.program.keys.iter().position(|key| key.name == name);
        let index = known.unwrap_or_else(|| {
            self.program.keys.push(Key { name, declarations: Vec::new() });
            self.program.keys.len() - 1
        });
        &mut self.program.keys[index]
    }
}
