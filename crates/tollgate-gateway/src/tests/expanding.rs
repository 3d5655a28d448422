//! Expansions in answers: nested, counted, selected, empty, and cut into pages whose links lead to the rest.

use super::client::{Answer, Running};
use super::own::{AS_JSON, OWN_V2, OWN_V4, json, on_both};

const SQL: &str = "CREATE TABLE authors (name VARCHAR(10) NOT NULL PRIMARY KEY, born INT);
    CREATE TABLE books (id INT NOT NULL PRIMARY KEY, title VARCHAR(20), author_name VARCHAR(10) REFERENCES authors(name),
        before_id INT REFERENCES books(id));
    CREATE TABLE reviews (book_id INT NOT NULL REFERENCES books(id), number INT NOT NULL, stars INT,
        PRIMARY KEY (book_id, number));
    INSERT INTO authors VALUES ('Ann', 1950), ('Bob', NULL), ('O''Neil/&+', 1960);
    INSERT INTO books VALUES (1, 'One', 'Ann', NULL), (2, 'Two', 'Ann', 1), (3, 'Three', 'Ann', 2), (4, 'Four', 'Ann', 3),
        (5, 'Five & more', 'O''Neil/&+', NULL), (6, NULL, 'O''Neil/&+', 5), (7, 'Seven', NULL, NULL);
    INSERT INTO reviews VALUES (1, 1, 5), (1, 2, 4), (1, 3, 3), (2, 1, 1);";

/// Runs `test` with each kind of database, with pages of so many.
fn over_books(schema: &str, page_size: u32, test: impl Fn(&Running)) {
    on_both(schema, [SQL, SQL], "", &format!("[pages]\nsize = {page_size}\n"), test);
}

fn get(gateway: &Running, target: &str, headers: &[(&str, &str)]) -> Answer {
    let headers: Vec<_> = [("Host", "h.example")].iter().chain(headers).copied().collect();
    let answer = gateway.connect().ask("GET", &target.replace(' ', "%20"), &headers);
    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    answer
}

fn text(gateway: &Running, below: &str) -> String {
    get(gateway, &format!("{OWN_V4}{below}"), &[]).text()
}

#[test]
fn nested_expansions_are_written_as_they_were() {
    over_books("expanding_written", 100, |gateway| {
        for (below, expected) in [
            (
                "authors?$expand=books($select=title;$count=true;$expand=reviews($select=stars;$count=true;$top=1))&$filter=name eq 'Ann'&$select=born",
                r##"{"@odata.context":"ROOT/$metadata#authors(born,books(title,reviews(stars)))","value":[{"@odata.id":"ROOT/authors('Ann')","born":1950,"books@odata.count":4,"books":[{"@odata.id":"ROOT/books(1)","title":"One","reviews@odata.count":3,"reviews":[{"@odata.id":"ROOT/reviews(book_id=1,number=1)","stars":5}]},{"@odata.id":"ROOT/books(2)","title":"Two","reviews@odata.count":1,"reviews":[{"@odata.id":"ROOT/reviews(book_id=2,number=1)","stars":1}]},{"@odata.id":"ROOT/books(3)","title":"Three","reviews@odata.count":0,"reviews":[]},{"@odata.id":"ROOT/books(4)","title":"Four","reviews@odata.count":0,"reviews":[]}]}]}"##,
            ),
            (
                "books?$expand=before($levels=2;$select=id)&$select=id&$filter=id le 3",
                r##"{"@odata.context":"ROOT/$metadata#books(id,before(id,before(id)))","value":[{"id":1,"before":null},{"id":2,"before":{"id":1,"before":null}},{"id":3,"before":{"id":2,"before":{"id":1}}}]}"##,
            ),
            (
                "authors?$expand=books/$ref",
                r##"{"@odata.context":"ROOT/$metadata#authors(books/$ref)","value":[{"name":"Ann","born":1950,"books":[{"@odata.id":"ROOT/books(1)"},{"@odata.id":"ROOT/books(2)"},{"@odata.id":"ROOT/books(3)"},{"@odata.id":"ROOT/books(4)"}]},{"name":"Bob","born":null,"books":[]},{"name":"O'Neil/&+","born":1960,"books":[{"@odata.id":"ROOT/books(5)"},{"@odata.id":"ROOT/books(6)"}]}]}"##,
            ),
            (
                "authors('Bob')?$expand=books($count=true)",
                r##"{"@odata.context":"ROOT/$metadata#authors(books())/$entity","name":"Bob","born":null,"books@odata.count":0,"books":[]}"##,
            ),
            (
                "authors?$expand=books/$count($filter=id gt 2)&$select=name",
                r##"{"@odata.context":"ROOT/$metadata#authors(name)","value":[{"name":"Ann","books@odata.count":2},{"name":"Bob","books@odata.count":0},{"name":"O'Neil/&+","books@odata.count":2}]}"##,
            ),
            (
                "books(7)?$expand=author,before",
                r##"{"@odata.context":"ROOT/$metadata#books(author(),before())/$entity","id":7,"title":"Seven","author_name":null,"before_id":null,"author":null,"before":null}"##,
            ),
            (
                "reviews(book_id=2,number=1)?$expand=book($expand=author;$select=id)",
                r##"{"@odata.context":"ROOT/$metadata#reviews(book(id,author()))/$entity","book_id":2,"number":1,"stars":1,"book":{"id":2,"author":{"name":"Ann","born":1950}}}"##,
            ),
        ] {
            let written = text(gateway, below).replace("http://h.example/odata/v4/own/", "ROOT/");
            assert_eq!(written, expected, "{below}");
        }
    });
}

/// The text of the first link behind `mark`.
fn link(text: &str, mark: &str) -> String {
    let (_, rest) = text.split_once(mark).unwrap_or_else(|| panic!("{mark} in {text}"));
    rest.split('"').next().unwrap().replace("&amp;", "&")
}

#[test]
fn an_expansion_that_is_cut_links_to_the_rest() {
    over_books("expanding_cut", 2, |gateway| {
        let first =
            text(gateway, "authors?$expand=books($select=title;$count=true;$orderby=title desc)&$filter=name eq 'Ann'");
        let next = link(&first, "\"books@odata.nextLink\":\"");
        assert!(first.contains("\"books@odata.count\":4,\"books\":[{"), "{first}");
        assert!(
            next.starts_with("http://h.example/odata/v4/own/authors('Ann')/books?$orderby=title%20desc&"),
            "{next}"
        );
        let path = next.strip_prefix("http://h.example").unwrap();
        let rest = json(&get(gateway, path, &[]));
        let titles: Vec<_> =
            rest["value"].as_array().unwrap().iter().map(|book| book["title"].as_str().unwrap()).collect();
        assert_eq!(titles, ["One", "Four"], "{rest}");
        assert_eq!(rest["@odata.count"], 4);
        // In 4.01, of an entity, of nested ones, and under a preference.
        let later = [("OData-MaxVersion", "4.01")];
        let entity = get(gateway, &format!("{OWN_V4}authors('Ann')?$expand=books"), &later).text();
        assert!(link(&entity, "\"books@nextLink\":\"").contains("/authors('Ann')/books?$skiptoken="), "{entity}");
        let nested = text(gateway, "authors?$expand=books($expand=reviews($filter=stars gt 1))&$filter=name eq 'Ann'");
        let next = link(&nested, "\"reviews@odata.nextLink\":\"");
        assert!(next.contains("/books(1)/reviews?$filter=stars%20gt%201&$skiptoken="), "{next}");
        assert_eq!(json(&get(gateway, &next[16..], &[]))["value"].as_array().unwrap().len(), 1);
        let one = get(gateway, &format!("{OWN_V4}authors?$expand=books"), &[("Prefer", "maxpagesize=1")]);
        assert_eq!(one.header("preference-applied"), Some("maxpagesize=1"));
        assert_eq!(json(&one)["value"][0]["books"].as_array().unwrap().len(), 1);
        let of_one =
            get(gateway, &format!("{OWN_V4}authors('Ann')?$expand=books"), &[("Prefer", "odata.maxpagesize=1")]);
        assert_eq!(of_one.header("preference-applied"), Some("odata.maxpagesize=1"));
        assert_eq!(json(&of_one)["books"].as_array().unwrap().len(), 1);
        // What has no more has no link, nor has what was asked for in part.
        for below in ["authors?$expand=books($top=2)", "authors('Bob')?$expand=books", "books?$expand=author&$top=2"] {
            assert!(!text(gateway, below).contains("books@odata.nextLink"), "{below}");
        }
        // Names that need escapes lead on, too, and so do levels and references.
        let odd = text(gateway, "authors?$expand=books/$ref&$filter=startswith(name,'O')");
        assert!(!odd.contains("nextLink"), "{odd}");
        let odd = get(
            gateway,
            &format!("{OWN_V4}authors?$expand=books/$ref&$filter=startswith(name,'O')"),
            &[("Prefer", "maxpagesize=1")],
        )
        .text();
        let next = link(&odd, "\"books@odata.nextLink\":\"");
        assert!(next.contains("authors('O''Neil%2F%26%2B')/books/$ref?$skiptoken="), "{next}");
        assert_eq!(json(&get(gateway, &next[16..], &[]))["value"].as_array().unwrap().len(), 1);
    });
}

#[test]
fn v2_links_to_the_rest_of_an_expansion() {
    over_books("expanding_v2", 2, |gateway| {
        let target = format!(
            "{OWN_V2}authors?$filter=name eq 'Ann'&$expand=books/reviews&$select=name,books/title,books/reviews"
        );
        let first = get(gateway, &target, &[AS_JSON]);
        let books = &json(&first)["d"]["results"][0]["books"];
        assert_eq!(books["results"].as_array().unwrap().len(), 2);
        let next = books["__next"].as_str().unwrap();
        assert!(
            next.starts_with("http://h.example/sap/opu/odata/own/authors('Ann')/books?$expand=reviews&$select="),
            "{next}"
        );
        let rest = json(&get(gateway, &next[16..], &[AS_JSON]));
        let titles: Vec<_> =
            rest["d"]["results"].as_array().unwrap().iter().map(|book| book["title"].as_str().unwrap()).collect();
        assert_eq!(titles, ["Three", "Four"]);
        assert!(books["results"][0]["reviews"]["__next"].as_str().unwrap().contains("/books(1)/reviews?$skiptoken="));
        let atom = get(gateway, &target, &[]).text();
        let next = link(&atom, "</entry><link rel=\"next\" href=\"");
        assert!(next.contains("/own/"), "{atom}");
        assert!(atom.contains("/></feed></m:inline></link>"), "{atom}");
    });
}

#[test]
fn aliases_stand_in_keys_and_schema_versions_are_known() {
    over_books("expanding_aliases", 100, |gateway| {
        for (below, status, part) in [
            ("books(@b)?@b=2", 200, "\"title\":\"Two\""),
            ("reviews(book_id=@b,number=@n)?@b=2&@n=1", 200, "\"stars\":1"),
            ("authors(@a)/books(@b)?@a='Ann'&@b=3", 200, "Three"),
            ("books(@b)", 400, "the alias '@b' is not given in the path at column 7"),
            ("books(@b)?@b=", 400, "expected a literal"),
            ("books(@b)?@b=1,2", 400, "expected a literal"),
            ("books(@b)?@b='x'", 400, "column 7"),
            ("reviews(book_id=@b)?@b=2,number=1", 400, "expected a literal"),
            ("books(2)?$schemaversion=*", 200, "Two"),
            ("$metadata?$schemaversion=*", 200, "Version"),
            ("books(2)?$schemaversion=7", 404, "version '7'"),
            ("books?$index=1", 400, "$index does not apply"),
            ("books?$index=one", 400, "$index at column 1"),
        ] {
            gateway.connect().ask("GET", &format!("{OWN_V4}{below}"), &[]).expect(status, part);
        }
    });
}

#[test]
fn patterns_match_alike_on_both_databases() {
    over_books("expanding_patterns", 100, |gateway| {
        for (pattern, expected) in [
            ("^T", vec![2, 3]),
            ("o$", vec![2]),
            ("e{2}", vec![3]),
            ("^[A-F].*r", vec![4, 5]),
            ("n|wo", vec![1, 2, 7]),
            (r"^\w%2B$", vec![1, 2, 3, 4, 7]),
            (r"\s%26\s", vec![5]),
            ("^(?:O|S).{2,4}$", vec![1, 7]),
            ("^[^%26]*$", vec![1, 2, 3, 4, 7]),
            (r"\u0065\x65", vec![3]),
            ("^t", vec![]),
            ("", vec![1, 2, 3, 4, 5, 7]),
            ("(a*)*$", vec![1, 2, 3, 4, 5, 7]),
        ] {
            let target = format!("{OWN_V4}books?$select=id&$orderby=id&$filter=matchesPattern(title,'{pattern}')");
            let found = json(&get(
                gateway,
                &target
                    .replace('^', "%5E")
                    .replace('\\', "%5C")
                    .replace('{', "%7B")
                    .replace('}', "%7D")
                    .replace('|', "%7C"),
                &[],
            ));
            let ids: Vec<_> =
                found["value"].as_array().unwrap().iter().map(|book| book["id"].as_i64().unwrap()).collect();
            assert_eq!(ids, expected, "{pattern}");
        }
        for (filter, status, part) in [
            (
                "matchesPattern(title,'(')",
                400,
                "a '(' without its ')', at character 1 of the pattern in $filter at column 22",
            ),
            ("matchesPattern(title,'(?=a)')", 400, "looks around"),
            ("matchesPattern(title,author_name)", 501, "a pattern that is computed"),
            ("matchesPattern(title,@p)&@p='%255ET'", 200, "value"),
        ] {
            gateway.connect().ask("GET", &format!("{OWN_V4}books?$filter={filter}"), &[]).expect(status, part);
        }
    });
}
