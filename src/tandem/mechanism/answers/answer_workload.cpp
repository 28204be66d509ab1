// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/answers/answer_workload.h"

#include <fmt/core.h>

#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/answers/answer_names.h"
#include "tandem/mechanism/answers/measured_answers.h"

namespace tandem {
namespace {

constexpr double kMostAnswers = 1e8;

// What a model says of a product's queries, from its marginal of their columns.
std::vector<double> answers_of(const Domain& domain, const ProductQueries& product,
                               std::vector<double> table) {
  std::size_t outer = 1;
  std::size_t inner = table.size();
  for (std::size_t i = 0; i < product.clique.size(); ++i) {
    const std::size_t n = domain[product.clique[i]].size;
    inner /= n;
    table = product.factors[i].apply(table, outer, n, inner);
    outer *= product.factors[i].rows(n);
  }
  return table;
}

}  // namespace

void require_answerable(const Workload& workload) {
  const auto products = workload.products();
  if (products.empty()) {
    throw UsageError(TANDEM_SETTING(
        "workload") " names no marginals, ranges or products, and answers are to "
                    "those; name some.");
  }
  double answers = 0.0;
  for (const auto& product : products) answers += product.queries.queries(workload.domain());
  if (answers <= kMostAnswers) return;
  throw UsageError(fmt::format(
      TANDEM_SETTING("workload") " asks for {:.3g} answers, and a release holds up to {:g}; choose "
                                 "a smaller workload, such as all-2way.",
      answers, kMostAnswers));
}

std::vector<Answer> answer_workload(const Workload& workload,
                                    std::span<const Measurement> measurements,
                                    std::optional<double> public_total, const Model* model,
                                    const Threads& threads) {
  require_answerable(workload);
  const Domain& domain = workload.domain();
  const auto products = workload.products();
  std::vector<ProductQueries> asked;
  for (const auto& product : products) asked.push_back(product.queries);
  std::vector<Factor> tables;
  if (model != nullptr) {
    std::vector<Clique> cliques;
    for (const auto& product : products) cliques.push_back(product.queries.clique);
    tables = model->project_all(cliques);
  }
  const MeasuredAnswers measured(domain, std::move(asked), measurements, public_total, threads);
  std::vector<Answer> out;
  for (std::size_t t = 0; t < products.size(); ++t) {
    threads.check();
    const auto known = measured.answer(t);
    std::vector<double> estimates;
    if (model != nullptr) {
      estimates = answers_of(domain, products[t].queries, std::move(tables[t].values));
    }
    std::size_t q = 0;
    for_each_query_name(domain, products[t], [&](std::string name) {
      Answer answer{.query = std::move(name)};
      if (known[q]) {
        answer.estimate = known[q]->estimate;
        answer.stddev = known[q]->stddev;
        answer.margin95 = known[q]->margin95;
        answer.measured = known[q]->estimate;
      } else if (model == nullptr) {
        throw UsageError(
            fmt::format("Nothing that was measured tells {}, and there is no model to answer it; "
                        "choose a " TANDEM_SETTING("workload") " inside what was asked then.",
                        in_quotes(answer.query)));
      }
      if (model != nullptr) answer.estimate = estimates[q];
      out.push_back(std::move(answer));
      ++q;
    });
  }
  return out;
}

}  // namespace tandem
