//! The operator's own listener: `[admin]`.
//!
//! [`AdminTable`] is the file's contents. The allowed address depends on whether the operator signs in, so [`Admin`] is
//! checked together with the users.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::auth::config::{Authentication, PlainBasic};

/// The operator's own listener: a page (`/`), `/status.json`, `/metrics`, `/healthz`, `/readyz`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admin {
    /// Its address.
    pub address: SocketAddr,
    /// The user who must sign in; `None`: no sign-in.
    pub user: Option<String>,
    /// Host names by which it is reached, beside loopback's and its own address.
    pub hosts: Vec<String>,
}

/// The operator's own listener: a page (`/`), `/status.json`, `/metrics`, `/healthz`, `/readyz`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Admin")]
pub(super) struct AdminTable {
    /// A loopback address, unless the operator signs in; port 0 takes any free one.
    #[schemars(with = "String")]
    address: Spanned<SocketAddr>,
    /// A user of the users file, who alone has access; only `/healthz` and `/readyz` are then open to everybody.
    /// Absent: anyone who reaches the listener is the operator.
    #[schemars(with = "Option<String>", length(min = 1))]
    user: Option<Spanned<String>>,
    /// Host names by which it is reached, without ports. It always answers to `localhost`, to loopback addresses and to
    /// the address of the connection itself; a request for any other host is refused.
    hosts: Vec<String>,
}

impl Admin {
    /// Checks that it may listen there.
    ///
    /// # Errors
    /// States the reason.
    pub fn check(&self, authentication: &Authentication) -> Result<(), String> {
        let address = self.address;
        if self.user.is_some() && authentication.users.is_none() {
            return Err("expected a users file (`[users]`) that has the operator".to_owned());
        }
        if address.ip().is_loopback() {
            return Ok(());
        }
        if self.user.is_none() {
            let rule = "elsewhere the operator must sign in (`user`)";
            return Err(format!("expected a loopback address such as 127.0.0.1:9090, found {address}: {rule}"));
        }
        if authentication.plain_basic == PlainBasic::Loopback {
            return Err(format!(
                "expected a loopback address such as 127.0.0.1:9090, found {address}: the operator's password would cross \
                 the network as it is, unless `authentication.plain_basic` allows that"
            ));
        }
        Ok(())
    }
}

impl AdminTable {
    /// Checks the table and returns its meaning.
    ///
    /// # Errors
    /// The error and its place.
    pub(super) fn meaning(self, authentication: &Authentication) -> Result<Admin, (Range<usize>, String)> {
        let user_at = self.user.as_ref().map(Spanned::span);
        let address_at = self.address.span();
        let user = self.user.map(Spanned::into_inner);
        if user.as_deref() == Some("") {
            return Err((user_at.unwrap_or_default(), "expected the name of a user".to_owned()));
        }
        let admin = Admin { address: self.address.into_inner(), user, hosts: self.hosts };
        let at = match (user_at, authentication.users.is_some()) {
            (Some(user_at), false) => user_at,
            _ => address_at,
        };
        admin.check(authentication).map_err(|wrong| (at, wrong))?;
        Ok(admin)
    }
}

impl Default for Admin {
    fn default() -> Admin {
        Admin { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), user: None, hosts: Vec::new() }
    }
}

impl Default for AdminTable {
    fn default() -> AdminTable {
        AdminTable { address: Spanned::new(0..0, Admin::default().address), user: None, hosts: Vec::new() }
    }
}
