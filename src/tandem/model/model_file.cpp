// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/model_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/model/histogram/factored_histogram.h"
#include "tandem/model/mixture_model.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/model/product_model.h"

namespace tandem {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie here");

constexpr std::string_view kMagic = "TDMMODEL";
constexpr int kModelFormat = 1;
constexpr std::size_t kAlignment = 8;
constexpr std::size_t kMostHeader = std::size_t{1} << 26;
// Logarithms beyond this would add up to infinity.
constexpr double kLargestPotential = 1e100;
constexpr double kLeastSum = 1e-200;
constexpr double kLargestSum = 1e200;

std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// ---- Writing ------------------------------------------------------------------------------------

// Collects the header's list of arrays and their bytes behind it.
class Writer {
 public:
  Writer(const Domain& domain, std::string_view kind, double total) : domain_(domain) {
    Document columns = Document::array();
    for (const auto& attribute : domain.attributes()) {
      columns.push(
          Document::object({{"name", attribute.name}, {"size", std::int64_t{attribute.size}}}));
    }
    header_ = Document::object({{"format", kModelFormat},
                                {"kind", kind},
                                {"total", total},
                                {"columns", std::move(columns)}});
  }

  Document names(const Clique& clique) const {
    Document out = Document::array();
    for (const auto id : clique) out.push(domain_[id].name);
    return out;
  }

  Document& header() { return header_; }

  template <class T>
  void add(std::string_view what, const Clique& clique, std::span<const T> values) {
    const auto type = fmt::format("{}{}", std::is_floating_point_v<T> ? 'f' : 'u', sizeof(T));
    arrays_.push(Document::object({{"what", what},
                                   {"columns", names(clique)},
                                   {"type", type},
                                   {"count", static_cast<std::uint64_t>(values.size())}}));
    data_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    data_.append(padded(data_.size()) - data_.size(), '\0');
  }

  void add(const Clique& group, const SupportHistogram& histogram) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      histogram.rows().column(static_cast<AttributeId>(i)).visit([&](auto codes) {
        add("codes", Clique{group[i]}, codes);
      });
    }
    add("weights", group, histogram.weights());
  }

  std::string finish() && {
    header_.set("arrays", std::move(arrays_));
    std::string text = header_.to_json();
    text.append(padded(text.size()) - text.size(), ' ');
    const std::uint64_t length = text.size();
    std::string out(kMagic);
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out.reserve(out.size() + text.size() + data_.size());
    out += text;
    out += data_;
    return out;
  }

 private:
  const Domain& domain_;
  Document header_;
  Document arrays_ = Document::array();
  std::string data_;
};

std::string write(const GraphicalModel& model) {
  Writer out(model.domain(), "graphical", model.total());
  Document tree = Document::array();
  for (const auto& clique : model.tree().cliques) tree.push(out.names(clique));
  out.header().set("tree", std::move(tree));
  for (const auto& [clique, values] : model.potentials()) {
    out.add("potential", clique, std::span<const double>(values));
  }
  return std::move(out).finish();
}

std::string write(const ProductModel& model) {
  Writer out(model.domain(), "product", model.total());
  for (AttributeId id = 0; id < model.domain().size(); ++id) {
    out.add("weights", Clique{id}, model.probabilities(id));
  }
  return std::move(out).finish();
}

std::string write(const SupportHistogram& model) {
  Writer out(model.domain(), "histogram", model.total());
  out.add(model.domain().all(), model);
  return std::move(out).finish();
}

std::string write(const FactoredHistogram& model) {
  Writer out(model.domain(), "histogram", model.parts().front().histogram.total());
  for (const auto& [group, histogram] : model.parts()) out.add(group, histogram);
  return std::move(out).finish();
}

// Each part is a file of its own inside this one.
std::optional<std::string> write(const MixtureModel& model) {
  Writer out(model.domain(), "mixture", total(model.project(Clique{})));
  Document shares = Document::array();
  for (const auto& [share, part] : model.parts()) {
    const auto inner = write_model(*part);
    if (!inner) return std::nullopt;
    shares.push(share);
    out.add("model", Clique{},
            std::span(reinterpret_cast<const std::uint8_t*>(inner->data()), inner->size()));
  }
  out.header().set("shares", std::move(shares));
  return std::move(out).finish();
}

// ---- Reading ------------------------------------------------------------------------------------

struct Array {
  std::string what;
  Clique clique;
  std::string type;
  std::size_t count = 0;
  const char* bytes = nullptr;
};

class Reader {
 public:
  Reader(std::string_view bytes, const Domain& domain, const std::string& name)
      : domain_(domain), name_(name) {
    constexpr std::size_t kStart = kMagic.size() + sizeof(std::uint64_t);
    if (bytes.size() < kStart || !bytes.starts_with(kMagic)) fail("is no model");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + kMagic.size(), sizeof length);
    bytes.remove_prefix(kStart);
    if (length > bytes.size() || length > kMostHeader || length % kAlignment != 0) {
      fail("is cut short or damaged");
    }
    header_ = Document::parse_json(bytes.substr(0, length), name);
    bytes.remove_prefix(length);
    if (header_.at("format").as_integer() != kModelFormat) {
      header_.at("format").fail("was written by another version; read it with that one.");
    }
    static constexpr std::array<std::string_view, 7> kKeys = {
        "format", "kind", "total", "columns", "tree", "shares", "arrays"};
    header_.allow_only(kKeys);
    check_columns();
    read_arrays(bytes);
  }

  const Document& header() const { return header_; }
  const std::vector<Array>& arrays() const { return arrays_; }

  double total() const {
    const double total = header_.at("total").as_number();
    if (!(total > 0.0 && total < 1e18)) header_.at("total").fail("is no number of rows.");
    return total;
  }

  Clique clique(const Document& columns) const {
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
  std::vector<double> numbers(const Array& array, std::string_view what, std::size_t count) const {
    if (array.what != what || array.type != "f8" || array.count != count) {
      fail(fmt::format("has no {} where they belong", what));
    }
    std::vector<double> out(count);
    if (count > 0) std::memcpy(out.data(), array.bytes, count * sizeof(double));
    return out;
  }

  std::vector<double> weights(const Array& array, std::size_t count) const {
    auto out = numbers(array, "weights", count);
    const bool usable = std::ranges::all_of(out, [](double w) { return w >= 0.0; });
    const double sum = std::accumulate(out.begin(), out.end(), 0.0);
    if (!usable || !(sum > kLeastSum && sum < kLargestSum)) {
      fail("has weights that are below zero, or no numbers, or all zero");
    }
    return out;
  }

  Column codes(const Array& array, Code size) const {
    switch (code_width(size)) {
      case 1:
        return codes_as<std::uint8_t>(array, size);
      case 2:
        return codes_as<std::uint16_t>(array, size);
      default:
        return codes_as<std::uint32_t>(array, size);
    }
  }

  [[noreturn]] void fail(std::string_view problem) const {
    throw UsageError(
        fmt::format("{} {}; take the one that its release was made with.", name_, problem));
  }

 private:
  template <class C>
  Column codes_as(const Array& array, Code size) const {
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

  void check_columns() const {
    const auto& columns = header_.at("columns").as_array();
    bool same = columns.size() == domain_.size();
    for (std::size_t i = 0; same && i < columns.size(); ++i) {
      const auto& attribute = domain_[static_cast<AttributeId>(i)];
      same = columns[i].at("name").as_string() == attribute.name &&
             columns[i].at("size").as_integer() == std::int64_t{attribute.size};
    }
    if (!same) header_.at("columns").fail("are not those of the schema.");
  }

  void read_arrays(std::string_view bytes) {
    static constexpr std::array<std::string_view, 4> kKeys = {"what", "columns", "type", "count"};
    for (const auto& item : header_.at("arrays").as_array()) {
      item.allow_only(kKeys);
      Array array{.what = item.at("what").as_string(),
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

  const Domain& domain_;
  const std::string& name_;
  Document header_;
  std::vector<Array> arrays_;
};

std::unique_ptr<Model> read_graphical(const Reader& in, const Domain& domain, double most_bytes,
                                      Threads threads) {
  std::vector<Clique> tree;
  for (const auto& columns : in.header().at("tree").as_array()) tree.push_back(in.clique(columns));
  std::vector<Factor> potentials;
  std::vector<Clique> cliques = tree;
  for (const auto& array : in.arrays()) {
    const auto cells = domain.try_cells(array.clique);
    if (!cells) in.fail("has a potential of too many cells");
    Factor factor{array.clique, in.numbers(array, "potential", *cells)};
    for (const double value : factor.values) {
      const bool zero = value == -std::numeric_limits<double>::infinity();
      if (!zero && !(std::abs(value) <= kLargestPotential)) {
        in.fail("has a potential that is no logarithm");
      }
    }
    cliques.push_back(array.clique);
    potentials.push_back(std::move(factor));
  }
  const UInt128 bytes = model_bytes(domain, cliques);
  if (static_cast<double>(bytes) > most_bytes) {
    in.fail(fmt::format("is a model of {}, more than there is room for",
                        human_bytes(static_cast<double>(bytes))));
  }
  return std::make_unique<GraphicalModel>(domain, std::move(potentials), in.total(), tree, threads);
}

std::unique_ptr<Model> read_product(const Reader& in, const Domain& domain) {
  if (in.arrays().size() != domain.size()) in.fail("has no weights for each column");
  std::vector<std::vector<double>> weights;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    const auto& array = in.arrays()[id];
    if (array.clique != Clique{id}) in.fail("has its columns in another order");
    weights.push_back(in.weights(array, domain[id].size));
  }
  return std::make_unique<ProductModel>(domain, std::move(weights), in.total());
}

std::unique_ptr<Model> read_histogram(const Reader& in, const Domain& domain) {
  std::vector<FactoredHistogram::Part> parts;
  Clique covered;
  for (auto at = in.arrays().begin(); at != in.arrays().end();) {
    const auto end = std::find_if(at, in.arrays().end(),
                                  [](const Array& array) { return array.what != "codes"; });
    if (end == in.arrays().end()) in.fail("has codes without weights");
    const Clique& group = end->clique;
    if (group.size() != static_cast<std::size_t>(end - at) || group.empty() ||
        !intersect(group, covered).empty()) {
      in.fail("has a group of columns that are not its own");
    }
    std::vector<Column> columns;
    for (std::size_t i = 0; i < group.size(); ++i, ++at) {
      if (at->clique != Clique{group[i]} || at->count != end->count ||
          at->count > std::numeric_limits<std::uint32_t>::max()) {
        in.fail("has rows that miss a column");
      }
      columns.push_back(in.codes(*at, domain[group[i]].size));
    }
    Support support{Table(domain_of_group(domain, group), std::move(columns)),
                    in.weights(*end, end->count)};
    parts.push_back({group, SupportHistogram(std::move(support), in.total())});
    covered = join(covered, group);
    ++at;
  }
  if (covered != domain.all() || parts.empty()) in.fail("has rows that miss a column");
  if (parts.size() == 1) {
    return std::make_unique<SupportHistogram>(std::move(parts.front().histogram));
  }
  return std::make_unique<FactoredHistogram>(domain, std::move(parts));
}

std::unique_ptr<Model> read_mixture(const Reader& in, const Domain& domain, const std::string& name,
                                    double most_bytes, Threads threads) {
  const auto& shares = in.header().at("shares").as_array();
  std::vector<MixtureModel::Part> parts;
  double sum = 0.0;
  for (const auto& array : in.arrays()) {
    if (array.what != "model" || array.type != "u1" || parts.size() == shares.size()) {
      in.fail("has no model where one belongs");
    }
    const double share = shares[parts.size()].as_number();
    if (!(share > 0.0 && share <= 1.0)) in.fail("has a share that is none");
    sum += share;
    auto part = read_model({array.bytes, array.count}, domain, name, most_bytes, threads);
    if (dynamic_cast<const MixtureModel*>(part.get()) != nullptr) in.fail("mixes mixtures");
    if (std::abs(total(part->project(Clique{})) - in.total()) > 1e-6 * in.total()) {
      in.fail("has parts of another total");
    }
    parts.push_back({share, std::move(part)});
  }
  if (parts.empty() || parts.size() != shares.size() || !(std::abs(sum - 1.0) < 1e-9)) {
    in.fail("has shares that don't add up");
  }
  return std::make_unique<MixtureModel>(std::move(parts));
}

}  // namespace

std::optional<std::string> write_model(const Model& model) {
  if (const auto* graphical = dynamic_cast<const GraphicalModel*>(&model)) return write(*graphical);
  if (const auto* product = dynamic_cast<const ProductModel*>(&model)) return write(*product);
  if (const auto* rows = dynamic_cast<const SupportHistogram*>(&model)) return write(*rows);
  if (const auto* parts = dynamic_cast<const FactoredHistogram*>(&model)) return write(*parts);
  if (const auto* mixture = dynamic_cast<const MixtureModel*>(&model)) return write(*mixture);
  return std::nullopt;
}

std::unique_ptr<Model> read_model(std::string_view bytes, const Domain& domain,
                                  const std::string& name, double most_bytes, Threads threads) {
  const Reader in(bytes, domain, name);
  const std::string& kind = in.header().at("kind").as_string();
  if (kind == "graphical") return read_graphical(in, domain, most_bytes, threads);
  if (kind == "product") return read_product(in, domain);
  if (kind == "histogram") return read_histogram(in, domain);
  if (kind == "mixture") return read_mixture(in, domain, name, most_bytes, threads);
  in.header().at("kind").fail("is none of graphical, product, histogram and mixture.");
}

}  // namespace tandem
