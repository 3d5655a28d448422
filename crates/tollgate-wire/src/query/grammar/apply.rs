//! `$apply`: transformations between slashes (OData Extension for Data Aggregation 4.0).

use super::GrammarReader;
use crate::address::Parsed;

impl GrammarReader<'_> {
    pub(super) fn transformations(&mut self) -> Parsed<()> {
        self.nested(|reader| {
            loop {
                reader.space();
                reader.transformation()?;
                if !reader.take_behind_spaces("/") {
                    return Ok(());
                }
            }
        })
    }

    fn transformation(&mut self) -> Parsed<()> {
        let at = self.position;
        self.qualified()?;
        let name = &self.text[at..self.position];
        if name == "identity" {
            return Ok(());
        }
        if !self.take("(") {
            return match name.contains('.') {
                true => Ok(()),
                false => Err(self.expected("'(' behind a transformation")),
            };
        }
        self.space();
        match name {
            "filter" | "top" | "skip" => self.expression()?,
            "search" => self.search()?,
            "compute" => self.list(GrammarReader::computed)?,
            "orderby" => self.orders()?,
            "aggregate" => self.aggregates()?,
            "expand" => self.list(GrammarReader::expanded_and_transformed)?,
            "concat" => {
                self.transformations()?;
                self.need(",")?;
                self.list(GrammarReader::transformations)?;
            }
            "groupby" => {
                self.need("(")?;
                if !self.take_behind_spaces(")") {
                    self.list(GrammarReader::expression)?;
                    self.need(")")?;
                }
                if self.take_behind_spaces(",") {
                    self.transformations()?;
                }
            }
            "topcount" | "topsum" | "toppercent" | "bottomcount" | "bottomsum" | "bottompercent" => {
                self.expression()?;
                self.need(",")?;
                self.space();
                self.expression()?;
            }
            "nest" => self.list(GrammarReader::transformed_and_named)?,
            "addnested" => {
                self.path()?;
                self.need(",")?;
                self.list(GrammarReader::transformed_and_named)?;
            }
            "join" | "outerjoin" => {
                self.path()?;
                self.named()?;
                if self.take_behind_spaces(",") {
                    self.transformations()?;
                }
            }
            "ancestors" | "descendants" | "traverse" => self.hierarchical(name == "traverse")?,
            _ if name.contains('.') => {
                if self.take(")") {
                    return Ok(());
                }
                self.list(|reader| {
                    reader.identifier()?;
                    reader.need("=")?;
                    reader.space();
                    reader.expression()
                })?;
            }
            _ => {
                self.position = at;
                return Err(self.expected("a transformation"));
            }
        }
        self.need(")")
    }

    fn expanded_and_transformed(&mut self) -> Parsed<()> {
        self.path()?;
        while self.take_behind_spaces(",") {
            self.transformations()?;
        }
        Ok(())
    }

    fn transformed_and_named(&mut self) -> Parsed<()> {
        self.transformations()?;
        self.named()
    }

    fn path(&mut self) -> Parsed<()> {
        self.space();
        self.qualified()?;
        self.path_behind()
    }

    /// `$root/Nodes,Hierarchy,ID,…`.
    fn hierarchical(&mut self, traverses: bool) -> Parsed<()> {
        self.expression()?;
        self.need(",")?;
        self.space();
        self.identifier()?;
        self.need(",")?;
        self.path()?;
        self.need(",")?;
        self.space();
        if traverses {
            if !self.take("preorder") && !self.take("postorder") {
                return Err(self.expected("preorder or postorder"));
            }
            if !self.take_behind_spaces(",") {
                return Ok(());
            }
            self.space();
            let before = self.position;
            let is_order = |name: &str| !matches!(name, "filter" | "search" | "concat" | "groupby" | "orderby" | "top");
            if is_order(self.word()) {
                self.position = before;
                return self.orders();
            }
            self.transformations()?;
            return match self.take_behind_spaces(",") {
                true => self.orders(),
                false => Ok(()),
            };
        }
        self.transformations()?;
        while self.take_behind_spaces(",") {
            self.space();
            let word = self.word();
            if word == "keep" {
                self.position += word.len();
                if !self.take_word("start") {
                    return Err(self.expected("'keep start'"));
                }
            } else if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
                self.position += word.len();
            } else {
                return Err(self.expected("a number or 'keep start'"));
            }
        }
        Ok(())
    }

    /// Reads the aggregated expressions: expressions with methods, `from` and names, all optional in custom aggregates.
    /// A path behind a comma may go on with `from`; it looks like another custom aggregate.
    pub(super) fn aggregates(&mut self) -> Parsed<()> {
        self.list(|reader| {
            reader.expression()?;
            loop {
                if reader.take_word("with") {
                    reader.spaces()?;
                    reader.qualified()?;
                } else if reader.take_word("from") {
                    reader.spaces()?;
                    reader.qualified()?;
                    reader.path_behind()?;
                } else if reader.take_word("as") {
                    reader.spaces()?;
                    return reader.identifier();
                } else {
                    return Ok(());
                }
            }
        })
    }
}
