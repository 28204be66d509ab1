// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/conjunctions.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/digest.h"
#include "tandem/base/rng.h"
#include "tandem/base/text.h"
#include "tandem/data/bit_table.h"

namespace tandem {

struct ConjunctionSet::Impl {
  Domain domain;
  std::vector<Indicator> indicators;
  std::vector<std::uint32_t> literals;
  std::vector<std::uint32_t> ends;          // conjunction i has literals[ends[i] .. ends[i+1])
  std::vector<std::uint32_t> multiplicity;  // empty where each occurs once
  std::uint64_t total = 0;
  std::string digest;
};

ConjunctionSet::ConjunctionSet(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

const Domain& ConjunctionSet::domain() const { return impl_->domain; }
std::size_t ConjunctionSet::size() const { return impl_->ends.size() - 1; }
std::uint64_t ConjunctionSet::total() const { return impl_->total; }
std::uint32_t ConjunctionSet::multiplicity(std::size_t conjunction) const {
  return impl_->multiplicity.empty() ? 1 : impl_->multiplicity[conjunction];
}
std::span<const Indicator> ConjunctionSet::indicators() const { return impl_->indicators; }
std::span<const std::uint32_t> ConjunctionSet::literals(std::size_t conjunction) const {
  const auto begin = impl_->ends[conjunction];
  return std::span(impl_->literals).subspan(begin, impl_->ends[conjunction + 1] - begin);
}
std::span<const std::uint32_t> ConjunctionSet::all_literals() const { return impl_->literals; }
std::span<const std::uint32_t> ConjunctionSet::ends() const { return impl_->ends; }
const std::string& ConjunctionSet::digest() const { return impl_->digest; }

std::size_t ConjunctionSet::bytes() const {
  return impl_->indicators.size() * sizeof(Indicator) +
         (impl_->literals.size() + impl_->ends.size() + impl_->multiplicity.size()) *
             sizeof(std::uint32_t);
}

// ---- Building ----

namespace {

// A literal as one number: by attribute, then code, then whether it is negated.
std::uint64_t packed(const Literal& literal) {
  return std::uint64_t{literal.attribute} << 32 | std::uint64_t{literal.code} << 1 |
         (literal.equal ? 0U : 1U);
}

Indicator indicator_of(std::uint64_t packed_literal) {
  return {static_cast<AttributeId>(packed_literal >> 32),
          static_cast<Code>((packed_literal & 0xffffffffU) >> 1)};
}

template <class T>
std::string digest_of(const std::vector<T>& values) {
  return sha256_hex({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

}  // namespace

ConjunctionBuilder::ConjunctionBuilder(Domain domain) : domain_(std::move(domain)) {}

void ConjunctionBuilder::reserve(std::size_t conjunctions, std::size_t literals_each) {
  ends_.reserve(conjunctions + 1);
  literals_.reserve(conjunctions * literals_each);
}

void ConjunctionBuilder::add(std::span<const Literal> literals) {
  check(literals.size() <= kMostLiterals, "a conjunction has few literals");
  if (added() == kMostConjunctions) {
    throw UsageError(fmt::format("There are more than {} conjunctions; take fewer.",
                                 with_commas(kMostConjunctions)));
  }
  const auto begin = static_cast<std::ptrdiff_t>(literals_.size());
  for (Literal literal : literals) {
    const Code size = domain_[literal.attribute].size;
    check(literal.code < size, "a literal names a code of its column");
    if (size == 2 && literal.code == 0) literal = {literal.attribute, 1, !literal.equal};
    literals_.push_back(packed(literal));
  }
  std::sort(literals_.begin() + begin, literals_.end());
  literals_.erase(std::unique(literals_.begin() + begin, literals_.end()), literals_.end());
  ends_.push_back(literals_.size());
}

ConjunctionSet ConjunctionBuilder::finish(std::vector<std::uint32_t>* which) && {
  check(added() > 0, "a set has at least one conjunction");
  check(literals_.size() < std::size_t{1} << 32, "a set has fewer than 2^32 literals");
  auto out = std::make_shared<ConjunctionSet::Impl>();

  // From literals of the domain to positions among the indicators.
  std::vector<std::uint64_t> named(literals_);
  for (auto& literal : named) literal &= ~std::uint64_t{1};
  std::ranges::sort(named);
  named.erase(std::unique(named.begin(), named.end()), named.end());
  out->indicators.reserve(named.size());
  for (const auto literal : named) out->indicators.push_back(indicator_of(literal));
  std::vector<std::uint32_t> ranked(literals_.size());
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const auto at = std::ranges::lower_bound(named, literals_[i] & ~std::uint64_t{1});
    ranked[i] = static_cast<std::uint32_t>(at - named.begin()) << 1 |
                static_cast<std::uint32_t>(literals_[i] & 1U);
  }
  literals_ = {};
  named = {};

  // Sorted by their literals; a key of the first two settles most comparisons.
  const auto of = [&](std::size_t i) {
    return std::span(ranked).subspan(ends_[i], ends_[i + 1] - ends_[i]);
  };
  struct Place {
    std::uint64_t key;
    std::uint32_t at;
  };
  std::vector<Place> order(added());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto literals = of(i);
    const std::uint64_t first = literals.empty() ? 0 : std::uint64_t{literals[0]} + 1;
    const std::uint64_t second = literals.size() < 2 ? 0 : std::uint64_t{literals[1]} + 1;
    order[i] = {first << 32 | second, static_cast<std::uint32_t>(i)};
  }
  std::ranges::sort(order, [&](const Place& a, const Place& b) {
    if (a.key != b.key) return a.key < b.key;
    const auto left = of(a.at);
    const auto right = of(b.at);
    if (const auto differ = std::lexicographical_compare_three_way(left.begin(), left.end(),
                                                                   right.begin(), right.end());
        differ != 0) {
      return differ < 0;
    }
    return a.at < b.at;
  });

  if (which != nullptr) which->resize(order.size());
  out->literals.reserve(ranked.size());
  out->ends = {0};
  out->ends.reserve(order.size() + 1);
  bool repeats = false;
  for (const auto& place : order) {
    const auto literals = of(place.at);
    const std::size_t sized = out->ends.size() - 1;
    if (sized > 0 &&
        std::ranges::equal(literals, std::span(out->literals).subspan(out->ends[sized - 1]))) {
      ++out->multiplicity.back();
      repeats = true;
    } else {
      out->literals.insert(out->literals.end(), literals.begin(), literals.end());
      out->ends.push_back(static_cast<std::uint32_t>(out->literals.size()));
      out->multiplicity.push_back(1);
    }
    if (which != nullptr) {
      (*which)[place.at] = static_cast<std::uint32_t>(out->ends.size() - 2);
    }
  }
  out->total = order.size();
  if (!repeats) out->multiplicity = {};
  out->literals.shrink_to_fit();
  out->ends.shrink_to_fit();
  out->multiplicity.shrink_to_fit();
  out->digest = sha256_hex(fmt::format("conjunctions {} {} {} {}", digest_of(out->indicators),
                                       digest_of(out->literals), digest_of(out->ends),
                                       digest_of(out->multiplicity)));
  out->domain = std::move(domain_);
  return ConjunctionSet(std::move(out));
}

// ---- Makers ----

namespace {

// Indicators of a column: its codes, or one where there are two.
std::uint64_t indicators_of(const Attribute& attribute) {
  return attribute.size == 2 ? 1 : attribute.size;
}

// Draws an indicator evenly among those of columns that were not drawn before.
class DistinctColumns {
 public:
  explicit DistinctColumns(const Domain& domain) : domain_(domain), begins_(domain.size() + 1) {
    for (AttributeId id = 0; id < domain.size(); ++id) {
      begins_[id + 1] = begins_[id] + indicators_of(domain[id]);
    }
  }

  void draw(std::size_t width, Rng& rng, std::vector<Literal>& out) {
    taken_.clear();
    out.clear();
    std::uint64_t left = begins_.back();
    for (std::size_t i = 0; i < width; ++i) {
      std::uint64_t at = rng.below(left);
      for (const auto id : taken_) {  // ascending: each that lies before moves it on
        if (at >= begins_[id]) at += begins_[id + 1] - begins_[id];
      }
      const auto found = std::ranges::upper_bound(begins_, at) - begins_.begin() - 1;
      const auto id = static_cast<AttributeId>(found);
      const auto offset = static_cast<Code>(at - begins_[id]);
      out.push_back({id, domain_[id].size == 2 ? 1 : offset, true});
      left -= begins_[id + 1] - begins_[id];
      taken_.insert(std::ranges::upper_bound(taken_, id), id);
    }
  }

 private:
  const Domain& domain_;
  std::vector<std::uint64_t> begins_;
  std::vector<AttributeId> taken_;
};

void draw_signed(const Domain& domain, std::size_t width, Rng& rng, std::vector<Literal>& out) {
  out.clear();
  for (std::size_t i = 0; i < width; ++i) {
    const auto id = static_cast<AttributeId>(rng.below(domain.size()));
    const auto code = static_cast<Code>(rng.below(domain[id].size));
    out.push_back({id, code, rng.below(2) == 1});
  }
}

}  // namespace

ConjunctionSet random_conjunctions(const Domain& domain, std::size_t width, std::size_t count,
                                   std::uint64_t seed, ConjunctionFamily family) {
  if (width == 0 || width > kMostLiterals) {
    throw UsageError(fmt::format("A conjunction of {} conditions can't be drawn; choose 1 to {}.",
                                 with_commas(width), kMostLiterals));
  }
  if (count == 0 || count > kMostConjunctions) {
    throw UsageError(fmt::format("{} conjunctions can't be drawn; choose 1 to {}.",
                                 with_commas(count), with_commas(kMostConjunctions)));
  }
  const bool positive = family == ConjunctionFamily::Positive;
  if (domain.size() < (positive ? width : 1)) {
    throw UsageError(fmt::format(
        "Conjunctions of {} different columns need as many, and the schema has {}; choose fewer.",
        width, domain.size()));
  }
  Rng rng(seed);
  ConjunctionBuilder builder(domain);
  builder.reserve(count, width);
  DistinctColumns columns(domain);
  std::vector<Literal> literals;
  for (std::size_t i = 0; i < count; ++i) {
    if (positive) {
      columns.draw(width, rng, literals);
    } else {
      draw_signed(domain, width, rng, literals);
    }
    builder.add(literals);
  }
  return std::move(builder).finish();
}

namespace {

void add_cell(const Domain& domain, const Clique& clique, std::size_t index,
              std::vector<Literal>& literals, ConjunctionBuilder& builder) {
  literals.resize(clique.size());
  for (std::size_t i = clique.size(); i-- > 0;) {
    const Code size = domain[clique[i]].size;
    literals[i] = {clique[i], static_cast<Code>(index % size), true};
    index /= size;
  }
  check(index == 0, "a cell lies in its marginal");
  builder.add(literals);
}

}  // namespace

ConjunctionSet cell_conjunctions(const Domain& domain, std::span<const Cell> cells) {
  ConjunctionBuilder builder(domain);
  std::vector<Literal> literals;
  for (const auto& cell : cells) add_cell(domain, cell.clique, cell.index, literals, builder);
  return std::move(builder).finish();
}

ConjunctionSet cell_conjunctions(const Domain& domain, std::span<const Clique> cliques) {
  std::size_t cells = 0;
  for (const auto& clique : cliques) {
    cells += std::min(domain.cells(clique), kMostConjunctions + 1);
    if (cells > kMostConjunctions) {
      throw UsageError(
          fmt::format("The marginals have more than {} cells; take fewer or smaller ones.",
                      with_commas(kMostConjunctions)));
    }
  }
  ConjunctionBuilder builder(domain);
  std::vector<Literal> literals;
  for (const auto& clique : cliques) {
    const std::size_t of_this = domain.cells(clique);
    for (std::size_t i = 0; i < of_this; ++i) add_cell(domain, clique, i, literals, builder);
  }
  return std::move(builder).finish();
}

// ---- Columns as bits ----

Domain indicator_domain(const Domain& domain) {
  std::vector<Attribute> attributes;
  for (const auto& [attribute, code] : all_indicators(domain)) {
    const auto& column = domain[attribute];
    const std::string value = column.labels.empty() ? std::to_string(code) : column.labels[code];
    attributes.push_back({.name = column.name + "=" + value, .size = 2, .labels = {}});
  }
  return Domain(std::move(attributes));
}

ConjunctionSet over_indicators(const ConjunctionSet& set) {
  const auto all = all_indicators(set.domain());
  std::vector<AttributeId> column_of;
  for (const auto& indicator : set.indicators()) {
    column_of.push_back(
        static_cast<AttributeId>(std::ranges::lower_bound(all, indicator) - all.begin()));
  }
  ConjunctionBuilder builder(indicator_domain(set.domain()));
  std::vector<Literal> literals;
  for (std::size_t q = 0; q < set.size(); ++q) {
    literals.clear();
    for (const auto literal : set.literals(q)) {
      literals.push_back({column_of[literal >> 1], 1, (literal & 1U) == 0});
    }
    for (std::uint32_t i = 0; i < set.multiplicity(q); ++i) builder.add(literals);
  }
  return std::move(builder).finish();
}

// ---- Records ----

std::vector<std::uint8_t> literal_truths(const ConjunctionSet& set, std::span<const Code> record) {
  const auto indicators = set.indicators();
  std::vector<std::uint8_t> out(2 * indicators.size());
  for (std::size_t i = 0; i < indicators.size(); ++i) {
    const bool holds = record[indicators[i].attribute] == indicators[i].code;
    out[2 * i] = holds ? 1 : 0;
    out[2 * i + 1] = holds ? 0 : 1;
  }
  return out;
}

void add_fulfilled(const ConjunctionSet& set, std::span<const std::uint8_t> truths,
                   std::span<std::int64_t> counts, const Threads& threads) {
  check(truths.size() == 2 * set.indicators().size() && counts.size() == set.size(),
        "a truth for each literal, a count for each conjunction");
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  const std::size_t pieces = (set.size() + kAtOnce - 1) / kAtOnce;
  const auto literals = set.all_literals();
  const auto ends = set.ends();
  parallel_for(pieces, threads, [&](std::size_t piece) {
    const std::size_t end = std::min(set.size(), (piece + 1) * kAtOnce);
    for (std::size_t q = piece * kAtOnce; q < end; ++q) {
      std::uint8_t all = 1;
      for (auto at = ends[q]; at < ends[q + 1]; ++at) all &= truths[literals[at]];
      counts[q] += all;
    }
  });
}

}  // namespace tandem
