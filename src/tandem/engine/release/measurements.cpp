// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/measurements.h"

#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "tandem/base/error.h"

namespace tandem {

namespace {

constexpr int kMeasurementsFormat = 1;
constexpr std::int64_t kLargestCoefficient = std::int64_t{1} << 62;

constexpr std::array<std::pair<std::string_view, NoiseKind>, 3> kNoises = {
    {{"none", NoiseKind::None},
     {"gaussian", NoiseKind::Gaussian},
     {"laplace", NoiseKind::Laplace}}};
constexpr std::array<std::pair<std::string_view, Origin>, 2> kOrigins = {
    {{"private", Origin::Private}, {"public", Origin::Public}}};

constexpr std::array<std::pair<std::string_view, AxisMap::Kind>, 3> kAxes = {
    {{"identity", AxisMap::Kind::Identity},
     {"centred", AxisMap::Kind::Centred},
     {"given", AxisMap::Kind::Given}}};

template <class Kind, std::size_t N>
std::string_view name_in(const std::array<std::pair<std::string_view, Kind>, N>& names, Kind kind) {
  for (const auto& [name, value] : names) {
    if (value == kind) return name;
  }
  throw InternalError("A measurement is of an unknown kind.");
}

template <class Kind, std::size_t N>
Kind kind_in(const std::array<std::pair<std::string_view, Kind>, N>& names, const Document& text) {
  for (const auto& [name, value] : names) {
    if (name == text.as_string()) return value;
  }
  text.fail("is a kind that this version does not know.");
}

// {"unit": 1.0, "rows": [[[cell, coefficient], ...], ...]}: what was asked of the marginal's cells.
// A product of maps of columns: {"axes": [{"kind": "given", "codes": 2, "unit": 0.5, "entries":
// [...]}, ...]}; the kinds "identity" and "centred" (n I - J) have no entries.
Document map_document(const LinearMap& map, std::size_t cells) {
  if (map.is_kronecker()) {
    Document axes = Document::array();
    for (const auto& axis : map.axes()) {
      Document one = Document::object({{"kind", name_in(kAxes, axis->kind())},
                                       {"codes", static_cast<std::uint64_t>(axis->codes())}});
      if (axis->kind() == AxisMap::Kind::Given) {
        one.set("unit", std::ldexp(1.0, axis->unit_exponent()));
        one.set("entries", Document::array({axis->entries().begin(), axis->entries().end()}));
      }
      axes.push(std::move(one));
    }
    return Document::object({{"axes", std::move(axes)}});
  }
  Document rows = Document::array();
  for (std::size_t r = 0; r < map.outputs(cells); ++r) {
    Document row = Document::array();
    for (const auto& [column, coefficient] : map.row(r)) {
      row.push(Document::array({static_cast<std::uint64_t>(column), coefficient}));
    }
    rows.push(std::move(row));
  }
  return Document::object({{"unit", map.unit()}, {"rows", std::move(rows)}});
}

int unit_exponent_in(const Document& document) {
  int exponent = 0;
  const double unit = document.at("unit").as_number();
  if (!(unit > 0.0) || std::frexp(unit, &exponent) != 0.5 || std::abs(exponent - 1) > 62) {
    document.at("unit").fail("is no power of two from 2^-62 to 2^62.");
  }
  return exponent - 1;
}

LinearMap read_axes(const Document& document, const Domain& domain, const Clique& clique) {
  const auto& list = document.as_array();
  if (list.size() != clique.size()) document.fail("are not one for each column.");
  std::vector<std::shared_ptr<const AxisMap>> axes;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto codes = static_cast<std::size_t>(domain[clique[i]].size);
    const auto kind = kind_in(kAxes, list[i].at("kind"));
    if (list[i].at("codes").as_integer() != static_cast<std::int64_t>(codes)) {
      list[i].at("codes").fail("are not the column's.");
    }
    AxisMap axis = AxisMap::identity(codes);
    if (kind == AxisMap::Kind::Centred) axis = AxisMap::centred(codes);
    if (kind == AxisMap::Kind::Given) {
      std::vector<std::int64_t> entries;
      for (const auto& entry : list[i].at("entries").as_array()) {
        entries.push_back(entry.as_integer(-kLargestCoefficient, kLargestCoefficient));
      }
      if (entries.empty() || entries.size() % codes != 0) {
        list[i].at("entries").fail("are not one for each value in every row.");
      }
      axis = AxisMap::given(std::move(entries), codes, unit_exponent_in(list[i]));
    }
    axes.push_back(std::make_shared<const AxisMap>(std::move(axis)));
  }
  return LinearMap::kronecker(std::move(axes));
}

LinearMap read_map(const Document& document, const Domain& domain, const Clique& clique,
                   std::size_t cells) {
  if (const auto* axes = document.find("axes")) return read_axes(*axes, domain, clique);
  const int exponent = unit_exponent_in(document);
  std::vector<std::vector<LinearMap::Entry>> rows;
  for (const auto& row : document.at("rows").as_array()) {
    auto& entries = rows.emplace_back();
    for (const auto& entry : row.as_array()) {
      const auto& pair = entry.as_array();
      if (pair.size() != 2) entry.fail("is no pair of a cell and a coefficient.");
      const auto cell = pair[0].as_integer(0, static_cast<std::int64_t>(cells) - 1);
      if (!entries.empty() && static_cast<std::size_t>(cell) <= entries.back().column) {
        entry.fail("is not above the cell before it.");
      }
      entries.push_back({static_cast<std::size_t>(cell),
                         pair[1].as_integer(-kLargestCoefficient, kLargestCoefficient)});
    }
  }
  return LinearMap::rows(std::move(rows), cells, exponent);
}

Measurement read_measurement(const Domain& domain, const Document& item) {
  static constexpr std::array<std::string_view, 6> kKeys = {"columns", "map",    "origin",
                                                            "noise",   "stddev", "values"};
  item.allow_only(kKeys);
  std::vector<AttributeId> ids;
  for (const auto& column : item.at("columns").as_array()) {
    ids.push_back(domain.at(column.as_string(), column.where()));
    if (ids.size() > 1 && ids[ids.size() - 2] >= ids.back()) {
      column.fail("is not behind the column before it in the schema.");
    }
  }
  Measurement out;
  out.query.clique = Clique(std::move(ids));
  const auto cells = domain.try_cells(out.query.clique);
  if (!cells) item.at("columns").fail("have too many cells together.");
  if (const auto* map = item.find("map")) {
    out.query.map = read_map(*map, domain, out.query.clique, *cells);
  }
  out.origin = kind_in(kOrigins, item.at("origin"));
  out.noise = kind_in(kNoises, item.at("noise"));
  const double stddev = item.at("stddev").as_number();
  if (!(stddev >= 0.0 && stddev < 1e100)) item.at("stddev").fail("is no standard deviation.");
  out.sigma = Sigma(stddev);
  const auto& values = item.at("values");
  for (const auto& value : values.as_array()) out.values.push_back(value.as_number());
  if (out.values.size() != out.query.map.outputs(*cells)) {
    values.fail("are not as many as were asked for.");
  }
  return out;
}

}  // namespace

Document measurements_document(const Domain& domain, const std::vector<Measurement>& measurements) {
  Document list = Document::array();
  for (const auto& m : measurements) {
    Document columns = Document::array();
    for (const auto id : m.query.clique) columns.push(domain[id].name);
    Document item = Document::object({{"columns", std::move(columns)}});
    if (!m.query.map.is_identity()) {
      item.set("map", map_document(m.query.map, domain.cells(m.query.clique)));
    }
    item.set("origin", name_in(kOrigins, m.origin));
    item.set("noise", name_in(kNoises, m.noise));
    item.set("stddev", m.sigma.value());
    item.set("values", Document::array({m.values.begin(), m.values.end()}));
    list.push(std::move(item));
  }
  return Document::object({{"format", kMeasurementsFormat}, {"measurements", std::move(list)}});
}

std::vector<Measurement> read_measurements(const Domain& domain, const Document& document) {
  if (document.at("format").as_integer() != kMeasurementsFormat) {
    document.at("format").fail("was written by another version; read it with that one.");
  }
  std::vector<Measurement> out;
  for (const auto& item : document.at("measurements").as_array()) {
    out.push_back(read_measurement(domain, item));
  }
  return out;
}

std::string_view name_of(NoiseKind noise) { return name_in(kNoises, noise); }

}  // namespace tandem
