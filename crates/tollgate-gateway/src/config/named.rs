//! Services that need nothing but their name: flights, records, and those without a database.
//!
//! It does not know the latter: their list does.

use super::{Config, Kind, Service, WorkProcesses};
use crate::built_in::BUILT_IN;

impl Config {
    /// Serves only the services of these names: as configured, or with defaults.
    pub fn serve_only(&mut self, names: &[impl AsRef<str>]) {
        let serves = |name: &str| names.iter().any(|served| served.as_ref() == name);
        let of_databases = [Service::flights(), Service::records()].into_iter().filter(|service| serves(&service.name));
        let configured = |service: Service| {
            let same = |other: &&Service| other.name == service.name && !matches!(other.kind, Kind::Database { .. });
            self.services.iter().find(same).cloned().unwrap_or(service)
        };
        self.services = of_databases.map(configured).collect();
        let built_in = BUILT_IN.iter().filter(|kind| serves(kind.name)).map(|kind| {
            let configured = self.built_in.iter().find(|service| service.kind == *kind);
            configured.cloned().unwrap_or_else(|| kind.configured(&WorkProcesses::default()))
        });
        self.built_in = built_in.collect();
    }

    /// Serves this service instead of the default ones.
    pub fn serve_database(&mut self, service: Service) {
        self.services = vec![service];
        self.built_in.retain(|service| !service.kind.is_default);
    }
}
