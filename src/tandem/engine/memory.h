// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run may need of memory, before it starts, and what it may have.

#include <optional>
#include <string>

#include "tandem/data/schema.h"
#include "tandem/engine/settings.h"
#include "tandem/query/public_data.h"

namespace tandem {

// Of the settings, or three quarters of the machine's. In bytes.
double memory_limit(const std::string& stated);

// Rows of a table from above, by the size of its file: a value takes at least one character, and
// one between it and the next. 0 where there is no file.
double most_rows(const std::string& path, const Schema& schema);

// More than it has in no case, for a value may be empty; none where the size does not say.
std::optional<double> rows_at_most(const std::string& path, const Schema& schema);

// Rows of the private table: as many as are given, or by the size of its file, as long as public
// rows are or from above.
double expected_rows(const SynthSettings& settings, const Schema& schema, const PublicData& data,
                     std::optional<double> given = {});
// As many as are given, or from above.
double most_rows(const SynthSettings& settings, const Schema& schema,
                 std::optional<double> given = {});

// An estimate from above, from sizes of files and of the schema: tables as codes while they are
// read and while rows are written, the marginals measured, and what the mechanism adds.
// Of rows that are given, those that are made here count alone, and `given` is how many: what holds
// the others takes what is left.
double predicted_memory(const SynthSettings& settings, const Schema& schema,
                        double of_mechanism = 0.0, std::optional<double> given = {});
// UsageError beyond the limit. It `may_tell` how much is needed where that follows from no private
// number.
void check_memory(const SynthSettings& settings, const Schema& schema, double of_mechanism = 0.0,
                  std::optional<double> given = {}, bool may_tell = true);

}  // namespace tandem
