//! A `[[service]]` of kind `echo`. It has no database and no work processes, and is not served unless it is asked for.
//!
//! It deliberately says nothing of pages: their limit is fixed.

/// The echo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Echo {
    /// Bytes of the largest body that is taken; 413 beyond.
    pub body_bytes_max: usize,
}

impl Default for Echo {
    fn default() -> Echo {
        Echo { body_bytes_max: 16 << 20 }
    }
}
