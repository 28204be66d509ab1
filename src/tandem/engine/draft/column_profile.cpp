// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/column_profile.h"

#include "tandem/base/text.h"

namespace tandem {

void ColumnProfile::Extreme::keep_larger(double candidate, std::string_view candidate_text) {
  if (!text.empty() && candidate <= value) return;
  value = candidate;
  text = candidate_text;
}

std::vector<std::string> ColumnProfile::number_extremes() const {
  std::vector<std::string> out;
  for (const auto* extreme : {&smallest_, &largest_, &longest_}) {
    if (!extreme->text.empty()) out.push_back(extreme->text);
  }
  return out;
}

void ColumnProfile::add(std::string_view text) {
  ++rows_;
  if (text.size() > kLongest) {
    has_long_text_ = true;
    return;
  }
  if (const auto found = counts_.find(text); found != counts_.end()) {
    ++found->second;
  } else if (counts_.size() < kMostCounted) {
    counts_.emplace(text, 1);
  } else {
    all_counted_ = false;
    if (const auto number = parse_number(text)) {
      smallest_.keep_larger(-*number, text);
      largest_.keep_larger(*number, text);
      longest_.keep_larger(static_cast<double>(text.size()), text);
    }
  }
  // Reservoir sampling (Vitter 1985, Algorithm R).
  if (sample_.size() < kSample) {
    sample_.emplace_back(text);
  } else if (const auto place = rng_.below(rows_); place < kSample) {
    sample_[place] = text;
  }
}

}  // namespace tandem
