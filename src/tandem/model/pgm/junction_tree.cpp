// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/junction_tree.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/multiversion.h"

namespace tandem {
namespace {

constexpr UInt128 kMost = ~UInt128{0};
constexpr double kExact = 0x1p53;

UInt128 times(UInt128 a, UInt128 b) {
  UInt128 product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}
UInt128 plus(UInt128 a, UInt128 b) {
  UInt128 sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

// Four at a time, so that the compiler needs no order of comparisons.
TANDEM_MULTIVERSION double least_of(const double* values, std::size_t count) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double part[4] = {kInfinity, kInfinity, kInfinity, kInfinity};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t t = 0; t < 4; ++t) {
      part[t] = values[i + t] < part[t] ? values[i + t] : part[t];
    }
  }
  for (; i < count; ++i) part[0] = std::min(part[0], values[i]);
  return std::min(std::min(part[0], part[1]), std::min(part[2], part[3]));
}

// A graph on the attributes from which they are eliminated one by one.
class Elimination {
 public:
  Elimination(const Domain& domain, std::span<const Clique> cliques)
      : words_((domain.size() + 63) / 64),
        sizes_(domain.size()),
        codes_(domain.size()),
        rows_(domain.size() * words_, 0),
        alive_(words_, 0),
        cost_(domain.size(), 0.0) {
    for (AttributeId id = 0; id < domain.size(); ++id) {
      sizes_[id] = domain[id].size;
      codes_[id] = domain[id].size;
      row(id)[id / 64] |= bit(id);  // its own neighbour: a row is then the table it would make
      alive_[id / 64] |= bit(id);
    }
    for (const auto& clique : cliques) connect(clique);
    for (AttributeId id = 0; id < domain.size(); ++id) cost_[id] = cost_of(id);
  }

  // The attributes of the clique become neighbours. False if they were already.
  bool add(const Clique& clique) {
    if (!connect(clique)) return false;
    for (const auto id : clique) cost_[id] = cost_of(id);
    return true;
  }

  bool done() const { return steps_ == sizes_.size(); }
  UInt128 cells() const { return cells_; }

  // The first of the least cost.
  AttributeId cheapest() const {
    const double least = least_of(cost_.data(), cost_.size());
    std::size_t at = 0;
    while (cost_[at] != least || (alive_[at / 64] >> (at % 64) & 1U) == 0) ++at;
    return static_cast<AttributeId>(at);
  }

  // Takes the attribute out; its neighbours become neighbours of each other.
  void eliminate(AttributeId gone) {
    const std::size_t start = tables_.size();
    tables_.insert(tables_.end(), row(gone), row(gone) + words_);
    const std::uint64_t* table = tables_.data() + start;
    ++steps_;
    alive_[gone / 64] &= ~bit(gone);
    cost_[gone] = std::numeric_limits<double>::infinity();
    for_each(table, [&](AttributeId id) {
      if (id == gone) return;
      std::uint64_t* mine = row(id);
      double cost = cost_[id] / sizes_[gone];
      for (std::size_t w = 0; w < words_; ++w) {
        for (std::uint64_t added = table[w] & ~mine[w]; added != 0; added &= added - 1) {
          cost *= sizes_[w * 64 + static_cast<std::size_t>(std::countr_zero(added))];
        }
        mine[w] |= table[w];
      }
      mine[gone / 64] &= ~bit(gone);
      // Whole numbers that a double holds come out the same either way.
      cost_[id] = cost_[id] < kExact && cost < kExact ? cost : cost_of(id);
    });
    if (inside_earlier(table, start)) {
      tables_.resize(start);
    } else {
      UInt128 product = 1;
      for_each(table, [&](AttributeId id) { product = times(product, codes_[id]); });
      cells_ = plus(cells_, product);
    }
  }

  std::vector<Clique> maximal_cliques() const {
    std::vector<Clique> out;
    for (std::size_t at = 0; at < tables_.size(); at += words_) {
      std::vector<AttributeId> ids;
      for_each(tables_.data() + at, [&](AttributeId id) { ids.push_back(id); });
      out.emplace_back(std::move(ids));
    }
    return out;
  }

  bool connected(const Clique& clique) const {
    return std::ranges::all_of(clique, [&](AttributeId a) {
      return std::ranges::all_of(clique,
                                 [&](AttributeId b) { return (row(a)[b / 64] & bit(b)) != 0; });
    });
  }

 private:
  static std::uint64_t bit(AttributeId id) { return std::uint64_t{1} << (id % 64); }
  std::uint64_t* row(AttributeId id) { return rows_.data() + id * words_; }
  const std::uint64_t* row(AttributeId id) const { return rows_.data() + id * words_; }

  template <class F>
  void for_each(const std::uint64_t* set, F&& f) const {
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1) {
        f(static_cast<AttributeId>(w * 64) + static_cast<AttributeId>(std::countr_zero(rest)));
      }
    }
  }

  bool connect(const Clique& clique) {
    if (connected(clique)) return false;
    for (const auto a : clique) {
      for (const auto b : clique) row(a)[b / 64] |= bit(b);
    }
    return true;
  }

  // Cells of the table its elimination makes; a double is enough to compare by, and never wraps.
  double cost_of(AttributeId id) const {
    double product = 1.0;
    for_each(row(id), [&](AttributeId other) { product *= sizes_[other]; });
    return product;
  }

  // Tables are kept only when maximal, so only earlier ones can hold a new one; the latest are the
  // likeliest.
  bool inside_earlier(const std::uint64_t* table, std::size_t start) const {
    for (std::size_t at = start; at > 0;) {
      at -= words_;
      std::uint64_t outside = 0;
      for (std::size_t w = 0; w < words_; ++w) outside |= table[w] & ~tables_[at + w];
      if (outside == 0) return true;
    }
    return false;
  }

  std::size_t words_;
  std::vector<double> sizes_;
  std::vector<std::uint64_t> codes_;  // the same
  std::vector<std::uint64_t> rows_;   // of each attribute: itself and its neighbours
  std::vector<std::uint64_t> alive_;
  std::vector<double> cost_;           // infinite for those that are gone
  std::vector<std::uint64_t> tables_;  // the maximal ones made so far
  std::size_t steps_ = 0;
  UInt128 cells_ = 0;
};

// Bytes of the whole tree, or kAboveLimit as soon as they are.
UInt128 finish(Elimination& elimination, double limit_bytes) {
  while (true) {
    const UInt128 bytes = model_bytes(elimination.cells());
    if (static_cast<double>(bytes) > limit_bytes) return ModelSizer::kAboveLimit;
    if (elimination.done()) return bytes;
    elimination.eliminate(elimination.cheapest());
  }
}

}  // namespace

std::size_t JunctionTree::find(const Clique& clique) const {
  const auto at =
      std::ranges::find_if(cliques, [&](const Clique& whole) { return whole.contains(clique); });
  return static_cast<std::size_t>(at - cliques.begin());
}

JunctionTree make_junction_tree(const Domain& domain, std::span<const Clique> cliques) {
  check(domain.size() > 0, "a junction tree has at least one attribute");
  Elimination elimination(domain, cliques);
  while (!elimination.done()) elimination.eliminate(elimination.cheapest());

  // A spanning tree of largest separators has the running intersection property (Jensen and Jensen
  // 1994). Grown from one clique (Prim), it lists parents first.
  auto left = elimination.maximal_cliques();
  std::ranges::sort(left);
  JunctionTree tree;
  tree.cells = elimination.cells();
  std::vector<std::size_t> nearest(left.size(), 0);
  std::vector<Clique> shared(left.size());
  std::size_t next = 0;
  while (!left.empty()) {
    const std::size_t added = tree.cliques.size();
    const auto take = [&](auto& list) {
      auto item = std::move(list[next]);
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(next));
      return item;
    };
    tree.cliques.push_back(take(left));
    tree.parent.push_back(take(nearest));
    tree.separators.push_back(take(shared));
    next = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      Clique common = intersect(left[i], tree.cliques[added]);
      if (common.size() > shared[i].size()) {
        shared[i] = std::move(common);
        nearest[i] = added;
      }
      if (shared[i].size() > shared[next].size()) next = i;
    }
  }
  return tree;
}

UInt128 model_bytes(UInt128 cells) { return times(8, cells); }

UInt128 model_bytes(const Domain& domain, std::span<const Clique> cliques) {
  return ModelSizer(domain, cliques).bytes();
}

struct ModelSizer::Impl {
  std::vector<AttributeId> order;   // of elimination without a candidate
  std::vector<std::size_t> turn;    // of each attribute in it
  std::vector<Elimination> before;  // the graph before each turn, and at the end
  mutable std::unordered_map<Clique, UInt128> known;

  std::size_t first_turn(const Clique& candidate) const;
};

ModelSizer::ModelSizer(const Domain& domain, std::span<const Clique> cliques)
    : impl_(std::make_unique<Impl>()) {
  Elimination elimination(domain, cliques);
  impl_->turn.resize(domain.size());
  while (!elimination.done()) {
    impl_->before.push_back(elimination);
    const AttributeId gone = elimination.cheapest();
    impl_->turn[gone] = impl_->order.size();
    impl_->order.push_back(gone);
    elimination.eliminate(gone);
  }
  impl_->before.push_back(std::move(elimination));
}

ModelSizer::~ModelSizer() = default;
ModelSizer::ModelSizer(ModelSizer&&) noexcept = default;
ModelSizer& ModelSizer::operator=(ModelSizer&&) noexcept = default;

UInt128 ModelSizer::bytes() const { return model_bytes(impl_->before.back().cells()); }

// The candidate makes its own attributes dearer and no other one cheaper or dearer. So nothing
// changes before the turn of the first of them.
std::size_t ModelSizer::Impl::first_turn(const Clique& candidate) const {
  std::size_t first = order.size();
  for (const auto id : candidate) first = std::min(first, turn[id]);
  return first;
}

UInt128 ModelSizer::bytes_with(const Clique& candidate) const {
  if (candidate.size() < 2 || impl_->before.front().connected(candidate)) return bytes();
  const auto known = impl_->known.find(candidate);
  if (known != impl_->known.end()) return known->second;
  Elimination elimination = impl_->before[impl_->first_turn(candidate)];
  elimination.add(candidate);
  while (!elimination.done()) elimination.eliminate(elimination.cheapest());
  const UInt128 bytes = model_bytes(elimination.cells());
  impl_->known.emplace(candidate, bytes);
  return bytes;
}

UInt128 ModelSizer::bytes_with_all(std::span<const Clique> more, double limit_bytes) const {
  std::vector<const Clique*> added;
  std::size_t first = impl_->order.size();
  for (const auto& clique : more) {
    if (clique.size() < 2 || impl_->before.front().connected(clique)) continue;
    first = std::min(first, impl_->first_turn(clique));
    added.push_back(&clique);
  }
  Elimination elimination = impl_->before[first];
  for (const auto* clique : added) elimination.add(*clique);
  return finish(elimination, limit_bytes);
}

std::vector<UInt128> ModelSizer::weigh(std::span<const Clique> candidates, double limit_bytes,
                                       Threads threads) const {
  constexpr std::size_t kTogether = 256;
  std::vector<UInt128> out(candidates.size());
  const UInt128 without_any = static_cast<double>(bytes()) <= limit_bytes ? bytes() : kAboveLimit;
  parallel_for((candidates.size() + kTogether - 1) / kTogether, threads, [&](std::size_t task) {
    Elimination elimination = impl_->before.back();  // its room is used again and again
    const std::size_t end = std::min(candidates.size(), (task + 1) * kTogether);
    for (std::size_t i = task * kTogether; i < end; ++i) {
      const Clique& candidate = candidates[i];
      if (candidate.size() < 2 || impl_->before.front().connected(candidate)) {
        out[i] = without_any;
        continue;
      }
      elimination = impl_->before[impl_->first_turn(candidate)];
      elimination.add(candidate);
      out[i] = finish(elimination, limit_bytes);
    }
  });
  return out;
}

std::vector<char> ModelSizer::within(std::span<const Clique> candidates, double limit_bytes,
                                     Threads threads) const {
  std::vector<char> out;
  for (const auto bytes : weigh(candidates, limit_bytes, threads)) {
    out.push_back(bytes == kAboveLimit ? 0 : 1);
  }
  return out;
}

}  // namespace tandem
