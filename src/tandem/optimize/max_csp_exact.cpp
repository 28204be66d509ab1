// SPDX-License-Identifier: Apache-2.0
// The problem of max_csp.h as a mixed integer program, for the program `cbc`. It runs in a process
// of its own and is told and heard through files, for CBC 2.10.8 crashes: with a solution to start
// from, as a library where its time ends while it simplifies the problem
// (CglPreProcess::postProcess) and as a program in a third of all problems, by a name of a column
// that it has removed. So it gets no such solution, and whatever becomes of it, the one that the
// search found remains.

#include <fmt/core.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/child_process.h"
#include "tandem/base/text.h"
#include "tandem/optimize/max_csp.h"

namespace tandem {

namespace {

namespace fs = std::filesystem;

// A folder that goes when it is no longer needed; without a name where none could be made.
class Folder {
 public:
  Folder() {
    std::error_code none;
    std::string name = fs::temp_directory_path(none) / "tandem-cbc-XXXXXX";
    if (!none && mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code whatever;
    if (!path_.empty()) fs::remove_all(path_, whatever);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool write(const fs::path& path, const std::string& text) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "wb"));
  return file != nullptr && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
         std::fflush(file.get()) == 0;
}

// The program in MPS format. Variable b.. for each bit and h.. for each clause that holds: at most
// its literals where it is wanted, at least their sum less all but one where it is not. Bits being
// whole, clauses then are too.
class Program {
 public:
  explicit Program(const MaxCsp& problem) : columns_(problem.bits() + problem.clauses()) {
    for (std::size_t c = 0; c < problem.clauses(); ++c) add_clause(problem, c);
    for (std::size_t v = 0; v < problem.variables(); ++v) {
      const auto begin = problem.begins()[v];
      const auto end = problem.begins()[v + 1];
      if (end - begin == 1 && problem.may_be_none(v)) continue;
      begin_row(problem.may_be_none(v) ? 'L' : 'E', 1.0);
      for (auto bit = begin; bit < end; ++bit) add(bit, 1.0);
    }
  }

  std::string text(std::size_t bits) const {
    std::string out = "NAME best_response FREE\nROWS\n N cost\n" + rows_ + "COLUMNS\n";
    out += " M1 'MARKER' 'INTORG'\n";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i == bits) out += " M2 'MARKER' 'INTEND'\n";
      const std::string name = name_of(i, bits);
      for (const auto& entry : columns_[i]) out += fmt::format(" {} {}\n", name, entry);
    }
    if (columns_.size() == bits) out += " M2 'MARKER' 'INTEND'\n";
    out += "RHS\n" + sides_ + "BOUNDS\n";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      out += fmt::format(" UP BND {} 1\n", name_of(i, bits));
    }
    return out + "ENDATA\n";
  }

  static std::string name_of(std::size_t i, std::size_t bits) {
    return i < bits ? fmt::format("b{}", i) : fmt::format("h{}", i - bits);
  }

 private:
  void begin_row(char kind, double side) {
    ++last_row_;
    rows_ += fmt::format(" {} r{}\n", kind, last_row_);
    if (side != 0.0) sides_ += fmt::format(" RHS r{} {}\n", last_row_, side);
  }
  void add(std::size_t column, double coefficient) {
    columns_[column].push_back(fmt::format("r{} {}", last_row_, coefficient));
  }

  void add_clause(const MaxCsp& problem, std::size_t c) {
    const auto [literals, weight] = problem.clause(c);
    const std::size_t holds = problem.bits() + c;
    columns_[holds].push_back(fmt::format("cost {}", -weight));
    if (weight > 0) {
      for (const auto literal : literals) {
        const bool negated = (literal & 1U) != 0;
        begin_row('L', negated ? 1.0 : 0.0);  // holds <= bit, or <= 1 - bit
        add(holds, 1.0);
        add(literal >> 1, negated ? 1.0 : -1.0);
      }
      return;
    }
    double needed = 1.0 - static_cast<double>(literals.size());
    for (const auto literal : literals) needed += (literal & 1U) != 0 ? 1.0 : 0.0;
    begin_row('G', needed);  // holds >= sum of literals - (number - 1)
    add(holds, 1.0);
    for (const auto literal : literals) add(literal >> 1, (literal & 1U) != 0 ? 1.0 : -1.0);
  }

  std::vector<std::vector<std::string>> columns_;  // the lines of each
  std::string rows_;
  std::string sides_;
  std::size_t last_row_ = 0;
};

struct Found {
  std::vector<std::uint8_t> bits;
  double cost = 0.0;
  bool optimal = false;
};

// What CBC wrote: a line such as "Optimal - objective value -12.00000000", then a line for each
// variable that is not 0: a number, its name, its value. Nothing where that is not what it is.
std::optional<Found> read_solution(const fs::path& path, std::size_t bits) {
  constexpr std::string_view kCost = "objective value";
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return {};
  const auto at = line.find(kCost);
  const bool optimal = line.starts_with("Optimal");
  if (at == std::string::npos || line.find("continuous used") != std::string::npos ||
      !(optimal || line.starts_with("Stopped"))) {
    return {};
  }
  const auto cost = parse_number(trim(std::string_view(line).substr(at + kCost.size())));
  if (!cost) return {};
  Found out{std::vector<std::uint8_t>(bits, 0), *cost, optimal};
  std::string mark, name, value, rest;
  while (file >> mark) {
    if (mark == "**" && !(file >> mark)) return {};  // before what is not quite feasible
    if (!(file >> name >> value) || !std::getline(file, rest)) return {};
    const auto number = parse_number(value);
    if (!number || name.size() < 2) return {};
    if (name[0] != 'b') continue;
    const auto bit = parse_integer(std::string_view(name).substr(1));
    if (!bit || *bit < 0 || static_cast<std::size_t>(*bit) >= bits) return {};
    out.bits[static_cast<std::size_t>(*bit)] = *number > 0.5 ? 1 : 0;
  }
  return out;
}

// Whether each variable has at most one value, and one where it must.
bool is_record(const MaxCsp& problem, std::span<const std::uint8_t> bits) {
  for (std::size_t v = 0; v < problem.variables(); ++v) {
    std::size_t ones = 0;
    for (auto bit = problem.begins()[v]; bit < problem.begins()[v + 1]; ++bit) ones += bits[bit];
    if (ones > 1 || (ones == 0 && !problem.may_be_none(v))) return false;
  }
  return true;
}

std::optional<Found> ask(const std::string& program, const MaxCsp& problem,
                         const ExactOptions& options, const Threads& threads) {
  const Folder folder;
  if (folder.path().empty()) return {};
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  if (!write(file("problem.mps"), Program(problem).text(problem.bits()))) return {};
  const auto end = run_child(
      {program, file("problem.mps"), "-threads", "0", "-sec", fmt::format("{}", options.seconds),
       "-maxNodes", fmt::format("{}", options.nodes), "-solve", "-solution", file("solution.txt")},
      {.seconds = options.longest(), .bytes = options.bytes}, threads.cancel);
  if (end != ChildEnd::Finished) return {};
  return read_solution(file("solution.txt"), problem.bits());
}

}  // namespace

bool has_exact_solver(const ExactOptions& options) {
  return !find_program(options.program).empty();
}

CspSolution solve_exactly(const MaxCsp& problem, std::span<const std::uint8_t> warm_start,
                          const ExactOptions& options, const Threads& threads) {
  check(warm_start.size() == problem.bits(), "a solver starts from a value for each bit");
  const std::string program = find_program(options.program);
  if (program.empty()) {
    throw UsageError(fmt::format(
        "There is no program {} on the PATH; install it (scripts/install.sh solvers), or let the "
        "local search do it.",
        in_quotes(options.program)));
  }
  CspSolution best{.bits = {warm_start.begin(), warm_start.end()},
                   .satisfied = problem.satisfied(warm_start)};
  if (problem.clauses() == 0 || best.satisfied == problem.most()) {
    best.optimal = true;
    return best;
  }
  auto found = ask(program, problem, options, threads);
  if (!found || !is_record(problem, found->bits)) {
    best.failed = true;
    return best;
  }
  // Counted anew: a solver's own sum is only as good as its tolerances.
  const std::int64_t satisfied = problem.satisfied(found->bits);
  const double claimed = static_cast<double>(problem.base()) - found->cost;
  if (satisfied > best.satisfied) {
    best.bits = std::move(found->bits);
    best.satisfied = satisfied;
  }
  best.optimal = found->optimal && std::abs(static_cast<double>(best.satisfied) - claimed) < 1e-3;
  best.failed = found->optimal && !best.optimal;
  return best;
}

}  // namespace tandem
