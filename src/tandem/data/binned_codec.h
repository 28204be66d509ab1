// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers and dates between public bounds, cut into ranges: a code for each.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tandem/data/codec.h"
#include "tandem/data/value_line.h"

namespace tandem {

// Where the ranges lie. Range i holds the points from start[i] up to, not with, start[i+1]; the
// last one ends with `last`, included.
struct Ranges {
  std::vector<double> starts;  // increasing; the first is the lower bound
  double last = 0.0;           // the upper bound

  // One for each of first, first + stride, ... up to `last`.
  static Ranges each(const ValueLine& line, std::int64_t first, std::int64_t last,
                     std::int64_t stride);
  // `count` ranges with equally many of those, or nearly.
  static Ranges equal(const ValueLine& line, std::int64_t first, std::int64_t last,
                      std::int64_t stride, Code count);
};

// The values are the multiples of `stride` ticks: all of them, or whole numbers that are written
// with decimals. A point beyond the bounds takes the nearer range (Fit::Adapted), as does one
// between two whole numbers where values are whole; a text that is no point is unfit and takes the
// first. Decoding draws a value inside the range, evenly: a multiple of `step` ticks, itself one of
// `stride`, where there is one. UsageError, a phrase without a subject, when a range has no value.
std::unique_ptr<Codec> binned_codec(std::unique_ptr<ValueLine> line, Ranges ranges,
                                    std::int64_t step, std::int64_t stride = 1);

}  // namespace tandem
