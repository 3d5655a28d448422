//! The two ways in which a link is emulated.

use std::fmt;
use std::str::FromStr;

/// The ways of emulating a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LinkMode {
    /// A TCP proxy that delays bytes; it needs no privileges.
    #[default]
    Proxy,
    /// Packets between two network namespaces, so that handshake, slow start and loss are real; it needs root.
    Tun,
}

impl LinkMode {
    /// Its name in flags, files and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LinkMode::Proxy => "proxy",
            LinkMode::Tun => "tun",
        }
    }

    /// The emulation in a few words, beside a figure.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            LinkMode::Proxy => "a proxy: no handshake, no slow start, no loss",
            LinkMode::Tun => "packets between two network namespaces: handshake and slow start are real",
        }
    }
}

impl fmt::Display for LinkMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for LinkMode {
    type Err = String;

    fn from_str(text: &str) -> Result<LinkMode, String> {
        [LinkMode::Proxy, LinkMode::Tun]
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| format!("`{text}` is no kind of link: write proxy or tun"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_read_as_it_is_written() {
        for mode in [LinkMode::Proxy, LinkMode::Tun] {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert_eq!("netem".parse::<LinkMode>(), Err("`netem` is no kind of link: write proxy or tun".to_owned()));
    }
}
