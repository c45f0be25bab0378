"""What a record is: types, schema, loading, saving, derivation, verification."""
