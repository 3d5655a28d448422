//! The fields of a request, whether it came by HTTP or in a batch, and the conditions among them.
//!
//! It does not judge their values.

use tollgate_net::http1::RequestHead;

/// The fields of a request, or of a part of a batch.
pub(crate) trait Headers {
    /// The value of the field of that name, in any case, at `index` among those of the same name; `None` beyond the
    /// last. Values that are no text do not count.
    fn value(&self, name: &str, index: usize) -> Option<&str>;
}

impl Headers for RequestHead {
    fn value(&self, name: &str, index: usize) -> Option<&str> {
        self.nth_value(name, index)
    }
}

/// The values of all fields of a name.
pub(crate) fn values<'h>(headers: &'h dyn Headers, name: &'h str) -> impl Iterator<Item = &'h str> + Clone {
    (0..).map_while(move |index| headers.value(name, index))
}

/// The conditions of a request that changes something, as written. Most have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    pub(crate) if_match: Vec<String>,
    pub(crate) if_none_match: Vec<String>,
}

impl Conditions {
    pub(crate) fn of(headers: &dyn Headers) -> Conditions {
        let lines = |name| values(headers, name).map(str::to_owned).collect();
        Conditions { if_match: lines("if-match"), if_none_match: lines("if-none-match") }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.if_match.is_empty() && self.if_none_match.is_empty()
    }
}

/// Fields of a test.
#[cfg(test)]
pub(crate) struct Fields<'f>(pub(crate) &'f [(&'f str, &'f str)]);

#[cfg(test)]
impl Headers for Fields<'_> {
    fn value(&self, name: &str, index: usize) -> Option<&str> {
        self.0.iter().filter(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1).nth(index)
    }
}
