// SPDX-License-Identifier: Apache-2.0
#pragma once
// The attributes of a table, in order, with their sizes. Public, immutable, cheap to copy.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/attribute.h"
#include "tandem/data/clique.h"

namespace tandem {

class Domain {
 public:
  Domain() : Domain(std::vector<Attribute>{}) {}
  // SchemaError on a repeated or empty name, a size of 0, or labels that don't match the size.
  // Columns that are derived from these are no part of it; their names are for messages.
  explicit Domain(std::vector<Attribute> attributes, std::vector<std::string> derived = {});

  std::size_t size() const;  // number of attributes
  const Attribute& operator[](AttributeId id) const;
  std::span<const Attribute> attributes() const;

  std::optional<AttributeId> find(std::string_view name) const;
  // The attribute called `name`; UsageError "WHERE names ..., which is not a column" otherwise.
  AttributeId at(std::string_view name, std::string_view where) const;

  // The number of cells of a marginal: the product of its sizes, 1 for the empty clique.
  // UsageError that names the columns when it doesn't fit 62 bits.
  double about_cells(const Clique& clique) const;  // as a double: it may be beyond any integer
  std::size_t cells(const Clique& clique) const;
  std::optional<std::size_t> try_cells(const Clique& clique) const;  // nothing instead of an error

  Clique all() const;                                // every attribute
  std::string describe(const Clique& clique) const;  // "'age', 'sex' and 'region'"

  bool operator==(const Domain& other) const;

 private:
  struct Impl;
  // Shared because a domain is held by every table, workload and model and never changes.
  std::shared_ptr<const Impl> impl_;
};

}  // namespace tandem
