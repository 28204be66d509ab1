// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <initializer_list>
#include <numeric>
#include <utility>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/rng.h"
#include "tandem/mechanism/registry.h"

namespace tandem::fuzz {

namespace {

// Draws, in the words of this file.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : rng_(seed) {}

  bool chance(double probability) { return rng_.uniform() < probability; }
  std::size_t below(std::size_t bound) { return rng_.below(bound); }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(most - least) + 1));
  }
  double uniform() { return rng_.uniform(); }
  double log_uniform(double least, double most) {
    return least * std::pow(most / least, rng_.uniform());
  }
  // A whole number, small ones more often.
  std::int64_t scaled(std::int64_t least, std::int64_t most) {
    const double drawn = log_uniform(static_cast<double>(least), static_cast<double>(most) + 1.0);
    return std::clamp(static_cast<std::int64_t>(drawn), least, most);
  }
  template <class T>
  const T& one_of(const std::vector<T>& items) {
    return items[below(items.size())];
  }
  std::string word(std::initializer_list<const char*> words) {
    return words.begin()[below(words.size())];
  }

 private:
  Rng rng_;
};

enum class Cells { Codes, Numbers, Booleans };

struct Column {
  std::string name;
  Cells cells = Cells::Codes;
  std::int64_t size = 2;  // different texts, the empty one aside
  std::int64_t ranges = 0;
  bool null = false;
  bool constant = false;  // in the private table
};

Document document_of(const Column& column) {
  Document out = Document::object({{"name", column.name}});
  if (column.cells == Cells::Codes) {
    out.set("size", column.size);
  } else if (column.cells == Cells::Booleans) {
    out.set("kind", "boolean");
  } else {
    out.set("kind", "integer");
    out.set("min", 0);
    out.set("max", column.size - 1);
    if (column.ranges > 0) out.set("bins", column.ranges);
  }
  if (column.null) out.set("null", true);
  return out;
}

std::string text_of(const Column& column, std::int64_t value) {
  if (column.cells == Cells::Booleans) return value == 0 ? "false" : "true";
  return fmt::format("{}", value);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
}

// What a table of a problem looks like.
struct TableShape {
  std::int64_t rows = 0;
  double tie = 0.6;          // share of cells that follow the row's hidden value
  double shrink = 1.0;       // the hidden value stays below this
  bool all_alike = false;    // every row is the first one again
  bool odd_cells = false;    // some cells fit no schema; for private tables
  std::int64_t persons = 0;  // above 0: a column 'who' beside the others
  std::size_t constant = 0;  // columns from the left that have one value
};

std::string make_table(Dice& dice, const std::vector<Column>& columns, const TableShape& shape) {
  std::string text = shape.persons > 0 ? "who" : "";
  for (const auto& column : columns) text += (text.empty() ? "" : ",") + column.name;
  text += '\n';
  std::string first;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    std::string line;
    if (shape.persons > 0) line = fmt::format("p{}", dice.between(0, shape.persons - 1));
    const double hidden = dice.uniform() * shape.shrink;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto& column = columns[c];
      if (c > 0 || shape.persons > 0) line += ',';
      if (shape.odd_cells && dice.chance(0.02)) {
        line += dice.word({"x", "-5", "1e999", "nan", "99999999999999999999", "\"", " 1 "});
        continue;
      }
      if (column.null && dice.chance(0.2)) continue;
      const bool fixed = c < shape.constant || column.constant;
      const double at = fixed ? 0.0 : dice.chance(shape.tie) ? hidden : dice.uniform();
      line += text_of(column, static_cast<std::int64_t>(at * static_cast<double>(column.size)));
    }
    if (row == 0) first = line;
    text += (shape.all_alike ? first : line) + '\n';
  }
  return text;
}

// A clause that is true for some codes and false for others, where the column has two.
std::string make_clause(Dice& dice, const Column& column) {
  if (column.cells == Cells::Booleans || column.size < 2) {
    return fmt::format("{} = {}", column.name, text_of(column, dice.between(0, column.size - 1)));
  }
  const std::string operation = dice.word({"=", "!=", "<", ">=", "in"});
  if (operation == "in") {
    return fmt::format("{} in ({}, {})", column.name, dice.between(0, column.size - 1),
                       dice.between(0, column.size - 1));
  }
  const bool ordered = operation == "<" || operation == ">=";
  return fmt::format("{} {} {}", column.name, operation,
                     dice.between(ordered ? 1 : 0, column.size - 1));
}

Document rule_of(const std::string& condition, const std::string& consequence) {
  return Document::object({{"if", condition}, {"then", consequence}});
}

Document make_rules(Dice& dice, const std::vector<Column>& columns) {
  Document rules = Document::array();
  const auto& a = columns[dice.below(columns.size())];
  const auto& b =
      columns[(dice.below(columns.size() - 1) + 1 + static_cast<std::size_t>(&a - columns.data())) %
              columns.size()];
  if (dice.chance(0.2) && a.size <= 6 && !a.null && b.size >= 2) {
    // Each is fulfilled by some row, and no row fulfils all.
    for (std::int64_t value = 0; value < a.size; ++value) {
      for (std::int64_t other = 0; other < 2; ++other) {
        rules.push(rule_of(fmt::format("{} = {}", a.name, text_of(a, value)),
                           fmt::format("{} = {}", b.name, text_of(b, other))));
      }
    }
    return rules;
  }
  const std::int64_t count = dice.between(1, 5);
  for (std::int64_t rule = 0; rule < count; ++rule) {
    const std::size_t from = dice.below(columns.size());
    std::size_t to = from;
    // Of a column of one value nothing can be ruled out: seldom tried, it is refused at once.
    for (int tries = 0; to == from || (columns[to].size < 2 && tries < 20); ++tries) {
      to = (from + 1 + dice.below(columns.size() - 1)) % columns.size();
    }
    rules.push(rule_of(make_clause(dice, columns[from]), make_clause(dice, columns[to])));
  }
  return rules;
}

std::string make_schema(Dice& dice, const std::vector<Column>& columns, double with_rules) {
  const bool plain = std::ranges::all_of(
      columns, [](const Column& column) { return column.cells == Cells::Codes && !column.null; });
  const bool rules = columns.size() > 1 && dice.chance(with_rules);
  if (plain && !rules && dice.chance(0.5)) {
    Document sizes = Document::object();
    for (const auto& column : columns) sizes.set(column.name, column.size);
    return sizes.to_json();
  }
  Document list = Document::array();
  for (const auto& column : columns) list.push(document_of(column));
  Document schema = Document::object({{"format", 1}, {"columns", list}});
  if (rules) schema.set("rules", make_rules(dice, columns));
  return schema.to_json();
}

std::string make_workload(Dice& dice, const std::vector<Column>& columns,
                          const std::string& folder) {
  const auto width = static_cast<std::int64_t>(columns.size());
  const double form = dice.uniform();
  if (form < 0.7) {
    const std::int64_t most = dice.chance(0.02) ? 3 : std::min<std::int64_t>(3, width);
    return fmt::format("all-{}way", dice.between(1, most));
  }
  if (form < 0.78) {
    return fmt::format("random-{}way:{}:{}", dice.between(1, std::min<std::int64_t>(3, width)),
                       dice.between(1, 8), dice.below(1000));
  }
  Document marginals = Document::array();
  const std::int64_t count = dice.between(1, 5);
  for (std::int64_t marginal = 0; marginal < count; ++marginal) {
    std::vector<std::size_t> order(columns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[dice.below(i)]);
    Document names = Document::array();
    const std::size_t many = 1 + dice.below(std::min<std::size_t>(3, columns.size()));
    for (std::size_t i = 0; i < many; ++i) names.push(columns[order[i]].name);
    Document entry = Document::object({{"columns", names}});
    if (dice.chance(0.7)) entry.set("weight", dice.log_uniform(1e-9, 1e12));
    marginals.push(entry);
  }
  std::string path = folder + "/workload.json";
  write_text(path, Document::object({{"marginals", marginals}}).to_json());
  return path;
}

// A value for a parameter, by the type that the registry states. Mostly within its range.
std::string make_value(Dice& dice, const OptionInfo& option) {
  if (option.name == "max-model-mb" && option.type == "number") {
    return fmt::format("{:.4g}", dice.log_uniform(0.001, 4.0));
  }
  if (option.type == "full or random:C")
    return dice.word({"full", "random:1", "random:10", "random:1000"});
  if (option.name == "public-weights") return dice.word({"auto", "0", "1", "1,2", "0,1"});
  if (option.name == "marginals") {
    return dice.word({"c0", "c0+c1", "c0,c1", "c0+c1,c1+c2", "workload", "public-cliques"});
  }
  if (option.type.ends_with("whole number")) return fmt::format("{}", dice.scaled(1, 60));
  if (option.type == "true or false") return dice.word({"true", "false"});
  if (option.type.starts_with("one of ")) {
    std::vector<std::string> words(1);
    for (const char letter : option.type.substr(7)) {
      if (letter == ',') {
        words.emplace_back();
      } else if (letter != ' ') {
        words.back() += letter;
      }
    }
    return dice.one_of(words);
  }
  if (option.name.ends_with("share") || option.name == "trust" || option.name == "public-rows") {
    return fmt::format("{:.4g}",
                       dice.chance(0.5) ? 0.01 + dice.uniform() * 0.49 : dice.log_uniform(1e-3, 1));
  }
  return fmt::format("{:.4g}", dice.log_uniform(1e-3, 1e3));
}

void add_parameters(Dice& dice, const Mechanism& mechanism, SynthSettings& settings) {
  for (const auto& option : mechanism.options) {
    if (!dice.chance(option.name == "max-model-mb" ? 0.3 : 0.12)) continue;
    settings.parameters.push_back(option.name + "=" + make_value(dice, option));
  }
}

double cells_of(const std::vector<Column>& columns) {
  double cells = 1.0;
  for (const auto& column : columns) cells *= static_cast<double>(column.size);
  return cells;
}

std::int64_t small_size(Dice& dice) {
  const double which = dice.uniform();
  if (which < 0.12) return 1;
  if (which < 0.75) return dice.between(2, 8);
  if (which < 0.96) return dice.scaled(9, 60);
  if (which < 0.99) return dice.scaled(61, 1000);
  return dice.scaled(1001, 70000);
}

// Two of these may have more cells together than any marginal can (2^27), or only too many.
std::int64_t large_size(Dice& dice) {
  return dice.chance(0.6) ? dice.between(11600, 14000) : dice.scaled(1000, 11600);
}

std::vector<Column> small_columns(Dice& dice) {
  // Now and then all have one value, or there are few and large ones: pairs that no model has room
  // for.
  const bool trivial = dice.chance(0.01);
  const bool large = !trivial && dice.chance(0.015);
  std::vector<Column> columns(large ? 2 + dice.below(2) : 1 + dice.below(8));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    auto& column = columns[c];
    column.name = fmt::format("c{}", c);
    column.size = trivial ? 1 : large && c < 2 ? large_size(dice) : small_size(dice);
    if (trivial) continue;
    const double cells = dice.uniform();
    if (cells < 0.1 && column.size > 1) {
      column.cells = Cells::Numbers;
      if (dice.chance(0.7))
        column.ranges = dice.between(1, std::min<std::int64_t>(column.size, 12));
    } else if (cells < 0.16) {
      column.cells = Cells::Booleans;
      column.size = 2;
    }
    column.null = dice.chance(0.12);
    column.constant = dice.chance(0.08);
  }
  return columns;
}

// Public tables of every awkward kind.
TableShape public_shape(Dice& dice, std::size_t columns) {
  TableShape shape;
  const double which = dice.uniform();
  if (which < 0.08) return shape;  // a header alone
  if (which < 0.16) {
    shape.rows = 1;
    return shape;
  }
  shape.rows = dice.scaled(2, 600);
  shape.tie = dice.chance(0.1) ? 1.0 : 0.6;  // identical columns
  shape.shrink = dice.chance(0.3) ? 0.5 : 1.0;
  shape.all_alike = dice.chance(0.08);
  if (dice.chance(0.1)) shape.constant = 1 + dice.below(columns);
  return shape;
}

void add_public(Dice& dice, const std::vector<Column>& columns, const std::string& folder,
                const TableShape& shape, SynthSettings& settings) {
  const auto path = fmt::format("{}/public{}.csv", folder, settings.public_sources.size());
  write_text(path, make_table(dice, columns, shape));
  settings.public_sources.push_back(path);
}

FuzzProblem small_problem(Dice& dice, const std::string& folder) {
  FuzzProblem problem;
  SynthSettings& s = problem.settings;
  const auto columns = small_columns(dice);
  const auto mechanisms = all_mechanisms();

  const bool automatic = dice.chance(0.08);
  const Mechanism& mechanism = dice.one_of(mechanisms);
  s.mechanism = automatic ? "auto" : mechanism.name;
  s.epsilon = dice.log_uniform(1e-4, 1e3);
  s.delta = dice.log_uniform(1e-12, 1e-3);
  if (dice.chance(automatic || mechanism.pure ? 0.3 : 0.03)) s.delta = 0.0;
  s.neighbors = dice.chance(0.4) ? "add-remove" : "replace-one";
  if (dice.chance(0.2)) s.rows_per_person = dice.between(2, 5);

  TableShape shape;
  shape.rows = dice.chance(0.04) ? 0 : dice.scaled(1, 3000);
  shape.tie = dice.chance(0.05) ? 1.0 : 0.6;
  shape.odd_cells = dice.chance(0.05);
  if (dice.chance(0.08)) {
    shape.persons = 1 + shape.rows / dice.between(1, 4);
    s.person = "who";
  }
  s.private_source = folder + "/private.csv";
  write_text(s.private_source, make_table(dice, columns, shape));
  s.schema = folder + "/schema.json";
  write_text(s.schema, make_schema(dice, columns, 0.3));
  // Of columns this large no pair may be asked for; which a mechanism has to think of by itself.
  const bool large = std::ranges::count_if(
                         columns, [](const Column& column) { return column.size >= 11600; }) >= 2;
  s.workload = large && dice.chance(0.8) ? "all-1way" : make_workload(dice, columns, folder);

  if (dice.chance(mechanism.public_data == PublicUse::Needed && !automatic ? 0.97 : 0.45)) {
    add_public(dice, columns, folder, public_shape(dice, columns.size()), s);
    if (dice.chance(0.15)) {
      add_public(dice, columns, folder, public_shape(dice, columns.size()), s);
    }
  }
  if (!automatic) add_parameters(dice, mechanism, s);

  // Models fill the memory they are given, and take time with it: a little is enough here.
  const auto bounded = [&](const std::string& text) { return text.starts_with("max-model-mb="); };
  if (s.mechanism != "independent" && cells_of(columns) > 3e4 &&
      std::ranges::none_of(s.parameters, bounded)) {
    const bool whole = automatic || mechanism.name.starts_with("mw");
    s.parameters.push_back("max-model-mb=" +
                           (whole ? fmt::format("{}", dice.scaled(1, 8))
                                  : fmt::format("{:.3g}", dice.log_uniform(0.03, 1.5))));
  }
  // A generator is trained for minutes unless told otherwise.
  if (s.mechanism.starts_with("gem")) {
    for (const auto& [option, value] :
         {std::pair{"rounds", "3"}, {"rows", "40"}, {"steps", "10"}, {"final-steps", "20"}}) {
      const std::string start = fmt::format("{}=", option);
      if (std::ranges::none_of(s.parameters,
                               [&](const std::string& text) { return text.starts_with(start); })) {
        s.parameters.push_back(start + value);
      }
    }
  }
  // A small budget estimates a private number of rows as anything up to the most there can be.
  const bool total_is_private = s.neighbors == "add-remove" || s.rows_per_person > 1;
  if ((total_is_private && s.epsilon < 0.05) || dice.chance(0.15)) s.rows = dice.scaled(1, 500);
  s.memory_limit = large ? "8GB" : "4GB";
  problem.without_rows = shape.rows == 0 && s.neighbors == "replace-one" && s.rows_per_person == 1;
  return problem;
}

FuzzProblem wide_problem(Dice& dice, const std::string& folder) {
  FuzzProblem problem;
  SynthSettings& s = problem.settings;
  std::vector<Column> columns(20 + dice.below(41));
  const bool even = dice.chance(0.4);  // all alike, or of every size
  // Powers of two fill limits that are powers of two to the last cell.
  const std::int64_t size =
      dice.chance(0.6) ? std::int64_t{1} << dice.between(5, 10) : dice.scaled(2, 800);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].name = fmt::format("c{}", c);
    columns[c].size = even ? size : dice.scaled(2, 2500);
  }
  s.mechanism = dice.word({"tandem", "aim", "mst", "jam-pgm", "auto"});
  s.epsilon = dice.log_uniform(0.05, 10.0);
  s.delta = dice.chance(0.1) && (s.mechanism == "mst" || s.mechanism == "auto") ? 0.0 : 1e-9;
  s.neighbors = dice.chance(0.3) ? "add-remove" : "replace-one";

  TableShape shape;
  shape.rows = dice.scaled(1, 1000);
  s.private_source = folder + "/private.csv";
  write_text(s.private_source, make_table(dice, columns, shape));
  s.schema = folder + "/schema.json";
  write_text(s.schema, make_schema(dice, columns, 0.1));
  s.workload = "all-2way";
  const bool with_public = s.mechanism == "jam-pgm" ||
                           (s.mechanism != "mst" && columns.size() <= 30 && dice.chance(0.25));
  if (with_public) {
    shape.rows = dice.scaled(1, 500);
    add_public(dice, columns, folder, shape, s);
  }
  if (s.mechanism != "auto" && dice.chance(0.5)) {
    s.parameters.push_back(fmt::format("max-model-mb={:.3g}", dice.log_uniform(0.1, 10.0)));
  }
  // A few rounds show what many would, mostly.
  if (dice.chance(0.7)) {
    if (s.mechanism == "tandem" || s.mechanism == "aim") {
      s.parameters.emplace_back("rounds-per-column=1");
    } else if (s.mechanism == "jam-pgm") {
      s.parameters.push_back(fmt::format("rounds={}", dice.between(1, 10)));
    }
  }
  if (s.neighbors == "add-remove" && s.epsilon < 0.5) s.rows = dice.scaled(1, 500);
  s.memory_limit = "64GB";  // predictions are far above what such runs take
  return problem;
}

}  // namespace

FuzzProblem make_problem(Kind kind, std::uint64_t seed, const std::string& folder) {
  Dice dice(seed * 2 + (kind == Kind::Wide ? 1 : 0));
  auto problem = kind == Kind::Wide ? wide_problem(dice, folder) : small_problem(dice, folder);
  write_text(folder + "/settings.json", to_document(problem.settings).to_json(2) + "\n");
  return problem;
}

}  // namespace tandem::fuzz
