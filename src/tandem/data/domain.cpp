// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/domain.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"

namespace tandem {

struct Domain::Impl {
  std::vector<Attribute> attributes;
  std::unordered_map<std::string_view, AttributeId> by_name;  // views into attributes
  std::vector<std::string> derived;
};

Domain::Domain(std::vector<Attribute> attributes, std::vector<std::string> derived) {
  auto impl = std::make_shared<Impl>();
  impl->attributes = std::move(attributes);
  impl->derived = std::move(derived);
  for (std::size_t i = 0; i < impl->attributes.size(); ++i) {
    const auto& attribute = impl->attributes[i];
    if (attribute.name.empty()) {
      throw SchemaError(fmt::format("Column {} of the schema has no name; give it one.", i + 1));
    }
    if (attribute.size == 0) {
      throw SchemaError(fmt::format("Column {} has no values; a column needs at least one.",
                                    in_quotes(attribute.name)));
    }
    check(attribute.labels.empty() || attribute.labels.size() == attribute.size,
          "an attribute has no labels or one per code");
    if (!impl->by_name.emplace(attribute.name, static_cast<AttributeId>(i)).second) {
      throw SchemaError(
          fmt::format("The schema names column {} twice; rename one.", in_quotes(attribute.name)));
    }
  }
  impl_ = std::move(impl);
}

std::size_t Domain::size() const { return impl_->attributes.size(); }

const Attribute& Domain::operator[](AttributeId id) const {
  check(id < impl_->attributes.size(), "an attribute id lies outside its domain");
  return impl_->attributes[id];
}

std::span<const Attribute> Domain::attributes() const { return impl_->attributes; }

std::optional<AttributeId> Domain::find(std::string_view name) const {
  const auto found = impl_->by_name.find(name);
  return found == impl_->by_name.end() ? std::nullopt : std::optional(found->second);
}

AttributeId Domain::at(std::string_view name, std::string_view where) const {
  if (const auto id = find(name)) return *id;
  if (std::ranges::find(impl_->derived, name) != impl_->derived.end()) {
    throw UsageError(fmt::format(
        "{} names {}, which the schema derives from other columns and never measures; name those.",
        where, in_quotes(name)));
  }
  std::vector<std::string> names;
  for (const auto& attribute : attributes()) names.push_back(attribute.name);
  const auto guess = nearest(name, names);
  throw UsageError(fmt::format("{} names {}, which is not a column of the schema; {}", where,
                               in_quotes(name),
                               guess ? "did you mean " + in_quotes(*guess) + "?"
                                     : "its columns are " + list_names(names, 12) + "."));
}

std::optional<std::size_t> Domain::try_cells(const Clique& clique) const {
  constexpr std::size_t kMost = std::size_t{1} << 62;
  std::size_t cells = 1;
  for (const auto id : clique) {
    const std::size_t size = (*this)[id].size;
    if (cells > kMost / size) return std::nullopt;
    cells *= size;
  }
  return cells;
}

std::size_t Domain::cells(const Clique& clique) const {
  if (const auto cells = try_cells(clique)) return *cells;
  throw UsageError(fmt::format(
      "The combinations of {} overflow a 62-bit count; take fewer columns or coarser ones.",
      describe(clique)));
}

double Domain::about_cells(const Clique& clique) const {
  double cells = 1.0;
  for (const auto id : clique) cells *= static_cast<double>((*this)[id].size);
  return cells;
}

Clique Domain::all() const {
  std::vector<AttributeId> ids(size());
  std::iota(ids.begin(), ids.end(), AttributeId{0});
  return Clique(std::move(ids));
}

std::string Domain::describe(const Clique& clique) const {
  if (clique.empty()) return "the total";
  std::vector<std::string> names;
  for (const auto id : clique) names.push_back((*this)[id].name);
  return list_names(names, 6);
}

bool Domain::operator==(const Domain& other) const {
  if (impl_ == other.impl_) return true;
  if (size() != other.size()) return false;
  for (AttributeId id = 0; id < size(); ++id) {
    const auto& a = (*this)[id];
    const auto& b = other[id];
    if (a.name != b.name || a.size != b.size || a.labels != b.labels) return false;
  }
  return true;
}

}  // namespace tandem
