// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/memory.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/release/measurements.h"
#include "tandem/engine/release/release_documents.h"
#include "tandem/engine/release/stored_release.h"
#include "tandem/mechanism/answers/answer_workload.h"
#include "tandem/mechanism/rounds/fit_measurements.h"
#include "tandem/model/model_file.h"
#include "tandem/query/workload.h"

namespace tandem {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEstimateFile = "estimate.json";
constexpr const char* kEstimateSchema = "schema.json";
constexpr std::size_t kLargestFile = std::size_t{1} << 40;
constexpr double kMostNumbers = 1e7;  // of one call

std::string in(const std::string& folder, const char* file) {
  return (fs::path(folder) / file).string();
}

}  // namespace

FittedFolder::FittedFolder(const std::string& folder, const std::string& limit, Threads threads) {
  if (fs::exists(in(folder, kEstimateFile))) {
    schema = Schema::read(in(folder, kEstimateSchema));
    measurements =
        read_measurements(schema.domain(), Document::read(in(folder, kMeasurementsFile)));
    const std::string path = in(folder, kModelFile);
    model = read_model(read_text_file(path, kLargestFile), schema.domain(), path,
                       {memory_limit(limit), threads});
    return;
  }
  const StoredRelease release(folder);
  schema = release.schema();
  if (release.has_model()) model = release.model(memory_limit(limit), threads);
  const auto* refit = release.document().find("refit");
  if (refit != nullptr && refit->find("where") != nullptr) {
    share = refit->at("share").as_number();  // the measurements are of all rows
  } else {
    measurements = release.measurements();
    if (unit_in(release.document().at("guarantee")).keeps_rows()) {
      public_total = release.document().at("total").as_number();
    }
  }
}

namespace {

constexpr double kOf95Percent = 1.959963984540054;  // standard deviations of a normal

struct Columns {
  Document query = Document::array();
  Document estimate = Document::array();
  Document stddev = Document::array();
  Document margin = Document::array();
};

Columns answered(const NumbersRequest& request, const FittedFolder& folder,
                 const Workload& workload) {
  require_answerable(workload);
  double asked = 0.0;
  for (const auto& product : workload.products()) {
    asked += product.queries.queries(workload.domain());
  }
  if (asked > kMostNumbers) {
    throw UsageError(
        fmt::format("This asks for {:.3g} numbers, and one call gives up to {:g}; ask "
                    "for fewer.",
                    asked, kMostNumbers));
  }
  Columns out;
  for (const auto& answer : answer_workload(workload, folder.measurements, folder.public_total,
                                            folder.model.get(), request.threads)) {
    const bool told = !request.from_model && answer.stddev.has_value();
    out.query.push(answer.query);
    out.estimate.push(told ? answer.measured.value_or(answer.estimate)
                           : answer.estimate * folder.share);
    out.stddev.push(told ? Document(*answer.stddev) : Document());
    out.margin.push(told ? Document(answer.margin95.value_or(kOf95Percent * *answer.stddev))
                         : Document());
  }
  return out;
}

}  // namespace

Document marginal_of(const NumbersRequest& request) {
  const FittedFolder folder(request.folder, request.memory_limit, request.threads);
  const Domain& domain = folder.schema.domain();
  std::vector<AttributeId> ids;
  for (const auto& name : request.columns) {
    ids.push_back(domain.at(name, TANDEM_SETTING("columns")));
  }
  std::ranges::sort(ids);
  if (std::ranges::adjacent_find(ids) != ids.end()) {
    throw UsageError(TANDEM_SETTING("columns") " names a column twice; name each once.");
  }
  const Clique clique(std::move(ids));
  auto found =
      answered(request, folder, {domain, "columns", std::vector<WeightedClique>{{clique, 1.0}}});
  Document columns = Document::array();
  Document labels = Document::array();
  for (const auto id : clique) {
    columns.push(domain[id].name);
    Document values = Document::array();
    for (std::size_t code = 0; code < domain[id].size; ++code) {
      values.push(domain[id].labels.empty() ? Document(static_cast<std::uint64_t>(code))
                                            : Document(domain[id].labels[code]));
    }
    labels.push(std::move(values));
  }
  Document out = Document::object({{"columns", std::move(columns)}, {"labels", std::move(labels)}});
  out.set("estimate", std::move(found.estimate));
  out.set("stddev", std::move(found.stddev));
  out.set("margin95", std::move(found.margin));
  return out;
}

Document answers_of(const NumbersRequest& request) {
  const FittedFolder folder(request.folder, request.memory_limit, request.threads);
  auto found = answered(request, folder, Workload::parse(folder.schema.domain(), request.workload));
  Document out = Document::object({{"query", std::move(found.query)}});
  out.set("estimate", std::move(found.estimate));
  out.set("stddev", std::move(found.stddev));
  out.set("margin95", std::move(found.margin));
  return out;
}

namespace {

// Rows from the sums of measured marginals, each weighted by its precision. At least 1.
double total_of(const Domain& domain, const std::vector<Measurement>& measurements) {
  double weighted = 0.0;
  double weights = 0.0;
  for (const auto& m : measurements) {
    if (!m.query.map.is_identity()) continue;
    double sum = 0.0;
    for (const double value : m.values) sum += value;
    if (!(m.sigma > Sigma(0.0))) return std::max(1.0, sum);
    const double variance = m.sigma.value() * m.sigma.value() * domain.about_cells(m.query.clique);
    weighted += sum / variance;
    weights += 1.0 / variance;
  }
  if (weights == 0.0) {
    throw UsageError(TANDEM_SETTING(
        "total") " is missing, and no measurement is of a whole marginal; say how many rows there "
                 "are.");
  }
  return std::max(1.0, weighted / weights);
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.flush();
  if (!file) throw SourceError(fmt::format("{} can't be written; is the disk full?", path));
}

}  // namespace

Document estimate(const EstimateRequest& request) {
  if (!(request.max_model_mb > 0.0) || request.max_model_mb > 1e6) {
    throw UsageError(fmt::format(
        TANDEM_SETTING("max-model-mb") " is {:g}; choose a number of megabytes up to 1,000,000.",
        request.max_model_mb));
  }
  if (!(request.total >= 0.0) || request.total > static_cast<double>(kMostRows)) {
    throw UsageError(fmt::format(TANDEM_SETTING("total") " is {:g}; choose 0 to {}.", request.total,
                                 with_commas(kMostRows)));
  }
  const Schema schema = Schema::read(request.schema);
  const Domain& domain = schema.domain();
  auto measurements = read_measurements(domain, Document::read(request.measurements));
  if (measurements.empty()) {
    throw UsageError(TANDEM_SETTING("measurements") " is empty; give at least one measurement.");
  }
  const double total = request.total > 0.0 ? request.total : total_of(domain, measurements);
  const Document kept = measurements_document(domain, measurements);
  const auto fit = fit_measurements(domain, std::move(measurements), total, request.max_model_mb,
                                    impossible_boxes(schema.row_rules()), {}, request.threads);
  const auto model = write_model(fit.model);
  if (!model) throw InternalError("A fitted model can't be written.");
  std::vector<Warning> warnings = fit.warnings;
  if (fit.cut > 0) {
    warnings.push_back(
        {"refit.too_small",
         fmt::format("Of {} measured marginals, {} had no room in a model of {:g} "
                     "MB; it knows smaller ones of their columns.",
                     with_commas(fit.measured), with_commas(fit.cut), request.max_model_mb)});
  }
  if (!fit.converged) {
    warnings.push_back({"model.unfinished",
                        fmt::format("The model was still improving after {} propagations.",
                                    with_commas(static_cast<std::uint64_t>(fit.propagations)))});
  }
  std::error_code failed;
  if (!fs::create_directory(request.out, failed)) {
    throw UsageError(
        fmt::format("{} exists or can't be made; choose another folder.", request.out));
  }
  Document out = Document::object({{"format", 1}, {"total", total}});
  out.set("bytes", static_cast<std::uint64_t>(model->size()));
  out.set("warnings", warnings_document(warnings));
  write_file(in(request.out, kEstimateSchema), Document::read(request.schema).to_json(2) + "\n");
  write_file(in(request.out, kMeasurementsFile), kept.to_json() + "\n");
  write_file(in(request.out, kModelFile), *model);
  write_file(in(request.out, kEstimateFile), out.to_json(2) + "\n");
  return out;
}

}  // namespace tandem
