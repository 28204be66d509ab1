// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/support_histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/math.h"
#include "tandem/model/model_writer.h"
#include "tandem/query/counting.h"

namespace tandem {

namespace {

constexpr double kMostChange = 1000.0;  // of the sum before it is added up anew
constexpr double kLargestExponent = 200.0;

template <class C>
void keep_equal(const C* codes, Code wanted, std::size_t rows, std::uint8_t* match) {
  const auto code = static_cast<C>(wanted);
  for (std::size_t r = 0; r < rows; ++r) {
    match[r] = static_cast<std::uint8_t>(match[r] & static_cast<std::uint8_t>(codes[r] == code));
  }
}

}  // namespace

SupportHistogram::SupportHistogram(Support support, double total)
    : rows_(std::move(support.rows)), total_(total), weights_(std::move(support.weights)) {
  check(weights_.size() == rows_.rows() && rows_.rows() < std::size_t{1} << 32,
        "each row of a support has one weight");
  check(total > 0.0 && std::isfinite(total), "a histogram has a positive total");
  for (const double weight : weights_) check(weight >= 0.0, "a weight is not negative");
  earned_.assign(weights_.size(), 0.0);
  since_.assign(weights_.size(), 0.0);
  is_changed_.assign(weights_.size(), 0);
  renormalize();
  take_changes();
}

Factor SupportHistogram::project(const Clique& clique) const {
  auto factor = std::move(count_marginals(rows_, weights_, std::span(&clique, 1)).front());
  for (double& value : factor.values) value *= unit();
  return factor;
}

std::vector<Factor> SupportHistogram::project_all(std::span<const Clique> cliques) const {
  auto factors = count_marginals(rows_, weights_, cliques);
  for (auto& factor : factors) {
    for (double& value : factor.values) value *= unit();
  }
  return factors;
}

SupportHistogram SupportHistogram::only(const Restriction& restriction) const {
  const auto wanted = restriction.mask(domain()[restriction.attribute].size);
  std::vector<std::size_t> kept;
  std::vector<double> weights;
  rows_.column(restriction.attribute).visit([&](auto codes) {
    for (std::size_t r = 0; r < codes.size(); ++r) {
      if (!wanted[codes[r]]) continue;
      kept.push_back(r);
      weights.push_back(weights_[r]);
    }
  });
  return {Support{rows_.select(kept), std::move(weights)}, total_};
}

std::unique_ptr<Model> SupportHistogram::given(const Restriction& restriction) const {
  return std::make_unique<SupportHistogram>(only(restriction));
}

void SupportHistogram::write_as(const Clique& group, ModelWriter& out) const {
  for (std::size_t i = 0; i < group.size(); ++i) {
    rows_.column(static_cast<AttributeId>(i)).visit([&](auto codes) {
      out.add("codes", Clique{group[i]}, codes);
    });
  }
  out.add("weights", group, weights());
}

bool SupportHistogram::write(ModelWriter& out) const {
  out.begin("histogram", total_);
  write_as(domain().all(), out);
  return true;
}

Table SupportHistogram::sample(std::size_t rows, Rng& rng) const {
  const auto copies = round_to_total(weights_, rows, rng);
  std::vector<std::size_t> chosen;
  chosen.reserve(rows);
  for (std::size_t r = 0; r < copies.size(); ++r) chosen.insert(chosen.end(), copies[r], r);
  rng.shuffle(std::span(chosen));
  return rows_.select(chosen);
}

std::vector<std::uint32_t> SupportHistogram::rows_in(const Cell& cell) const {
  std::vector<Code> codes(cell.clique.size());
  std::size_t rest = cell.index;
  for (std::size_t i = codes.size(); i-- > 0;) {
    const Code size = domain()[cell.clique[i]].size;
    codes[i] = static_cast<Code>(rest % size);
    rest /= size;
  }
  constexpr std::size_t kBlock = 4096;
  std::vector<std::uint8_t> match(kBlock);
  std::vector<std::uint32_t> found;
  for (std::size_t from = 0; from < rows_.rows(); from += kBlock) {
    const std::size_t count = std::min(kBlock, rows_.rows() - from);
    std::fill_n(match.begin(), count, std::uint8_t{1});
    for (std::size_t i = 0; i < codes.size(); ++i) {
      rows_.column(cell.clique[i]).visit([&](auto column) {
        keep_equal(column.data() + from, codes[i], count, match.data());
      });
    }
    std::size_t at = found.size();
    found.resize(at + count);
    for (std::size_t r = 0; r < count; ++r) {
      found[at] = static_cast<std::uint32_t>(from + r);
      at += match[r];
    }
    found.resize(at);
  }
  return found;
}

double SupportHistogram::count(std::span<const std::uint32_t> rows) const {
  double sum = 0.0;
  for (const auto row : rows) sum += weights_[row];
  return sum * unit();
}

void SupportHistogram::settle(std::size_t row) {
  earned_[row] += weights_[row] * (clock_ - since_[row]);
  since_[row] = clock_;
}

void SupportHistogram::reweight(std::span<const std::uint32_t> rows, double exponent) {
  check(std::isfinite(exponent), "an exponent is a number");
  const double factor = std::exp(std::clamp(exponent, -kLargestExponent, kLargestExponent));
  double before = 0.0;
  for (const auto row : rows) before += weights_[row];
  const double sum = sum_ + before * (factor - 1.0);
  if (!(sum > 0.0)) return;  // all mass was on rows that would lose it: nothing is left to compare
  for (const auto row : rows) {
    settle(row);
    if (is_changed_[row] == 0) {
      is_changed_[row] = 1;
      changed_.push_back(row);
      before_.push_back(weights_[row]);
    }
    weights_[row] *= factor;
  }
  sum_ = sum;
  peak_ = std::max(peak_, sum_);
  // A sum that was once much larger has lost its last digits, and a much smaller unit adds too
  // little to the clock.
  if (sum_ < peak_ / kMostChange || sum_ > total_ * kMostChange) renormalize();
}

SupportHistogram::Changes SupportHistogram::take_changes() {
  Changes out;
  out.all = std::exchange(all_changed_, false);
  for (const auto row : changed_) is_changed_[row] = 0;
  if (!out.all) {
    out.rows = std::move(changed_);
    out.by = std::move(before_);
    for (std::size_t i = 0; i < out.rows.size(); ++i) {
      out.by[i] = weights_[out.rows[i]] - out.by[i];
    }
  }
  changed_.clear();
  before_.clear();
  return out;
}

void SupportHistogram::renormalize() {
  for (std::size_t r = 0; r < weights_.size(); ++r) settle(r);
  std::ranges::fill(since_, 0.0);
  clock_ = 0.0;
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  check(sum > 0.0 && std::isfinite(sum), "the weights of a support have a positive sum");
  const double scale = total_ / sum;
  for (double& weight : weights_) weight *= scale;
  sum_ = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  peak_ = sum_;
  all_changed_ = true;
}

void SupportHistogram::add_to_average() {
  clock_ += unit();
  ++averaged_;
}

SupportHistogram SupportHistogram::average() const {
  check(averaged_ > 0, "an average is of at least one distribution");
  Support support{rows_, earned_};
  for (std::size_t r = 0; r < weights_.size(); ++r) {
    // Never below zero by rounding: the clock only moves on.
    support.weights[r] += weights_[r] * (clock_ - since_[r]);
  }
  return {std::move(support), total_};
}

}  // namespace tandem
