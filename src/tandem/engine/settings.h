// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything a release can be told, by one name each: the same on the command line, in a
// configuration file, and in the record of a run that can be resumed.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/text_format.h"

namespace tandem {

// What a call states of a private file's format; empty: as the schema says.
struct FormatSettings {
  std::string encoding;
  std::string delimiter;
  std::string decimal;
  std::string records;
};

template <class Settings, class Visit>
void for_each_format_setting(Settings& s, Visit&& visit) {
  visit("encoding", s.encoding, "of the private (real) file: utf-8, latin-1, utf-16le or utf-16be");
  visit("delimiter", s.delimiter, "between the private file's fields: one character, or tab");
  visit("decimal", s.decimal, "of the private file's numbers: . or ,");
  visit("records", s.records,
        "of the private file: lines, each a row; or quoted, where quoted values may hold line "
        "feeds");
}

// UsageError for a setting that names no format.
TextFormat stated_format(const FormatSettings& settings, TextFormat format);

struct SynthSettings {
  std::string private_source;
  std::vector<std::string> public_sources;
  std::string schema;
  FormatSettings text;
  double epsilon = 0.0;  // 0: not given
  double delta = 1e-9;
  std::string neighbors = "replace-one";
  std::int64_t rows_per_person = 1;
  std::string person;
  std::string mechanism = "auto";
  std::string workload = "all-3way";
  std::vector<std::string> parameters;  // KEY=VALUE
  std::int64_t rows = 0;                // 0: as many as the private table has
  double certify_share = 0.03;          // of the budget, for the certified error of the rows
  std::string make = "rows";            // or answers
  std::string format = "csv";
  std::string out = "release";
  std::string ledger;
  std::int64_t seed = -1;  // negative: none
  std::string memory_limit;
  bool private_as_public = false;
};

// Calls visit(name, variable, help) for each setting.
template <class Settings, class Visit>
void for_each_setting(Settings& s, Visit&& visit) {
  visit("private", s.private_source,
        "the private data: .csv or .csv.gz; .parquet, a quoted pattern or a folder of them; or "
        "pairs:FILE");
  visit("public", s.public_sources, "public data, of CSV or Parquet; may be given more than once");
  visit("schema", s.schema, "the schema: TOML or JSON; without it, drafted from the public data");
  for_each_format_setting(s.text, visit);
  visit("epsilon", s.epsilon, "the privacy budget");
  visit("delta", s.delta, "failure probability of the guarantee; 0: a pure guarantee");
  visit("neighbors", s.neighbors, "neighbouring relation: replace-one or add-remove");
  visit("rows-per-person", s.rows_per_person,
        "rows one person may have; with records as lines, one with k line feeds inside quotes is "
        "k + 1 rows");
  visit("person", s.person,
        "column that names the person, by exact text; rows beyond their share are dropped");
  visit("mechanism", s.mechanism, "see 'tandem mechanisms'");
  visit("workload", s.workload,
        "the queries that matter: all-3way, random-3way:COUNT:SEED, a file");
  visit("param", s.parameters, "a mechanism's own parameter, KEY=VALUE; may be repeated");
  visit("rows", s.rows,
        "rows to generate; 0: as many as the private table has, or is estimated to have");
  visit("certify-share", s.certify_share,
        "share of the budget that measures the error of the finished rows; 0: not certified, as is "
        "usual with a mechanism's 'as=paper'");
  visit("make", s.make, "what the release holds: rows, or answers to the workload");
  visit("format", s.format, "of the rows: csv");
  visit("out", s.out, "the release folder");
  visit("ledger", s.ledger, "charge this ledger");
  visit("seed", s.seed, "for tests and research: the release is stamped NOT PRIVATE");
  visit("memory-limit", s.memory_limit, "such as 8GB; default: three quarters of the machine");
  visit("private-as-public", s.private_as_public,
        "let private rows be public data, or the schema's origin: the release is stamped NOT "
        "PRIVATE");
}

// Sets what `document` names and `keep(name)` doesn't hold back. UsageError for an unknown key or
// a value of the wrong type. `param` may be a list of KEY=VALUE or a table.
void apply(const Document& document, SynthSettings& settings,
           const std::function<bool(std::string_view)>& keep);

Document to_document(const SynthSettings& settings);

}  // namespace tandem
