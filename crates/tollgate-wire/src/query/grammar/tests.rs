//! Valid and invalid texts of the grammar, as data: `|` marks where a text departs from it.

use super::check;

fn good(option: &str, texts: &[&str]) {
    let found = texts.iter().filter_map(|text| {
        let problem = check(option, text).err()?;
        Some(format!("{text}\n    {} at {:?}", problem.what, problem.at))
    });
    assert_eq!(found.collect::<Vec<_>>().join("\n"), "", "{option}");
}

fn bad(option: &str, texts: &[&str]) {
    let found = texts.iter().filter_map(|text| {
        let (before, after) = text.split_once('¦').expect("a mark stands in it");
        let found = check(option, &format!("{before}{after}")).map_err(|problem| problem.at.unwrap_or(0));
        (found != Err(before.len())).then(|| format!("{text}\n    {found:?}"))
    });
    assert_eq!(found.collect::<Vec<_>>().join("\n"), "", "{option}");
}

#[test]
fn expressions_are_operands_between_operators() {
    good(
        "$filter",
        &[
            "a eq 1 and not b or (c lt -d)",
            "not(a) and not contains(b,'x')",
            "a in (1,2, 3 ) and b in ['x','y'] and c in @list",
            "A.B/c/d(1)/e eq @p and @Core.Messages/any(m:m/severity eq 'error')",
            "price/@Measures.Currency#Tablet eq 'EUR'",
            "$it/a eq $root/People('x')/b and $this lt 5",
            "a/any() and a/any(x:x/b/all(y:y eq $it/c)) and a/$count($filter=b eq ';)';$search=x) gt 5",
            "a/$filter(b gt 1)/$count gt 5",
            "case(a gt 0:1,true:0) eq cast(b,Edm.Int32) and isof(A.B)",
            "geo.distance(a,geography'SRID=4326;Point(142.1 64.1)') lt 5",
            "geo.intersects(a,geometry'SRID=0;Polygon((1 1,2 2,3 3,1 1))')",
            "a has Sales.Pattern'Yellow,32' and b eq Sales.Pattern'-1'",
            "A.Near(to=@p,within=[1,2 add 3,{\"x\":\"y\\\"z\",\"n\":null}]) eq {}",
            "a add duration'P1DT2H' gt now() and 2024-01-01T00:00:00.5+01:00 le b and c eq 07:59:59.999",
            "a eq 01234567-89ab-cdef-0123-456789abcdef or b eq binary'T0RhdGE' or c eq INF or d eq NaN or e eq -INF",
            "a eq 'O''Neil' and b eq null and c eq TRUE",
        ],
    );
    bad(
        "$filter",
        &[
            "¦",
            "a eq¦",
            "a eq ¦",
            "a eq¦'x'",
            "(a)¦eq 1",
            "a eq 1 ¦b",
            "a in (1,¦)",
            "a in [1¦",
            "a in ¦)",
            "A.b(x=¦)",
            "{¦a:1}",
            "[1,¦]",
            "{\"a\"¦}",
            "a/$filter(b¦",
            "a/$¦each",
            "a/b/¦",
            "$¦them/a",
            "@¦",
            "@a.¦",
            "a/@¦1",
            "a/any(x¦)",
            "a/all(¦)",
            "a/any(x:¦)",
            "case(a¦)",
            "case(a:1,¦)",
            "a has X.Y'¦'",
            "a has X.Y'A,¦'",
            "a has X.Y'A ¦B'",
            "geography'¦Point(1 2)'",
            "geography'SRID=0;¦Dot(1 2)'",
            "geography'SRID=0;Point(1¦)'",
            "geography'SRID=0;Point(1 2¦,3)'",
            "geography'SRID=¦;Point(1 2)'",
            "geography'SRID=0;Polygon(¦1 2)'",
            "geography'SRID=0;Point(1 2)¦",
        ],
    );
}

#[test]
fn lists_of_options_nest() {
    good(
        "$select",
        &[
            "*",
            "A.*,b",
            "a/b,A.B/c",
            "a($filter=b eq 1;$top=2;$orderby=$it)",
            "@Core.Messages,b/@C.D#q",
            "A.b(c,d),e()",
        ],
    );
    bad("$select", &["¦", "a,¦", "a/¦", "a ¦b", "a(¦;)", "a($top=¦x)", "a($top=1¦", "A.¦", "¦1a", "*¦x"]);
    good(
        "$expand",
        &[
            "*",
            "*/$ref,a",
            "*($levels=max)",
            "A.B/c($expand=d/$count($search=x y);$levels=2;@x=$this)",
            "$value",
            "@A.B/c($top=2)",
            "a($apply=aggregate(b with sum as c))",
        ],
    );
    bad(
        "$expand",
        &["¦", "a(¦)", "a($top=1;¦)", "a(¦$foo=1)", "a($levels=¦)", "a($count=¦yes)", "a($filter=b eq 1¦", "a/¦"],
    );
}

#[test]
fn transformations_stand_between_slashes() {
    good(
        "$apply",
        &[
            "identity/filter(a eq 1)/groupby((a,b/c),aggregate($count as d,e with sum as f))",
            "groupby((rollup($all,a,b),rollup(H)))",
            "aggregate(a with average from b,c/d with max as e,Budget,f/$count as g)",
            "concat(identity,topcount(1,a)/compute(a mul 2 as b))",
            "join(a as b,filter(c gt 1))/outerjoin(d as e)/nest(identity as f,groupby((g)) as h)",
            "ancestors($root/Units,H,ID,filter(contains(n,'x')),2,keep start)/traverse($root/Units,H,ID,preorder)",
            "groupby((rolluprecursive($root/Units,H,ID,descendants($root/Units,H,ID,filter(a eq 1),keep start))))",
            "Self.Best(Count=1,Property='x')/search(a \"b c\")/orderby(a desc,b)/skip(1)/top(2)/expand(a,filter(b))",
            "compute(a div $these/aggregate(b with sum) as c)/addnested(d/e,compute(f as g) as h)",
        ],
    );
    bad(
        "$apply",
        &[
            "¦",
            "identity/¦",
            "filter(¦)",
            "¦filtered(a)",
            "filter¦ (a)",
            "aggregate(¦)",
            "aggregate(a with¦)",
            "aggregate(a with sum as¦)",
            "aggregate(a with sum as ¦1)",
            "groupby(¦a)",
            "groupby((a,¦))",
            "groupby((a),¦)",
            "compute(a¦)",
            "concat(identity¦)",
            "topcount(1¦)",
            "nest(identity¦)",
            "join(a¦)",
            "ancestors($root/a,H,ID,identity,¦x)",
            "ancestors($root/a,H,ID,identity,keep¦)",
            "traverse($root/a,H,ID,¦inorder)",
        ],
    );
}

#[test]
fn searches_are_words_and_phrases() {
    good("$search", &["a", "a AND NOT b OR (c \"d )e\\\" f\")", "'gr(een'", "NOT"]);
    bad("$search", &["¦", "(a¦", "¦\"a", "a¦)", "(¦)"]);
}
