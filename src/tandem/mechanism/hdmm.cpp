// SPDX-License-Identifier: Apache-2.0
// HDMM: answers to a workload from a strategy that is planned for it.
//   McKenna, Miklau, Hay, Machanavajjhala. Optimizing error of high-dimensional statistical queries
//   under differential privacy. 2018. Beside its planners, those that came since.
//   Symbols: A the strategy, y = A x + noise what is measured, W x^ the answers, s the noise of a
//   map of weight 1. docs/mechanisms/hdmm.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/answers/answer_names.h"
#include "tandem/mechanism/answers/answer_workload.h"
#include "tandem/mechanism/answers/consistent_answers.h"
#include "tandem/mechanism/answers/laplace_margins.h"
#include "tandem/mechanism/answers/measured_strategy.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/optimize/strategy/planner.h"
#include "tandem/optimize/strategy/reconstruction.h"

namespace tandem::mechanism {
namespace {

enum class PlannerChoice { Auto, Opt0, Kron, Marginals, Residual };
enum class NoiseChoice { Auto, Laplace, Gaussian };

struct Options {
  PlannerChoice planner = PlannerChoice::Auto;
  NoiseChoice noise = NoiseChoice::Auto;
  Consistency consistent = Consistency::None;
};

const Choices<PlannerChoice> kPlanners = {{"auto", PlannerChoice::Auto},
                                          {"opt0", PlannerChoice::Opt0},
                                          {"kron", PlannerChoice::Kron},
                                          {"marginals", PlannerChoice::Marginals},
                                          {"residual", PlannerChoice::Residual}};
const Choices<NoiseChoice> kNoises = {{"auto", NoiseChoice::Auto},
                                      {"laplace", NoiseChoice::Laplace},
                                      {"gaussian", NoiseChoice::Gaussian}};

const Choices<Consistency> kConsistencies = {{"none", Consistency::None},
                                             {"nonnegative", Consistency::NonNegative},
                                             {"integer", Consistency::Integer}};

// Several products have no residual spaces in common, in which answers could be made consistent.
std::vector<std::string> planners_of(const Options& options) {
  const bool consistent = options.consistent != Consistency::None;
  switch (options.planner) {
    case PlannerChoice::Auto:
      if (consistent) return {"residual", "marginals", "ordered-marginals", "product"};
      return {};
    case PlannerChoice::Opt0:
      return {"product"};
    case PlannerChoice::Kron:
      if (consistent) return {"product"};
      return {"product", "products"};
    case PlannerChoice::Marginals:
      return {"marginals", "ordered-marginals"};
    case PlannerChoice::Residual:
      return {"residual"};
  }
  return {};
}

NoiseKind noise_of(const Curator& curator, const Options& options) {
  const bool pure = curator.currency() == Currency::Pure;
  if (options.noise == NoiseChoice::Laplace) return NoiseKind::Laplace;
  if (pure && options.noise == NoiseChoice::Gaussian) {
    throw UsageError(TANDEM_SETTING(
        "param.noise") " gaussian has no pure guarantee; choose laplace, or give "
                       "a " TANDEM_SETTING("delta") " above 0.");
  }
  return pure ? NoiseKind::Laplace : NoiseKind::Gaussian;
}

PlanningProblem planning_problem_of(const Problem& problem, const PrivacyUnit& unit,
                                    NoiseKind noise) {
  require_answerable(problem.workload);
  std::vector<ProductQueries> asked;
  for (auto& [group, product] : problem.workload.products()) asked.push_back(std::move(product));
  return planning_problem_of(problem.domain, unit, noise, std::move(asked));
}

// A strategy with what it was made for. No budget is in it.
struct Planned {
  PlanningProblem problem;
  StrategyPlan plan;
  StackedQueries stack;
};

Planned planned(const Curator& curator, const Problem& problem, const Options& options) {
  const NoiseKind noise = noise_of(curator, options);
  Planned out;
  out.problem = planning_problem_of(problem, curator.unit(), noise);
  if (options.planner == PlannerChoice::Opt0) {
    Clique asked;
    for (const auto& item : out.problem.workload) {
      asked = join(asked, asked_columns(out.problem, item));
    }
    if (asked.size() > 1) {
      throw UsageError(TANDEM_SETTING(
          "param.planner") " opt0 is for queries on one column; choose kron or auto.");
    }
  }
  // A run plans several times for the same question: to check it, to predict it and to do it.
  static std::mutex guard;
  static std::string last_key;
  static Planned last;
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}", problem.workload.digest(), static_cast<int>(noise),
                  static_cast<int>(options.planner), options.consistent != Consistency::None,
                  out.problem.unit.replace_one, out.problem.unit.total_is_public,
                  out.problem.unit.rows_per_person);
  for (const auto n : out.problem.sizes) key += fmt::format(",{}", n);
  {
    const std::lock_guard lock(guard);
    if (key == last_key) return last;
  }
  out.plan = plan_strategy(out.problem, curator.threads(), planners_of(options));
  if (options.consistent != Consistency::None) {
    know_residuals(out.problem, out.plan.strategy, curator.threads());
  }
  out.stack = stacked(out.problem, out.plan.strategy, curator.threads());
  const std::lock_guard lock(guard);
  last = out;
  last_key = std::move(key);
  return out;
}

// How much larger noise is than what the strategy's predictions are for.
double scale_of(const Strategy& strategy, double s) {
  return strategy.sensitivity > 0.0 ? s / strategy.sensitivity : 0.0;
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  const auto n = public_total(curator);
  const Planned p = planned(curator, problem, options);
  const Strategy& A = p.plan.strategy;
  const double s = noise_of(curator, p.stack, curator.remaining(), p.problem.noise);

  Release release;
  auto y = curator.measure_together(p.stack.queries, curator.remaining(), p.problem.noise);
  std::vector<std::vector<double>> values;
  for (const auto& y_k : y) values.push_back(y_k.values);
  const StrategyKnowledge known = knowledge_of(p.problem, A, curator.threads());
  const Reconstruction x(p.problem, A, known, std::move(values), n.value_or(0.0),
                         curator.threads());
  release.total = n ? *n : std::max(1.0, x.marginal(Clique{}).front());

  std::vector<double> margins(p.problem.workload.size(), kNormal95);
  if (p.problem.noise == NoiseKind::Laplace) {
    margins = laplace_margins(p.problem, A, known, curator.threads());
  }
  std::optional<ConsistentAnswers> consistent;
  if (options.consistent != Consistency::None) {
    consistent.emplace(p.problem, A, x, options.consistent, rng, curator.threads());
  }
  const auto products = problem.workload.products();
  for (std::size_t t = 0; t < products.size(); ++t) {
    curator.threads().check();
    const auto estimates = x.answer(products[t].queries);
    const auto near = consistent ? consistent->answer(products[t].queries) : estimates;
    const auto variances = QueryVariances(p.problem, A, known, products[t].queries).all();
    std::size_t q = 0;
    for_each_query_name(problem.domain, products[t], [&](std::string name) {
      const double stddev = scale_of(A, s) * std::sqrt(variances[q]);
      release.answers.push_back(
          {std::move(name), near[q], stddev, margins[t] * stddev, estimates[q]});
      ++q;
    });
  }
  release.measurements = std::move(y);
  release.facts.set("planner", A.planner);
  return release;
}

std::string name_of_group(const std::string& group) {
  return group.empty() ? "All queries" : fmt::format("Group {}", in_quotes(group));
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  const Planned p = planned(curator, problem, options);
  const Strategy& A = p.plan.strategy;
  const double s = noise_of(curator, p.stack, curator.remaining(), p.problem.noise);
  const double scale = scale_of(A, s);

  // Of each group, without its weights: those say what matters, not how large an error is.
  struct Group {
    std::string name;
    double queries = 0.0;
    double squares = 0.0;
  };
  std::vector<Group> groups;
  Group all;
  const auto products = problem.workload.products();
  for (std::size_t t = 0; t < products.size(); ++t) {
    if (groups.empty() || groups.back().name != products[t].group) {
      groups.push_back({products[t].group});
    }
    const double queries = products[t].queries.queries(problem.domain);
    const double weight = p.problem.workload[t].weight;
    const double squares = scale * scale * A.item_errors[t] / (weight * weight);
    for (Group* group : {&groups.back(), &all}) {
      group->queries += queries;
      group->squares += squares;
    }
  }
  const auto rmse = [](const Group& group) { return std::sqrt(group.squares / group.queries); };
  const char* noise = p.problem.noise == NoiseKind::Laplace ? "Laplace" : "Gaussian";

  Plan out;
  const double least = p.plan.results.front().squared_error;
  Document results = Document::array();
  std::string others;
  for (const auto& result : p.plan.results) {
    Document one = Document::object({{"planner", result.planner}});
    const bool is_known = result.left_out.empty() || result.squared_error > 0.0;
    if (is_known) {
      const double ratio = least > 0.0 ? std::sqrt(result.squared_error / least) : 1.0;
      one.set("rmse_against_best", ratio);
      if (result.planner != A.planner && least > 0.0) {
        others += fmt::format("{}{} {:.3g}{}", others.empty() ? "" : ", ", result.planner, ratio,
                              result.left_out.empty() ? "" : " (too large to be measured)");
      }
    }
    if (!result.left_out.empty()) one.set("left_out", result.left_out);
    results.push(std::move(one));
  }
  out.push_back(
      {"strategy", Document::object({{"planner", A.planner}, {"planners", std::move(results)}}),
       fmt::format(
           "Planner {} has the lowest expected error{}.{}", A.planner,
           others.empty() ? "" : "; that of the others is so many times as large: " + others,
           p.plan.long_column ? " Ranges of a column of more than 1,024 values are sums of values "
                                "here: a coarser column would have much smaller errors."
                              : "")});
  out.push_back(
      {"measure",
       Document::object({{"maps", static_cast<std::uint64_t>(A.maps.size())},
                         {"numbers", A.outputs()},
                         {"noise", noise}}),
       fmt::format("Measures {} numbers of {} marginals together with {} noise, and "
                   "answers {} queries from them.",
                   with_commas(static_cast<std::uint64_t>(A.outputs())), with_commas(A.maps.size()),
                   noise, with_commas(static_cast<std::uint64_t>(all.queries)))});
  for (const auto& group : groups) {
    out.push_back(
        {"group",
         Document::object(
             {{"name", group.name}, {"queries", group.queries}, {"rmse", rmse(group)}}),
         fmt::format("{}: {} answers, each with an expected error (rmse) of {:.4g} rows.",
                     name_of_group(group.name),
                     with_commas(static_cast<std::uint64_t>(group.queries)), rmse(group))});
  }
  out.push_back({"rmse", Document::object({{"rmse", rmse(all)}}),
                 fmt::format("All answers together: rmse {:.4g} rows.", rmse(all))});
  return out;
}

Effort effort_of(const Curator& curator, const Problem& problem, const Options& options,
                 double /*rows_expected*/) {
  const auto asked = planning_problem_of(problem, curator.unit(), noise_of(curator, options));
  constexpr double kBytesOfAnswer = 200.0;  // its name and numbers, and their text in the file
  constexpr double kBytesOfCell = 32.0;     // counts, answers, residuals
  double queries = 0.0;
  double cells = 0.0;
  for (const auto& item : asked.workload) {
    queries += item.queries(problem.domain);
    cells += asked.cells(item.clique);
  }
  return {0.0, kBytesOfAnswer * queries + kBytesOfCell * 2.0 * cells, 0.0};
}

}  // namespace

Mechanism hdmm() {
  return make_mechanism<Options>(
      {.name = "hdmm",
       .summary =
           "Query answers with error bars, from a strategy planned for the workload; no rows",
       .reference = "McKenna, Miklau, Hay, Machanavajjhala. Optimizing error of high-dimensional "
                    "statistical queries under differential privacy. 2018.",
       .pure = true,
       .answers = true},
      run, plan,
      {choice("planner", &Options::planner, kPlanners,
              "what makes the strategy; auto: the one with the lowest expected error"),
       choice("noise", &Options::noise, kNoises,
              "auto: Gaussian, or Laplace under a pure guarantee"),
       choice("consistent", &Options::consistent, kConsistencies,
              "of the estimates: none, which is unbiased; nonnegative, or integer as well; "
              "intervals stay those of the unbiased ones")},
      effort_of);
}

}  // namespace tandem::mechanism
