// SPDX-License-Identifier: Apache-2.0
#pragma once
// Many conjunctions such as "age=3 & sex!=1": how many rows fulfil all conditions of each?
//
// Kept in flat arrays: 4 bytes a literal, 4 to 8 a conjunction. Two million of three literals take
// 40 MB. Public and immutable, cheap to copy; the order is that of the literals, whatever order
// they came in.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/data/domain.h"
#include "tandem/data/indicator.h"
#include "tandem/query/linear_query.h"

namespace tandem {

// A condition on one column: it has this code, or it has another.
struct Literal {
  AttributeId attribute = 0;
  Code code = 0;
  bool equal = true;
  bool operator==(const Literal&) const = default;
};

inline constexpr std::size_t kMostConjunctions = 50'000'000;
inline constexpr std::size_t kMostLiterals = 64;  // of one conjunction

class ConjunctionSet {
 public:
  const Domain& domain() const;
  std::size_t size() const;     // of different conjunctions
  std::uint64_t total() const;  // those that occur twice count twice
  std::uint32_t multiplicity(std::size_t conjunction) const;

  // The indicators that some conjunction names, in order.
  std::span<const Indicator> indicators() const;
  // Of one conjunction: twice the position of an indicator, and 1 more where it must not hold.
  // Ascending, without repeats. None: a conjunction that every row fulfils.
  std::span<const std::uint32_t> literals(std::size_t conjunction) const;
  // All of them for inner loops: conjunction i has those from ends()[i] to ends()[i + 1].
  std::span<const std::uint32_t> all_literals() const;
  std::span<const std::uint32_t> ends() const;

  std::string describe(std::size_t conjunction) const;  // "age=3 & sex!=1", as files have it
  const std::string& digest() const;                    // SHA-256, computed when it was made
  std::size_t bytes() const;                            // in memory, without the domain

 private:
  friend class ConjunctionBuilder;
  struct Impl;
  explicit ConjunctionSet(std::shared_ptr<const Impl> impl);
  // Shared because workload, gate and mechanism hold the same set, which never changes.
  std::shared_ptr<const Impl> impl_;
};

// Collects conjunctions, and merges those that are alike. On a column of two codes "is not 0" and
// "is 1" are the same condition.
class ConjunctionBuilder {
 public:
  explicit ConjunctionBuilder(Domain domain);
  void reserve(std::size_t conjunctions, std::size_t literals_each);

  // REQUIRES: columns and codes of the domain, at most kMostLiterals of them.
  // UsageError for one more than kMostConjunctions.
  void add(std::span<const Literal> literals);
  std::size_t added() const { return ends_.size() - 1; }

  // `which`, if given, gets the place in the set of each conjunction that was added.
  // REQUIRES: at least one was added.
  ConjunctionSet finish(std::vector<std::uint32_t>* which = nullptr) &&;

 private:
  Domain domain_;
  std::vector<std::uint64_t> literals_;  // attribute, code and negation, in an order of their own
  std::vector<std::uint64_t> ends_ = {0};
};

// ---- Makers ----

enum class ConjunctionFamily {
  Positive,  // `width` indicators of as many different columns, all of which must hold
  Signed     // `width` times a column, one of its values, and whether it must have it, all evenly
};

// `count` conjunctions drawn independently; alike ones are merged, so the set may have fewer. The
// indicators of a column are its values; of a column of two values, the second. A positive
// conjunction takes each next indicator evenly among those of columns that it does not have yet.
// UsageError where there are too few columns.
ConjunctionSet random_conjunctions(const Domain& domain, std::size_t width, std::size_t count,
                                   std::uint64_t seed, ConjunctionFamily family);

// Single cells of marginals; and every cell of each.
ConjunctionSet cell_conjunctions(const Domain& domain, std::span<const Cell> cells);
ConjunctionSet cell_conjunctions(const Domain& domain, std::span<const Clique> cliques);

// ---- Columns as bits ----

// A column of two values for each indicator of each column, "age=3", in order: a table as
// DualQuery's paper sees it, where nothing says that a row has one age.
Domain indicator_domain(const Domain& domain);

// The same conjunctions over those columns.
ConjunctionSet over_indicators(const ConjunctionSet& set);

// ---- Text ----

struct ConjunctionFile {
  ConjunctionSet conjunctions;
  // The share of rows that fulfil each, where the file states it; otherwise empty.
  std::vector<double> answers;
};

// A line for each conjunction, and its answer after a comma on every line or on none:
//
//   # comment
//   age=3 & sex!=1, 0.125
//   'a column' = "a value"
//
// Columns and values stand bare or in quotes. Plain or gzip. UsageError, with the line, for what
// can't be understood.
ConjunctionFile read_conjunctions(const Domain& domain, const std::string& path);

// The same from a list of texts, or of {"where": TEXT, "answer": NUMBER}.
ConjunctionFile conjunctions_from_document(const Domain& domain, const Document& list);

// ---- Records ----

// For each literal (of ConjunctionSet::literals) whether a record with these codes fulfils it.
std::vector<std::uint8_t> literal_truths(const ConjunctionSet& set, std::span<const Code> record);

// Adds 1 to the count of every conjunction all of whose literals are true.
void add_fulfilled(const ConjunctionSet& set, std::span<const std::uint8_t> truths,
                   std::span<std::int64_t> counts, const Threads& threads = {});

}  // namespace tandem
