// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/execute.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/engine/certificate.h"
#include "tandem/engine/reliability.h"
#include "tandem/mechanism/answers/answer_workload.h"
#include "tandem/model/fitted_rows.h"
#include "tandem/model/records_model.h"

namespace tandem {
namespace {

constexpr std::uint64_t kSeedOfChoice = 1;  // which marginals of a large workload are certified

CuratorSettings settings_of(const Means& means) {
  CuratorSettings out;
  out.threads = means.threads;
  if (means.progress) {
    out.progress = [told = means.progress](std::size_t step, double spent) {
      told({.stage = RunProgress::Stage::Measuring, .step = step, .share = spent});
    };
  }
  return out;
}

// As many as asked for, or as the private table has or is estimated to have. A noisy total can be
// far too large, so what would not fit into memory is not made.
std::size_t rows_to_make(const Task& task, Release& release) {
  if (task.rows > 0) return static_cast<std::size_t>(task.rows);
  constexpr double kCopies = 4.0;  // sampled, fitted and written
  double row = 0.0;
  for (const auto& attribute : task.problem.domain.attributes()) {
    row += static_cast<double>(code_width(attribute.size));
  }
  const double most = std::min(static_cast<double>(kMostRows),
                               std::max(1.0, std::floor(task.memory / (kCopies * row))));
  const double wanted = std::nearbyint(release.total);
  const auto part = static_cast<double>(task.most_rows);
  if (task.most_rows > 0 && wanted > part && part <= most) {
    release.warnings.push_back(
        {"rows.a_part",
         fmt::format("Of {:.4g} rows, {:.4g} were made; the model makes others.", wanted, part)});
    return static_cast<std::size_t>(task.most_rows);
  }
  if (wanted > most) {
    release.warnings.push_back(
        {"rows.too_many",
         fmt::format("The estimated {:.4g} rows do not fit into memory, so {:.4g} were made; state "
                     "rows.",
                     wanted, most)});
  }
  return static_cast<std::size_t>(std::clamp(wanted, 1.0, most));
}

// What a model says of the workload, with the intervals that its measurements give by themselves.
void answer_from_model(Release& release, const Workload& workload, bool rows_are_public,
                       const Threads& threads) {
  if (release.model == nullptr) throw UsageError("The mechanism makes no model to answer from.");
  const std::optional<double> rows = rows_are_public ? std::optional(release.total) : std::nullopt;
  release.answers =
      answer_workload(workload, release.measurements, rows, release.model.get(), threads);
}

}  // namespace

Execution::Execution(PrivateData data, const Task& task, Means means)
    : task_(task),
      progress_(means.progress),
      threads_(means.threads),
      gate_(std::move(data), task.parts.filter, std::move(means.entropy),
            std::move(means.transcript), settings_of(means)),
      rng_(means.rng) {
  check(gate_.unit() == task.parts.unit, "the gate protects whom the run states");
}

Release Execution::run() {
  const RunParts& parts = task_.parts;
  Release release = parts.mechanism.run(gate_, task_.problem, parts.parameters, rng_);
  for (auto& warning : reliability_warnings(release, parts.unit)) {
    release.warnings.push_back(std::move(warning));
  }
  if (task_.answers && release.answers.empty()) {
    answer_from_model(release, parts.workload, gate_.unit().keeps_rows(), threads_);
  }
  if (!release.answers.empty()) {
    const auto with_interval = std::ranges::count_if(
        release.answers, [](const Answer& answer) { return answer.stddev.has_value(); });
    release.facts.set("answers_with_intervals", static_cast<std::uint64_t>(with_interval));
  }
  if (release.model != nullptr && !task_.answers) {
    make_rows(release);
    // A choice of marginals of its own seed, so that what is drawn later stays what it is.
    Rng choice(kSeedOfChoice);
    const Cost held = gate_.let_go();
    if (held.is_zero()) return release;
    auto [error, left_out] = certify(gate_, held, release, parts.workload, choice);
    release.certified_error = error;
    if (!error) release.facts.set("not_certified", std::move(left_out));
  }
  return release;
}

void Execution::make_rows(Release& release) {
  threads_.check();
  if (progress_) {
    progress_({.stage = RunProgress::Stage::MakingRows, .step = gate_.steps(), .share = 1.0});
  }
  if (task_.pairs) {
    const auto* records = release.model ? release.model->as_records() : nullptr;
    check(records != nullptr, "what works on pairs makes records");
    const double wanted = task_.rows > 0 ? static_cast<double>(task_.rows) : release.total;
    const double rows = std::clamp(std::nearbyint(wanted), 1.0, static_cast<double>(kMostRows));
    release.repeats = records->sample_records(static_cast<std::size_t>(rows), rng_);
    return;
  }
  const std::size_t rows = rows_to_make(task_, release);
  release.rows =
      fitted_rows(*release.model, task_.parts.workload, rows, rng_, task_.memory, threads_.cancel);
  settle_rows(task_.rules, *release.rows, rng_);
}

std::unique_ptr<EntropySource> entropy_of(std::int64_t seed) {
  if (seed < 0) return std::make_unique<SystemEntropy>();
  return std::make_unique<SeededEntropy>(static_cast<std::uint64_t>(seed));
}

Release execute(PrivateData data, const Task& task, Means means) {
  return Execution(std::move(data), task, std::move(means)).run();
}

}  // namespace tandem
