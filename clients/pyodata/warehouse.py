"""A foreign OData V2 client reads and writes a database that tollgate did not make.

Usage: warehouse.py SERVICE_ROOT

The database is that of warehouse.sql; the client (pyodata) is not ours. What it deliberately does not do: check every
option of OData, which the crates' own tests do.
"""

import sys
import unittest
import uuid

import pyodata
import requests

SERVICE_ROOT = ""
PRODUCTS = 250


class Warehouse(unittest.TestCase):
    """Each test's name is the sentence that it proves."""

    @classmethod
    def setUpClass(cls):
        cls.session = requests.Session()
        cls.service = pyodata.Client(SERVICE_ROOT, cls.session)
        cls.sets = cls.service.entity_sets

    def test_metadata_describes_keys_and_navigation(self):
        line = self.service.schema.entity_type("purchase_line")
        self.assertEqual({key.name for key in line.key_proprties}, {"purchase", "position"})
        self.assertTrue(list(line.nav_proprties), "foreign keys are navigation")

    def test_the_count_and_a_filter_are_right(self):
        self.assertEqual(self.sets.product.get_entities().count().execute(), PRODUCTS)
        found = self.sets.product.get_entities().filter("price gt 249.5M and category eq 'HAMR'").execute()
        self.assertEqual([product.sku for product in found], ["SKU-250"])

    def test_a_purchase_with_its_composite_lines_is_read_by_key(self):
        line = self.sets.purchase_line.get_entity(purchase=1, position=3).execute()
        self.assertEqual(str(line.quantity).rstrip("0"), "4.5")

    def test_a_category_is_created_merged_and_deleted(self):
        code = uuid.uuid4().hex[:4].upper()
        created = self.sets.category.create_entity().set(code=code, title="Nails", parent="TOOL").execute()
        self.assertEqual((created.code, created.title), (code, "Nails"))
        self.sets.category.update_entity(code=code).set(title="Screws").execute()
        self.assertEqual(self.sets.category.get_entity(code=code).execute().title, "Screws")
        self.sets.category.delete_entity(code=code).execute()
        with self.assertRaises(pyodata.exceptions.HttpError) as missing:
            self.sets.category.get_entity(code=code).execute()
        self.assertEqual(missing.exception.response.status_code, 404)

    def test_a_batch_with_a_change_set_is_done(self):
        first = uuid.uuid4().int
        codes = [f"{(first + number) % 0x10000:04X}" for number in range(2)]
        batch = self.service.create_batch()
        changes = self.service.create_changeset()
        for code in codes:
            changes.add_request(self.sets.category.create_entity().set(code=code, title="Batch"))
        batch.add_request(changes)
        batch.execute()
        for code in codes:
            self.assertEqual(self.sets.category.get_entity(code=code).execute().title, "Batch")
            self.sets.category.delete_entity(code=code).execute()


if __name__ == "__main__":
    SERVICE_ROOT = sys.argv.pop(1).rstrip("/")
    unittest.main(verbosity=2)
