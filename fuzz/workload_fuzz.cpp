// SPDX-License-Identifier: Apache-2.0
// Workloads, as files and as words on the command line: any bytes give one over the domain, or one
// line.

#include <cmath>

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/query/workload.h"

namespace {

void check_workload(const tandem::Workload& workload) {
  using tandem::fuzz::promise;
  promise(workload.size() > 0, "a workload has marginals");
  std::size_t cells = 0;
  double weights = 0.0;
  const tandem::Clique all = workload.domain().all();
  for (const auto& [clique, weight] : workload.cliques()) {
    promise(all.contains(clique), "a marginal lies in its domain");
    cells += workload.domain().cells(clique);
    weights += weight;
  }
  promise(std::isfinite(weights) && weights > 0.0, "weights add up to a number");
  promise(cells == workload.queries(), "queries are cells");
  promise(workload.downward_closure().size() + 1 >= workload.size(), "parts hold the whole");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  static const Domain domain({{"a", 2, {}},
                              {"b", 300, {}},
                              {"c", 70000, {}},
                              {"d", 1U << 31, {}},
                              {"long name", 1, {}},
                              {"e", 5, {}}});
  const auto text = fuzz::as_text(data, size);
  for (const auto& parse : {Document::parse_json, Document::parse_toml}) {
    try {
      check_workload(Workload::from_document(domain, parse(text, "FILE"), "w"));
    } catch (const UsageError& error) {
      fuzz::check_message(error.what(), "");
    }
  }
  if (text.ends_with(".json") || text.ends_with(".toml")) return 0;  // would open that file
  try {
    check_workload(Workload::parse(domain, std::string(text)));
  } catch (const UsageError& error) {
    fuzz::check_message(error.what(), "");
  }
  return 0;
}
