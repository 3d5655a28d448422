//! Hostile input and hostile stylesheets: each meets a limit and gets an error that names it, in no more than the stack of a
//! thread.

use tollgate_xml::{
    Budget, Doctype, Document, Error, ErrorKind, Loaded, Loader, Options, RunOptions, Stylesheet, Transformed, XPath,
    tree::NodeId,
};

/// The default stack of a thread, in bytes.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// Runs something on a stack of the usual size, independent of the test's own.
fn on_a_usual_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        builder.spawn_scoped(scope, run).unwrap().join().unwrap()
    })
}

fn sheet(content: &str) -> String {
    format!("<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>{content}</xsl:stylesheet>")
}

fn transformed(content: &str, input: &str) -> Result<Vec<u8>, Error> {
    on_a_usual_stack(|| {
        let stylesheet = Stylesheet::compile(sheet(content).as_bytes(), "sheet.xsl")?;
        stylesheet.transform(&stylesheet.parse(input)?)
    })
}

fn check(outcome: Result<Vec<u8>, Error>, kind: ErrorKind, words: &str) {
    let error = outcome.map(|bytes| bytes.len()).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

fn parsed(source: &str, doctype: Doctype) -> Result<Vec<u8>, Error> {
    on_a_usual_stack(|| Document::parse_with(source, &Options { doctype, ..Options::default() }).map(|_| Vec::new()))
}

fn found(expression: &str, input: &str) -> Result<Vec<u8>, Error> {
    on_a_usual_stack(|| {
        let expression = XPath::compile(expression, &[])?;
        expression.string(&Document::parse(input)?, NodeId::ROOT).map(String::into_bytes)
    })
}

/// Transforms with this limit of steps.
fn run_with(content: &str, input: &str, instructions_max: u64) -> Result<Transformed, Error> {
    let budget = Budget { instructions_max, ..Budget::default() };
    on_a_usual_stack(|| {
        let stylesheet = Stylesheet::compile(sheet(content).as_bytes(), "sheet.xsl")?;
        let options = RunOptions { budget: Some(&budget), ..RunOptions::default() };
        stylesheet.run(&stylesheet.parse(input)?, &options)
    })
}

/// Evaluates with a budget that a debug build reaches quickly.
fn counted(expression: &str, input: &str) -> Result<Vec<u8>, Error> {
    let content = format!("<xsl:template match='/'><xsl:value-of select='{expression}'/></xsl:template>");
    run_with(&content, input, 1_000_000).map(|transformed| transformed.bytes)
}

/// Elements within elements, as deep as the budget allows.
fn deep(name: &str) -> String {
    format!("{}{}", format!("<{name}>").repeat(512), format!("</{name}>").repeat(512))
}

#[test]
fn documents_that_grow_when_they_are_read_are_refused() {
    let laughs: String =
        (1..10).map(|level| format!("<!ENTITY l{level} \"{}\">", format!("&l{};", level - 1).repeat(10))).collect();
    let bomb = format!("<!DOCTYPE r [<!ENTITY l0 \"lol\">{laughs}]><r>&l9;</r>");
    check(parsed(&bomb, Doctype::Refuse), ErrorKind::Document, "document type");
    check(parsed(&bomb, Doctype::InternalSubset), ErrorKind::Budget, "entit");
    let quadratic = format!("<!DOCTYPE r [<!ENTITY e \"{}\">]><r>{}</r>", "x".repeat(10_000), "&e;".repeat(10_000));
    check(parsed(&quadratic, Doctype::InternalSubset), ErrorKind::Budget, "entit");
    let circle = "<!DOCTYPE r [<!ENTITY a \"&b;\"><!ENTITY b \"&a;\">]><r>&a;</r>";
    check(parsed(circle, Doctype::InternalSubset), ErrorKind::Budget, "entities within entities");
    let in_attributes = format!("<!DOCTYPE r [<!ENTITY l0 \"lol\">{laughs}]><r a='&l9;'/>");
    check(parsed(&in_attributes, Doctype::InternalSubset), ErrorKind::Budget, "entit");
}

#[test]
fn nothing_outside_of_a_document_is_read() {
    let file = "<!DOCTYPE r [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><r>&e;</r>";
    check(parsed(file, Doctype::InternalSubset), ErrorKind::Document, "never read");
    check(parsed("<!DOCTYPE r SYSTEM 'http://127.0.0.1/r.dtd'><r/>", Doctype::Refuse), ErrorKind::Document, "");
}

#[test]
fn depth_has_a_limit_for_documents_expressions_and_stylesheets() {
    let deeper = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    check(parsed(&deeper, Doctype::Refuse), ErrorKind::Budget, "elements in each other: more than the limit of 512");
    check(parsed(&"<a>".repeat(100_000), Doctype::Refuse), ErrorKind::Budget, "elements in each other");
    for (open, close) in [("(", ")"), ("a[", "]"), ("not(", ")"), ("-(", ")")] {
        let expression = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        check(found(&expression, "<a/>"), ErrorKind::Budget, "within expressions");
    }
    for operator in ["+", " or ", " and ", "=", "<", "*", "/", "//"] {
        let expression = vec!["a"; 100_000].join(operator);
        check(found(&expression, "<a/>"), ErrorKind::Budget, "terms and steps");
    }
    assert!(found(&format!("{}1", "-".repeat(100_000)), "<a/>").is_ok());
    let within = |depth: usize| {
        let (open, close) = ("<xsl:if test='1'>".repeat(depth), "</xsl:if>".repeat(depth));
        transformed(&format!("<xsl:template match='/'>{open}<r/>{close}</xsl:template>"), "<a/>")
    };
    assert!(within(100).is_ok());
    check(within(500), ErrorKind::Budget, "");
}

#[test]
fn chains_of_a_thousand_terms_and_steps_are_evaluated_or_refused() {
    for operator in ["+", " or ", " and ", "=", "<", "*", "|"] {
        let expression = vec!["1"; 1000].join(operator).replace('1', if operator == "|" { "a" } else { "1" });
        match found(&expression, "<a/>") {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::Budget, "{operator}: {error}"),
        }
    }
    for steps in [vec!["."; 1000].join("/"), vec!["a"; 400].join("/")] {
        match found(&steps, &deep("a")) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::Budget, "{error}"),
        }
    }
}

#[test]
fn the_deepest_documents_are_transformed() {
    let identity =
        "<xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>";
    for output in ["", "<xsl:output indent='yes'/>", "<xsl:output method='html'/>", "<xsl:output method='text'/>"] {
        let copy = "<xsl:template match='/'><xsl:copy-of select='.'/></xsl:template>";
        assert!(transformed(&format!("{output}{copy}"), &deep("a")).is_ok(), "{output}");
        assert!(transformed(&format!("{output}{copy}"), &deep("p")).is_ok(), "{output}");
    }
    let input = format!("{}{}", "<a>".repeat(300), "</a>".repeat(300));
    assert!(transformed(identity, &input).is_ok());
    assert!(found("string(//a[not(a)]/ancestor::a[last()])", &deep("a")).is_ok());
}

#[test]
fn a_thousand_templates_call_each_other_on_a_usual_stack() {
    let count = |depth: usize| {
        format!(
            "<xsl:template match='/'><xsl:call-template name='t'><xsl:with-param name='n' select='{depth}'/></xsl:call-template></xsl:template>\
             <xsl:template name='t'><xsl:param name='n'/><xsl:if test='$n &gt; 1'><xsl:call-template name='t'>\
             <xsl:with-param name='n' select='$n - 1'/></xsl:call-template></xsl:if></xsl:template>"
        )
    };
    transformed(&count(998), "<a/>").unwrap();
    check(transformed(&count(1001), "<a/>"), ErrorKind::Budget, "templates that call each other");
}

#[test]
fn endless_stylesheets_end() {
    let calls = "<xsl:template match='/'><xsl:call-template name='t'/></xsl:template><xsl:template name='t'><xsl:call-template name='t'/></xsl:template>";
    check(transformed(calls, "<a/>"), ErrorKind::Budget, "");
    let applies = "<xsl:template match='a'><r><xsl:apply-templates select='.'/></r></xsl:template>";
    check(transformed(applies, "<a/>"), ErrorKind::Budget, "");
    let values = "<xsl:template match='/'><xsl:call-template name='t'/></xsl:template><xsl:template name='t'><xsl:variable name='v'><a b='{1}'><xsl:for-each select='/'><xsl:choose><xsl:when test='1'><xsl:call-template name='t'/></xsl:when></xsl:choose></xsl:for-each></a></xsl:variable><xsl:value-of select='$v'/></xsl:template>";
    check(transformed(values, "<a/>"), ErrorKind::Budget, "");
    let sets = "<xsl:attribute-set name='s' use-attribute-sets='s'/><xsl:template match='/'><r xsl:use-attribute-sets='s'/></xsl:template>";
    check(transformed(sets, "<a/>"), ErrorKind::Static, "uses itself");
}

#[test]
fn values_that_double_meet_the_limit_of_a_text() {
    let doubled: String = (1..40)
        .map(|level| format!("<xsl:variable name='v{level}' select='concat($v{0}, $v{0})'/>", level - 1))
        .collect();
    let start = "<xsl:variable name='v0' select=\"'xxxxxxxxxxxxxxxx'\"/>";
    check(
        transformed(&format!("<xsl:template match='/'>{start}{doubled}<r a='{{$v39}}'/></xsl:template>"), "<a/>"),
        ErrorKind::Budget,
        "bytes of a text",
    );
    let templates: String = (1..40)
        .map(|level| format!("<xsl:variable name='v{level}'><xsl:value-of select='$v{0}'/><xsl:value-of select='$v{0}'/></xsl:variable>", level - 1))
        .collect();
    check(
        transformed(&format!("<xsl:template match='/'>{start}{templates}<r a='{{$v39}}'/></xsl:template>"), "<a/>"),
        ErrorKind::Budget,
        "",
    );
    let attributes = "<xsl:template match='/'><r a='{concat(//@x, //@x)}'/></xsl:template>";
    assert!(transformed(attributes, "<a x='1'/>").is_ok());
}

#[test]
fn chains_of_descendants_meet_the_limit_of_steps() {
    let chain = "//a".repeat(12);
    check(counted(&format!("count({chain})"), &deep("a")), ErrorKind::Budget, "steps of an evaluation");
    assert!(counted("count(//a[count(//a)])", &deep("a")).is_ok());
    let wide = format!("<a>{}</a>", "<b/>".repeat(20_000));
    check(counted("count(//b[count(following::b) + count(preceding::b) &gt; 0])", &wide), ErrorKind::Budget, "steps");
}

/// A text of this many bytes beside this many elements `a`.
fn beside_a_text(bytes: usize, elements: usize) -> String {
    format!("<r><t>{}</t><u>{}</u>{}</r>", "x".repeat(bytes), "0123456789".repeat(100), "<a b='1'/>".repeat(elements))
}

#[test]
fn work_on_texts_counts_as_steps() {
    let input = beside_a_text(100_000, 1_000);
    for work in [
        "string-length(translate(/r/t, \"x\", \"y\")) = 3",
        "string-length(/r/t) = 3",
        "normalize-space(/r/t) = 3",
        "substring(/r/t, 99999) = 3",
        "contains(/r/t, \"xxxxxxxy\")",
        "substring-before(/r/t, \"y\") = 3",
        "substring-after(/r/t, \"y\") = 3",
        "concat(/r/t, /r/t) = 3",
        "/r/t = concat(., /r/t)",
        "/r = 3",
        "number(/r/t) = 3",
        "translate(/r/u, /r/t, \"\") = 3",
        "sum(/r/t) = 3",
        "key(\"k\", /r/t)",
    ] {
        let content = format!(
            "<xsl:key name='k' match='a' use='@b'/><xsl:template match='/'><xsl:value-of select='count(//a[{work}])'/></xsl:template>"
        );
        check(run_with(&content, &input, 200_000).map(|out| out.bytes), ErrorKind::Budget, "steps of an evaluation");
    }
    // What stands behind the part that is asked for is not looked at.
    assert!(counted("count(//a[substring(/r/t, 1, 1) = 3])", &input).is_ok());
    assert!(counted("string-length(translate(/r/t, translate(/r/t, \"0123456789\", \"\"), \"\"))", &input).is_ok());
}

#[test]
fn work_on_results_counts_as_steps() {
    let input = beside_a_text(100_000, 1_000);
    let each = |body: &str| {
        format!("<xsl:template match='/'><r><xsl:for-each select='//a'>{body}</xsl:for-each></r></xsl:template>")
    };
    for body in [
        "<xsl:value-of select='/r/t'/>",
        "<xsl:copy-of select='/r/t'/>",
        "<xsl:comment><xsl:value-of select='/r/t'/></xsl:comment>",
        "<b c='{/r/t}'/>",
        "<xsl:variable name='v'><xsl:copy-of select='/'/></xsl:variable><xsl:value-of select='$v'/>",
        "<xsl:for-each select='/r/t | /r/u'><xsl:sort select='/r/t'/><b/></xsl:for-each>",
    ] {
        check(run_with(&each(body), &input, 200_000).map(|out| out.bytes), ErrorKind::Budget, "steps of an evaluation");
    }
}

#[test]
fn nodes_that_are_passed_over_count_as_steps() {
    let attributes: String = (0..1000).map(|index| format!(" a{index}=''")).collect();
    let input = format!("<r{attributes}>{}</r>", "<a/>".repeat(2000));
    for expression in ["count(//a[../a])", "count(//a[/descendant::a])", "count(//a[lang(\"en\")])"] {
        let input = if expression.contains("lang") {
            input.replace("<a/></r>", "<a xml:lang='de'/></r>")
        } else {
            input.clone()
        };
        check(counted(expression, &input), ErrorKind::Budget, "steps of an evaluation");
    }
    let kept = "<xsl:template match='/'><xsl:variable name='all' select='//a'/><xsl:for-each select='$all'><xsl:if test='$all[position() = 0]'/></xsl:for-each></xsl:template>";
    check(run_with(kept, &input, 1_000_000).map(|out| out.bytes), ErrorKind::Budget, "steps of an evaluation");
}

/// Declarations of this many prefixes, each with a namespace of its own.
fn declarations(count: usize) -> String {
    (0..count).map(|index| format!(" xmlns:p{index}='u{index}'")).collect()
}

#[test]
fn prefixes_and_namespaces_may_be_many() {
    let each = |text: &dyn Fn(usize) -> String| format!("<a>{}</a>", (0..60_000).map(text).collect::<String>());
    assert!(parsed(&each(&|index| format!("<b xmlns:p{index}='u'/>")), Doctype::Refuse).is_ok());
    assert!(parsed(&each(&|index| format!("<b xmlns='u{index}'/>")), Doctype::Refuse).is_ok());
    let used: String = (0..66_000).map(|index| format!("<p{index}:b xmlns:p{index}='u'/>")).collect();
    check(parsed(&format!("<a>{used}</a>"), Doctype::Refuse), ErrorKind::Budget, "prefixes of a document");
    // Looked up through all declarations in scope for each element, this would take minutes.
    let outer = declarations(1000);
    let inner = "<p0:b p1:c=''/>".repeat(30_000);
    assert!(parsed(&format!("<a{outer}><b xmlns:p2='v'>{inner}</b>{inner}</a>"), Doctype::Refuse).is_ok());
}

#[test]
fn what_a_prefix_means_does_not_depend_on_how_many_there_are() {
    let many = declarations(100);
    let input = format!("<a{many}><b xmlns:p3='inner'><p3:c/><p4:c/></b><p3:c/><d xmlns='own'><e/></d><e/></a>");
    let document = Document::parse(&input).unwrap();
    let uris: Vec<&str> = document.descendants(NodeId::ROOT).map(|node| document.namespace_uri(node)).collect();
    assert_eq!(uris, ["", "", "inner", "u4", "u3", "own", "own", ""]);
    let b = document.descendants(NodeId::ROOT).nth(1).unwrap();
    assert_eq!((document.lookup(b, "p3"), document.lookup(b, "p99")), (Some("inner"), Some("u99")));
    assert_eq!(document.lookup(b, "nobody"), None);
    // One for each prefix, and that of `xml`.
    assert_eq!(document.namespaces_in_scope(b).count(), 101);
    let taken_back = format!("<a{many} xmlns='x'><b xmlns=''/></a>");
    let document = Document::parse(&taken_back).unwrap();
    let b = document.descendants(NodeId::ROOT).nth(1).unwrap();
    assert_eq!((document.lookup(b, ""), document.namespaces_in_scope(b).count()), (None, 101));
}

#[test]
fn namespaces_that_are_walked_or_copied_count_as_steps() {
    let input = format!("<a{}>{}</a>", declarations(1000), "<b/>".repeat(2_000));
    check(counted("count(//b/namespace::*)", &input), ErrorKind::Budget, "steps of an evaluation");
    check(counted("count(//b[name(namespace::*[900]) = 1])", &input), ErrorKind::Budget, "steps of an evaluation");
    let copies = "<xsl:template match='/'><r><xsl:for-each select='//b'><xsl:copy/></xsl:for-each></r></xsl:template>";
    check(run_with(copies, &input, 1_000_000).map(|out| out.bytes), ErrorKind::Budget, "steps of an evaluation");
}

/// Rows that patterns with positions and numbers are asked of: with the square of them the steps would not suffice.
#[test]
fn patterns_with_positions_and_numbers_take_steps_as_there_are_nodes() {
    let rows: String = (0..3000).map(|row| format!("<row n='{row}'/>")).collect();
    let input = format!("<t>{rows}</t>");
    for pattern in ["row[last()]", "row[position() mod 2 = 1]", "row[3]", "row[position() = last() - 1]", "@n[1]"] {
        let rules = format!(
            "<xsl:template match='{pattern}' priority='1'>!</xsl:template><xsl:template match='row'><xsl:apply-templates select='@*'/></xsl:template><xsl:template match='@*'/>"
        );
        run_with(&rules, &input, 200_000).unwrap();
    }
    for attributes in ["", "level='any'", "level='multiple'", "count='row'", "count='row' from='t' level='any'"] {
        for select in ["//row", "//row[last()] | //row"] {
            let number = format!(
                "<xsl:template match='/'><r><xsl:for-each select='{select}'><xsl:sort select='@n' order='descending'/><xsl:number {attributes}/>.</xsl:for-each></r></xsl:template>"
            );
            run_with(&number, &input, 400_000).unwrap();
        }
    }
}

#[test]
fn an_error_of_a_pattern_says_where_its_template_stands() {
    let rules = "<xsl:template match='/'><xsl:apply-templates/></xsl:template>\n<xsl:template match='row[position() mod 2 = count(//row)]'/>";
    let input = format!("<t>{}</t>", "<row/>".repeat(2000));
    let error = run_with(rules, &input, 100_000).unwrap_err();
    assert_eq!((error.kind(), error.position().map(|at| at.line)), (ErrorKind::Budget, Some(2)), "{error}");
}

#[test]
fn a_document_says_how_many_steps_an_expression_may_take_on_it() {
    let budget = Budget { instructions_max: 1000, ..Budget::default() };
    let options = Options { budget: Some(&budget), ..Options::default() };
    let source = format!("<a>{}</a>", "<b/>".repeat(600));
    let document = Document::parse_with(&source, &options).unwrap();
    let ask = |expression: &str| XPath::compile(expression, &[]).unwrap().number(&document, NodeId::ROOT);
    assert!(ask("count(//b)").is_ok());
    assert_eq!(ask("count(//b) + count(//b)").unwrap_err().kind(), ErrorKind::Budget);
    let twice = XPath::compile("count(//b) + count(//b) = 1", &[]).unwrap();
    assert_eq!(twice.test(source.as_bytes(), &options).unwrap_err().kind(), ErrorKind::Budget);
}

#[test]
fn messages_are_all_told_or_their_bytes_meet_the_limit_of_a_result() {
    let say = |count: usize, end: &str| {
        format!(
            "<xsl:template match='/'><xsl:for-each select='//a'><xsl:message>{}</xsl:message></xsl:for-each>{end}</xsl:template>",
            "m".repeat(count)
        )
    };
    let input = format!("<r>{}</r>", "<a/>".repeat(3000));
    let messages = run_with(&say(1, ""), &input, 1_000_000).unwrap().messages;
    assert_eq!(messages, vec!["m"; 3000]);
    let error = run_with(&say(1, "<xsl:message terminate='yes'>end</xsl:message>"), &input, 1_000_000).unwrap_err();
    assert_eq!((error.messages().len(), error.kind()), (3000, ErrorKind::Dynamic), "{error}");
    let budget = Budget { output_bytes_max: 100_000, ..Budget::default() };
    let options = RunOptions { budget: Some(&budget), ..RunOptions::default() };
    let stylesheet = Stylesheet::compile(sheet(&say(100, "")).as_bytes(), "sheet.xsl").unwrap();
    let error = stylesheet.run(&stylesheet.parse(&input).unwrap(), &options).unwrap_err();
    assert!(error.to_string().contains("bytes of messages") && error.position().is_some(), "{error}");
}

#[test]
fn defaults_of_attributes_take_a_time_that_grows_with_the_attributes() {
    let declared: String = (0..900).map(|index| format!("a{index} CDATA 'v'\n")).collect();
    let subset = format!("<!DOCTYPE r [<!ATTLIST b {declared}>]>");
    let source = format!("{subset}<r>{}</r>", "<b a1='own'/>".repeat(300));
    let options = Options { doctype: Doctype::InternalSubset, ..Options::default() };
    let document = Document::parse_with(&source, &options).unwrap();
    assert_eq!(document.node_count(), 2 + 300 * 901);
    let many: String = (0..1000).map(|index| format!(" c{index}=''")).collect();
    check(
        parsed(&format!("{subset}<r><b{many}/></r>"), Doctype::InternalSubset),
        ErrorKind::Budget,
        "attributes of an element",
    );
}

/// The same few nodes under every name.
struct Anything;

impl Loader for Anything {
    fn load(&self, reference: &str, _base: &str) -> Result<Loaded, String> {
        Ok(Loaded { name: reference.to_owned(), bytes: b"<a><b/><b/></a>".to_vec() })
    }
}

#[test]
fn documents_that_a_run_loads_share_one_limit_of_nodes() {
    let loads = "<xsl:template match='/'><xsl:value-of select='count(document(//f))'/></xsl:template>";
    let stylesheet = Stylesheet::compile(sheet(loads).as_bytes(), "sheet.xsl").unwrap();
    // The root, `r`, and for each `f` its text.
    for (files, nodes_max, is_enough) in [(3, 2 + 3 * 2 + 3 * 4, true), (3, 2 + 3 * 2 + 3 * 4 - 1, false)] {
        let input: String = (0..files).map(|file| format!("<f>{file}</f>")).collect();
        let input = format!("<r>{input}</r>");
        let document = stylesheet.parse(&input).unwrap();
        let budget = Budget { nodes_max, ..Budget::default() };
        // An input without a name: its references are relative to nothing.
        let unnamed = RunOptions { budget: Some(&budget), loader: &Anything, ..RunOptions::default() };
        check(stylesheet.run(&document, &unnamed).map(|run| run.bytes), ErrorKind::Dynamic, "has no name");
        let named = RunOptions { loader: &Named, ..unnamed };
        assert_eq!(stylesheet.run(&document, &named).is_ok(), is_enough, "{nodes_max}");
    }
}

/// As [`Anything`], for an input that has a name.
struct Named;

impl Loader for Named {
    fn load(&self, reference: &str, base: &str) -> Result<Loaded, String> {
        Anything.load(reference, base)
    }

    fn input_name(&self) -> Option<&str> {
        Some("input.xml")
    }
}

#[test]
fn extremes_of_numbers_are_no_danger() {
    for (expression, expected) in [
        ("substring('12345', -1e300)", None),
        ("substring('12345', -999999999999999999999, 1999999999999999999999)", Some("12345")),
        ("substring('12345', 1, 999999999999999999999)", Some("12345")),
        ("string-length(string(10000000000 * 10000000000))", Some("21")),
        ("round(99999999999999999999999)", Some("100000000000000000000000")),
        ("//a[999999999999999999999]", Some("")),
        ("//a[-1]", Some("")),
        ("7 mod 0", Some("NaN")),
        ("-1 mod (1 div 0)", Some("-1")),
    ] {
        match expected {
            Some(expected) => assert_eq!(found(expression, "<a/>").unwrap(), expected.as_bytes(), "{expression}"),
            None => assert!(found(expression, "<a/>").is_err(), "{expression}"),
        }
    }
    let huge = format!("1{}", "0".repeat(300));
    let format = |pattern: &str| {
        let call = format!(
            "<xsl:template match='/'><r><xsl:value-of select=\"format-number({huge}, '{pattern}')\"/></r></xsl:template>"
        );
        transformed(&call, "<a/>")
    };
    assert!(format("#,##0.00").is_ok());
    assert!(format(&format!("{}.{}", "0".repeat(5000), "0".repeat(5000))).is_ok());
    for attributes in
        ["format='a'", "format='i'", "format='1' grouping-size='1' grouping-separator='.'", "format='0000001'"]
    {
        let number = format!("<xsl:template match='/'><r><xsl:number value='{huge}' {attributes}/></r></xsl:template>");
        assert!(transformed(&number, "<a/>").is_ok(), "{attributes}");
    }
}
