// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/binned_codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/int128.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

constexpr std::size_t kMostLabels = std::size_t{1} << 16;
constexpr std::size_t kMostPublicValues = 4096;  // kept of one range

struct TickRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// The multiples of `step` in a range, in units of it: first > last when there are none.
TickRange multiples(const TickRange& ticks, std::int64_t step) {
  return {.first = floor_div(ticks.first + step - 1, step), .last = floor_div(ticks.last, step)};
}

class BinnedCodec final : public Codec {
 public:
  BinnedCodec(std::shared_ptr<const ValueLine> line, Ranges ranges, std::int64_t step,
              std::int64_t stride)
      : line_(std::move(line)), ranges_(std::move(ranges)), step_(step), stride_(stride) {
    const std::size_t count = ranges_.starts.size();
    check(count > 0 && stride_ > 0 && step_ > 0 && step_ % stride_ == 0,
          "a binned column has ranges and a step");
    for (std::size_t i = 0; i < count; ++i) {
      TickRange ticks;
      ticks.first = line_->tick_from(ranges_.starts[i]);
      if (i + 1 < count) {
        ticks.last = line_->tick_from(ranges_.starts[i + 1]) - 1;
      } else {
        ticks.last = line_->tick_from(ranges_.last);
        if (line_->point(ticks.last) > ranges_.last) --ticks.last;
      }
      const auto [first, last] = multiples(ticks, stride_);
      if (last < first) {
        throw UsageError(fmt::format("has no value in its range {} of {}; use fewer or wider ones",
                                     i + 1, count));
      }
      ticks_.push_back({.first = first * stride_, .last = last * stride_});
    }
    whole_ = line_->point(stride_) == 1.0;
    unit_ = ranges_.starts.back() - ranges_.starts.front() == static_cast<double>(count - 1);
  }

  Code size() const override { return static_cast<Code>(ticks_.size()); }

  Encoded encode(std::string_view text) const override {
    const auto point = line_->parse(text);
    if (!point) return {0, Fit::Unfit};
    if (*point < ranges_.starts.front()) return {0, Fit::Adapted};
    if (*point > ranges_.last) return {size() - 1, Fit::Adapted};
    const bool between = whole_ && *point != std::floor(*point);
    return {range_of(*point), between ? Fit::Adapted : Fit::Exact};
  }

  void decode(Code code, Rng& rng, std::string& to) const override {
    line_->print(draw(code, rng), to);
  }

  std::vector<std::string> labels() const override {
    if (ticks_.size() > kMostLabels) return {};
    std::vector<std::string> out;
    for (const auto& [first, last] : ticks_) {
      out.push_back(line_->text(first));
      if (first < last) out.back() += " to " + line_->text(last);
    }
    return out;
  }

  std::string expected() const override {
    return fmt::format("{} from {} to {}", line_->noun(), line_->text(ticks_.front().first),
                       line_->text(ticks_.back().last));
  }

  bool numeric() const override { return line_->numeric(); }

  std::optional<Extent> extent() const override {
    return Extent{.line = line_.get(),
                  .first = ranges_.starts.front(),
                  .last = ranges_.last,
                  .ranges = size()};
  }

  std::unique_ptr<Codec> drawing_as(std::span<const std::string> texts) const override {
    auto copy = std::make_unique<BinnedCodec>(*this);
    copy->public_ticks_.assign(ticks_.size(), {});
    std::vector<std::uint64_t> seen(ticks_.size(), 0);
    Rng rng(1);
    for (const auto& text : texts) {
      const auto [code, fit] = encode(text);
      if (fit == Fit::Unfit) continue;
      const auto [first, last] = ticks_[code];
      const double point = std::clamp(*line_->parse(text), line_->point(first), line_->point(last));
      const auto value = floor_div(line_->tick_from(point), stride_) * stride_;
      // A fair sample of a range's values, whatever order they come in (reservoir sampling).
      auto& kept = copy->public_ticks_[code];
      std::uint64_t place = seen[code]++;
      if (place >= kMostPublicValues) place = rng.below(seen[code]);
      if (place >= kMostPublicValues) continue;
      kept.resize(std::max<std::size_t>(kept.size(), place + 1));
      kept[place] = std::clamp(value, first, last);
    }
    return copy;
  }

  std::vector<Truth> compare(Comparison comparison, std::string_view text) const override {
    const auto value = line_->parse(text);
    if (!value) {
      throw UsageError(
          fmt::format("is compared with {}, which is not {}", in_quotes(text), line_->noun()));
    }
    std::vector<Truth> out;
    for (const auto& [first, last] : ticks_) {
      const double low = line_->point(first);
      const double high = line_->point(last);
      const bool all_less = high < *value;
      const bool all_greater = low > *value;
      const bool equal = low == *value && high == *value;
      const auto either = [](bool always, bool never) {
        return always ? Truth::Always : never ? Truth::Never : Truth::Partly;
      };
      switch (comparison) {
        case Comparison::Equal:
          out.push_back(either(equal, all_less || all_greater));
          break;
        case Comparison::NotEqual:
          out.push_back(either(all_less || all_greater, equal));
          break;
        case Comparison::Less:
          out.push_back(either(all_less, low >= *value));
          break;
        case Comparison::LessOrEqual:
          out.push_back(either(high <= *value, all_greater));
          break;
        case Comparison::Greater:
          out.push_back(either(all_greater, high <= *value));
          break;
        case Comparison::GreaterOrEqual:
          out.push_back(either(low >= *value, all_less));
          break;
      }
    }
    return out;
  }

 private:
  Code range_of(double point) const {
    const auto& starts = ranges_.starts;
    if (unit_) {
      const auto guess = static_cast<std::size_t>(point - starts.front());
      if (guess < starts.size() && starts[guess] <= point &&
          (guess + 1 == starts.size() || point < starts[guess + 1])) {
        return static_cast<Code>(guess);
      }
    }
    const auto above = std::ranges::upper_bound(starts, point);
    return static_cast<Code>(above - starts.begin() - 1);
  }

  std::int64_t draw(Code code, Rng& rng) const {
    if (!public_ticks_.empty() && !public_ticks_[code].empty()) {
      return public_ticks_[code][rng.below(public_ticks_[code].size())];
    }
    if (ticks_[code].first == ticks_[code].last) return ticks_[code].first;
    std::int64_t step = step_;
    TickRange choices = multiples(ticks_[code], step);
    if (choices.last < choices.first) choices = multiples(ticks_[code], step = stride_);
    const auto count = static_cast<std::uint64_t>(choices.last - choices.first) + 1;
    return (choices.first + static_cast<std::int64_t>(rng.below(count))) * step;
  }

  std::shared_ptr<const ValueLine> line_;  // shared with copies
  Ranges ranges_;
  std::int64_t step_;
  std::int64_t stride_;
  std::vector<TickRange> ticks_;                         // the outer values of each range
  std::vector<std::vector<std::int64_t>> public_ticks_;  // of each range; none: draw evenly
  bool whole_ = false;                                   // values are whole numbers
  bool unit_ = false;  // the ranges are of length 1: a point's distance tells its range
};

}  // namespace

Ranges Ranges::each(const ValueLine& line, std::int64_t first, std::int64_t last,
                    std::int64_t stride) {
  Ranges out{.starts = {}, .last = line.point(last)};
  for (auto tick = first; tick <= last; tick += stride) out.starts.push_back(line.point(tick));
  return out;
}

Ranges Ranges::equal(const ValueLine& line, std::int64_t first, std::int64_t last,
                     std::int64_t stride, Code count) {
  Ranges out{.starts = {}, .last = line.point(last)};
  const Int128 values = (Int128{last} - first) / stride + 1;
  for (Code i = 0; i < count; ++i) {
    const auto offset = static_cast<std::int64_t>(values * i / count);
    out.starts.push_back(line.point(first + offset * stride));
  }
  return out;
}

std::unique_ptr<Codec> binned_codec(std::unique_ptr<ValueLine> line, Ranges ranges,
                                    std::int64_t step, std::int64_t stride) {
  return std::make_unique<BinnedCodec>(std::move(line), std::move(ranges), step, stride);
}

}  // namespace tandem
