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

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// The multiples of `step` in a range, in units of it: first > last when there are none.
TickRange multiples(const TickRange& ticks, std::int64_t step) {
  return {.first = floor_div(ticks.first + step - 1, step), .last = floor_div(ticks.last, step)};
}

std::uint64_t count_of(const TickRange& range) {
  return range.empty() ? 0 : static_cast<std::uint64_t>(range.last - range.first) + 1;
}

TickRange overlap(const TickRange& a, const TickRange& b) {
  return {.first = std::max(a.first, b.first), .last = std::min(a.last, b.last)};
}

// What public data says of the values inside one range.
struct PublicValues {
  std::vector<std::int64_t> ticks;  // a fair sample, sorted
  double rows = 0.0;                // public rows in the range
  // Of the range, what lies before the first public value of all and after the last, where these
  // end abruptly: as a survey ends with its day, and not as incomes grow rare.
  TickRange below{.first = 0, .last = -1};
  TickRange above{.first = 0, .last = -1};
  double beyond = 0.0;  // share of the rows to make that lies in these two
};

class BinnedCodec final : public Codec, public ValueRanges {
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
    // Where ranges are about equally wide, a point's distance tells its range.
    const double first = ranges_.starts.front();
    if (count > 1) scale_ = static_cast<double>(count - 1) / (ranges_.starts.back() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const double off = (ranges_.starts[i] - first) * scale_ - static_cast<double>(i);
      if (!(std::abs(off) < 0.5)) scale_ = 0.0;
    }
  }

  Code size() const override { return static_cast<Code>(ticks_.size()); }

  Encoded encode(std::string_view text) const override {
    const auto point = line_->parse(text);
    return point ? code_of(*point) : Encoded{0, Fit::Unfit};
  }

  std::optional<Encoded> encode_point(double point) const override { return code_of(point); }

  void decode(Code code, Rng& rng, std::string& to) const override {
    line_->print(draw(code, ticks_[code], rng), to);
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
  const ValueRanges* ranges() const override { return this; }
  const ValueLine& line() const override { return *line_; }
  TickRange range(Code code) const override { return ticks_[code]; }
  std::int64_t stride() const override { return stride_; }

  std::unique_ptr<Codec> drawing_as(std::span<const std::string> texts) const override {
    auto copy = std::make_unique<BinnedCodec>(*this);
    auto& known = copy->public_;
    known.assign(ticks_.size(), {});
    Rng rng(1);
    for (const auto& text : texts) {
      const auto [code, fit] = encode(text);
      if (fit == Fit::Unfit) continue;
      const auto [first, last] = ticks_[code];
      const double point = std::clamp(*line_->parse(text), line_->point(first), line_->point(last));
      const auto value = floor_div(line_->tick_from(point), stride_) * stride_;
      // A fair sample of a range's values, whatever order they come in (reservoir sampling).
      auto& kept = known[code].ticks;
      known[code].rows += 1.0;
      std::uint64_t place = kept.size();
      if (place >= kMostPublicValues) {
        place = rng.below(static_cast<std::uint64_t>(known[code].rows));
      }
      if (place >= kMostPublicValues) continue;
      kept.resize(std::max<std::size_t>(kept.size(), place + 1));
      kept[place] = std::clamp(value, first, last);
    }
    for (auto& range : known) std::ranges::sort(range.ticks);
    copy->find_reach();
    return copy;
  }

  std::vector<Beyond> beyond_public() const override {
    std::vector<Beyond> out;
    for (Code code = 0; code < public_.size(); ++code) {
      for (const auto& ticks : {public_[code].below, public_[code].above}) {
        if (!ticks.empty()) out.push_back({.code = code, .ticks = ticks});
      }
    }
    return out;
  }

  // The rows of other ranges say how many there would be if public data were right about this one
  // too. What is more, by over two standard deviations of a public sample of that size, is new.
  std::unique_ptr<Codec> drawing_for(std::span<const std::size_t> rows) const override {
    if (public_.empty()) return nullptr;
    auto copy = std::make_unique<BinnedCodec>(*this);
    double all_public = 0.0;
    double all_made = 0.0;
    for (Code code = 0; code < size(); ++code) {
      all_public += public_[code].rows;
      all_made += static_cast<double>(rows[code]);
    }
    for (Code code = 0; code < size(); ++code) {
      auto& range = copy->public_[code];
      const auto made = static_cast<double>(rows[code]);
      const double others = all_public - range.rows;
      if ((range.below.empty() && range.above.empty()) || others <= 0.0 || made <= 0.0) continue;
      const double by_chance = 2.0 * std::sqrt(range.rows * others / all_public + 1.0);
      const double explained = (all_made - made) * (range.rows + by_chance) / others;
      range.beyond = std::max(0.0, 1.0 - explained / made);
    }
    return copy;
  }

  std::int64_t draw(Code code, const TickRange& within, Rng& rng) const override {
    const TickRange ticks = overlap(ticks_[code], within);
    if (ticks.first == ticks.last) return ticks.first;
    if (public_.empty() || public_[code].ticks.empty()) return draw_evenly(ticks, rng);
    const PublicValues& known = public_[code];
    const Shares shares = shares_of(code, ticks);
    double left = rng.uniform() * shares.all();
    if ((left -= shares.values) < 0.0) {
      const auto [first, last] = values_in(known, ticks);
      return *(first +
               static_cast<std::ptrdiff_t>(rng.below(static_cast<std::uint64_t>(last - first))));
    }
    if ((left -= shares.below) < 0.0) return draw_evenly(overlap(known.below, ticks), rng);
    if ((left -= shares.above) < 0.0) return draw_evenly(overlap(known.above, ticks), rng);
    return draw_evenly(ticks, rng);
  }

  double share(Code code, const TickRange& within) const override {
    const TickRange ticks = overlap(ticks_[code], within);
    if (ticks.empty()) return 0.0;
    if (public_.empty() || public_[code].ticks.empty()) return even_share(ticks_[code], ticks);
    return shares_of(code, ticks).all();
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
  Encoded code_of(double point) const {
    if (point < ranges_.starts.front()) return {0, Fit::Adapted};
    if (point > ranges_.last) return {size() - 1, Fit::Adapted};
    const bool between = whole_ && point != std::floor(point);
    return {range_of(point), between ? Fit::Adapted : Fit::Exact};
  }

  Code range_of(double point) const {
    const auto& starts = ranges_.starts;
    if (scale_ > 0.0) {
      const auto guess = static_cast<std::size_t>((point - starts.front()) * scale_);
      if (guess < starts.size() && starts[guess] <= point &&
          (guess + 1 == starts.size() || point < starts[guess + 1])) {
        return static_cast<Code>(guess);
      }
    }
    const auto above = std::ranges::upper_bound(starts, point);
    return static_cast<Code>(above - starts.begin() - 1);
  }

  // Where the first and the last public value lie, and what their ranges have beyond.
  void find_reach() {
    const auto has_values = [](const PublicValues& range) { return !range.ticks.empty(); };
    const auto first = std::ranges::find_if(public_, has_values);
    if (first == public_.end()) return;
    const auto last = std::find_if(public_.rbegin(), public_.rend(), has_values).base() - 1;
    const auto& lowest = ticks_[static_cast<std::size_t>(first - public_.begin())];
    const auto& highest = ticks_[static_cast<std::size_t>(last - public_.begin())];
    if (ends_abruptly(first->ticks.begin(), first->ticks.end())) {
      first->below = {.first = lowest.first, .last = first->ticks.front() - stride_};
    }
    if (ends_abruptly(last->ticks.rbegin(), last->ticks.rend())) {
      last->above = {.first = last->ticks.back() + stride_, .last = highest.last};
    }
  }

  // Whether values are as dense at their outer end, where `from` is, as they are on average.
  template <class Iterator>
  static bool ends_abruptly(Iterator from, Iterator to) {
    const auto count = static_cast<double>(to - from);
    const double outer = std::ceil(std::sqrt(count));
    const auto distance = [&](Iterator at) {
      return std::abs(static_cast<double>(*at) - static_cast<double>(*from));
    };
    return distance(from + static_cast<std::ptrdiff_t>(outer) - 1) * count <=
           distance(to - 1) * outer;
  }

  // How likely each part of a range's values is, inside `within`.
  struct Shares {
    double values = 0.0;  // those of public data
    double below = 0.0;
    double above = 0.0;
    double even = 0.0;  // any, as if the range itself were one more public row
    double all() const { return values + below + above + even; }
  };
  Shares shares_of(Code code, const TickRange& within) const {
    const PublicValues& known = public_[code];
    const double inside = (1.0 - known.beyond) / (known.rows + 1.0);
    const auto [first, last] = values_in(known, within);
    Shares out;
    out.values = inside * known.rows * static_cast<double>(last - first) /
                 static_cast<double>(known.ticks.size());
    out.even = inside * even_share(ticks_[code], within);
    if (known.beyond == 0.0) return out;
    const auto below = static_cast<double>(count_of(known.below));
    const auto above = static_cast<double>(count_of(known.above));
    out.below = known.beyond * below / (below + above) * even_share(known.below, within);
    out.above = known.beyond * above / (below + above) * even_share(known.above, within);
    return out;
  }

  using Ticks = std::vector<std::int64_t>::const_iterator;
  static std::pair<Ticks, Ticks> values_in(const PublicValues& known, const TickRange& within) {
    const auto first = std::ranges::lower_bound(known.ticks, within.first);
    return {first, std::upper_bound(first, known.ticks.end(), within.last)};
  }

  // Multiples of the step, or of the stride where there is none.
  std::pair<TickRange, std::int64_t> even_values(const TickRange& ticks) const {
    const TickRange choices = multiples(ticks, step_);
    if (!choices.empty()) return {choices, step_};
    return {multiples(ticks, stride_), stride_};
  }

  // Of the values that are drawn evenly from `all`, those inside `within`.
  double even_share(const TickRange& all, const TickRange& within) const {
    const auto [choices, step] = even_values(all);
    if (choices.empty()) return 0.0;
    return static_cast<double>(count_of(multiples(overlap(all, within), step))) /
           static_cast<double>(count_of(choices));
  }

  std::int64_t draw_evenly(const TickRange& ticks, Rng& rng) const {
    const auto [choices, step] = even_values(ticks);
    return (choices.first + static_cast<std::int64_t>(rng.below(count_of(choices)))) * step;
  }

  std::shared_ptr<const ValueLine> line_;  // shared with copies
  Ranges ranges_;
  std::int64_t step_;
  std::int64_t stride_;
  std::vector<TickRange> ticks_;      // the outer values of each range
  std::vector<PublicValues> public_;  // of each range; none: draw evenly
  bool whole_ = false;                // values are whole numbers
  double scale_ = 0.0;                // ranges a unit, where they are about equally wide
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
