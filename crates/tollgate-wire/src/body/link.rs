//! The URL of an entity in a body: the entity and the set that it names.
//!
//! It deliberately does not follow navigation: a URL that leads through another entity names one only to a database.

use super::Context;
use super::entry::Link;
use crate::address::quoted;
use crate::edm::SetId;
use crate::plan::{Resource, Shape};
use crate::url;

/// The target that a URL in a body names.
#[derive(Debug, PartialEq)]
pub(crate) enum Named {
    /// An entity of the set, or the result of another request.
    Entity(Link),
    /// The target of navigation from another entity, as servers write it in their answers.
    Navigation,
}

/// Resolves a URL, absolute or relative to the service root.
///
/// # Errors
/// The sentence for the client.
pub(crate) fn resolve(context: &Context<'_>, target: SetId, text: &str) -> Result<Named, String> {
    let text = text.trim();
    if let Some(id) = text.strip_prefix('$').or_else(|| text.strip_prefix("/$")) {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        if !id.is_empty() && id.bytes().all(plain) {
            return Ok(Named::Entity(Link::ContentId(id.to_owned())));
        }
    }
    let set = &context.model.entity_sets[target.0].name;
    let path = below_root(context.root, text)
        .ok_or_else(|| format!("{} does not lie below the service root {}", quoted(text), context.root))?;
    let path = path.split_once(['?', '#']).map_or(path, |(path, _)| path);
    let (resource, _) = url::parse(context.model, context.version(), path, None).map_err(|error| error.message)?;
    match resource {
        Resource::Read(plan) if !plan.steps.is_empty() => Ok(Named::Navigation),
        Resource::Read(plan) if plan.root == target && plan.shape == Shape::Entity => match plan.key {
            Some(key) => Ok(Named::Entity(Link::Key(key))),
            None => Err(format!("expected an entity of {set} with its key, found {}", quoted(text))),
        },
        _ => Err(format!("expected an entity of {set} with its key, found {}", quoted(text))),
    }
}

/// The path below the service root. The scheme may differ: a proxy may have taken the encryption away.
fn below_root<'t>(root: &str, text: &'t str) -> Option<&'t str> {
    let root = without_scheme(root);
    let absolute = without_scheme(text);
    if absolute.len() != text.len() {
        let root = root.trim_end_matches('/');
        let (front, behind) = absolute.split_at_checked(root.len())?;
        let host = root.find('/').unwrap_or(root.len());
        let same = front[..host].eq_ignore_ascii_case(&root[..host]) && front[host..] == root[host..];
        return if same { behind.strip_prefix('/') } else { None };
    }
    match text.strip_prefix('/') {
        // V2 clients write `/CarrierCollection('AA')` and mean the service root.
        Some(rest) => {
            let path = root.find('/').map_or("", |slash| &root[slash + 1..]);
            Some(if path.is_empty() { rest } else { rest.strip_prefix(path).unwrap_or(rest) })
        }
        None => Some(text.strip_prefix("./").unwrap_or(text)),
    }
}

fn without_scheme(url: &str) -> &str {
    url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).unwrap_or(url)
}
