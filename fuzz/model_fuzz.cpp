// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a model: a model that answers, samples, is restricted and written again, or a
// UsageError; never a crash, and never much memory. What is written reads back as the same model.

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/model/model_file.h"
#include "tandem/model/restricted.h"

namespace {

using namespace tandem;
using fuzz::promise;

constexpr double kRoom = 1e6;

std::vector<Clique> cliques_of(const Domain& domain) {
  std::vector<Clique> out = {{}, {0}, {1, 2}};
  if (domain.cells(domain.all()) <= 10'000) out.push_back(domain.all());
  return out;
}

void try_out(const Model& model, const Domain& domain) {
  const auto cliques = cliques_of(domain);
  const auto together = model.project_all(cliques);
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    for (const double value : model.project(cliques[i]).values) {
      promise(std::isfinite(value) && value >= 0.0, "an expected count is a number");
    }
    promise(together[i].values.size() == domain.cells(cliques[i]), "all that is asked is answered");
  }
  Rng rng(1);
  promise(model.sample(10, rng).rows() == 10, "a model gives rows");
  const Restriction first{.attribute = 0, .allowed = {0, 2}};
  const auto part = restricted(model, std::span(&first, 1));
  promise(part.share >= 0.0 && part.share <= 1.0 + 1e-9, "a share is one");
  if (!part.model) return;
  const auto left = part.model->project({0}).values;
  promise(std::isfinite(left[0]) && left[1] == 0.0, "what is not wanted is not there");
}

// The model of one domain that the bytes are, if they are one.
std::unique_ptr<Model> read(std::string_view bytes, const Domain& domain) {
  try {
    return read_model(bytes, domain, "model.bin", {kRoom});
  } catch (const UsageError& error) {
    fuzz::check_message(error.what(), "model.bin");
    return nullptr;
  }
}

void try_model(std::string_view bytes, const Domain& domain) {
  const auto model = read(bytes, domain);
  if (!model) return;
  try_out(*model, domain);
  const auto written = write_model(*model);
  promise(written.has_value(), "what was read can be written");
  const auto again = read(*written, domain);
  promise(again != nullptr, "what was written can be read");
  for (const auto& clique : cliques_of(domain)) {
    const auto before = model->project(clique).values;
    const auto after = again->project(clique).values;
    for (std::size_t i = 0; i < before.size(); ++i) {
      promise(std::abs(after[i] - before[i]) <= 1e-6 * model->total(),
              "what is written is what was read");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Domain narrow({{"a", 3, {}}, {"b", 4, {}}, {"c", 300, {}}});
  static const Domain mixed(
      {{"a", 3, {}}, {"wide", 20, {}}, {"one", 1, {}}, {"b", 4, {}}, {"c", 2, {}}});
  const auto bytes = fuzz::as_text(data, size);
  for (const auto* domain : {&narrow, &mixed}) try_model(bytes, *domain);
  return 0;
}
