// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/evaluation.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/query/counting.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

constexpr int kFormat = 1;

CountedTable load(const std::string& source, RowPolicy policy, const Schema& schema,
                  const EvaluationRequest& request, std::vector<std::string>& notes) {
  CsvOptions options;
  options.policy = policy;
  options.threads = request.threads;
  options.progress = progress_of(request.reading, source);
  CsvTable loaded = load_table(source, schema, options);
  if (loaded.table.rows() == 0) {
    throw UsageError(fmt::format("{} has a header and no rows; give a table with rows.", source));
  }
  if (!loaded.ignored_columns.empty()) {
    notes.push_back(fmt::format("{}{}: ignored {}, not in the schema.",
                                policy == RowPolicy::Repair ? "INTERNAL: " : "", source,
                                list_names(loaded.ignored_columns, 8)));
  }
  if (loaded.mended > 0) {
    notes.push_back(fmt::format("{}: {} rows break a rule of the schema and were mended first.",
                                source, with_commas(loaded.mended)));
  }
  if (policy == RowPolicy::MustFit && loaded.format != schema.format()) {
    notes.push_back(fmt::format("{}: read as {}.", source, describe(loaded.format)));
  }
  return CountedTable(std::move(loaded.table), request.threads);
}

}  // namespace

EvaluationResult evaluate_files(const EvaluationRequest& request) {
  const Schema read = Schema::read(request.schema);
  const Schema schema = read.with_format(stated_format(request.text, read.format()));
  const auto workload = Workload::parse(schema.domain(), request.workload);
  EvaluationResult result;
  // The real table is private: its odd rows are repaired in silence, never quoted in an error.
  const auto real = load(request.real, RowPolicy::Repair, schema, request, result.notes);
  const auto synthetic = load(request.synthetic, RowPolicy::MustFit, schema, request, result.notes);
  result.evaluation = evaluate(workload, real, synthetic);
  return result;
}

Document to_document(const Evaluation& evaluation) {
  return Document::object({
      {"format", kFormat},
      {"internal", true},
      {"workload", evaluation.workload},
      {"queries", static_cast<std::uint64_t>(evaluation.queries)},
      {"marginals", static_cast<std::uint64_t>(evaluation.marginals)},
      {"avg_workload_error", evaluation.avg_workload_error},
      {"max_error", evaluation.max_error},
      {"mean_error", evaluation.mean_error},
      {"rmse", evaluation.rmse},
      {"k_marginal_score",
       evaluation.k_marginal_score ? Document(*evaluation.k_marginal_score) : Document()},
  });
}

std::string to_text(const Evaluation& evaluation) {
  std::string out = "INTERNAL: computed from the real table; not for publication\n\n";
  const std::size_t width = std::max<std::size_t>(12, evaluation.workload.size());
  const auto line = [&](std::string_view name, const std::string& value, std::string_view meaning) {
    const std::string text = fmt::format("  {:<20} {:>{}}   {}", name, value, width, meaning);
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  };
  line("workload", evaluation.workload, "");
  line("marginals", with_commas(evaluation.marginals), "");
  line("queries", with_commas(evaluation.queries), "cells of all marginals");
  line("avg_workload_error", fmt::format("{:.4f}", evaluation.avg_workload_error),
       "mean L1 distance of a marginal, 0 to 2");
  line("max_error", fmt::format("{:.5f}", evaluation.max_error), "largest error of one query");
  line("mean_error", fmt::format("{:.3e}", evaluation.mean_error), "mean error of a query");
  line("rmse", fmt::format("{:.3e}", evaluation.rmse), "root mean squared error of a query");
  line("k_marginal_score",
       evaluation.k_marginal_score ? fmt::format("{:.1f}", *evaluation.k_marginal_score) : "none",
       evaluation.k_marginal_score ? "over all pairs of columns, 0 to 1000"
                                   : "too many pairs of columns, or too large ones");
  return out;
}

}  // namespace tandem
