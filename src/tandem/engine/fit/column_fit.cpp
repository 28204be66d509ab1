// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/column_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tandem/base/check.h"
#include "tandem/data/value_line.h"

namespace tandem {

ValueFit value_fit(const Codec& codec, std::string_view text, Encoded encoded) {
  if (encoded.fit == Fit::Exact) return ValueFit::Exact;
  if (encoded.fit == Fit::Unfit) return ValueFit::Unfit;
  if (codec.other() == encoded.code) return ValueFit::Other;
  const auto extent = codec.extent();
  check(extent.has_value(), "only numbers and dates are adapted otherwise");
  const auto point = extent->line->parse(text);
  check(point.has_value(), "an adapted text is a point");
  if (*point < extent->first) return ValueFit::Below;
  return *point > extent->last ? ValueFit::Above : ValueFit::Between;
}

void TextCounts::add(std::string_view text, std::size_t times) {
  const std::string kept(text.substr(0, kLongest));
  const auto found = places_.find(kept);
  if (found != places_.end()) {
    items_[found->second].times += times;
  } else if (items_.size() < kMost) {
    places_.emplace(kept, items_.size());
    items_.push_back({kept, times});
  }
}

void TextCounts::add(const TextCounts& more) {
  for (const auto& [text, times] : more.items_) add(text, times);
}

std::vector<TextCounts::Item> TextCounts::most_frequent(std::size_t most) const {
  std::vector<Item> out = items_;
  std::ranges::stable_sort(out, std::ranges::greater{}, &Item::times);
  out.resize(std::min(out.size(), most));
  return out;
}

void PointSample::add(double point) {
  least_ = seen_ == 0 ? point : std::min(least_, point);
  greatest_ = seen_ == 0 ? point : std::max(greatest_, point);
  if (kept_.size() < kMost) {
    kept_.push_back(point);
  } else if (const auto place = rng_.below(seen_ + 1); place < kMost) {  // reservoir sampling
    kept_[place] = point;
  }
  ++seen_;
}

void PointSample::add_all(const std::vector<double>& points) {
  for (const double point : points) add(point);
}

std::vector<double> PointSample::quantiles(const std::vector<double>& shares) const {
  check(!kept_.empty(), "quantiles are of at least one point");
  std::vector<double> sorted = kept_;
  std::ranges::sort(sorted);
  std::vector<double> out;
  for (const double share : shares) {
    const double rank = std::ceil(share * static_cast<double>(sorted.size()));
    out.push_back(sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]);
    if (share <= 0.0) out.back() = least_;
    if (share >= 1.0) out.back() = greatest_;
  }
  return out;
}

std::size_t ColumnFit::values() const {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

std::size_t ColumnFit::misfits() const { return count(ValueFit::Unfit) + count(ValueFit::Missing); }

void ColumnFit::add(const ColumnFit& more) {
  if (more.count(ValueFit::Below) > 0) {
    least = count(ValueFit::Below) > 0 ? std::min(least, more.least) : more.least;
  }
  if (more.count(ValueFit::Above) > 0) {
    greatest = count(ValueFit::Above) > 0 ? std::max(greatest, more.greatest) : more.greatest;
  }
  for (std::size_t i = 0; i < kValueFits; ++i) counts[i] += more.counts[i];
  unfit.add(more.unfit);
  other.add(more.other);
  beyond.add(more.beyond);
}

}  // namespace tandem
