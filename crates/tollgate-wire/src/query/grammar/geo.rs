//! Literals of geography and geometry: `geography'SRID=0;Point(142.1 64.1)'`. They are read and not kept, since no store has
//! their types.

use super::GrammarReader;
use crate::address::Parsed;

/// Numbers of a position: two, and perhaps a height and a measure.
const COORDINATES: std::ops::RangeInclusive<usize> = 2..=4;

impl GrammarReader<'_> {
    /// The rest of a literal from its quote on.
    pub(super) fn geo(&mut self) -> Parsed<()> {
        self.need("'")?;
        if !self.rest().get(..5).is_some_and(|prefix| prefix.eq_ignore_ascii_case("SRID=")) {
            return Err(self.expected("SRID=…;"));
        }
        self.position += 5;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if !(1..=5).contains(&digits) {
            return Err(self.expected("the number of a reference system, of one to five digits"));
        }
        self.position += digits;
        self.need(";")?;
        self.shape()?;
        self.need("'")
    }

    fn shape(&mut self) -> Parsed<()> {
        let at = self.position;
        let name = self.word().to_ascii_lowercase();
        self.position += name.len();
        match &*name {
            "point" => self.in_parentheses(|reader| reader.position_of_point()),
            "linestring" => self.line(),
            "polygon" => self.rings(),
            "multipoint" => self.many(GrammarReader::point),
            "multilinestring" => self.many(GrammarReader::line),
            "multipolygon" => self.many(GrammarReader::rings),
            "collection" | "geometrycollection" => self.nested(|reader| reader.many(GrammarReader::shape)),
            _ => {
                self.position = at;
                Err(self.expected("Point, LineString, Polygon or a collection of them"))
            }
        }
    }

    fn point(&mut self) -> Parsed<()> {
        self.in_parentheses(|reader| reader.position_of_point())
    }

    fn line(&mut self) -> Parsed<()> {
        self.in_parentheses(|reader| reader.list(GrammarReader::position_of_point))
    }

    fn rings(&mut self) -> Parsed<()> {
        self.in_parentheses(|reader| reader.list(GrammarReader::line))
    }

    /// Any number, none too.
    fn many(&mut self, of: fn(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if self.take("()") {
            return Ok(());
        }
        self.in_parentheses(|reader| reader.list(of))
    }

    fn in_parentheses(&mut self, part: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.need("(")?;
        part(self)?;
        self.need(")")
    }

    fn position_of_point(&mut self) -> Parsed<()> {
        let mut count = 0;
        loop {
            let rest = self.rest();
            let length = rest.find([' ', ',', ')']).unwrap_or(rest.len());
            let number = &rest[..length];
            let plain = number.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
            if !(plain && number.parse::<f64>().is_ok() || matches!(number, "INF" | "-INF" | "NaN")) {
                return Err(self.expected("a number"));
            }
            self.position += length;
            count += 1;
            if count == *COORDINATES.end() || !self.take(" ") {
                break;
            }
        }
        match COORDINATES.contains(&count) {
            true => Ok(()),
            false => Err(self.expected("two to four numbers")),
        }
    }
}
