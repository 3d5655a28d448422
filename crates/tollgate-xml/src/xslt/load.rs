//! The modules of a stylesheet (XSLT 1.0, section 2.6): included ones replace their reference, imported ones go first.
//!
//! It reads no file: the caller resolves a stylesheet's references.

use super::XSLT;
use super::program::Module;
use crate::budget::{Budget, MODULE_DEPTH_MAX, MODULES_MAX};
use crate::error::{Error, ErrorKind};
use crate::parse::{Doctype, Options, Whitespace};
use crate::tree::{Document, NodeId, NodeKind};

/// Says what references of stylesheets mean: `xsl:include`, `xsl:import` and `document()`.
pub trait Loader {
    /// Loads the text that `reference`, made in the text of the name `base`, means, with a name of its own.
    ///
    /// # Errors
    /// The reason why it is not available, for the author of the stylesheet.
    fn load(&self, reference: &str, base: &str) -> Result<Loaded, String>;

    /// The name of the document that is transformed, if it has one: what references are relative to that nodes of it make,
    /// or that `document()` makes with such a node as its second argument.
    fn input_name(&self) -> Option<&str> {
        None
    }
}

/// A text that was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// Its name, the base of relative references in it. The same text has the same name.
    pub name: String,
    /// Its bytes, in any encoding that it declares.
    pub bytes: Vec<u8>,
}

/// Loads nothing: a stylesheet that refers to another one is refused.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadNothing;

impl Loader for LoadNothing {
    fn load(&self, reference: &str, _base: &str) -> Result<Loaded, String> {
        Err(format!("`{reference}` is not to be loaded: nothing may be"))
    }
}

/// A stylesheet with what it imports.
pub(super) struct Sheet {
    /// The sheets that it imports, the least preferred first.
    pub(super) imports: Vec<Sheet>,
    /// The modules that make it up, the included ones in their place: module and its top-level elements.
    pub(super) parts: Vec<SheetPart>,
}

/// Top-level elements of one module, as far as they follow each other.
pub(super) struct SheetPart {
    pub(super) module: usize,
    pub(super) elements: Vec<NodeId>,
}

/// The modules of a stylesheet.
pub(super) struct Modules {
    pub(super) documents: Vec<Document<'static>>,
    pub(super) modules: Vec<Module>,
}

/// Loads a stylesheet and all that it includes and imports.
pub(super) fn load(source: &[u8], name: &str, loader: &dyn Loader, budget: &Budget) -> Result<(Sheet, Modules), Error> {
    let mut loading =
        Loading { loader, budget, modules: Modules { documents: Vec::new(), modules: Vec::new() }, open: Vec::new() };
    let sheet = loading.sheet(Loaded { name: name.to_owned(), bytes: source.to_owned() }, None)?;
    Ok((sheet, loading.modules))
}

struct Loading<'l> {
    loader: &'l dyn Loader,
    budget: &'l Budget,
    modules: Modules,
    /// Names of the modules that are being loaded, the outermost first.
    open: Vec<String>,
}

/// White space in a stylesheet counts only in `xsl:text` (section 3.4).
struct StylesheetWhitespace;

impl Whitespace for StylesheetWhitespace {
    fn strips(&self, namespace_uri: &str, local: &str) -> bool {
        !(namespace_uri == XSLT && local == "text")
    }
}

impl Loading<'_> {
    /// Loads a module; `referrer` is the element that asks for it, for errors.
    fn sheet(&mut self, loaded: Loaded, referrer: Option<(usize, NodeId)>) -> Result<Sheet, Error> {
        if self.open.contains(&loaded.name) {
            return Err(self.wrong(referrer, format!("`{}` refers to itself", loaded.name)));
        }
        if self.modules.documents.len() >= MODULES_MAX || self.open.len() >= MODULE_DEPTH_MAX {
            let message =
                format!("modules of a stylesheet: more than {MODULES_MAX}, or {MODULE_DEPTH_MAX} in each other");
            return Err(self.wrong(referrer, message));
        }
        let options = Options {
            budget: Some(self.budget),
            whitespace: Some(&StylesheetWhitespace),
            // Entities for characters are usual in stylesheets; what they expand to keeps the budget.
            doctype: Doctype::InternalSubset,
        };
        let document = match Document::parse_bytes(&loaded.bytes, &options) {
            Ok(document) => document.into_owned(),
            Err(error) => return Err(error.within(&loaded.name)),
        };
        let module = self.modules.documents.len();
        let root = document.document_element();
        self.modules.modules.push(Module { name: loaded.name.as_str().into(), text: document.source().into() });
        self.modules.documents.push(document);
        let Some(root) = root else { return Err(self.wrong(None, "a stylesheet has a document element")) };
        self.open.push(loaded.name);
        let sheet = self.contents(module, root);
        self.open.pop();
        sheet
    }

    fn wrong(&self, place: Option<(usize, NodeId)>, message: impl Into<String>) -> Error {
        let error = Error::new(ErrorKind::Static, message);
        match place {
            None => error,
            Some((module, node)) => {
                let Module { name, text } = &self.modules.modules[module];
                let offset = self.modules.documents[module].source_offset(node).unwrap_or(0);
                error.or_at(name, text, offset)
            }
        }
    }

    fn contents(&mut self, module: usize, root: NodeId) -> Result<Sheet, Error> {
        let document = &self.modules.documents[module];
        let is_stylesheet =
            document.namespace_uri(root) == XSLT && matches!(document.local_name(root), "stylesheet" | "transform");
        if !is_stylesheet {
            // A literal result element is a stylesheet of one template (section 2.3); its compiler checks the rest.
            let parts = vec![SheetPart { module, elements: vec![root] }];
            return Ok(Sheet { imports: Vec::new(), parts });
        }
        let children: Vec<NodeId> = document.children(root).collect();
        let mut sheet = Sheet { imports: Vec::new(), parts: Vec::new() };
        let mut elements = Vec::new();
        let mut may_import = true;
        for child in children {
            let document = &self.modules.documents[module];
            if document.kind(child) == NodeKind::Text {
                return Err(self.wrong(Some((module, root)), "a stylesheet holds no text of its own"));
            }
            if document.kind(child) != NodeKind::Element {
                continue;
            }
            let is_xslt = document.namespace_uri(child) == XSLT;
            match document.local_name(child) {
                "import" if is_xslt => {
                    if !may_import {
                        let message = "`xsl:import` stands before all other elements of a stylesheet";
                        return Err(self.wrong(Some((module, child)), message));
                    }
                    let imported = self.referred(module, child)?;
                    sheet.imports.push(imported);
                }
                "include" if is_xslt => {
                    may_import = false;
                    if !elements.is_empty() {
                        sheet.parts.push(SheetPart { module, elements: std::mem::take(&mut elements) });
                    }
                    let included = self.referred(module, child)?;
                    // Its imports come behind those of whoever includes it (section 2.6.1).
                    sheet.imports.extend(included.imports);
                    sheet.parts.extend(included.parts);
                }
                _ => {
                    may_import = false;
                    elements.push(child);
                }
            }
        }
        sheet.parts.push(SheetPart { module, elements });
        Ok(sheet)
    }

    fn referred(&mut self, module: usize, element: NodeId) -> Result<Sheet, Error> {
        let document = &self.modules.documents[module];
        let mut reference = None;
        for attribute in document.attributes(element) {
            match (document.namespace_uri(attribute), document.local_name(attribute)) {
                ("", "href") => reference = Some(document.value(attribute).to_owned()),
                ("", other) => {
                    let message = format!("`xsl:{}` has no attribute `{other}`", document.local_name(element));
                    return Err(self.wrong(Some((module, element)), message));
                }
                _ => {}
            }
        }
        if document.first_child(element).is_some() {
            let message = format!("`xsl:{}` is empty", document.local_name(element));
            return Err(self.wrong(Some((module, element)), message));
        }
        let Some(reference) = reference else {
            let message = format!("`xsl:{}` needs the attribute `href`", document.local_name(element));
            return Err(self.wrong(Some((module, element)), message));
        };
        let base = self.modules.modules[module].name.clone();
        match self.loader.load(&reference, &base) {
            Ok(loaded) => self.sheet(loaded, Some((module, element))),
            Err(message) => Err(self.wrong(Some((module, element)), message)),
        }
    }
}
