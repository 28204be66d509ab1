// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/table_run.h"

#include <memory>
#include <utility>

#include "tandem/engine/memory.h"
#include "tandem/engine/rehearsal.h"
#include "tandem/engine/reliability.h"
#include "tandem/source/memory_source.h"

namespace tandem {

Release release_table(Table table, const TableRun& run) {
  const SynthSettings& s = run.settings;
  const Domain domain = table.domain();
  RunParts parts = parts_of(s, run.find, !run.public_data.empty());
  parts.workload = Workload::parse(domain, s.workload);
  release_what_certifies(parts);
  const RowRules rules(run.rules, run.orders);
  const Problem problem{domain, parts.workload, run.public_data, impossible_boxes(rules)};
  rehearse(parts, problem, run.threads);
  const bool seeded = s.seed >= 0;
  const auto seed = static_cast<std::uint64_t>(s.seed);
  Means means{.entropy = entropy_of(s.seed),
              .transcript = memory_transcript(),
              .rng = seeded ? seed : SystemEntropy().word(),
              .threads = run.threads,
              .progress = run.progress};
  const Task task{.parts = parts,
                  .problem = problem,
                  .rules = rules,
                  .rows = s.rows,
                  .memory = memory_limit(s.memory_limit)};
  Release release =
      execute(PrivateData(memory_source(std::move(table)), parts.unit), task, std::move(means));
  for (auto& warning : promise_warnings(s.epsilon, s.delta, release.total)) {
    release.warnings.push_back(std::move(warning));
  }
  return release;
}

}  // namespace tandem
