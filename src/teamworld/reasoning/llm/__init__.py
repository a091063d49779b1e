"""Language models as minds: any provider behind one method, every call on record."""
