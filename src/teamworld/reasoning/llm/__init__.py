"""Language models as reasoners: any provider behind one method, every call on record."""
