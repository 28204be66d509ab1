// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/set_inclusion.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tandem {
namespace {

// All sets of few columns, by zeta transforms.
class Lattice : public SetInclusion {
 public:
  Lattice(std::size_t columns, std::vector<std::size_t> sets, std::vector<std::size_t> parts)
      : sets_(std::move(sets)), parts_(std::move(parts)), work_(std::size_t{1} << columns) {}

  void over_supersets(std::span<const double> q, std::span<double> lambda) override {
    std::ranges::fill(work_, 0.0);
    for (std::size_t a = 0; a < sets_.size(); ++a) work_[sets_[a]] = q[a];
    for (std::size_t bit = 1; bit < work_.size(); bit <<= 1U) {
      for (std::size_t start = 0; start < work_.size(); start += 2 * bit) {
        for (std::size_t s = start; s < start + bit; ++s) work_[s] += work_[s + bit];
      }
    }
    for (std::size_t r = 0; r < parts_.size(); ++r) lambda[r] = work_[parts_[r]];
  }
  void over_subsets(std::span<const double> h, std::span<double> sum) override {
    std::ranges::fill(work_, 0.0);
    for (std::size_t r = 0; r < parts_.size(); ++r) work_[parts_[r]] = h[r];
    for (std::size_t bit = 1; bit < work_.size(); bit <<= 1U) {
      for (std::size_t start = 0; start < work_.size(); start += 2 * bit) {
        for (std::size_t s = start; s < start + bit; ++s) work_[s + bit] += work_[s];
      }
    }
    for (std::size_t a = 0; a < sets_.size(); ++a) sum[a] = work_[sets_[a]];
  }

 private:
  std::vector<std::size_t> sets_, parts_;  // as bits
  std::vector<double> work_;
};

// Listed sets: for each the residual spaces inside it.
class Listed : public SetInclusion {
 public:
  Listed(std::span<const Clique> sets, const std::unordered_map<Clique, std::size_t>& parts) {
    for (const auto& set : sets) {
      if (const auto found = parts.find(Clique{}); found != parts.end()) {
        inside_.push_back(found->second);
      }
      for (const auto& subset : subsets(set)) {
        if (const auto found = parts.find(subset); found != parts.end()) {
          inside_.push_back(found->second);
        }
      }
      ends_.push_back(inside_.size());
    }
  }
  void over_supersets(std::span<const double> q, std::span<double> lambda) override {
    std::ranges::fill(lambda, 0.0);
    std::size_t at = 0;
    for (std::size_t a = 0; a < ends_.size(); ++a) {
      for (; at < ends_[a]; ++at) lambda[inside_[at]] += q[a];
    }
  }
  void over_subsets(std::span<const double> h, std::span<double> sum) override {
    std::size_t at = 0;
    for (std::size_t a = 0; a < ends_.size(); ++a) {
      sum[a] = 0.0;
      for (; at < ends_[a]; ++at) sum[a] += h[inside_[at]];
    }
  }

 private:
  std::vector<std::size_t> inside_, ends_;
};

}  // namespace

std::unique_ptr<SetInclusion> set_inclusion(std::span<const Clique> sets,
                                            std::span<const ResidualPart> parts,
                                            std::span<const AttributeId> columns, bool lattice) {
  if (!lattice) {
    std::unordered_map<Clique, std::size_t> index;
    for (std::size_t r = 0; r < parts.size(); ++r) index[parts[r].clique] = r;
    return std::make_unique<Listed>(sets, index);
  }
  const auto bits = [&](const Clique& clique) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (clique.contains(columns[i])) out |= std::size_t{1} << i;
    }
    return out;
  };
  std::vector<std::size_t> set_bits;
  std::vector<std::size_t> part_bits;
  for (const auto& set : sets) set_bits.push_back(bits(set));
  for (const auto& part : parts) part_bits.push_back(bits(part.clique));
  return std::make_unique<Lattice>(columns.size(), std::move(set_bits), std::move(part_bits));
}

}  // namespace tandem
