//! Dependencies as arrows: from file to file of each crate, and from its files to our other crates.
//!
//! A name is followed through re-exports, renamings and globs to the file that defines it, so that a facade hides
//! nothing. An imported module is no arrow by itself: a name used through it is one.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{Binding, Modules, Segments, Tree, Written};

/// An arrow: a file that names an item defined in another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    pub(crate) from: String,
    /// A file, or the name of another crate of ours.
    pub(crate) to: String,
    pub(crate) line: usize,
    /// The name as written there.
    pub(crate) name: String,
}

/// A crate's shipped files and the arrows that leave them.
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) files: BTreeSet<String>,
    /// To files of the same crate.
    pub(crate) inside: BTreeSet<Arrow>,
    /// To our other crates.
    pub(crate) outside: BTreeSet<Arrow>,
}

/// Reads every crate of the tree.
pub(crate) fn read(tree: &Tree) -> Vec<Crate> {
    let source = |path: &String| path.strip_prefix("crates/")?.split_once("/src/").map(|(name, _)| name.to_owned());
    let names: BTreeSet<String> = tree.keys().filter_map(source).filter(|name| !name.contains('/')).collect();
    names.iter().map(|name| crate_of(tree, name)).collect()
}

fn crate_of(tree: &Tree, name: &str) -> Crate {
    let modules = Modules::read(tree, &format!("crates/{name}/src"));
    let names = Names { modules: &modules, library: name.replace('-', "_") };
    let (mut inside, mut outside) = (BTreeSet::new(), BTreeSet::new());
    for (index, module) in modules.all.iter().enumerate() {
        // The first line for each name: a path may stand in several forms.
        let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
        for ((path, written), line) in &module.paths {
            let targets = names.follow(index, path, &mut Vec::new());
            let below = |target: &Target| match target {
                Target::Item(of) | Target::Module(of) => names.is_within(*of, names.whole(index)),
                Target::Outside(_) => false,
            };
            let facade = *written == Written::Reexport && targets.iter().all(below);
            if facade || *written == Written::Inline && names.is_imported(index, &path[0]) {
                continue;
            }
            for target in targets {
                let to = match target {
                    Target::Item(of) => modules.all[of].file.clone(),
                    Target::Outside(other) if other.starts_with("tollgate_") => other.replace('_', "-"),
                    Target::Outside(_) | Target::Module(_) => continue,
                };
                let first = seen.entry((to, path.join("::"))).or_insert(*line);
                *first = (*line).min(*first);
            }
        }
        for ((to, name), line) in seen {
            let kind = if to.contains('/') { &mut inside } else { &mut outside };
            if to != module.file {
                kind.insert(Arrow { from: module.file.clone(), to, line, name });
            }
        }
    }
    let files = modules.all.into_iter().map(|module| module.file).collect();
    Crate { name: name.to_owned(), files, inside, outside }
}

#[derive(Clone, PartialEq, Eq)]
enum Target {
    /// Something that this module defines.
    Item(usize),
    Module(usize),
    /// Of another crate.
    Outside(String),
}

struct Names<'a> {
    modules: &'a Modules,
    /// Name of a package's library in its binaries.
    library: String,
}

impl Names<'_> {
    /// The targets of a path from a module. One name may mean several things (a module and a function).
    fn follow(&self, module: usize, path: &[String], asked: &mut Vec<(usize, String)>) -> Vec<Target> {
        let first = match path[0].as_str() {
            "crate" => vec![Target::Module(self.root(module))],
            "self" => vec![Target::Module(module)],
            "super" => self.modules.all[module].parent.map(Target::Module).into_iter().collect(),
            name => match (self.lookup(module, name, asked), self.modules.library) {
                (found, Some(library)) if found.is_empty() && name == self.library => vec![Target::Module(library)],
                (found, _) if found.is_empty() => vec![Target::Outside(name.to_owned())],
                (found, _) => found,
            },
        };
        path[1..].iter().fold(first, |found, name| {
            let mut next: Vec<Target> = found.iter().flat_map(|target| self.step(target, name, asked)).collect();
            if next.is_empty() {
                // A macro of the module defines it.
                let unknown = found.iter().filter_map(|target| match target {
                    Target::Module(of) if !is_asked(asked, *of, name) => Some(Target::Item(*of)),
                    _ => None,
                });
                next.extend(unknown);
            }
            next.dedup();
            next
        })
    }

    fn step(&self, target: &Target, name: &str, asked: &mut Vec<(usize, String)>) -> Vec<Target> {
        match (target, name) {
            (Target::Module(of), "self") => vec![Target::Module(*of)],
            (Target::Module(of), "super") => self.modules.all[*of].parent.map(Target::Module).into_iter().collect(),
            (Target::Module(of), name) => self.lookup(*of, name, asked),
            // A part of an item: its variant, its function.
            (whole, _) => vec![whole.clone()],
        }
    }

    fn lookup(&self, module: usize, name: &str, asked: &mut Vec<(usize, String)>) -> Vec<Target> {
        // `pub use error::error` beside `mod error`: the import that is being followed does not answer for itself.
        let again = is_asked(asked, module, name);
        asked.push((module, name.to_owned()));
        let mut found = Vec::new();
        let here = &self.modules.all[module];
        for binding in here.bound.get(name).into_iter().flatten() {
            match binding {
                Binding::Item => found.push(Target::Item(module)),
                Binding::Module(child) => found.push(Target::Module(*child)),
                Binding::Import(path) if !again => found.extend(self.follow(module, path, asked)),
                Binding::Import(_) => {}
            }
        }
        if found.is_empty() && !again {
            for path in &here.globs {
                for target in self.follow(module, path, asked) {
                    if let Target::Module(of) = target {
                        found.extend(self.lookup(of, name, asked));
                    }
                }
            }
        }
        asked.pop();
        found
    }

    /// Whether a private `use` of an item binds the name, so that its arrow is known already.
    fn is_imported(&self, module: usize, name: &str) -> bool {
        let here = &self.modules.all[module];
        let private = |path: &Segments| here.paths.contains_key(&(path.clone(), Written::Import));
        here.bound.get(name).is_some_and(|bindings| {
            bindings.iter().all(|binding| matches!(binding, Binding::Import(path) if private(path)))
                && !self.lookup(module, name, &mut Vec::new()).iter().any(|found| matches!(found, Target::Module(_)))
        })
    }

    fn root(&self, module: usize) -> usize {
        self.modules.all[module].parent.map_or(module, |parent| self.root(parent))
    }

    /// The module of the whole file that contains a module.
    fn whole(&self, module: usize) -> usize {
        let all = &self.modules.all;
        let parent = all[module].parent.filter(|parent| all[*parent].file == all[module].file);
        parent.map_or(module, |parent| self.whole(parent))
    }

    fn is_within(&self, module: usize, above: usize) -> bool {
        module == above || self.modules.all[module].parent.is_some_and(|parent| self.is_within(parent, above))
    }
}

fn is_asked(asked: &[(usize, String)], module: usize, name: &str) -> bool {
    asked.iter().any(|(of, already)| *of == module && already == name)
}
