//! The format of the corpus: files of cases, read here and nowhere else.
//!
//! ```text
//! --- input                 the input of the file's cases that have none of their own
//! <a/>
//! === what the case shows
//! @ html                    how results are compared: bytes, html, indent (blanks do not count); absent: as xml
//! @ param name=value        a parameter of the stylesheet
//! @ message words           what xsl:message says
//! @ error words             what the error says, in the place of a result
//! @ doctype                 the internal subset is read
//! @ departs why             xsltproc departs from the recommendation here, and is not asked
//! --- template              content of the template for the root; or
//! --- sheet                 content of the stylesheet; or
//! --- whole                 the stylesheet; or
//! --- values                expressions, a line each: the result has a line for each
//! --- input
//! --- file other.xsl        another file
//! --- expect                the result
//! ```

use super::canonical::Blanks;

/// A stylesheet, its input, and the expected result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Case {
    /// Its file and what it shows.
    pub(crate) name: String,
    pub(crate) stylesheet: String,
    pub(crate) input: String,
    pub(crate) files: Vec<(String, String)>,
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) messages: Vec<String>,
    pub(crate) error: Option<String>,
    pub(crate) reads_doctype: bool,
    /// Why `xsltproc` is not asked.
    pub(crate) departs: Option<String>,
    pub(crate) compared: Compared,
    pub(crate) expected: Option<String>,
}

/// The way in which results are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    Xml(Blanks),
    Html,
    Bytes,
}

impl Default for Compared {
    fn default() -> Compared {
        Compared::Xml(Blanks::Count)
    }
}

/// The cases of one file.
pub(crate) fn read(file: &str, text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut input = "<a/>".to_owned();
    let mut section = "";
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().chain(["=== "]) {
        if !(line.starts_with("=== ") || line.starts_with("--- ") || (section.is_empty() && line.starts_with("@ "))) {
            lines.push(line);
            continue;
        }
        let content = std::mem::take(&mut lines).join("\n");
        match (section, cases.last_mut()) {
            ("", _) => {}
            ("input", None) => input = content,
            (section, Some(case)) => case.add(section, content.trim_end_matches('\n').to_owned()),
            (section, None) => panic!("{file}: `{section}` before the first case"),
        }
        if let Some(name) = line.strip_prefix("=== ") {
            section = "";
            cases.push(Case { name: format!("{file}: {name}"), input: input.clone(), ..Case::default() });
        } else if let Some(next) = line.strip_prefix("--- ") {
            section = next;
        } else if let (Some(words), Some(case)) = (line.strip_prefix("@ "), cases.last_mut()) {
            case.direct(words);
        }
    }
    cases.pop();
    cases
}

impl Case {
    fn direct(&mut self, words: &str) {
        let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
        match word {
            "bytes" => self.compared = Compared::Bytes,
            "html" => self.compared = Compared::Html,
            "indent" => self.compared = Compared::Xml(Blanks::Ignored),
            "doctype" => self.reads_doctype = true,
            "departs" => self.departs = Some(rest.to_owned()),
            "error" => self.error = Some(rest.to_owned()),
            "message" => self.messages.push(rest.to_owned()),
            "param" => {
                let (name, value) = rest.split_once('=').unwrap();
                self.parameters.push((name.to_owned(), value.to_owned()));
            }
            _ => panic!("{}: `@ {words}`", self.name),
        }
    }

    fn add(&mut self, section: &str, content: String) {
        match section {
            "template" => self.stylesheet = sheet(&format!("<xsl:template match=\"/\">{content}</xsl:template>")),
            "sheet" => self.stylesheet = sheet(&content),
            "whole" => self.stylesheet = content,
            "values" => {
                self.compared = Compared::Bytes;
                let lines: String = content.lines().map(value).collect();
                self.stylesheet = sheet(&format!(
                    "<xsl:output method=\"text\"/><xsl:variable name=\"tree\"><t>1<u>2</u></t></xsl:variable>\
                     <xsl:template match=\"/\">{lines}</xsl:template>"
                ));
            }
            "input" => self.input = content,
            "expect" => self.expected = Some(content),
            _ => {
                let name = section.strip_prefix("file ").unwrap_or_else(|| panic!("{}: `{section}`", self.name));
                self.files.push((name.to_owned(), content));
            }
        }
    }
}

/// A stylesheet around top-level elements; without a declaration of XML unless it says itself what comes out.
fn sheet(content: &str) -> String {
    let output = if content.contains("<xsl:output") { "" } else { "<xsl:output omit-xml-declaration=\"yes\"/>" };
    format!(
        "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\" xmlns:p=\"urn:p\" \
         xmlns:exsl=\"http://exslt.org/common\" exclude-result-prefixes=\"p exsl\">\n{content}{output}</xsl:stylesheet>"
    )
}

fn value(expression: &str) -> String {
    let escaped = expression.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    format!("<xsl:value-of select=\"{escaped}\"/><xsl:text>&#10;</xsl:text>")
}
