// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/row_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <numeric>
#include <utility>

namespace tandem {

namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::size_t kLanes = 4;  // nodes added to side by side

// Numbers the different keys as they first appear: in a table of all keys if those are few, in one
// with open addressing otherwise.
class Numbering {
 public:
  // Keys are below `keys`; at most `most` will be asked for.
  void start(std::uint64_t keys, std::size_t most) {
    direct_ = keys <= 8 * static_cast<std::uint64_t>(most);
    const std::size_t slots = direct_ ? keys : std::bit_ceil(2 * most + 2);
    numbers_.assign(slots, kNone);
    keys_.resize(direct_ ? 0 : slots);
    shift_ = direct_ ? 0 : 64 - std::countr_zero(slots);
    count_ = 0;
  }

  // Replaces each key, given by its place, with its number.
  template <class Key>
  void number(std::span<std::uint32_t> places, Key&& key) {
    if (direct_) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        std::uint32_t& number = numbers_[key(i)];
        if (number == kNone) number = count_++;
        places[i] = number;
      }
      return;
    }
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = find(key(i));
  }
  std::uint32_t count() const { return count_; }

 private:
  std::uint32_t find(std::uint64_t key) {
    std::size_t at = (key * 0x9e3779b97f4a7c15ULL) >> shift_;
    while (numbers_[at] != kNone && keys_[at] != key) at = (at + 1) & (numbers_.size() - 1);
    if (numbers_[at] == kNone) {
      keys_[at] = key;
      numbers_[at] = count_++;
    }
    return numbers_[at];
  }

  bool direct_ = false;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint64_t> keys_;
  int shift_ = 0;
  std::uint32_t count_ = 0;
};

// Entries of a parent numbered by their codes of some attributes.
struct Projection {
  std::vector<std::uint32_t> entry;
  std::uint32_t size = 1;
};

struct Lane {
  const std::uint32_t* entry = nullptr;
  double* sums = nullptr;
};

// Several nodes side by side: entries that follow each other often fall into one, and an addition
// has to wait for the one before, so the others are done meanwhile.
template <std::size_t kCount>
void scatter(const std::array<Lane, kLanes>& lanes, std::span<const double> values) {
  for (std::size_t e = 0; e < values.size(); ++e) {
    for (std::size_t lane = 0; lane < kCount; ++lane) {
      lanes[lane].sums[lanes[lane].entry[e]] += values[e];
    }
  }
}

template <std::size_t kCount = kLanes>
void scatter_to(std::size_t count, const std::array<Lane, kLanes>& lanes,
                std::span<const double> values) {
  if (count == kCount) {
    scatter<kCount>(lanes, values);
  } else if constexpr (kCount > 1) {
    scatter_to<kCount - 1>(count, lanes, values);
  }
}

}  // namespace

// Top down: below each node, groups of its marginals are formed one after the other, each grown
// from a marginal by the attribute that brings in most others, as long as that pays.
class RowSums::Grower {
 public:
  Grower(const Table& rows, std::span<const Clique> marginals, std::span<const std::size_t> starts,
         std::size_t most)
      : rows_(rows),
        marginals_(marginals),
        starts_(starts),
        most_(most),
        inside_(rows.domain().size(), 0),
        gains_(rows.domain().size(), 0) {}

  bool grow(Node& root) {
    std::vector<std::uint32_t> firsts(rows_.rows());
    std::iota(firsts.begin(), firsts.end(), std::uint32_t{0});
    std::vector<std::size_t> targets(marginals_.size());
    std::iota(targets.begin(), targets.end(), std::size_t{0});
    // Large ones first: small ones then find a place in their groups.
    std::ranges::sort(targets, [&](std::size_t a, std::size_t b) {
      const Clique& left = marginals_[a];
      const Clique& right = marginals_[b];
      return left.size() != right.size() ? left.size() > right.size() : left < right;
    });
    root.size = rows_.rows();
    return cover(root, firsts, std::move(targets));
  }

  std::size_t additions() const { return additions_; }

 private:
  struct Group {
    std::vector<std::size_t> members;  // marginals; one alone is not worth a node
    Projection projection;
  };

  // `firsts`: a row for each entry of the node. False if the tree gets too large.
  bool cover(Node& node, std::span<const std::uint32_t> firsts, std::vector<std::size_t> targets) {
    while (!targets.empty()) {
      additions_ += firsts.size();
      if (additions_ > most_) return false;
      Group group = grow_group(firsts, targets);
      if (group.members.size() == 1) {
        node.children.push_back(leaf(firsts, targets.front()));
      } else {
        Node inner;
        inner.size = group.projection.size;
        inner.entry = std::move(group.projection.entry);
        std::vector<std::uint32_t> below(inner.size);
        for (std::size_t e = firsts.size(); e-- > 0;) below[inner.entry[e]] = firsts[e];
        if (!cover(inner, below, group.members)) return false;
        node.children.push_back(std::move(inner));
      }
      std::erase_if(targets, [&](std::size_t m) {
        return std::ranges::find(group.members, m) != group.members.end();
      });
    }
    node.room = room_for(node.children);
    return true;
  }

  // The group that costs the fewest additions for each of its members, if they are summed from it
  // directly, on a way that takes in the first target and then attribute after attribute.
  Group grow_group(std::span<const std::uint32_t> firsts, std::span<const std::size_t> targets) {
    const auto entries = static_cast<double>(firsts.size());
    Group best{{targets.front()}, {}};
    double best_cost = entries;
    if (targets.size() == 1) return best;
    std::ranges::fill(inside_, 0);
    for (const auto id : marginals_[targets.front()]) inside_[id] = 1;
    Projection projection = project(firsts, targets.front());
    for (;;) {
      auto members = members_and_gains(targets);
      const double cost = entries / static_cast<double>(members.size()) + projection.size;
      if (members.size() > 1) {
        if (cost >= best_cost) break;
        best = {std::move(members), projection};
        best_cost = cost;
      }
      // Not even all targets together could be cheaper than what is found.
      if (entries / static_cast<double>(targets.size()) + projection.size >= best_cost) break;
      const auto next = best_gain();
      if (!next) break;
      inside_[*next] = 1;
      extend(projection, firsts, *next);
    }
    return best;
  }

  // The targets inside the group so far, and for each attribute how many more it would bring in.
  std::vector<std::size_t> members_and_gains(std::span<const std::size_t> targets) {
    std::vector<std::size_t> members;
    std::ranges::fill(gains_, 0);
    for (const std::size_t m : targets) {
      AttributeId missing = 0;
      int misses = 0;
      for (const auto id : marginals_[m]) {
        if (inside_[id] == 0) {
          missing = id;
          ++misses;
        }
      }
      if (misses == 0) members.push_back(m);
      if (misses == 1) ++gains_[missing];
    }
    return members;
  }

  // The attribute that brings in most marginals; of equal ones, the smallest.
  std::optional<AttributeId> best_gain() const {
    std::optional<AttributeId> best;
    for (AttributeId id = 0; id < gains_.size(); ++id) {
      if (gains_[id] == 0) continue;
      if (!best || gains_[id] > gains_[*best] ||
          (gains_[id] == gains_[*best] && rows_.domain()[id].size < rows_.domain()[*best].size)) {
        best = id;
      }
    }
    return best;
  }

  // By one attribute more.
  void extend(Projection& projection, std::span<const std::uint32_t> firsts, AttributeId id) {
    const std::uint64_t size = rows_.domain()[id].size;
    numbering_.start(projection.size * size, firsts.size());
    rows_.column(id).visit([&](auto codes) {
      auto& entry = projection.entry;
      numbering_.number(entry, [&](std::size_t e) { return entry[e] * size + codes[firsts[e]]; });
    });
    projection.size = numbering_.count();
  }

  // A marginal's cell of each entry.
  std::vector<std::uint32_t> cells_of(std::span<const std::uint32_t> firsts, std::size_t m) const {
    std::vector<std::uint32_t> cells(firsts.size(), 0);
    for (const auto id : marginals_[m]) {
      const auto size = static_cast<std::uint32_t>(rows_.domain()[id].size);
      rows_.column(id).visit([&](auto codes) {
        for (std::size_t e = 0; e < firsts.size(); ++e)
          cells[e] = cells[e] * size + codes[firsts[e]];
      });
    }
    return cells;
  }

  Projection project(std::span<const std::uint32_t> firsts, std::size_t m) {
    Projection out{cells_of(firsts, m), 1};
    numbering_.start(starts_[m + 1] - starts_[m], firsts.size());
    numbering_.number(out.entry, [&](std::size_t e) { return out.entry[e]; });
    out.size = numbering_.count();
    return out;
  }

  // Entries in the order of cells.
  Node leaf(std::span<const std::uint32_t> firsts, std::size_t m) const {
    Node out;
    out.entry = cells_of(firsts, m);
    std::vector<std::uint32_t> numbers(starts_[m + 1] - starts_[m], kNone);
    for (const auto cell : out.entry) numbers[cell] = 0;
    for (std::size_t cell = 0; cell < numbers.size(); ++cell) {
      if (numbers[cell] == kNone) continue;
      numbers[cell] = static_cast<std::uint32_t>(out.cells.size());
      out.cells.push_back(static_cast<std::uint32_t>(cell));
    }
    for (auto& entry : out.entry) entry = numbers[entry];
    out.size = out.cells.size();
    out.start = starts_[m];
    return out;
  }

  const Table& rows_;
  std::span<const Clique> marginals_;
  std::span<const std::size_t> starts_;
  std::size_t most_;
  std::size_t additions_ = 0;
  Numbering numbering_;
  std::vector<std::uint8_t> inside_;  // attributes of the group so far
  std::vector<std::uint32_t> gains_;  // of each attribute
};

std::optional<RowSums> RowSums::grow(const Table& rows, std::span<const Clique> marginals,
                                     std::span<const std::size_t> starts, std::size_t most) {
  for (std::size_t m = 0; m < marginals.size(); ++m) {
    if (starts[m + 1] - starts[m] >= kNone) return std::nullopt;
  }
  Grower grower(rows, marginals, starts, most);
  RowSums tree;
  if (!grower.grow(tree.root_)) return std::nullopt;
  tree.additions_ = grower.additions();
  return tree;
}

// For the lanes of each few children, and below them for one after the other.
std::size_t RowSums::room_for(std::span<const Node> children) {
  std::size_t most = 0;
  for (std::size_t from = 0; from < children.size(); from += kLanes) {
    std::size_t own = 0;
    std::size_t below = 0;
    for (const auto& child : children.subspan(from, std::min(kLanes, children.size() - from))) {
      own += child.size;
      below = std::max(below, child.room);
    }
    most = std::max(most, own + below);
  }
  return most;
}

void RowSums::sum_children(std::span<const Node> children, std::span<const double> values,
                           double* room, std::span<double> sums) {
  for (std::size_t from = 0; from < children.size(); from += kLanes) {
    const auto some = children.subspan(from, std::min(kLanes, children.size() - from));
    std::array<Lane, kLanes> lanes;
    double* free = room;
    for (std::size_t c = 0; c < some.size(); ++c) {
      lanes[c] = {some[c].entry.data(), free};
      free += some[c].size;
    }
    std::fill(room, free, 0.0);
    scatter_to(some.size(), lanes, values);
    for (std::size_t c = 0; c < some.size(); ++c) {
      const std::span<const double> own(lanes[c].sums, some[c].size);
      double* out = sums.data() + some[c].start;
      for (std::size_t e = 0; e < some[c].cells.size(); ++e) out[some[c].cells[e]] = own[e];
      sum_children(some[c].children, own, free, sums);
    }
  }
}

void RowSums::sum_up(std::span<const double> weights, std::span<double> sums,
                     Threads threads) const {
  const std::size_t tops = root_.children.size();
  const auto wanted = static_cast<std::size_t>(std::max(1, threads.count));
  const std::size_t tasks = std::max((tops + kLanes - 1) / kLanes, std::min(tops, wanted));
  parallel_for(tasks, threads, [&](std::size_t task) {
    const std::size_t begin = tops * task / tasks;
    const std::size_t end = tops * (task + 1) / tasks;
    const auto children = std::span(root_.children).subspan(begin, end - begin);
    const auto room = std::make_unique_for_overwrite<double[]>(room_for(children));
    sum_children(children, weights, room.get(), sums);
  });
}

void RowSums::add_below(const Node& node, std::span<const std::uint32_t> entries,
                        std::span<const double> by, std::span<double> sums) {
  if (!node.cells.empty()) {
    double* out = sums.data() + node.start;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      out[node.cells[node.entry[entries[i]]]] += by[i];
    }
    return;
  }
  std::vector<std::uint32_t> own(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) own[i] = node.entry[entries[i]];
  for (const auto& child : node.children) add_below(child, own, by, sums);
}

void RowSums::add(std::span<const std::uint32_t> rows, std::span<const double> by,
                  std::span<double> sums, Threads threads) const {
  parallel_for(root_.children.size(), threads,
               [&](std::size_t child) { add_below(root_.children[child], rows, by, sums); });
}

}  // namespace tandem
