// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the texts of one PUBLIC column look like, gathered row by row in bounded memory.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/rng.h"

namespace tandem {

class ColumnProfile {
 public:
  void add(std::string_view text);

  std::size_t rows() const { return rows_; }
  // Different texts with their counts. Beyond the most that are kept, only the first are.
  const std::map<std::string, std::size_t, std::less<>>& counts() const { return counts_; }
  bool all_counted() const { return all_counted_; }
  // Texts of the smallest number, the largest, and one with the most digits, where not all texts
  // are counted.
  std::vector<std::string> number_extremes() const;
  bool has_long_text() const { return has_long_text_; }  // which is counted nowhere
  // A sample of the texts, evenly drawn; all of them where there are few.
  const std::vector<std::string>& sample() const { return sample_; }

  static constexpr std::size_t kMostCounted = 20'000;
  static constexpr std::size_t kSample = 50'000;
  static constexpr std::size_t kLongest = 256;  // bytes of a text

 private:
  std::size_t rows_ = 0;
  std::map<std::string, std::size_t, std::less<>> counts_;
  struct Extreme {
    double value = 0.0;
    std::string text;  // empty: none yet
    void keep_larger(double candidate, std::string_view candidate_text);
  };

  bool all_counted_ = true;
  Extreme smallest_;  // negated
  Extreme largest_;
  Extreme longest_;
  bool has_long_text_ = false;
  std::vector<std::string> sample_;
  Rng rng_{1};  // of public rows; the same file gives the same schema
};

}  // namespace tandem
