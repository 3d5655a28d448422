//! Exact documents of one hand-made flight in each format.

use super::{Base, Stencil};
use crate::format::{Format, Padding};
use crate::plan::Select;
use crate::testing::{self, FLIGHTS};

const ROOT: &str = "http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/";
const UPDATED: &str = "2013-09-25T12:00:00Z";

fn base() -> Base<'static> {
    Base::new(ROOT, UPDATED)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The document of the flight alone.
fn document(format: Format, select: &Select) -> String {
    let stencil = Stencil::compile(&testing::model(), FLIGHTS, format, select, &[]);
    let (mut out, mut writer) = (Vec::new(), stencil.writer(base()));
    writer.document_begin(&mut out);
    writer.entry(&mut out, &testing::flight()[..]);
    writer.document_end(&mut out);
    text(out)
}

#[test]
fn sizes_are_close_to_those_of_the_reference() {
    let check = |format, expected: usize| {
        let size = document(format, &Select::All).len();
        assert!(size.abs_diff(expected) * 20 <= expected, "{format:?}: {size} bytes, not within 5 % of {expected}");
    };
    check(Format::V2Atom, 2_589);
    check(Format::V2Json, 1_598);
    check(Format::RestJson, 524);
    check(Format::RestXml { padding: Padding::AtomSize }, document(Format::V2Atom, &Select::All).len());
}
