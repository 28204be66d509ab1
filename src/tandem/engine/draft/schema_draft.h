// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem schema`: a schema drafted from PUBLIC data and a codebook, for a person to read and edit;
// and a public table held against a schema.

#include <cstddef>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/data/csv.h"
#include "tandem/engine/draft/column_draft.h"
#include "tandem/engine/reading.h"

namespace tandem {

struct SchemaRequest {
  std::vector<std::string> public_sources;
  std::vector<std::string> tables = {};  // origins of tables in memory among them (drafted_from.h)
  std::string codebook;                  // or none
  DraftOptions options;
  bool propose_rules = true;
  Threads threads;
  Reading reading;
};

struct SchemaDraft {
  std::string toml;                 // the schema, with comments
  std::vector<std::string> doubts;  // "age: Its bounds ...", one sentence each
  std::size_t columns = 0;
  std::size_t rules = 0;      // proposed, as comments
  std::size_t relations = 0;  // the same
};

// UsageError when no column can be described.
SchemaDraft draft_schema(const SchemaRequest& request);

struct SchemaCheck {
  struct Column {
    std::string name;
    Code size = 0;
    std::size_t adapted = 0;  // values clamped, or counted as 'other'
  };
  std::size_t rows = 0;
  std::vector<Column> columns;
  std::size_t mended = 0;  // rows that broke a rule
  std::vector<std::string> ignored_columns;
};

// How a PUBLIC table fits. SchemaError with a line when a row doesn't at all.
SchemaCheck check_schema(const std::string& schema, const std::string& public_source,
                         Threads threads, const Reading& reading = {});

Document to_document(const SchemaCheck& check);
std::string to_text(const SchemaCheck& check);

}  // namespace tandem
