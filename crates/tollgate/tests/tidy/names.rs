//! One word, one meaning: a crate gives the name of a type to at most two, and names that break this.
//!
//! It counts shipped types, anywhere in a file. Associated types do not count: a trait names them.

use std::collections::BTreeMap;

use syn::Item;
use syn::visit::{self, Visit};

use super::arrows::Crate;
use super::floors::{house, over};
use super::modules::{Tree, for_tests, head};

/// Limit of types with the same name: for a third one, a reader has to ask which is meant.
const SAME_NAME_MAX: usize = 2;

/// Parts that every entry of a list has: crate, name, and the reason.
const PARTS: &[Part] = &[
    ("tollgate", "Arguments", "each verb has its flags"),
    ("tollgate-gateway", "Table", "each table of the configuration, such as a mediator's, is read by its own file"),
];

/// Crate, name and reason.
pub(crate) type Part<'a> = (&'a str, &'a str, &'a str);

/// A crate's types by their names: the files and lines that define them.
type Defined = BTreeMap<String, Vec<String>>;

struct Reader<'a> {
    file: &'a str,
    defined: &'a mut Defined,
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, _) = head(item);
        if for_tests(attributes) {
            return;
        }
        let name = match item {
            Item::Struct(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        if let Some(name) = name {
            let place = format!("{}:{}", self.file, name.span().start().line);
            self.defined.entry(name.to_string()).or_default().push(place);
        }
        visit::visit_item(self, item);
    }
}

fn defined(of: &Crate, tree: &Tree) -> Defined {
    let mut defined = Defined::new();
    for file in &of.files {
        let syntax = syn::parse_file(&tree[file]).unwrap_or_else(|error| panic!("{file} cannot be read: {error}"));
        if !for_tests(&syntax.attrs) {
            Reader { file, defined: &mut defined }.visit_file(&syntax);
        }
    }
    defined
}

/// Number of names in each crate that too many types have, and their places.
pub(crate) fn shared(parts: &[Part], house: &[Crate], tree: &Tree) -> BTreeMap<String, (usize, String)> {
    let count = |of: &Crate| {
        let mut found = defined(of, tree);
        let is_part = |name: &String| parts.iter().any(|(of_part, part, _)| *of_part == of.name && part == name);
        found.retain(|name, places| places.len() > SAME_NAME_MAX && !is_part(name));
        let detail = |(name, places): (&String, &Vec<String>)| {
            format!("\n    `{name}` stands for {} types: {}", places.len(), places.join(", "))
        };
        (of.name.clone(), (found.len(), found.iter().map(detail).collect()))
    };
    house.iter().map(count).collect()
}

/// Parts that need no exception.
pub(crate) fn needless(parts: &[Part], house: &[Crate], tree: &Tree) -> Vec<String> {
    let is_needless = |(name, part, reason): &&Part| {
        let of = house.iter().find(|of| of.name == *name);
        let count = of.and_then(|of| defined(of, tree).get(*part).map(Vec::len)).unwrap_or_default();
        reason.is_empty() || count <= SAME_NAME_MAX
    };
    let said = |(name, part, _): &Part| format!("{name}: `{part}` needs no exception");
    parts.iter().filter(is_needless).map(said).collect()
}

#[test]
fn a_name_stands_for_at_most_two_types_of_a_crate() {
    let tree = super::rust_files().into_iter().collect::<Tree>();
    let mut broken = over(0, &shared(PARTS, house(), &tree));
    broken.extend(needless(PARTS, house(), &tree));
    super::check("one word, one meaning", broken);
}
