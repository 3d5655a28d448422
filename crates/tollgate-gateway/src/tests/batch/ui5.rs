//! Batches as UI5's models write them.

use super::*;

/// `sap.ui.model.odata.v4`: one change set and one read of `$auto`, with line ends and fields of its batch helper.
#[test]
fn a_group_of_the_v4_model() {
    let gateway = Running::start("");
    let boundary = "batch_id-1700000000000-5";
    let set = "changeset_id-1700000000000-6";
    let body = format!(
        "--{boundary}\r\nContent-Type: multipart/mixed;boundary={set}\r\n\r\n\
        --{set}\r\nContent-Type:application/http\r\nContent-Transfer-Encoding:binary\r\nContent-ID:0.0\r\n\r\n\
        POST TestRecords HTTP/1.1\r\nAccept:application/json;odata.metadata=minimal;IEEE754Compatible=true\r\n\
        Accept-Language:en\r\nPrefer:return=minimal\r\nX-CSRF-Token:Fetch\r\n\
        Content-Type:application/json;charset=UTF-8;IEEE754Compatible=true\r\n\r\n\
        {{\"ID\":\"{}\",\"integer64Field\":\"9007199254740993\",\"decimalField\":\"1.5\"}}\r\n\
        --{set}\r\nContent-Type:application/http\r\nContent-Transfer-Encoding:binary\r\nContent-ID:1.0\r\n\r\n\
        PATCH $0.0 HTTP/1.1\r\nAccept:application/json;odata.metadata=minimal;IEEE754Compatible=true\r\n\
        Content-Type:application/json;charset=UTF-8;IEEE754Compatible=true\r\n\r\n{{\"booleanField\":true}}\r\n\
        --{set}--\r\n--{boundary}\r\nContent-Type:application/http\r\nContent-Transfer-Encoding:binary\r\n\r\n\
        GET TestRecords?$count=true&$select=ID,integer64Field&$skip=0&$top=20 HTTP/1.1\r\n\
        Accept:application/json;odata.metadata=minimal;IEEE754Compatible=true\r\nX-CSRF-Token:Fetch\r\n\r\n\r\n\
        --{boundary}--\r\nGroup ID: $auto",
        id(1)
    );
    let content_type = format!("multipart/mixed; boundary={boundary}");
    let headers = [
        ("Content-Type", content_type.as_str()),
        ("Accept", "multipart/mixed"),
        ("MIME-Version", "1.0"),
        ("OData-Version", "4.0"),
        ("OData-MaxVersion", "4.0"),
        ("X-CSRF-Token", "Fetch"),
    ];
    let answer = gateway.batch(V4, &headers, &body);
    assert_eq!((answer.status, outline(&answer).as_str()), (200, "[0.0=204 1.0=204] -=200"), "{}", answer.text());
    answer.expect(200, "\"integer64Field\":\"9007199254740993\"").expect(200, "\"@odata.count\":\"1\"");
}

/// `sap.ui.model.odata.v2.ODataModel`: a read, and MERGE in a change set.
#[test]
fn a_submit_of_the_v2_model() {
    let gateway = Running::start("");
    gateway.batch(V4, &[JSON], &requests(&[create("0", 1, "")])).expect(200, "201");
    let merge = "{\"__metadata\":{\"uri\":\"x\"},\"integerField\":5}";
    let fields = "sap-contextid-accept: header\r\nAccept: application/json\r\nAccept-Language: en\r\n\
        DataServiceVersion: 2.0\r\nMaxDataServiceVersion: 2.0\r\nX-Requested-With: XMLHttpRequest";
    let body = format!(
        "\r\n--batch_1a2b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
        GET TestRecords?$skip=0&$top=10&$inlinecount=allpages HTTP/1.1\r\n{fields}\r\n\r\n\r\n\
        --batch_1a2b\r\nContent-Type: multipart/mixed; boundary=changeset_3c4d\r\n\r\n--changeset_3c4d\r\n\
        Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
        MERGE TestRecords(guid'{}') HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{fields}\r\n\r\n\
        {merge}\r\n--changeset_3c4d--\r\n\r\n--batch_1a2b--\r\n",
        id(1),
        merge.len(),
    );
    let headers = [
        ("Content-Type", "multipart/mixed;boundary=batch_1a2b"),
        ("Accept", "multipart/mixed"),
        ("DataServiceVersion", "2.0"),
        ("MaxDataServiceVersion", "2.0"),
    ];
    let answer = gateway.batch(V2, &headers, &body);
    assert_eq!((answer.status, outline(&answer).as_str()), (202, "-=200 [-=204]"), "{}", answer.text());
    answer.expect(202, "\"__count\":\"1\"");
    gateway.get(&format!("{V4}TestRecords({})/integerField/$value", id(1))).expect(200, "5");
}
