// SPDX-License-Identifier: Apache-2.0
// A codebook and a public table, apart by a NUL: any bytes give a drafted schema that loads the
// table it was made from, or one line.

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/engine/draft/schema_draft.h"
#include "tandem/source/open.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  const auto text = fuzz::as_text(data, size);
  const auto gap = text.find('\0');
  const fuzz::MemoryFile book(text.substr(0, gap));
  const fuzz::MemoryFile table(gap == std::string_view::npos ? "" : text.substr(gap + 1));
  SchemaRequest request;
  request.public_sources = {table.path()};
  if (gap != 0) request.codebook = book.path();
  request.threads.count = 1;
  SchemaDraft draft;
  try {
    draft = draft_schema(request);
  } catch (const UsageError& error) {
    fuzz::check_message(error.what(), "/proc/self/fd/");
    return 0;
  }
  const auto schema = Schema::from_document(Document::parse_toml(draft.toml, "draft"));
  fuzz::promise(schema.columns().size() == draft.columns, "a draft has its columns");
  CsvOptions options;
  options.threads.count = 1;
  const auto loaded = load_table(table.path(), schema, options);  // throws when a row doesn't fit
  fuzz::promise(loaded.table.rows() > 0, "a draft loads its rows");
  return 0;
}
