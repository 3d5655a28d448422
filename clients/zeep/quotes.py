"""A foreign SOAP client calls the stock quotes by their description: both versions, all operations, a fault.

Usage: quotes.py SERVICE_URL

It proves that the description and the messages are understood by a client that we did not write (zeep). What it
deliberately does not do: send what is wrong with an envelope, which the crates' own tests do.
"""

import sys
import unittest
from datetime import datetime, timezone
from decimal import Decimal

from zeep import Client
from zeep.exceptions import Fault
from zeep.helpers import serialize_object
from zeep.plugins import HistoryPlugin
from zeep.wsa import WsAddressingPlugin

SERVICE_URL = ""
VERSIONS = ("11", "12")
DAYS = 252


def called(version, plugins=()):
    client = Client(f"{SERVICE_URL}?wsdl", plugins=list(plugins))
    return client.bind("SimpleStockQuoteService", f"SimpleStockQuoteServiceSoap{version}Port")


class StockQuotes(unittest.TestCase):
    """Each test's name is the sentence that it proves."""

    def test_a_quote_has_figures_that_fit_together(self):
        for version in VERSIONS:
            quote = called(version).getQuote(request={"symbol": "IBM"})
            self.assertEqual((quote.symbol, quote.name), ("IBM", "IBM Company"))
            self.assertEqual(quote.date, datetime(2011, 6, 3, 20, tzinfo=timezone.utc))
            self.assertEqual(quote.last - quote.prevClose, quote.change)
            self.assertLessEqual(quote.low, min(quote.last, quote.open))
            self.assertIsInstance(quote.last, Decimal)

    def test_both_versions_answer_the_same(self):
        old, new = (serialize_object(called(version).getQuote(request={"symbol": "SUN"})) for version in VERSIONS)
        self.assertEqual(old, new)

    def test_a_full_quote_is_a_walk_of_a_year(self):
        for version in VERSIONS:
            # The client takes off what has but one member.
            history = called(version).getFullQuote(request={"symbol": "IBM"})
            self.assertEqual([entry.day for entry in history], list(range(DAYS)))
            for entry, before in zip(history, history[1:]):
                self.assertEqual(entry.quote.prevClose, before.quote.last)

    def test_an_order_is_not_answered(self):
        for version in VERSIONS:
            order = {"price": Decimal("141.50"), "quantity": 1000, "symbol": "IBM"}
            self.assertIsNone(called(version).placeOrder(order=order))

    def test_a_symbol_that_is_none_is_a_fault_of_the_client(self):
        for version, code in zip(VERSIONS, ("soap:Client", "soap:Sender")):
            with self.assertRaises(Fault) as raised:
                called(version).getQuote(request={"symbol": " "})
            self.assertEqual(raised.exception.code, code)
            self.assertIn("no symbol", raised.exception.message)

    def test_an_answer_says_which_message_it_is_for(self):
        for version in VERSIONS:
            history = HistoryPlugin()
            called(version, [WsAddressingPlugin(), history]).getQuote(request={"symbol": "IBM"})
            names = {"a": "http://www.w3.org/2005/08/addressing"}
            sent = history.last_sent["envelope"].findtext(".//a:MessageID", namespaces=names)
            relates = history.last_received["envelope"].findtext(".//a:RelatesTo", namespaces=names)
            self.assertTrue(sent)
            self.assertEqual(relates, sent)


if __name__ == "__main__":
    SERVICE_URL = sys.argv.pop()
    unittest.main(verbosity=2)
