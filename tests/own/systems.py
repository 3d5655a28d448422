"""Small systems that are not tollgate's, for trying the experiments on somebody else's servers.

`systems.py PORT`: an OData V2 service that wants `sap-client`, the same products as plain REST that wants an API key, a V2
set to insert into, which wants a token from whoever writes and `If-Match` from whoever deletes, an echo, and the
StockQuoteService of Axis2's quick start. What an SAP Gateway does and ours does not: a client number in each request, names
of another host in links, a key of two parts with a date. What Axis2 does and ours does not: an operation of another name in
another namespace, an answer whose elements have other prefixes than the request, a fault for what is none of its operations.
"""

import json
import sys
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

SERVICE = "/sap/opu/odata/sap/PRODUCTS/ProductSet"
TOKEN = "t0k3n"
FIRST = datetime(2011, 6, 1, tzinfo=timezone.utc)
PRODUCTS = {f"P{number}'{number}": FIRST + timedelta(days=number) for number in range(40)}


def key(id, since):
    return f"ID='{id.replace(chr(39), chr(39) * 2)}',Since=datetime'{since:%Y-%m-%dT%H:%M:%S}'"


def entity(id, since):
    uri = f"http://internal.example:8000{SERVICE}({key(id, since)})"
    date = f"/Date({int(since.timestamp()) * 1000})/"
    return {"__metadata": {"uri": uri, "type": "Product"}, "ID": id, "Since": date, "Text": "x" * 200}


def wrong(status, words):
    return status, {"error": {"code": "", "message": {"lang": "en", "value": words}}}


def odata(path, query):
    if query.get("sap-client") != ["100"]:
        return wrong(400, "sap-client is missing")
    if path == SERVICE:
        return 200, {"d": {"results": [entity(*product) for product in PRODUCTS.items()]}}
    found = [entity(*product) for product in PRODUCTS.items() if path == f"{SERVICE}({key(*product)})"]
    return (200, {"d": found[0]}) if found else wrong(404, path)


def rest(path, query):
    if query.get("api_key") != ["k"]:
        return 401, {"error": "api_key is missing"}
    if path == "/api/products":
        return 200, {"items": [{"id": id, "text": "x" * 200} for id in PRODUCTS]}
    id = path.removeprefix("/api/products/")
    return (200, {"id": id, "text": "x" * 200}) if id in PRODUCTS else (404, {})


STOCK = "/v2/StockSet"
STOCK_METADATA = """<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>
<Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="Stock"><Key><PropertyRef Name="ID"/>
</Key><Property Name="ID" Type="Edm.String" MaxLength="10" Nullable="false"/><Property Name="Amount" Type="Edm.Decimal"
Precision="9" Scale="2"/><Property Name="Since" Type="Edm.DateTime"/></EntityType><EntityContainer Name="C"><EntitySet
Name="StockSet" EntityType="S.Stock"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>"""
stored = {"('BOLT')": {"ID": "BOLT", "Amount": "7.50"}}


def stock(method, path, headers, body):
    if method == "GET":
        found = {"/v2/$metadata": STOCK_METADATA, f"{STOCK}/$count": str(len(stored))}
        return 200, found.get(path) or {"d": {"results": list(stored.values())}}
    if headers["X-CSRF-Token"] != TOKEN:
        return wrong(403, "CSRF token validation failed")
    if method == "POST" and path == STOCK:
        entry = json.loads(body)
        stored[f"('{entry['ID']}')"] = entry
        return 201, {"d": entry}
    if method == "DELETE" and headers["If-Match"] is None:
        return wrong(428, "If-Match is missing")
    found = stored.pop(path.removeprefix(STOCK), None) if method == "DELETE" else None
    return (204, "") if found else wrong(404, path)


STOCK_QUOTES = "/axis2/services/StockQuoteService"
SOAP = "http://schemas.xmlsoap.org/soap/envelope/"
QUOTES = "http://quickstart.samples/xsd"
PRICES = {"IBM": "42.0", "SAP": "117.5"}


def stock_quote(message):
    symbol = f"{{{SOAP}}}Body/{{{QUOTES}}}getPrice/{{{QUOTES}}}symbol"
    try:
        price = PRICES.get(ElementTree.fromstring(message).findtext(symbol))
    except ElementTree.ParseError:
        price = None
    status, words = 200, f'<ns:getPriceResponse xmlns:ns="{QUOTES}"><ns:return>{price}</ns:return></ns:getPriceResponse>'
    if price is None:
        reason = f"The endpoint reference (EPR) for the Operation not found is {STOCK_QUOTES}"
        status, words = 500, (
            f"<soapenv:Fault><faultcode>soapenv:Client</faultcode><faultstring>{reason}</faultstring><detail/></soapenv:Fault>"
        )
    head = "<?xml version='1.0' encoding='UTF-8'?>"
    return status, f'{head}<soapenv:Envelope xmlns:soapenv="{SOAP}"><soapenv:Body>{words}</soapenv:Body></soapenv:Envelope>'


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("X-CSRF-Token", TOKEN)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.startswith("/v2/"):
            return self.stock()
        url = urlsplit(self.path)
        path, query = unquote(url.path), parse_qs(url.query)
        status, found = odata(path, query) if path.startswith("/sap/") else rest(path, query)
        self.answer(status, json.dumps(found).encode())

    def stock(self, body=b""):
        status, found = stock(self.command, unquote(self.path), self.headers, body)
        is_text = isinstance(found, str)
        kind = "application/xml" if is_text else "application/json"
        self.answer(status, (found if is_text else json.dumps(found)).encode(), kind)

    do_DELETE = stock

    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/v2/"):
            self.stock(message)
        elif self.path == STOCK_QUOTES:
            status, found = stock_quote(message)
            self.answer(status, found.encode(), "text/xml; charset=UTF-8")
        else:
            self.answer(200, message, "text/plain")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
print(f"listening http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
