// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run may need of memory, before it starts, and what it may have. Of the private table it
// knows what its door says is public, and nothing else.

#include <cstdint>
#include <optional>
#include <string>

#include "tandem/data/schema.h"
#include "tandem/engine/settings.h"
#include "tandem/privacy/source_facts.h"
#include "tandem/query/public_data.h"

namespace tandem {

// Of the settings, or three quarters of the machine's. In bytes.
double memory_limit(const std::string& stated);

// What may be known of the private table of a run before it is opened.
struct KnownTable {
  SourceFacts facts{};
  bool keeps_rows = false;     // all neighbours have as many rows
  bool pairs = false;          // a list of pairs
  bool holds = true;           // its rows are held as codes; else what is left of memory is enough
  std::int64_t most_made = 0;  // rows that are made where none are stated; 0: as many as it has
};

// Its rows from above: as many as are known, or by the length of its text. 0: unknown.
double most_rows(const KnownTable& table, const Schema& schema);

// More than it has in no case, for a value may be empty; none where nothing says.
std::optional<double> rows_at_most(const KnownTable& table, const Schema& schema);

// As many as are known, or by the length of its text, as long as public rows are or from above. 0:
// unknown.
double expected_rows(const KnownTable& table, const SynthSettings& settings, const Schema& schema,
                     const PublicData& data);

// An estimate from above, from sizes of files and of the schema: tables as codes while they are
// read and while rows are written, the marginals measured, and what the mechanism adds.
double predicted_memory(const KnownTable& table, const SynthSettings& settings,
                        const Schema& schema, double of_mechanism = 0.0);
// UsageError beyond the limit.
void check_memory(const KnownTable& table, const SynthSettings& settings, const Schema& schema,
                  double of_mechanism = 0.0);

}  // namespace tandem
