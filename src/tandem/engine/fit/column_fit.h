// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the raw texts of one column fit its schema: counts, and texts to show.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/codec.h"

namespace tandem {

enum class ValueFit : std::uint8_t {
  Exact,    // a value of the schema
  Between,  // a number between two whole ones, in the range it lies in
  Other,    // what the schema calls 'other'
  Below,    // a number or date beyond the bounds, counted with the nearer range
  Above,
  Unfit,   // no value the schema provides for
  Missing  // the row ends before this column
};
inline constexpr std::size_t kValueFits = 7;
inline constexpr std::array<const char*, kValueFits> kValueFitNames = {
    "exact", "between", "other", "below", "above", "unfit", "missing"};

// Of a text as the codec takes it, with a decimal point, and what the codec made of it.
ValueFit value_fit(const Codec& codec, std::string_view text, Encoded encoded);

// Different texts and how often each came; those beyond the most that are kept are counted alone.
class TextCounts {
 public:
  void add(std::string_view text, std::size_t times = 1);
  void add(const TextCounts& more);

  struct Item {
    std::string text;  // cut at kLongest bytes
    std::size_t times = 0;
  };
  const std::vector<Item>& items() const { return items_; }  // in order of first appearance
  std::vector<Item> most_frequent(std::size_t most) const;

  static constexpr std::size_t kMost = 200;
  static constexpr std::size_t kLongest = 100;

 private:
  std::vector<Item> items_;
  std::unordered_map<std::string, std::size_t> places_;
};

// The points of a column's numbers or dates: all of them, or beyond the most that are kept a fair
// sample. The smallest and the largest are exact.
class PointSample {
 public:
  void add(double point);
  void add_all(const std::vector<double>& points);
  std::size_t size() const { return seen_; }
  bool whole() const { return seen_ <= kMost; }
  // At shares from 0 to 1 of the points in order; there is at least one point.
  std::vector<double> quantiles(const std::vector<double>& shares) const;

  static constexpr std::size_t kMost = std::size_t{1} << 17;  // their ranks err by 0.14% of all

 private:
  std::vector<double> kept_;
  std::size_t seen_ = 0;
  double least_ = 0.0;
  double greatest_ = 0.0;
  Rng rng_{1};
};

struct ColumnFit {
  std::array<std::size_t, kValueFits> counts{};
  TextCounts unfit;  // their texts
  TextCounts other;
  TextCounts beyond;
  double least = 0.0;     // of all points, where one lies below the bounds
  double greatest = 0.0;  // or above
  PointSample points;     // where they were asked for

  std::size_t count(ValueFit verdict) const { return counts[static_cast<std::size_t>(verdict)]; }
  std::size_t values() const;   // of all kinds
  std::size_t misfits() const;  // unfit or missing
  std::size_t outside() const { return count(ValueFit::Below) + count(ValueFit::Above); }

  void add(const ColumnFit& more);  // without its points
};

}  // namespace tandem
