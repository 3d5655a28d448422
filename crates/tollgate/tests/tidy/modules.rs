//! The modules of a crate: the names that each binds, and every path in its shipped code.
//!
//! It reads texts and no disk, follows no name (that is `arrows`), and knows no types: a method call leaves no path.
//! Macro input is read as it is, token by token.

use std::collections::{BTreeMap, HashMap};

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, Meta, UseTree, Visibility};

/// Texts by their paths from the root of the repository.
pub(crate) type Tree = BTreeMap<String, String>;

/// The parts between `::`, in order.
pub(crate) type Segments = Vec<String>;

/// The meaning of a name in a module.
pub(crate) enum Binding {
    /// Defined in the module's own file.
    Item,
    /// A child, by its index.
    Module(usize),
    /// A `use` of this path.
    Import(Segments),
}

/// The form of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Written {
    /// `use`
    Import,
    /// `pub use`
    Reexport,
    /// In code.
    Inline,
}

pub(crate) struct Module {
    pub(crate) file: String,
    pub(crate) parent: Option<usize>,
    pub(crate) bound: HashMap<String, Vec<Binding>>,
    pub(crate) globs: Vec<Segments>,
    /// Each path with its first line.
    pub(crate) paths: BTreeMap<(Segments, Written), usize>,
}

/// Every shipped module below the roots of a package (its library and its binaries), parents before their children.
pub(crate) struct Modules {
    pub(crate) all: Vec<Module>,
    /// The root of the library, which binaries name by the crate's name.
    pub(crate) library: Option<usize>,
}

impl Modules {
    /// Reads all modules below `source` (`crates/NAME/src`).
    pub(crate) fn read(tree: &Tree, source: &str) -> Self {
        let mut modules = Self { all: Vec::new(), library: None };
        for file in tree.keys().filter(|file| is_root(file, source)) {
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            let root = modules.add(tree, file, folder, None);
            if *file == format!("{source}/lib.rs") {
                modules.library = Some(root);
            }
        }
        modules
    }

    fn add(&mut self, tree: &Tree, file: &str, folder: &str, parent: Option<usize>) -> usize {
        let syntax = syn::parse_file(&tree[file]).unwrap_or_else(|error| panic!("{file} cannot be read: {error}"));
        let module = self.push(file, parent);
        if !for_tests(&syntax.attrs) {
            Reader { modules: self, tree, module, folder: folder.to_owned() }.visit_file(&syntax);
        }
        module
    }

    fn push(&mut self, file: &str, parent: Option<usize>) -> usize {
        let (bound, globs, paths) = (HashMap::new(), Vec::new(), BTreeMap::new());
        self.all.push(Module { file: file.to_owned(), parent, bound, globs, paths });
        self.all.len() - 1
    }
}

fn is_root(file: &str, source: &str) -> bool {
    match file.strip_prefix(source).and_then(|rest| rest.strip_prefix('/')) {
        Some("lib.rs" | "main.rs") => true,
        Some(rest) => match rest.split('/').collect::<Vec<_>>()[..] {
            ["bin", name] => name.ends_with(".rs"),
            ["bin", _, name] => name == "main.rs",
            _ => false,
        },
        None => false,
    }
}

/// Reads one module, and the modules that it declares.
struct Reader<'a> {
    modules: &'a mut Modules,
    tree: &'a Tree,
    module: usize,
    /// The folder of this module's children.
    folder: String,
}

impl Reader<'_> {
    fn here(&mut self) -> &mut Module {
        &mut self.modules.all[self.module]
    }

    fn bind(&mut self, name: &Ident, binding: Binding) {
        self.here().bound.entry(name.unraw().to_string()).or_default().push(binding);
    }

    fn path(&mut self, segments: Segments, written: Written, line: usize) {
        let first = self.here().paths.entry((segments, written)).or_insert(line);
        *first = line.min(*first);
    }

    fn child(&mut self, item: &syn::ItemMod) {
        let folder = format!("{}/{}", self.folder, item.ident.unraw());
        let child = if let Some((_, items)) = &item.content {
            let file = self.here().file.clone();
            let child = self.modules.push(&file, Some(self.module));
            let mut reader = Reader { modules: self.modules, tree: self.tree, module: child, folder };
            items.iter().for_each(|item| reader.visit_item(item));
            child
        } else {
            let files = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
            let file = files.iter().find(|file| self.tree.contains_key(*file));
            let file =
                file.unwrap_or_else(|| panic!("{}: there is no {}", self.modules.all[self.module].file, files[0]));
            if file.ends_with("/tests.rs") || file.contains("/tests/") {
                return;
            }
            self.modules.add(self.tree, file, &folder, Some(self.module))
        };
        self.bind(&item.ident, Binding::Module(child));
    }

    fn import(&mut self, tree: &UseTree, before: &Segments, written: Written) {
        let with = |name: &Ident| {
            let mut segments = before.clone();
            // `use path::{self}` names the path itself.
            if name != "self" || before.is_empty() {
                segments.push(name.unraw().to_string());
            }
            segments
        };
        let mut leaf = |name: &Ident, bound: &Ident| {
            let segments = with(name);
            self.bind(bound, Binding::Import(segments.clone()));
            self.path(segments, written, name.span().start().line);
        };
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(&path.ident), written),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before, written)),
            UseTree::Rename(rename) => leaf(&rename.ident, &rename.rename),
            UseTree::Name(name) if name.ident == "self" => {
                let own = Ident::new(before.last().map_or("self", String::as_str), name.ident.span());
                leaf(&name.ident, &own);
            }
            UseTree::Name(name) => leaf(&name.ident, &name.ident),
            UseTree::Glob(glob) => {
                self.path(before.clone(), written, glob.star_token.spans[0].start().line);
                self.here().globs.push(before.clone());
            }
        }
    }

    /// Reads the paths in the tokens of a macro or an attribute; `before` is the path before a group of imports.
    fn tokens(&mut self, tokens: TokenStream, before: &Segments) {
        let (mut path, mut line) = (Segments::new(), 0);
        // The last two marks before this token.
        let mut marks = [' '; 2];
        for token in tokens {
            let joined = marks == [':', ':'];
            if let TokenTree::Ident(ident) = &token {
                let unbound = marks[1] == '\'' || marks == [' ', '.'] || marks[1] == '$' && ident != "crate";
                if joined && !path.is_empty() {
                    path.push(ident.unraw().to_string());
                } else {
                    self.flush(&mut path, line);
                    if !joined && !unbound {
                        path.clone_from(before);
                        path.push(ident.unraw().to_string());
                        line = ident.span().start().line;
                    }
                }
                marks = [' '; 2];
                continue;
            }
            if let TokenTree::Punct(mark) = &token {
                marks = [marks[1], mark.as_char()];
                if mark.as_char() != ':' {
                    self.flush(&mut path, line);
                }
                continue;
            }
            marks = [' '; 2];
            match token {
                TokenTree::Group(group) if joined && group.delimiter() == Delimiter::Brace => {
                    self.tokens(group.stream(), &std::mem::take(&mut path));
                }
                TokenTree::Group(group) => {
                    self.flush(&mut path, line);
                    self.tokens(group.stream(), &Segments::new());
                }
                _ => self.flush(&mut path, line),
            }
        }
        self.flush(&mut path, line);
    }

    fn flush(&mut self, path: &mut Segments, line: usize) {
        if !path.is_empty() {
            self.path(std::mem::take(path), Written::Inline, line);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = head(item);
        if for_tests(attributes) {
            return;
        }
        if let Some(name) = name {
            self.bind(name, Binding::Item);
        }
        match item {
            Item::Mod(item) => self.child(item),
            Item::Use(item) => {
                let private = matches!(item.vis, Visibility::Inherited);
                let written = if private { Written::Import } else { Written::Reexport };
                self.import(&item.tree, &Segments::new(), written);
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        if !for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !for_tests(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if !for_tests(&field.attrs) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !for_tests(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // A path with `::` before it is of another crate, or of a type that stands before it.
        if let (None, Some(first)) = (&path.leading_colon, path.segments.first()) {
            let segments = path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
            self.path(segments, Written::Inline, first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone(), &Segments::new());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let Meta::List(list) = &attribute.meta else { return };
        self.tokens(list.tokens.clone(), &Segments::new());
        // `serde` names functions in strings.
        for token in list.tokens.clone() {
            let text = token.to_string();
            let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            if let Some(path) = quoted.filter(|text| text.contains("::") && !text.contains(' ')) {
                let line = token.span().start().line;
                self.path(path.split("::").map(str::to_owned).collect(), Written::Inline, line);
            }
        }
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

pub(crate) fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if attribute.path().is_ident("cfg") => {
            let given = list.tokens.to_string();
            let mut words = given.split(|character: char| !character.is_alphanumeric() && character != '_');
            words.any(|word| word == "test") && !given.contains("not")
        }
        _ => false,
    })
}

/// An item's attributes, and its name where it has one.
pub(crate) fn head(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::TraitAlias(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::ForeignMod(item) => (&item.attrs, None),
        Item::Impl(item) => (&item.attrs, None),
        Item::Mod(item) => (&item.attrs, None),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}
