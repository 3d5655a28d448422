//! Compiled stylesheets and expressions are shared between threads, and exchanged while others run.

use std::sync::{Arc, Barrier, RwLock};

use tollgate_xml::tree::NodeId;
use tollgate_xml::{Document, Options, Stylesheet, XPath};

const THREADS: usize = 4;
const ROUNDS: usize = 200;

/// A stylesheet with keys, variables and modes, which say who they are.
fn sheet(name: &str) -> Arc<Stylesheet> {
    let source = format!(
        r#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
        <xsl:output omit-xml-declaration="yes"/>
        <xsl:key name="k" match="b" use="@k"/>
        <xsl:variable name="who" select="'{name}'"/>
        <xsl:template match="/"><{name} who="{{$who}}"><xsl:apply-templates select="key('k', 1)" mode="m"/></{name}></xsl:template>
        <xsl:template match="b" mode="m"><xsl:value-of select="."/><xsl:number/></xsl:template>
        </xsl:stylesheet>"#
    );
    Arc::new(Stylesheet::compile(source.as_bytes(), name).unwrap())
}

#[test]
fn a_stylesheet_is_exchanged_while_others_run() {
    let (old, new) = (sheet("old"), sheet("new"));
    let current = RwLock::new(Arc::clone(&old));
    let begin = Barrier::new(THREADS + 1);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                begin.wait();
                for _ in 0..ROUNDS {
                    let sheet = Arc::clone(&current.read().unwrap());
                    let message = sheet.parse("<a><b k='1'>x</b><b k='2'/><b k='1'>y</b></a>").unwrap();
                    let result = String::from_utf8(sheet.transform(&message).unwrap()).unwrap();
                    let name = if Arc::ptr_eq(&sheet, &old) { "old" } else { "new" };
                    assert_eq!(result, format!("<{name} who=\"{name}\">x1y3</{name}>"));
                }
            });
        }
        scope.spawn(|| {
            begin.wait();
            for round in 0..ROUNDS {
                *current.write().unwrap() = Arc::clone(if round % 2 == 0 { &new } else { &old });
                std::thread::yield_now();
            }
        });
    });
}

#[test]
fn an_expression_and_a_document_are_shared() {
    let expression = XPath::compile("//b[@k = 1] = 'y'", &[]).unwrap();
    let streamed = XPath::compile("//b = 'y'", &[]).unwrap();
    let source = "<a><b k='1'>x</b><b k='1'>y</b></a>";
    let document = Document::parse(source).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    assert_eq!(expression.boolean(&document, NodeId::ROOT), Ok(true));
                    assert_eq!(streamed.test(source.as_bytes(), &Options::default()), Ok(true));
                }
            });
        }
    });
}
