"""A foreign OData V4 client reads and writes a database that tollgate did not make.

Usage: warehouse.py SERVICE_ROOT

The database is that of warehouse.sql; the client (python-odata) is not ours. What it deliberately does not do: check every
option of OData, which the crates' own tests do.
"""

import decimal
import sys
import unittest
import uuid

import requests
from odata import ODataService

SERVICE_ROOT = ""
PRODUCTS = 250


def product_id(number):
    return uuid.UUID(f"00000000-0000-4000-8000-{number:012}")


class Warehouse(unittest.TestCase):
    """Each test's name is the sentence that it proves."""

    @classmethod
    def setUpClass(cls):
        cls.service = ODataService(SERVICE_ROOT, reflect_entities=True, quiet_progress=True)
        cls.entities = cls.service.entities

    def test_every_table_and_view_with_a_key_is_a_set(self):
        self.assertLessEqual({"supplier", "category", "product", "purchase", "purchase_line"}, set(self.entities))

    def test_the_list_holds_every_product_once_over_all_pages(self):
        skus = [product.sku for product in self.service.query(self.entities["product"])]
        self.assertEqual((len(skus), len(set(skus))), (PRODUCTS, PRODUCTS))

    def test_every_common_type_keeps_its_value(self):
        product = self.service.query(self.entities["product"]).get(product_id(7))
        self.assertEqual(product.sku, "SKU-7")
        self.assertEqual(decimal.Decimal(str(product.price)), decimal.Decimal("7.99"))
        self.assertEqual(int(product.stock), 9007199254740993 + 7)
        self.assertEqual(product.weight, 0.875)
        self.assertTrue(str(product.created).startswith("2024-02-29 12:00:00"), product.created)

    def test_a_filter_an_order_and_a_limit_are_kept(self):
        product = self.entities["product"]
        query = self.service.query(product).filter(product.category == "HAMR").order_by(product.price.desc()).limit(3)
        self.assertEqual([found.sku for found in query], ["SKU-250", "SKU-248", "SKU-246"])

    def test_a_supplier_is_created_changed_and_deleted(self):
        supplier_type = self.entities["supplier"]
        supplier = supplier_type()
        supplier.name = f"Łukasz {uuid.uuid4()}"
        supplier.contact = "l@example.org"
        # This client sends null for whatever it was not told; a default would not be asked for.
        supplier.since = "2024-02-29"
        supplier.active = True
        self.service.save(supplier)
        self.assertIsInstance(supplier.id, int, "the key comes from the database")
        supplier.rating = 4
        self.service.save(supplier)
        found = self.service.query(supplier_type).get(supplier.id)
        self.assertEqual((found.name, found.rating), (supplier.name, 4))
        self.service.delete(found)
        left = self.service.query(supplier_type).filter(supplier_type.id == supplier.id).all()
        self.assertEqual(list(left), [])

    def test_navigation_follows_the_foreign_keys(self):
        lines = requests.get(f"{SERVICE_ROOT}/purchase(1)/purchase_line", timeout=30)
        self.assertEqual((lines.status_code, len(lines.json()["value"])), (200, 5), lines.text)

    def test_what_the_client_leaves_out_comes_from_the_database(self):
        created = requests.post(f"{SERVICE_ROOT}/supplier", json={"name": f"bare {uuid.uuid4()}"}, timeout=30)
        self.assertEqual(created.status_code, 201, created.text)
        supplier = created.json()
        self.assertEqual((supplier["since"], supplier["active"], supplier["rating"]), ("2020-01-01", True, None))
        deleted = requests.delete(f"{SERVICE_ROOT}/supplier({supplier['id']})", timeout=30)
        self.assertEqual(deleted.status_code, 204, deleted.text)

    def test_what_the_database_refuses_is_told_with_the_place(self):
        for body, status, place in [
            ({"name": "x", "rating": 6}, 400, "rating"),
            ({"rating": 1}, 400, "name"),
            ({"name": "y" * 61}, 400, "name"),
            ({"name": "O'Brien Ltd"}, 409, ""),
            ({"name": "z", "since": "2024-13-01"}, 400, "since"),
        ]:
            answer = requests.post(f"{SERVICE_ROOT}/supplier", json=body, timeout=30)
            self.assertEqual(answer.status_code, status, (body, answer.text))
            self.assertIn(place, answer.text)
        answer = requests.delete(f"{SERVICE_ROOT}/supplier(1)", timeout=30)
        self.assertEqual(answer.status_code, 409, answer.text)

    def test_a_view_is_read_and_cannot_be_written(self):
        sets = requests.get(SERVICE_ROOT, headers={"Accept": "application/json"}, timeout=30).json()["value"]
        self.assertIn("stock_value", {entry["name"] for entry in sets})
        read = requests.get(f"{SERVICE_ROOT}/stock_value", timeout=30)
        self.assertEqual((read.status_code, len(read.json()["value"])), (200, 2), read.text)
        written = requests.post(f"{SERVICE_ROOT}/stock_value", json={"category": "TOOL"}, timeout=30)
        self.assertEqual(written.status_code, 405, written.text)

    def test_a_change_set_is_all_or_nothing(self):
        name = f"batch {uuid.uuid4()}"
        change = {"method": "POST", "url": "supplier", "atomicityGroup": "g", "headers": {"content-type": "application/json"}}
        requests_of = [
            {**change, "id": "1", "body": {"name": name}},
            {**change, "id": "2", "body": {"name": "bad", "rating": 9}},
        ]
        answer = requests.post(f"{SERVICE_ROOT}/$batch", json={"requests": requests_of}, timeout=30)
        self.assertEqual(answer.status_code, 200, answer.text)
        self.assertNotIn('"status":201', answer.text)
        found = requests.get(f"{SERVICE_ROOT}/supplier", params={"$filter": f"name eq '{name}'"}, timeout=30).json()
        self.assertEqual(found["value"], [])


if __name__ == "__main__":
    SERVICE_ROOT = sys.argv.pop(1).rstrip("/")
    unittest.main(verbosity=2)
