//! HTML writer: elements whose text is a figure of the status, marked for the script.
//!
//! A figure is named by a JSON pointer (RFC 6901), or by its name within a row of a list. All text from the status is
//! escaped.

use std::fmt::Write;

use serde_json::Value;

use super::form::FigureFormat;

/// A page being written.
pub(super) struct Html<'s> {
    text: String,
    status: &'s Value,
    /// The row being written, whose figures are named within it.
    row: Option<&'s Value>,
}

impl<'s> Html<'s> {
    /// An empty page about `status`.
    pub(super) fn new(status: &'s Value) -> Html<'s> {
        Html { text: String::with_capacity(64 * 1024), status, row: None }
    }

    /// The page.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Adds our own markup, unescaped.
    pub(super) fn raw(&mut self, markup: &str) -> &mut Html<'s> {
        self.text.push_str(markup);
        self
    }

    /// Adds any text, escaped.
    pub(super) fn text(&mut self, text: &str) -> &mut Html<'s> {
        escape(&mut self.text, text);
        self
    }

    /// The figure at `at`: a pointer, or a name within the row being written.
    pub(super) fn value(&self, at: &str) -> &'s Value {
        let found = if at.starts_with('/') { self.status.pointer(at) } else { self.row.and_then(|row| row.get(at)) };
        found.unwrap_or(&Value::Null)
    }

    /// The list at `at`.
    pub(super) fn list(&self, at: &str) -> &'s [Value] {
        self.value(at).as_array().map_or(&[], Vec::as_slice)
    }

    /// Adds an element `tag`, with these attributes of ours, whose text is the figure at `at`.
    pub(super) fn figure(&mut self, tag: &str, attributes: &str, at: &str, form: FigureFormat) -> &mut Html<'s> {
        let shown = form.write(self.value(at));
        let space = if attributes.is_empty() { "" } else { " " };
        // Writing to a String cannot fail.
        let _ = write!(self.text, "<{tag}{space}{attributes} data-at=\"{at}\" data-as=\"{}\">", form.name());
        escape(&mut self.text, &shown);
        let _ = write!(self.text, "</{tag}>");
        self
    }

    /// Adds a button, with these attributes of ours, that sends the figure at `at`.
    pub(super) fn button(&mut self, attributes: &str, at: &str, label: &str) -> &mut Html<'s> {
        let sent = FigureFormat::Plain.write(self.value(at));
        let _ = write!(self.text, "<button {attributes} data-value-at=\"{at}\" value=\"");
        escape(&mut self.text, &sent);
        let _ = write!(self.text, "\">{label}</button>");
        self
    }

    /// Begins an element `tag` whose style depends on the word at `at`.
    pub(super) fn state(&mut self, tag: &str, at: &str) -> &mut Html<'s> {
        let state = self.value(at).as_str().unwrap_or_default();
        let _ = write!(self.text, "<{tag} data-state-at=\"{at}\" data-state=\"");
        escape(&mut self.text, state);
        self.text.push_str("\">");
        self
    }

    /// Adds an element `tag`, with these attributes of ours, with a child from `child` for each item of the list at
    /// `at`, and with the pattern from which the script makes more.
    pub(super) fn rows(&mut self, tag: &str, attributes: &str, at: &str, child: impl Fn(&mut Html<'s>)) {
        let space = if attributes.is_empty() { "" } else { " " };
        let _ = write!(self.text, "<{tag}{space}{attributes} data-rows=\"{at}\"><template>");
        self.row = Some(&Value::Null);
        child(self);
        self.text.push_str("</template>");
        for row in self.list(at) {
            self.row = Some(row);
            child(self);
        }
        self.row = None;
        let _ = write!(self.text, "</{tag}>");
    }
}

fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_name_their_place_and_are_escaped() {
        let status = json!({ "path": "</td><script>\"'&", "count": 1234, "list": [{ "name": "a" }, { "name": "b" }] });
        let mut html = Html::new(&status);
        html.figure("td", "class=\"n\"", "/count", FigureFormat::Count).figure("b", "", "/path", FigureFormat::Text);
        html.state("tr", "/path").raw("</tr>");
        html.rows("ul", "", "/list", |html| {
            html.figure("li", "", "name", FigureFormat::Text);
        });
        insta::assert_snapshot!(html.finish(), @r#"<td class="n" data-at="/count" data-as="count">1,234</td><b data-at="/path" data-as="text">&lt;/td&gt;&lt;script&gt;&quot;&#39;&amp;</b><tr data-state-at="/path" data-state="&lt;/td&gt;&lt;script&gt;&quot;&#39;&amp;"></tr><ul data-rows="/list"><template><li data-at="name" data-as="text">–</li></template><li data-at="name" data-as="text">a</li><li data-at="name" data-as="text">b</li></ul>"#);
    }
}
