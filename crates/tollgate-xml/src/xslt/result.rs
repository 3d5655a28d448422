//! The result being made (XSLT 1.0, section 7): elements whose attributes may still come, namespaces that must be declared
//! where they are used, and where it all goes.

use std::ops::Range;

use super::declared::{COMPARED_IN_A_STEP, Scope};
use crate::budget::{Budget, Meter};
use crate::characters::is_blank;
use crate::error::{Error, ErrorKind};
use crate::names::{Name, Namespace};
use crate::serialize::{Method, OutputSettings, XmlWriter, write_tree};
use crate::tree::{Builder, Document, NodeId, NodeKind, Origin, Value};

/// Steps that the tag of an element takes.
const TAG_STEPS: u64 = 8;
/// Steps that it takes to begin a tree.
const TREE_STEPS: u64 = 64;

/// A result being made.
pub(crate) struct Output<'o> {
    sink: Sink<'o>,
    budget: &'o Budget,
    meter: &'o Meter,
    pending: Pending,
    scope: Scope,
}

enum Sink<'o> {
    /// Written as it is made.
    Writer(Box<XmlWriter>),
    /// A fragment, or a result that cannot be written before it is whole.
    Tree(Box<Tree>),
    /// Only texts count: the content of an attribute, a comment or a processing instruction.
    Text(String),
    /// The first element decides the method (section 16): what came before it waits.
    Undecided(&'o OutputSettings, Vec<Early>),
}

/// Nodes that may come before the first element.
enum Early {
    Text(String, Escaping),
    Comment(String),
    Instruction(String, String),
}

struct Tree {
    builder: Builder<'static>,
    /// The text being gathered, among the builder's texts.
    text: Option<(Range<usize>, Escaping)>,
    /// Texts that are written as they are.
    raw: Vec<NodeId>,
}

/// Whether characters that mean markup are written as references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escaping {
    Enabled,
    /// `disable-output-escaping` (section 16.4).
    Disabled,
}

/// An expanded name with the prefix that is wished for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QualifiedName<'n> {
    pub(crate) prefix: &'n str,
    pub(crate) local: &'n str,
    pub(crate) uri: &'n str,
}

/// The element whose tag is not ended yet. Its texts are one behind the other and are used again for the next element.
#[derive(Default)]
struct Pending {
    is_open: bool,
    text: String,
    name: NameSpan,
    declarations: Vec<(Range<usize>, Range<usize>)>,
    attributes: Vec<(NameSpan, Range<usize>)>,
}

#[derive(Default, Clone)]
struct NameSpan {
    prefix: Range<usize>,
    local: Range<usize>,
    uri: Range<usize>,
}

impl Pending {
    /// With room for the usual element, so that it grows in no step.
    fn roomy() -> Pending {
        Pending {
            text: String::with_capacity(256),
            declarations: Vec::with_capacity(4),
            attributes: Vec::with_capacity(8),
            ..Pending::default()
        }
    }

    fn store(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    fn store_name(&mut self, name: QualifiedName<'_>) -> NameSpan {
        let (prefix, local, uri) = (self.store(name.prefix), self.store(name.local), self.store(name.uri));
        NameSpan { prefix, local, uri }
    }

    fn name(&self, span: &NameSpan) -> QualifiedName<'_> {
        QualifiedName {
            prefix: &self.text[span.prefix.clone()],
            local: &self.text[span.local.clone()],
            uri: &self.text[span.uri.clone()],
        }
    }
}

impl<'o> Output<'o> {
    /// A result that will be bytes.
    pub(crate) fn document(
        settings: &'o OutputSettings,
        budget: &'o Budget,
        meter: &'o Meter,
    ) -> Result<Output<'o>, Error> {
        let indents = settings.indent == Some(true);
        let sink = match settings.method {
            None => Sink::Undecided(settings, Vec::new()),
            Some(Method::Text) => Sink::Writer(Box::new(XmlWriter::texts(settings, budget.output_bytes_max)?)),
            Some(Method::Xml) if !indents => Sink::Writer(Box::new(XmlWriter::new(settings, budget.output_bytes_max)?)),
            Some(Method::Xml | Method::Html) => Sink::Tree(Box::new(Tree::new(budget))),
        };
        Ok(Output { sink, budget, meter, pending: Pending::roomy(), scope: Scope::roomy() })
    }

    /// A result tree fragment.
    ///
    /// # Errors
    /// The steps do not suffice for it.
    pub(crate) fn fragment(budget: &'o Budget, meter: &'o Meter) -> Result<Output<'o>, Error> {
        meter.spend(TREE_STEPS)?;
        let sink = Sink::Tree(Box::new(Tree::new(budget)));
        Ok(Output { sink, budget, meter, pending: Pending::default(), scope: Scope::default() })
    }

    /// The text of an attribute, a comment or a processing instruction.
    pub(crate) fn text_only(budget: &'o Budget, meter: &'o Meter) -> Output<'o> {
        Output { sink: Sink::Text(String::new()), budget, meter, pending: Pending::default(), scope: Scope::default() }
    }

    /// Whether only texts count here.
    pub(crate) fn is_text_only(&self) -> bool {
        matches!(self.sink, Sink::Text(_))
    }

    /// Begins an element; declarations and attributes follow.
    pub(crate) fn start_element(&mut self, name: QualifiedName<'_>) -> Result<(), Error> {
        self.end_tag()?;
        if let Sink::Undecided(..) = self.sink {
            let is_html = name.uri.is_empty() && name.local.eq_ignore_ascii_case("html");
            self.decide(if is_html { Method::Html } else { Method::Xml })?;
        }
        if self.is_text_only() {
            return Ok(());
        }
        self.meter.spend(TAG_STEPS)?;
        self.pending.text.clear();
        self.pending.declarations.clear();
        self.pending.attributes.clear();
        self.pending.name = self.pending.store_name(name);
        self.pending.is_open = true;
        Ok(())
    }

    /// Has the element just begun declare a namespace.
    pub(crate) fn namespace(&mut self, prefix: &str, uri: &str) {
        if self.pending.is_open {
            let declaration = (self.pending.store(prefix), self.pending.store(uri));
            self.pending.declarations.push(declaration);
        }
    }

    /// Adds an attribute to the element just begun, in place of one of the same name.
    ///
    /// Without such an element nothing is added: the recommendation lets a processor recover so (section 7.1.3).
    pub(crate) fn attribute(&mut self, name: QualifiedName<'_>, value: &str) -> Result<(), Error> {
        if !self.pending.is_open {
            return Ok(());
        }
        if value.len() > self.budget.text_bytes_max {
            return Err(crate::budget::exceeded("bytes of a value", self.budget.text_bytes_max as u64));
        }
        // It is compared with all before it.
        self.meter.spend(1 + (self.pending.attributes.len() / COMPARED_IN_A_STEP) as u64)?;
        self.meter.walk(value.len())?;
        // As bytes, which need not be whole characters wherever they are cut.
        let text = self.pending.text.as_bytes();
        let same = self.pending.attributes.iter().position(|(known, _)| {
            text[known.local.clone()] == *name.local.as_bytes() && text[known.uri.clone()] == *name.uri.as_bytes()
        });
        let value = self.pending.store(value);
        match same {
            Some(index) => self.pending.attributes[index].1 = value,
            None => {
                let name = self.pending.store_name(name);
                self.pending.attributes.push((name, value));
            }
        }
        Ok(())
    }

    /// Ends the innermost element.
    pub(crate) fn end_element(&mut self) -> Result<(), Error> {
        if self.is_text_only() {
            return Ok(());
        }
        self.end_tag()?;
        match &mut self.sink {
            Sink::Writer(writer) => writer.end(),
            Sink::Tree(tree) => {
                tree.end_text()?;
                tree.builder.close_element(0);
            }
            Sink::Text(_) | Sink::Undecided(..) => {}
        }
        if let Some((declarations, text)) = self.scope.starts.pop() {
            self.scope.declarations.truncate(declarations);
            self.scope.text.truncate(text);
        }
        Ok(())
    }

    /// Adds character data.
    pub(crate) fn text(&mut self, text: &str, escaping: Escaping) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        self.end_tag()?;
        self.meter.walk(text.len())?;
        if matches!(self.sink, Sink::Undecided(..)) && !is_blank(text) {
            self.decide(Method::Xml)?;
        }
        match &mut self.sink {
            Sink::Writer(writer) => match escaping {
                Escaping::Enabled => writer.text(text),
                Escaping::Disabled => writer.raw(text),
            },
            Sink::Tree(tree) => tree.text(text, escaping, self.budget.output_bytes_max),
            Sink::Text(gathered) => {
                gathered.push_str(text);
                if gathered.len() > self.budget.text_bytes_max {
                    return Err(crate::budget::exceeded("bytes of a text", self.budget.text_bytes_max as u64));
                }
                Ok(())
            }
            Sink::Undecided(_, early) => {
                early.push(Early::Text(text.to_owned(), escaping));
                Ok(())
            }
        }
    }

    /// Adds a comment. A space breaks `--` and an ending `-` (section 7.4).
    pub(crate) fn comment(&mut self, text: &str) -> Result<(), Error> {
        self.end_tag()?;
        self.meter.walk(text.len())?;
        let text = broken(text, "--", "- -");
        let text = if text.ends_with('-') { format!("{text} ") } else { text };
        match &mut self.sink {
            Sink::Writer(writer) => writer.comment(&text),
            Sink::Tree(tree) => tree.leaf(NodeKind::Comment, "", &text),
            Sink::Text(_) => Ok(()),
            Sink::Undecided(_, early) => {
                early.push(Early::Comment(text));
                Ok(())
            }
        }
    }

    /// Adds a processing instruction. A space breaks `?>` (section 7.3).
    pub(crate) fn instruction(&mut self, target: &str, text: &str) -> Result<(), Error> {
        self.end_tag()?;
        self.meter.walk(text.len())?;
        let text = broken(text, "?>", "? >");
        match &mut self.sink {
            Sink::Writer(writer) => writer.instruction(target, &text),
            Sink::Tree(tree) => tree.leaf(NodeKind::ProcessingInstruction, target, &text),
            Sink::Text(_) => Ok(()),
            Sink::Undecided(_, early) => {
                early.push(Early::Instruction(target.to_owned(), text));
                Ok(())
            }
        }
    }

    /// Copies a subtree's source as it is, if that means the same here; returns whether it did.
    pub(crate) fn copy_source(&mut self, document: &Document<'_>, element: NodeId) -> Result<bool, Error> {
        let is_writer = matches!(&self.sink, Sink::Writer(writer) if writer.copies_sources());
        let source = if is_writer { document.source_of(element) } else { None };
        let Some(source) = source else { return Ok(false) };
        self.end_tag()?;
        self.meter.spend(u64::from(document.declarations_around(element)))?;
        // What the source leaves to the declarations around it must stand around it here too, and nothing else.
        let mut has_default = false;
        for declaration in document.namespaces_in_scope(element) {
            let (prefix, uri) =
                (document.prefix_text(declaration.prefix), document.namespace_text(declaration.namespace));
            has_default |= prefix.is_empty();
            let means_the_same = self.scope.resolve(prefix) == Some(uri);
            self.scope.pay(self.meter)?;
            if !means_the_same {
                return Ok(false);
            }
        }
        if !has_default && self.scope.resolve("") != Some("") {
            return Ok(false);
        }
        match &mut self.sink {
            Sink::Writer(writer) => {
                self.meter.copy(source.len())?;
                writer.raw(source)?;
            }
            Sink::Tree(_) | Sink::Text(_) | Sink::Undecided(..) => return Ok(false),
        }
        Ok(true)
    }

    /// Ends the tag of the element just begun: declares what it uses, and sends it on.
    fn end_tag(&mut self) -> Result<(), Error> {
        if !std::mem::replace(&mut self.pending.is_open, false) {
            return Ok(());
        }
        self.scope.starts.push((self.scope.declarations.len(), self.scope.text.len()));
        let first = self.scope.declarations.len();
        let mut pending = std::mem::take(&mut self.pending);
        let name = pending.name(&pending.name);
        if self.scope.resolve(name.prefix) != Some(name.uri) {
            self.scope.declare(name.prefix, name.uri);
        }
        for (prefix, uri) in &pending.declarations {
            let (prefix, uri) = (&pending.text[prefix.clone()], &pending.text[uri.clone()]);
            // The name of the element goes before a declaration that contradicts it.
            let contradicts = self.scope.declares_itself(prefix) || (prefix == name.prefix && uri != name.uri);
            if self.scope.resolve(prefix) != Some(uri) && !contradicts {
                self.scope.declare(prefix, uri);
            }
            self.scope.pay(self.meter)?;
        }
        for index in 0..pending.attributes.len() {
            let name = pending.name(&pending.attributes[index].0);
            if name.uri.is_empty() {
                // Without a namespace an attribute has no prefix.
                pending.attributes[index].0.prefix = 0..0;
                continue;
            }
            self.scope.pay(self.meter)?;
            if !name.prefix.is_empty() && self.scope.resolve(name.prefix) == Some(name.uri) {
                continue;
            }
            let may_declare = !name.prefix.is_empty()
                && !self.scope.declares_itself(name.prefix)
                && name.prefix != pending.name(&pending.name).prefix
                && name.prefix != "xml";
            let prefix = if may_declare {
                name.prefix.to_owned()
            } else if let Some(prefix) = self.scope.prefix_of(name.uri) {
                prefix.to_owned()
            } else {
                self.scope.generate()
            };
            if self.scope.resolve(&prefix) != Some(name.uri) {
                self.scope.declare(&prefix, name.uri);
            }
            pending.attributes[index].0.prefix = pending.store(&prefix);
        }
        self.send_tag(&pending, first)?;
        self.pending = pending;
        Ok(())
    }

    fn send_tag(&mut self, pending: &Pending, first_declaration: usize) -> Result<(), Error> {
        let name = pending.name(&pending.name);
        let declared = &self.scope.declarations[first_declaration..];
        let declarations =
            declared.iter().map(|(prefix, uri)| (&self.scope.text[prefix.clone()], &self.scope.text[uri.clone()]));
        let attributes =
            pending.attributes.iter().map(|(name, value)| (pending.name(name), &pending.text[value.clone()]));
        match &mut self.sink {
            Sink::Writer(writer) => {
                writer.start(name.prefix, name.local, name.uri)?;
                declarations.for_each(|(prefix, uri)| writer.declaration(prefix, uri));
                attributes.for_each(|(name, value)| writer.attribute(name.prefix, name.local, value));
            }
            Sink::Tree(tree) => {
                tree.end_text()?;
                let builder = &mut tree.builder;
                builder.open_element(0, Origin::Made)?;
                for (prefix, uri) in declarations {
                    let prefix = builder.names().prefix(prefix);
                    let namespace = builder.names().namespace(uri);
                    builder.declare(prefix, namespace);
                }
                let prefix = builder.names().prefix(name.prefix);
                let namespace = builder.names().namespace(name.uri);
                let expanded = builder.names().name(namespace, name.local);
                builder.name_element(prefix, expanded)?;
                for (name, value) in attributes {
                    let prefix = builder.names().prefix(name.prefix);
                    let namespace = builder.names().namespace(name.uri);
                    let expanded = builder.names().name(namespace, name.local);
                    let value = tree_value(builder, value);
                    builder.attribute(prefix, expanded, value)?;
                }
            }
            Sink::Text(_) | Sink::Undecided(..) => {}
        }
        Ok(())
    }

    /// The method is known now: what waited is sent on.
    fn decide(&mut self, method: Method) -> Result<(), Error> {
        let Sink::Undecided(settings, early) = &mut self.sink else { return Ok(()) };
        let (settings, early) = (*settings, std::mem::take(early));
        let streams = method == Method::Xml && settings.indent != Some(true);
        self.sink = if streams {
            Sink::Writer(Box::new(XmlWriter::new(settings, self.budget.output_bytes_max)?))
        } else {
            Sink::Tree(Box::new(Tree::new(self.budget)))
        };
        for event in early {
            match event {
                Early::Text(text, escaping) => self.text(&text, escaping)?,
                Early::Comment(text) => self.comment(&text)?,
                Early::Instruction(target, text) => self.instruction(&target, &text)?,
            }
        }
        Ok(())
    }

    /// The bytes of a document, and by which method they were written.
    pub(crate) fn into_bytes(mut self, settings: &OutputSettings) -> Result<(Vec<u8>, Method), Error> {
        self.end_tag()?;
        if matches!(self.sink, Sink::Undecided(..)) {
            self.decide(Method::Xml)?;
        }
        match self.sink {
            // What is html without saying so has become a tree.
            Sink::Writer(writer) => Ok((writer.finish()?, settings.method.unwrap_or(Method::Xml))),
            Sink::Tree(tree) => {
                let (document, raw) = tree.finish()?;
                let is_html = document.document_element().is_some_and(|element| {
                    document.namespace_uri(element).is_empty()
                        && document.local_name(element).eq_ignore_ascii_case("html")
                });
                let method = settings.method.unwrap_or(if is_html { Method::Html } else { Method::Xml });
                Ok((write_tree(&document, settings, method, &raw, self.budget.output_bytes_max)?, method))
            }
            Sink::Text(text) => Ok((text.into_bytes(), Method::Text)),
            Sink::Undecided(..) => Err(Error::new(ErrorKind::Dynamic, "the result has no method")),
        }
    }

    /// The tree of a fragment.
    pub(crate) fn into_tree(mut self) -> Result<Document<'static>, Error> {
        self.end_tag()?;
        match self.sink {
            Sink::Tree(tree) => Ok(tree.finish()?.0),
            Sink::Writer(_) | Sink::Text(_) | Sink::Undecided(..) => {
                unreachable!("only a fragment is asked for its tree")
            }
        }
    }

    /// The text that was gathered.
    pub(crate) fn into_text(self) -> String {
        match self.sink {
            Sink::Text(text) => text,
            Sink::Writer(_) | Sink::Tree(_) | Sink::Undecided(..) => String::new(),
        }
    }
}

impl Tree {
    fn new(budget: &Budget) -> Tree {
        Tree { builder: Builder::new(std::borrow::Cow::Borrowed(""), budget), text: None, raw: Vec::new() }
    }

    fn text(&mut self, text: &str, escaping: Escaping, bytes_max: usize) -> Result<(), Error> {
        if self.builder.beside().len() + text.len() > bytes_max {
            return Err(crate::budget::exceeded("bytes of a result", bytes_max as u64));
        }
        if self.text.as_ref().is_some_and(|(_, gathered)| *gathered != escaping) {
            self.end_text()?;
        }
        let beside = self.builder.beside();
        let start = self.text.as_ref().map_or(beside.len(), |(span, _)| span.start);
        beside.push_str(text);
        self.text = Some((start..beside.len(), escaping));
        Ok(())
    }

    fn end_text(&mut self) -> Result<(), Error> {
        if let Some((span, escaping)) = self.text.take() {
            let node = self.builder.leaf(NodeKind::Text, Name(0), Value::Beside(span))?;
            if escaping == Escaping::Disabled {
                self.raw.push(node);
            }
        }
        Ok(())
    }

    fn leaf(&mut self, kind: NodeKind, target: &str, text: &str) -> Result<(), Error> {
        self.end_text()?;
        let name = match kind {
            NodeKind::ProcessingInstruction => self.builder.names().name(Namespace::NONE, target),
            _ => Name(0),
        };
        let value = tree_value(&mut self.builder, text);
        self.builder.leaf(kind, name, value)?;
        Ok(())
    }

    fn finish(mut self) -> Result<(Document<'static>, Vec<NodeId>), Error> {
        self.end_text()?;
        Ok((self.builder.finish(Vec::new(), Vec::new()), self.raw))
    }
}

fn tree_value(builder: &mut Builder<'static>, text: &str) -> Value {
    let beside = builder.beside();
    let start = beside.len();
    beside.push_str(text);
    Value::Beside(start..beside.len())
}

fn broken(text: &str, forbidden: &str, allowed: &str) -> String {
    let mut text = text.to_owned();
    // Three dashes hold two pairs.
    while text.contains(forbidden) {
        text = text.replace(forbidden, allowed);
    }
    text
}
