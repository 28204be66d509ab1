// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/workload.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

// n choose k, cut off at `most` + 1.
std::size_t choose_up_to(std::size_t n, std::size_t k, std::size_t most) {
  if (k > n) return 0;
  k = std::min(k, n - k);  // so that no step is larger than the result
  double ways = 1.0;
  for (std::size_t i = 0; i < k; ++i) {
    ways = ways * static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return ways > static_cast<double>(most) ? most + 1 : static_cast<std::size_t>(std::llround(ways));
}

bool order(const Clique& a, const Clique& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::size_t checked_cells(const Domain& domain, const Clique& clique) {
  const std::size_t cells = domain.cells(clique);
  if (cells > kMostCellsOfMarginal) {
    throw UsageError(fmt::format(
        "The marginal of {} has {} cells, more than {}; take fewer columns or coarser ones.",
        domain.describe(clique), with_commas(cells), with_commas(kMostCellsOfMarginal)));
  }
  return cells;
}

void check_product(const Domain& domain, const ProductQueries& item) {
  if (item.queries(domain) > static_cast<double>(kMostCellsOfMarginal)) {
    throw UsageError(fmt::format(
        "The product of {} has {:.0f} queries, more than {}; take fewer columns or coarser ones.",
        domain.describe(item.clique), item.queries(domain), with_commas(kMostCellsOfMarginal)));
  }
}

// Refuses a k for which there are too few columns, or even the smallest marginal is too large.
void check_k(const Domain& domain, std::size_t k) {
  if (k < 1 || k > domain.size()) {
    throw UsageError(fmt::format(
        "A {}-way workload needs {} columns and the schema has {}; choose a " TANDEM_SETTING(
            "workload") " of 1 "
                        "to {}.",
        k, k, domain.size(), domain.size()));
  }
  std::vector<AttributeId> ids(domain.size());
  std::iota(ids.begin(), ids.end(), AttributeId{0});
  std::ranges::stable_sort(ids, {}, [&](AttributeId id) { return domain[id].size; });
  ids.resize(k);
  checked_cells(domain, Clique(std::move(ids)));
}

// Every k-subset of 0 .. n-1, in lexicographic order.
template <class F>
void for_each_subset(std::size_t n, std::size_t k, F&& f) {
  std::vector<AttributeId> ids(k);
  for (std::size_t i = 0; i < k; ++i) ids[i] = static_cast<AttributeId>(i);
  for (;;) {
    f(ids);
    std::size_t i = k;
    while (i > 0 && ids[i - 1] == n - k + i - 1) --i;
    if (i == 0) return;
    ++ids[i - 1];
    for (std::size_t j = i; j < k; ++j) ids[j] = ids[j - 1] + 1;
  }
}

}  // namespace

Workload::Workload(Domain domain, std::string name, std::vector<WeightedClique> cliques)
    : Workload(std::move(domain), std::move(name),
               {QueryGroup{.name = "", .queries = Marginals{std::move(cliques)}}}) {}

Workload::Workload(Domain domain, std::string name, std::vector<QueryGroup> groups)
    : domain_(std::move(domain)), name_(std::move(name)), groups_(std::move(groups)) {
  std::unordered_map<Clique, std::size_t> seen;
  const auto add = [&](const Clique& clique, double weight) {
    const auto [at, added] = seen.try_emplace(clique, cliques_.size());
    if (!added) {
      cliques_[at->second].weight += weight;
      return;
    }
    queries_ += checked_cells(domain_, clique);
    cliques_.push_back({clique, weight});
  };
  for (const auto& group : groups_) {
    if (const auto* marginals = std::get_if<Marginals>(&group.queries)) {
      for (const auto& [clique, weight] : marginals->cliques) add(clique, group.weight * weight);
    } else if (const auto* products = std::get_if<Products>(&group.queries)) {
      for (const auto& item : products->items) {
        check_product(domain_, item);
        add(item.clique, group.weight * item.weight);
      }
    } else {
      check(groups_.size() == 1, "conjunctions stand alone in a workload");
      queries_ = std::get<ConjunctionFile>(group.queries).conjunctions.total();
    }
  }
  std::ranges::sort(cliques_, order, &WeightedClique::clique);
}

Workload Workload::all_k_way(const Domain& domain, std::size_t k) {
  check_k(domain, k);
  if (choose_up_to(domain.size(), k, kMostMarginals) > kMostMarginals) {
    throw UsageError(
        fmt::format("all-{}way of {} columns has more than {} marginals, too many to hold; use a "
                    "sample of them, such as random-{}way:4096:1.",
                    k, domain.size(), with_commas(kMostMarginals), k));
  }
  std::vector<WeightedClique> cliques;
  for_each_subset(domain.size(), k, [&](const std::vector<AttributeId>& ids) {
    cliques.push_back({Clique(ids), 1.0});
  });
  return {domain, fmt::format("all-{}way", k), std::move(cliques)};
}

Workload Workload::random_k_way(const Domain& domain, std::size_t k, std::size_t count,
                                std::uint64_t seed) {
  check_k(domain, k);
  if (count < 1 || count > kMostMarginals) {
    throw UsageError(fmt::format("random-{}way asks for {} marginals; choose 1 to {}.", k, count,
                                 with_commas(kMostMarginals)));
  }
  std::string name = fmt::format("random-{}way:{}:{}", k, count, seed);
  Rng rng(seed);
  std::vector<WeightedClique> cliques;
  const std::size_t all = choose_up_to(domain.size(), k, 2 * count);
  if (all <= 2 * count) {  // draw from the full list, which is short
    for_each_subset(domain.size(), k, [&](const std::vector<AttributeId>& ids) {
      cliques.push_back({Clique(ids), 1.0});
    });
    rng.shuffle(std::span(cliques));
    cliques.resize(std::min(count, cliques.size()));
    return {domain, std::move(name), std::move(cliques)};
  }
  std::unordered_set<Clique> seen;
  while (cliques.size() < count) {  // at least half of all subsets are still new
    std::vector<AttributeId> ids;
    while (ids.size() < k) {
      const auto id = static_cast<AttributeId>(rng.below(domain.size()));
      if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    }
    Clique clique(std::move(ids));
    if (seen.insert(clique).second) cliques.push_back({std::move(clique), 1.0});
  }
  return {domain, std::move(name), std::move(cliques)};
}

Workload Workload::all_ranges(const Domain& domain, AttributeId attribute) {
  const std::string& column = domain[attribute].name;
  if (!domain[attribute].ordered) {
    throw UsageError(fmt::format(
        "The values of {} have no order, so there are no ranges of them; make the column ordinal "
        "in the schema, or ask for its values.",
        in_quotes(column)));
  }
  const ProductQueries item{Clique{attribute}, {{ColumnQueries::Kind::Ranges, {}}}, 1.0};
  return {domain, "all-range:" + column, {QueryGroup{.name = "", .queries = Products{{item}}}}};
}

Workload Workload::of_conjunctions(const Domain& domain, std::string name, ConjunctionFile file) {
  return {domain, std::move(name), {QueryGroup{.name = "", .queries = std::move(file)}}};
}

namespace {

constexpr std::size_t kDefaultWays = 3;   // 'all-3way' is the default workload
constexpr double kLargestWeight = 1e100;  // a sum of a million of them is a number too

constexpr std::string_view kForms =
    "'all-3way', 'random-3way:COUNT:SEED', 'all-range:COLUMN', 'conjunctions:WIDTH:COUNT:SEED' or "
    "the path of a .json, .toml or .txt file";

// "3way" as 3.
std::optional<std::size_t> parse_ways(std::string_view text) {
  if (!text.ends_with("way")) return std::nullopt;
  const auto k = parse_integer(text.substr(0, text.size() - 3));
  if (!k || *k < 1) return std::nullopt;
  return static_cast<std::size_t>(*k);
}

// "conjunctions:WIDTH:COUNT:SEED[:FAMILY]"
struct DrawnConjunctions {
  std::size_t width = 0;
  std::size_t count = 0;
  std::uint64_t seed = 0;
  ConjunctionFamily family = ConjunctionFamily::Signed;
};

constexpr std::string_view kDrawn = "conjunctions:";

std::optional<DrawnConjunctions> parse_drawn(std::string_view text) {
  if (!text.starts_with(kDrawn)) return std::nullopt;
  const auto parts = split(text.substr(kDrawn.size()), ':');
  const auto number = [&](std::size_t i) {
    return i < parts.size() ? parse_integer(parts[i]).value_or(-1) : -1;
  };
  const bool known =
      parts.size() == 3 || (parts.size() == 4 && (parts[3] == "positive" || parts[3] == "signed"));
  if (!known || number(0) < 1 || number(1) < 1 || number(2) < 0) return std::nullopt;
  const bool positive = parts.size() == 4 && parts[3] == "positive";
  return DrawnConjunctions{static_cast<std::size_t>(number(0)), static_cast<std::size_t>(number(1)),
                           static_cast<std::uint64_t>(number(2)),
                           positive ? ConjunctionFamily::Positive : ConjunctionFamily::Signed};
}

}  // namespace

double Workload::bytes_to_draw(const std::string& spec) {
  constexpr double kPerConjunction = 100.0;
  constexpr double kPerLiteral = 12.0;
  const auto drawn = parse_drawn(spec);
  if (!drawn) return 0.0;
  return static_cast<double>(drawn->count) *
         (kPerConjunction + kPerLiteral * static_cast<double>(drawn->width));
}

Workload Workload::parse(const Domain& domain, const std::string& spec) {
  const std::string_view text = spec;
  const auto wrong = [&](std::string_view what) {
    return UsageError(fmt::format("The workload {} {}; write {}.", in_quotes(spec), what, kForms));
  };
  if (text.starts_with("all-range:")) {
    return all_ranges(domain, domain.at(text.substr(10), TANDEM_SETTING("workload")));
  }
  if (text.starts_with("all-")) {
    const auto k = parse_ways(text.substr(4));
    if (!k) throw wrong("is not of the form all-Kway");
    // The default suits every table: on one of fewer columns it is all that there is.
    return all_k_way(domain, *k == kDefaultWays ? std::min(*k, domain.size()) : *k);
  }
  if (text.starts_with("random-")) {
    const auto parts = split(text.substr(7), ':');
    const auto k = parse_ways(parts[0]);
    const std::int64_t count = parts.size() == 3 ? parse_integer(parts[1]).value_or(0) : 0;
    const std::int64_t seed = parts.size() == 3 ? parse_integer(parts[2]).value_or(-1) : -1;
    if (!k || count < 1 || seed < 0) throw wrong("is not of the form random-Kway:COUNT:SEED");
    return random_k_way(domain, *k, static_cast<std::size_t>(count),
                        static_cast<std::uint64_t>(seed));
  }
  if (text.starts_with(kDrawn)) {
    const auto asked = parse_drawn(text);
    if (!asked) throw wrong("is not of the form conjunctions:WIDTH:COUNT:SEED[:positive|signed]");
    auto drawn =
        random_conjunctions(domain, asked->width, asked->count, asked->seed, asked->family);
    return of_conjunctions(domain, spec, {std::move(drawn), {}});
  }
  if (text.ends_with(".txt") || text.ends_with(".txt.gz")) {
    return of_conjunctions(domain, spec, read_conjunctions(domain, spec));
  }
  if (!text.ends_with(".json") && !text.ends_with(".toml")) throw wrong("is unknown");
  return from_document(domain, Document::read(spec), spec);
}

namespace {

double read_weight(const Document& item) {
  const auto* given = item.find("weight");
  if (given == nullptr) return 1.0;
  const double weight = given->as_number();
  if (!(weight > 0.0 && weight <= kLargestWeight)) {
    given->fail(fmt::format("is {}; choose a positive number up to {}.", weight, kLargestWeight));
  }
  return weight;
}

// The list under `plural` or `singular`, of which one may be given; null: neither.
const Document* list_of(const Document& document, const char* plural, const char* singular) {
  const Document* list = document.find(plural);
  const Document* single = document.find(singular);
  if (list != nullptr && single != nullptr) {
    document.fail(fmt::format("has both '{}' and '{}'; keep one.", plural, singular));
  }
  return list != nullptr ? list : single;
}

// [["age", "sex"], {"columns": ["age"], "weight": 2.0}]
Marginals read_marginals(const Domain& domain, const Document& list) {
  static constexpr std::array<std::string_view, 2> kKeys = {"columns", "weight"};
  if (list.as_array().empty()) list.fail("is empty; list at least one marginal.");
  if (list.as_array().size() > kMostMarginals) {
    list.fail(fmt::format("has more than {} marginals.", with_commas(kMostMarginals)));
  }
  Marginals out;
  for (const auto& item : list.as_array()) {
    if (item.is_object()) item.allow_only(kKeys);
    const double weight = item.is_object() ? read_weight(item) : 1.0;
    const Document& columns = item.is_object() ? item.at("columns") : item;
    std::vector<AttributeId> ids;
    for (const auto& column : columns.as_array()) {
      const auto id = domain.at(column.as_string(), column.where());
      if (std::ranges::find(ids, id) != ids.end()) {
        column.fail(fmt::format("repeats {}; name a column once.", in_quotes(column.as_string())));
      }
      ids.push_back(id);
    }
    if (ids.empty()) columns.fail("is empty; name at least one column.");
    out.cliques.push_back({Clique(std::move(ids)), weight});
  }
  return out;
}

// "values", "total", "prefixes", "ranges", or rows of whole numbers, one for each value.
ColumnQueries read_factor(const Attribute& attribute, const Document& item) {
  using Kind = ColumnQueries::Kind;
  constexpr std::int64_t kLargestCoefficient = 1'000'000;
  if (item.is_array()) {
    ColumnQueries out{Kind::Given, {}};
    for (const auto& row : item.as_array()) {
      if (row.as_array().size() != attribute.size) {
        row.fail(fmt::format("has {} numbers, and {} has {} values; write one for each.",
                             row.as_array().size(), in_quotes(attribute.name), attribute.size));
      }
      for (const auto& entry : row.as_array()) {
        out.given.push_back(entry.as_integer(-kLargestCoefficient, kLargestCoefficient));
      }
    }
    if (out.given.empty()) item.fail("is empty; write at least one row of numbers.");
    if (std::ranges::all_of(out.given, [](std::int64_t entry) { return entry == 0; })) {
      item.fail("has zeros alone, which ask for nothing; write another number.");
    }
    return out;
  }
  const std::string& kind = item.as_string();
  if (kind == "values") return {Kind::Identity, {}};
  if (kind == "total") return {Kind::Total, {}};
  if (kind != "prefixes" && kind != "ranges") {
    item.fail(fmt::format(
        "is {}; write 'values', 'total', 'prefixes', 'ranges' or rows of whole numbers.",
        in_quotes(kind)));
  }
  if (!attribute.ordered) {
    item.fail(
        fmt::format("asks for {} of {}, whose values have no order; make the column ordinal "
                    "in the schema, or ask for its 'values'.",
                    kind, in_quotes(attribute.name)));
  }
  return {kind == "ranges" ? Kind::Ranges : Kind::Prefix, {}};
}

// [{"columns": {"age": "ranges", "sex": "values"}, "weight": 2.0}]
Products read_products(const Domain& domain, const Document& list) {
  static constexpr std::array<std::string_view, 2> kKeys = {"columns", "weight"};
  if (list.as_array().empty()) list.fail("is empty; list at least one product.");
  if (list.as_array().size() > kMostMarginals) {
    list.fail(fmt::format("has more than {} products.", with_commas(kMostMarginals)));
  }
  Products out;
  for (const auto& item : list.as_array()) {
    item.allow_only(kKeys);
    std::vector<std::pair<AttributeId, ColumnQueries>> factors;
    for (const auto& [column, asked] : item.at("columns").as_object()) {
      const auto id = domain.at(column, item.at("columns").where());
      factors.emplace_back(id, read_factor(domain[id], asked));
    }
    if (factors.empty()) item.at("columns").fail("is empty; name at least one column.");
    std::ranges::sort(factors, {}, &std::pair<AttributeId, ColumnQueries>::first);
    ProductQueries product{{}, {}, read_weight(item)};
    std::vector<AttributeId> ids;
    for (auto& [id, queries] : factors) {
      ids.push_back(id);
      product.factors.push_back(std::move(queries));
    }
    product.clique = Clique(std::move(ids));
    out.items.push_back(std::move(product));
  }
  return out;
}

// The queries that an object lists, by whichever of the keys it has; nothing where it has none.
std::optional<decltype(QueryGroup::queries)> read_queries(const Domain& domain,
                                                          const Document& item) {
  const Document* marginals = list_of(item, "marginals", "marginal");
  const Document* products = list_of(item, "products", "product");
  const Document* conjunctions = list_of(item, "conjunctions", "conjunction");
  if ((marginals != nullptr) + (products != nullptr) + (conjunctions != nullptr) > 1) {
    item.fail("has queries of several kinds; give each kind a group of its own.");
  }
  if (marginals != nullptr) return read_marginals(domain, *marginals);
  if (products != nullptr) return read_products(domain, *products);
  if (conjunctions != nullptr) return conjunctions_from_document(domain, *conjunctions);
  return std::nullopt;
}

}  // namespace

// {"marginals": [...]}, in TOML also [[marginal]]; or {"groups": [{"name": ..., "weight": ...,
// "marginals": [...]}]}, in TOML also [[group]].
Workload Workload::from_document(const Domain& domain, const Document& document, std::string name) {
  static constexpr std::array<std::string_view, 10> kKeys = {
      "format",   "description", "groups",  "group",        "marginals",
      "marginal", "products",    "product", "conjunctions", "conjunction"};
  static constexpr std::array<std::string_view, 8> kGroupKeys = {
      "name",     "weight",  "marginals",    "marginal",
      "products", "product", "conjunctions", "conjunction"};
  document.allow_only(kKeys);
  if (const auto* format = document.find("format");
      format != nullptr && format->as_integer() != 1) {
    format->fail(fmt::format("is {}, and this tandem reads 1; use a tandem that knows it.",
                             format->as_integer()));
  }
  auto alone = read_queries(domain, document);
  const Document* groups = list_of(document, "groups", "group");
  if (alone && groups != nullptr) {
    document.fail("has both marginals and groups; put the marginals into a group.");
  }
  std::vector<QueryGroup> out;
  if (alone) {
    out.push_back({.name = "", .queries = std::move(*alone)});
    return {domain, std::move(name), std::move(out)};
  }
  if (groups == nullptr) document.fail("has no 'marginals'; list them (docs/formats.md).");
  if (groups->as_array().empty()) groups->fail("is empty; list at least one group.");

  for (const auto& item : groups->as_array()) {
    item.allow_only(kGroupKeys);
    QueryGroup group{
        .name = item.at("name").as_string(), .weight = read_weight(item), .queries = {}};
    if (group.name.empty()) item.at("name").fail("is empty; name the group.");
    if (std::ranges::find(out, group.name, &QueryGroup::name) != out.end()) {
      item.at("name").fail(fmt::format("repeats {}; name groups apart.", in_quotes(group.name)));
    }
    auto queries = read_queries(domain, item);
    if (!queries) item.fail("has no 'marginals'; list them (docs/formats.md).");
    group.queries = std::move(*queries);
    if (std::holds_alternative<ConjunctionFile>(group.queries) && groups->as_array().size() > 1) {
      item.fail("has conjunctions, which stand alone; keep the other groups in another workload.");
    }
    out.push_back(std::move(group));
  }
  return {domain, std::move(name), std::move(out)};
}

std::vector<NamedProduct> Workload::products() const {
  std::vector<NamedProduct> out;
  for (const auto& group : groups_) {
    if (const auto* marginals = std::get_if<Marginals>(&group.queries)) {
      for (const auto& [clique, weight] : marginals->cliques) {
        out.push_back({group.name,
                       {clique, std::vector<ColumnQueries>(clique.size()), group.weight * weight}});
      }
    } else if (const auto* products = std::get_if<Products>(&group.queries)) {
      for (const auto& item : products->items) {
        out.push_back({group.name, {item.clique, item.factors, group.weight * item.weight}});
      }
    }
  }
  return out;
}

const ConjunctionSet* Workload::conjunctions() const {
  if (groups_.size() != 1) return nullptr;
  const auto* file = std::get_if<ConjunctionFile>(&groups_[0].queries);
  return file == nullptr ? nullptr : &file->conjunctions;
}

std::span<const double> Workload::stated_answers() const {
  if (conjunctions() == nullptr) return {};
  return std::get<ConjunctionFile>(groups_[0].queries).answers;
}

std::string Workload::digest() const {
  std::string text;
  for (const auto& group : groups_) {
    text += fmt::format("{}:{:a}|", group.name, group.weight);
    const auto columns = [&](const Clique& clique) {
      for (const auto id : clique) text += fmt::format("{},", id);
    };
    if (const auto* marginals = std::get_if<Marginals>(&group.queries)) {
      for (const auto& [clique, weight] : marginals->cliques) {
        columns(clique);
        text += fmt::format("{:a};", weight);
      }
    } else if (const auto* products = std::get_if<Products>(&group.queries)) {
      for (const auto& item : products->items) {
        columns(item.clique);
        for (const auto& factor : item.factors) {
          text += fmt::format("*{}", static_cast<int>(factor.kind));
          for (const auto entry : factor.given) text += fmt::format(" {}", entry);
        }
        text += fmt::format(":{:a};", item.weight);
      }
    } else {
      text += std::get<ConjunctionFile>(group.queries).conjunctions.digest();
    }
  }
  return sha256_hex(text);
}

std::vector<Clique> Workload::downward_closure() const {
  std::unordered_set<Clique> closure;
  for (const auto& [clique, weight] : cliques_) {
    if (clique.size() > 20) {
      throw UsageError(
          fmt::format("The marginal of {} has {} columns, too many for its parts to be "
                      "listed; choose at most 20.",
                      domain_.describe(clique), clique.size()));
    }
    for (auto& part : subsets(clique)) closure.insert(std::move(part));
  }
  std::vector<Clique> sorted(closure.begin(), closure.end());
  std::ranges::sort(sorted, order);
  return sorted;
}

}  // namespace tandem
