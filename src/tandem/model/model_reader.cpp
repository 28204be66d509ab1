// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/model_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/model/model_file.h"

namespace tandem {
namespace {

constexpr std::size_t kMostHeader = std::size_t{1} << 26;  // bytes
constexpr double kLeastSum = 1e-200;                       // of weights
constexpr double kLargestSum = 1e200;

}  // namespace

ModelReader::ModelReader(std::string_view bytes, const Domain& domain, const std::string& name,
                         const ModelLimits& limits)
    : domain_(domain), name_(name), limits_(limits) {
  constexpr std::size_t kStart = kModelMagic.size() + sizeof(std::uint64_t);
  if (bytes.size() < kStart || !bytes.starts_with(kModelMagic)) fail("is no model");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + kModelMagic.size(), sizeof length);
  bytes.remove_prefix(kStart);
  if (length > bytes.size() || length > kMostHeader || length % kModelAlignment != 0) {
    fail("is cut short or damaged");
  }
  header_ = Document::parse_json(bytes.substr(0, length), name);
  bytes.remove_prefix(length);
  if (header_.at("format").as_integer() != kModelFormat) {
    header_.at("format").fail("was written by another version; read it with that one.");
  }
  static constexpr std::array<std::string_view, 11> kKeys = {
      "format",  "kind", "total",     "columns", "tree",  "shares",
      "records", "key",  "marginals", "groups",  "arrays"};
  header_.allow_only(kKeys);
  check_columns();
  read_arrays(bytes);
}

double ModelReader::total() const {
  const double total = header_.at("total").as_number();
  if (!(total > 0.0 && total < 1e18)) header_.at("total").fail("is no number of rows.");
  return total;
}

Clique ModelReader::clique(const Document& columns) const {
  std::vector<AttributeId> ids;
  for (const auto& column : columns.as_array()) {
    ids.push_back(domain_.at(column.as_string(), column.where()));
  }
  const std::size_t named = ids.size();
  Clique out(std::move(ids));
  if (out.size() != named) columns.fail("names a column twice.");
  return out;
}

// The values of an array that has to be one of these doubles.
std::vector<double> ModelReader::numbers(const ModelArray& array, std::string_view what,
                                         std::size_t count) const {
  if (array.what != what || array.type != "f8" || array.count != count) {
    fail(fmt::format("has no {} where they belong", what));
  }
  std::vector<double> out(count);
  if (count > 0) std::memcpy(out.data(), array.bytes, count * sizeof(double));
  return out;
}

std::vector<double> ModelReader::weights(const ModelArray& array, std::size_t count) const {
  auto out = numbers(array, "weights", count);
  const bool usable = std::ranges::all_of(out, [](double w) { return w >= 0.0; });
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  if (!usable || !(sum > kLeastSum && sum < kLargestSum)) {
    fail("has weights that are below zero, or no numbers, or all zero");
  }
  return out;
}

Column ModelReader::codes(const ModelArray& array, Code size) const {
  switch (code_width(size)) {
    case 1:
      return codes_as<std::uint8_t>(array, size);
    case 2:
      return codes_as<std::uint16_t>(array, size);
    default:
      return codes_as<std::uint32_t>(array, size);
  }
}

void ModelReader::fail(std::string_view problem) const {
  throw UsageError(
      fmt::format("{} {}; take the one that its release was made with.", name_, problem));
}

template <class C>
Column ModelReader::codes_as(const ModelArray& array, Code size) const {
  if (array.what != "codes" || array.type != fmt::format("u{}", sizeof(C))) {
    fail("has no codes where they belong");
  }
  std::vector<C> out(array.count);
  if (array.count > 0) std::memcpy(out.data(), array.bytes, array.count * sizeof(C));
  for (const C code : out) {
    if (code >= size) fail("has a code that its column has not");
  }
  return Column(std::move(out));
}

void ModelReader::check_columns() const {
  const auto& columns = header_.at("columns").as_array();
  bool same = columns.size() == domain_.size();
  for (std::size_t i = 0; same && i < columns.size(); ++i) {
    const auto& attribute = domain_[static_cast<AttributeId>(i)];
    same = columns[i].at("name").as_string() == attribute.name &&
           columns[i].at("size").as_integer() == std::int64_t{attribute.size};
  }
  if (!same) header_.at("columns").fail("are not those of the schema.");
}

void ModelReader::read_arrays(std::string_view bytes) {
  static constexpr std::array<std::string_view, 4> kKeys = {"what", "columns", "type", "count"};
  for (const auto& item : header_.at("arrays").as_array()) {
    item.allow_only(kKeys);
    ModelArray array{.what = item.at("what").as_string(),
                     .clique = clique(item.at("columns")),
                     .type = item.at("type").as_string(),
                     .count = 0,
                     .bytes = bytes.data()};
    const auto count = item.at("count").as_integer(0, std::numeric_limits<std::int64_t>::max());
    array.count = static_cast<std::size_t>(count);
    const std::size_t width = array.type == "f8"   ? 8
                              : array.type == "u1" ? 1
                              : array.type == "u2" ? 2
                              : array.type == "u4" ? 4
                                                   : 0;
    if (width == 0) item.at("type").fail("is none of f8, u1, u2 and u4.");
    if (array.count > bytes.size() / width || padded(array.count * width) > bytes.size()) {
      fail("is cut short or damaged");
    }
    bytes.remove_prefix(padded(array.count * width));
    arrays_.push_back(std::move(array));
  }
  if (!bytes.empty()) fail("is longer than it says");
}

}  // namespace tandem
