// SPDX-License-Identifier: Apache-2.0
// What parquet_fuzz loads in place of DuckDB's library: its entry leads back into the target, whose
// answers are made of the input.

extern "C" unsigned char fuzz_adbc_init(int version, void* driver, void* error);

extern "C" __attribute__((visibility("default"))) unsigned char duckdb_adbc_init(int version,
                                                                                 void* driver,
                                                                                 void* error) {
  return fuzz_adbc_init(version, driver, error);
}
