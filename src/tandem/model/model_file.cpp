// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/model_file.h"

#include <utility>

#include "tandem/model/generator/product_mixture.h"
#include "tandem/model/grouped_model.h"
#include "tandem/model/histogram/factored_histogram.h"
#include "tandem/model/mixture_model.h"
#include "tandem/model/model_writer.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/model/product_model.h"
#include "tandem/model/records_model.h"

namespace tandem {
namespace {

struct ReaderOfKind {
  std::string_view kind;
  std::unique_ptr<Model> (*read)(const ModelReader& in);
};

// A kind of model that is to be kept in files has a line here, and a write() that names the kind.
constexpr ReaderOfKind kReaders[] = {
    {"graphical", GraphicalModel::read},    {"product", ProductModel::read},
    {"histogram", FactoredHistogram::read}, {"mixture", MixtureModel::read},
    {"records", RecordsModel::read},        {"grouped", GroupedModel::read},

    {"products", ProductMixture::read}};

}  // namespace

std::optional<std::string> write_model(const Model& model) {
  ModelWriter out(model.domain());
  if (!model.write(out)) return std::nullopt;
  return std::move(out).finish();
}

std::unique_ptr<Model> read_model(std::string_view bytes, const Domain& domain,
                                  const std::string& name, const ModelLimits& limits) {
  const ModelReader in(bytes, domain, name, limits);
  for (const auto& [kind, read] : kReaders) {
    if (in.kind() == kind) return read(in);
  }
  std::string known;
  for (const auto& [kind, read] : kReaders) {
    if (!known.empty()) known += kind == kReaders[std::size(kReaders) - 1].kind ? " and " : ", ";
    known += kind;
  }
  in.header().at("kind").fail("is none of " + known + ".");
}

}  // namespace tandem
