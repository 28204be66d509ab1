// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a model: a model that answers, samples and is written again, or a UsageError;
// never a crash, and never much memory.

#include <cmath>
#include <cstdint>
#include <memory>

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/model/model_file.h"

namespace {

using namespace tandem;
using fuzz::promise;

void try_out(const Model& model, const Domain& domain) {
  for (const auto& clique : {Clique{}, Clique{0}, Clique{1, 2}, domain.all()}) {
    for (const double value : model.project(clique).values) {
      promise(std::isfinite(value) && value >= 0.0, "an expected count is a number");
    }
  }
  Rng rng(1);
  promise(model.sample(10, rng).rows() == 10, "a model gives rows");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Domain domain({{"a", 3, {}}, {"b", 4, {}}, {"c", 300, {}}});
  constexpr double kRoom = 1e6;
  std::unique_ptr<Model> model;
  try {
    model = read_model(fuzz::as_text(data, size), domain, "model.bin", {kRoom});
  } catch (const UsageError&) {
    return 0;
  }
  try_out(*model, domain);
  const auto written = write_model(*model);
  promise(written.has_value(), "what was read can be written");
  try_out(*read_model(*written, domain, "model.bin", {kRoom}), domain);
  return 0;
}
