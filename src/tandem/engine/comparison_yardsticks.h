// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an error is held against: public rows as they are, and random samples of the real rows.
// INTERNAL: computed from the real table, without noise.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/data/table.h"
#include "tandem/query/public_data.h"

namespace tandem {

struct WorkloadErrors {
  double avg = 0.0;
  double max = 0.0;
  double mean = 0.0;
};

struct ErrorPoint {
  std::string name;    // of a public table; empty for a sample
  double share = 0.0;  // of the real rows that a sample has; 0 for a public table
  std::uint64_t rows = 0;
  WorkloadErrors errors;
};

struct ComparisonYardsticks {
  std::vector<ErrorPoint> public_rows;
  std::vector<ErrorPoint> samples;  // by rising share
};

using JudgeTable = std::function<WorkloadErrors(Table rows)>;  // against the real table

// Samples are drawn without replacement, each inside the next larger, and their errors are means
// over a few draws. The same table always gives the same.
ComparisonYardsticks measure_yardsticks(const Table& real, const PublicData& public_data,
                                        const JudgeTable& judge);

// The share of the real rows whose random sample has this error, between the samples that were
// tried. Nothing where all of them are better, or all worse.
std::optional<double> equivalent_share(std::span<const ErrorPoint> samples,
                                       double WorkloadErrors::*metric, double error);

// "12%", "0.5%": a share as a reader would say it; "below 0.1%" and "above 90%" where the samples
// end.
std::string share_in_words(std::span<const ErrorPoint> samples, double WorkloadErrors::*metric,
                           double error);
std::string percent(double share);

}  // namespace tandem
