// SPDX-License-Identifier: Apache-2.0
// The problem of max_csp.h as a mixed integer program, for CBC. Built without CBC, it says so.

#include <algorithm>
#include <cmath>
#include <memory>

#include "tandem/base/check.h"
#include "tandem/optimize/max_csp.h"

#ifdef TANDEM_CBC
#include <coin/Cbc_C_Interface.h>
#endif

namespace tandem {

#ifdef TANDEM_CBC

namespace {

// Sparse columns, as CBC takes them, built row by row.
class Program {
 public:
  int add_variable(double objective, double upper, bool whole) {
    objective_.push_back(objective);
    upper_.push_back(upper);
    whole_.push_back(whole);
    return static_cast<int>(objective_.size()) - 1;
  }

  void begin_row(double least, double most) {
    row_least_.push_back(least);
    row_most_.push_back(most);
  }
  void add(int variable, double coefficient) {
    entries_.push_back({variable, static_cast<int>(row_least_.size()) - 1, coefficient});
  }
  void raise_last_row(double least, double most) {
    row_least_.back() += least;
    row_most_.back() += most;
  }

  void load(Cbc_Model* model) {
    std::ranges::stable_sort(entries_, {}, &Entry::variable);
    std::vector<int> starts(objective_.size() + 1, 0);
    std::vector<int> rows;
    std::vector<double> values;
    for (const auto& [variable, row, value] : entries_) {
      ++starts[static_cast<std::size_t>(variable) + 1];
      rows.push_back(row);
      values.push_back(value);
    }
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    const std::vector<double> lower(objective_.size(), 0.0);
    Cbc_loadProblem(model, static_cast<int>(objective_.size()), static_cast<int>(row_least_.size()),
                    starts.data(), rows.data(), values.data(), lower.data(), upper_.data(),
                    objective_.data(), row_least_.data(), row_most_.data());
    for (std::size_t i = 0; i < whole_.size(); ++i) {
      if (whole_[i]) Cbc_setInteger(model, static_cast<int>(i));
    }
  }

 private:
  struct Entry {
    int variable;
    int row;
    double value;
  };
  std::vector<double> objective_, upper_, row_least_, row_most_;
  std::vector<bool> whole_;
  std::vector<Entry> entries_;
};

// One variable for each bit, then one for each clause: at most its literals where it is wanted, at
// least their sum less all but one where it is not. Bits being whole, clauses then are too.
Program program_of(const MaxCsp& problem) {
  constexpr double kFree = 1e30;
  Program out;
  for (std::size_t bit = 0; bit < problem.bits(); ++bit) out.add_variable(0.0, 1.0, true);
  for (std::size_t c = 0; c < problem.clauses(); ++c) {
    const auto [literals, weight] = problem.clause(c);
    const int holds = out.add_variable(-static_cast<double>(weight), 1.0, false);
    if (weight > 0) {
      for (const auto literal : literals) {
        const bool negated = (literal & 1U) != 0;
        out.begin_row(-kFree, negated ? 1.0 : 0.0);  // holds <= bit, or <= 1 - bit
        out.add(holds, 1.0);
        out.add(static_cast<int>(literal >> 1), negated ? 1.0 : -1.0);
      }
    } else {
      double needed = 1.0 - static_cast<double>(literals.size());
      for (const auto literal : literals) needed += (literal & 1U) != 0 ? 1.0 : 0.0;
      out.begin_row(needed, kFree);  // holds >= sum of literals - (number - 1)
      out.add(holds, 1.0);
      for (const auto literal : literals) {
        out.add(static_cast<int>(literal >> 1), (literal & 1U) != 0 ? 1.0 : -1.0);
      }
    }
  }
  for (std::size_t v = 0; v < problem.variables(); ++v) {
    const auto begin = problem.begins()[v];
    const auto end = problem.begins()[v + 1];
    if (end - begin == 1 && problem.may_be_none(v)) continue;
    out.begin_row(problem.may_be_none(v) ? 0.0 : 1.0, 1.0);
    for (auto bit = begin; bit < end; ++bit) out.add(static_cast<int>(bit), 1.0);
  }
  return out;
}

}  // namespace

bool has_exact_solver() { return true; }

CspSolution solve_exactly(const MaxCsp& problem, std::span<const std::uint8_t> warm_start,
                          const ExactOptions& options) {
  check(warm_start.size() == problem.bits(), "a solver starts from a value for each bit");
  CspSolution best{{warm_start.begin(), warm_start.end()}, problem.satisfied(warm_start), false, 0};
  if (problem.clauses() == 0 || best.satisfied == problem.most()) {
    best.optimal = true;
    return best;
  }
  struct Delete {
    void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
  };
  const std::unique_ptr<Cbc_Model, Delete> model(Cbc_newModel());
  program_of(problem).load(model.get());
  Cbc_setParameter(model.get(), "log", "0");
  Cbc_setParameter(model.get(), "threads", "0");
  Cbc_setParameter(model.get(), "sec", std::to_string(options.seconds).c_str());
  Cbc_setParameter(model.get(), "maxNodes", std::to_string(options.nodes).c_str());
  std::vector<double> initial(problem.bits() + problem.clauses(), 0.0);
  for (std::size_t bit = 0; bit < problem.bits(); ++bit) initial[bit] = warm_start[bit];
  for (std::size_t c = 0; c < problem.clauses(); ++c) {
    const auto literals = problem.clause(c).literals;
    const bool holds = std::ranges::all_of(
        literals, [&](auto l) { return (warm_start[l >> 1] != 0) == ((l & 1U) == 0); });
    initial[problem.bits() + c] = holds ? 1.0 : 0.0;
  }
  Cbc_setInitialSolution(model.get(), initial.data());
  Cbc_solve(model.get());
  if (const double* found = Cbc_bestSolution(model.get())) {
    std::vector<std::uint8_t> bits(problem.bits());
    for (std::size_t bit = 0; bit < bits.size(); ++bit) bits[bit] = found[bit] > 0.5 ? 1 : 0;
    // Counted anew: a solver's own sum is only as good as its tolerances.
    const std::int64_t satisfied = problem.satisfied(bits);
    if (satisfied > best.satisfied) best = {std::move(bits), satisfied, false, 0};
  }
  const bool proven = Cbc_isProvenOptimal(model.get()) != 0 &&
                      Cbc_isSecondsLimitReached(model.get()) == 0 &&
                      Cbc_isNodeLimitReached(model.get()) == 0;
  const double bound =
      static_cast<double>(problem.base()) - Cbc_getBestPossibleObjValue(model.get());
  best.optimal = proven || static_cast<double>(best.satisfied) > bound - 1.0 + 1e-6;
  return best;
}

#else

bool has_exact_solver() { return false; }

CspSolution solve_exactly(const MaxCsp&, std::span<const std::uint8_t>, const ExactOptions&) {
  throw UsageError(
      "This tandem was built without CBC; install it (scripts/install.sh solvers), build with "
      "TANDEM_CBC, "
      "or let the local search do it.");
}

#endif

}  // namespace tandem
