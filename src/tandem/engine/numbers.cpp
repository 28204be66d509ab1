// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/csv.h"
#include "tandem/engine/memory.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/release/measurements.h"
#include "tandem/engine/release/release_documents.h"
#include "tandem/engine/release/stored_release.h"
#include "tandem/mechanism/answers/answer_names.h"
#include "tandem/mechanism/rounds/fit_measurements.h"
#include "tandem/model/fitted_rows.h"
#include "tandem/model/model_file.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/privacy/entropy.h"
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
  }
}

namespace {

// A marginal as one measurement says it.
struct MeasuredMarginal {
  const Measurement* from = nullptr;
  double variance = 0.0;  // of each cell's noise; cells are independent
};

MeasuredMarginal most_precise(const FittedFolder& folder, const Clique& clique) {
  const Domain& domain = folder.schema.domain();
  MeasuredMarginal best;
  for (const auto& m : folder.measurements) {
    if (m.origin != Origin::Private || !m.query.map.is_identity()) continue;
    if (!m.query.clique.contains(clique)) continue;
    const double summed = static_cast<double>(m.values.size()) / domain.about_cells(clique);
    const double variance = m.sigma.value() * m.sigma.value() * summed;
    if (best.from == nullptr || variance < best.variance) best = {&m, variance};
  }
  return best;
}

// 95% of the noise lies within so many standard deviations; for sums of Laplace noise it is fewer.
double margin_of(NoiseKind noise) {
  return noise == NoiseKind::Laplace ? std::log(20.0) / std::sqrt(2.0) : 1.959963984540054;
}

// Each row of a column's queries with its coefficients squared: how variances add up.
ColumnQueries squared(const ColumnQueries& queries) {
  ColumnQueries out = queries;  // those without coefficients have only zeros and ones
  for (auto& coefficient : out.given) coefficient *= coefficient;
  return out;
}

std::vector<double> applied(const ProductQueries& product, const Domain& domain,
                            std::vector<double> table, bool square) {
  std::size_t outer = 1;
  std::size_t inner = table.size();
  for (std::size_t i = 0; i < product.clique.size(); ++i) {
    const std::size_t n = domain[product.clique[i]].size;
    inner /= n;
    const ColumnQueries factor = square ? squared(product.factors[i]) : product.factors[i];
    table = factor.apply(table, outer, n, inner);
    outer *= factor.rows(n);
  }
  return table;
}

// The answers to one product of queries.
struct Numbers {
  std::vector<double> estimates;
  std::vector<double> stddevs;  // empty: a model's, which can't tell
  double margin = 0.0;          // standard deviations
};

Numbers numbers_of(const FittedFolder& folder, const ProductQueries& product, bool from_model) {
  const Domain& domain = folder.schema.domain();
  Numbers out;
  const auto measured = from_model ? MeasuredMarginal{} : most_precise(folder, product.clique);
  if (measured.from != nullptr) {
    const auto& m = *measured.from;
    auto table = marginalize({m.query.clique, m.values}, domain, product.clique).values;
    const std::vector<double> variances(table.size(), measured.variance);
    out.estimates = applied(product, domain, std::move(table), false);
    out.stddevs = applied(product, domain, variances, true);
    for (auto& value : out.stddevs) value = std::sqrt(value);
    out.margin = margin_of(m.noise);
    return out;
  }
  if (folder.model == nullptr) {
    throw UsageError(
        fmt::format("The release holds no model, and it has not measured {} with a marginal; ask "
                    "for what stands in its answers.",
                    domain.describe(product.clique)));
  }
  out.estimates = applied(product, domain, folder.model->project(product.clique).values, false);
  for (auto& value : out.estimates) value *= folder.share;
  return out;
}

[[noreturn]] void refuse_so_many(double numbers) {
  throw UsageError(
      fmt::format("This asks for {:.3g} numbers, and one call gives up to {:g}; ask "
                  "for fewer.",
                  numbers, kMostNumbers));
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
  if (domain.about_cells(clique) > kMostNumbers) refuse_so_many(domain.about_cells(clique));
  const ProductQueries cells{clique, std::vector<ColumnQueries>(clique.size())};
  const auto numbers = numbers_of(folder, cells, request.from_model);
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
  out.set("estimate", Document::array({numbers.estimates.begin(), numbers.estimates.end()}));
  if (numbers.stddevs.empty()) {
    out.set("stddev", Document());
    out.set("margin95", Document());
  } else {
    out.set("stddev", numbers.stddevs.front());
    out.set("margin95", numbers.margin * numbers.stddevs.front());
  }
  return out;
}

Document answers_of(const NumbersRequest& request) {
  const FittedFolder folder(request.folder, request.memory_limit, request.threads);
  const Domain& domain = folder.schema.domain();
  const auto workload = Workload::parse(domain, request.workload);
  if (workload.conjunctions() != nullptr) {
    throw UsageError(TANDEM_SETTING(
        "workload") " is of conjunctions, which a release is not asked for; choose marginals or "
                    "products.");
  }
  double asked = 0.0;
  for (const auto& product : workload.products()) asked += product.queries.queries(domain);
  if (asked > kMostNumbers) refuse_so_many(asked);
  Document query = Document::array();
  Document estimate = Document::array();
  Document stddev = Document::array();
  Document margin = Document::array();
  for (const auto& product : workload.products()) {
    request.threads.check();
    const auto numbers = numbers_of(folder, product.queries, request.from_model);
    std::size_t at = 0;
    for_each_query_name(domain, product, [&](std::string name) {
      query.push(std::move(name));
      estimate.push(numbers.estimates[at]);
      const bool known = !numbers.stddevs.empty();
      stddev.push(known ? Document(numbers.stddevs[at]) : Document());
      margin.push(known ? Document(numbers.margin * numbers.stddevs[at]) : Document());
      ++at;
    });
  }
  Document out = Document::object();
  out.set("query", std::move(query));
  out.set("estimate", std::move(estimate));
  out.set("stddev", std::move(stddev));
  out.set("margin95", std::move(margin));
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

void sample_rows(const SampleRequest& request) {
  if (request.rows < 1 || request.rows > kMostRows) {
    throw UsageError(fmt::format(TANDEM_SETTING("rows") " is {}; choose 1 to {}.", request.rows,
                                 with_commas(kMostRows)));
  }
  if (request.seed < -1) {
    throw UsageError(
        fmt::format(TANDEM_SETTING("seed") " is {}; choose a whole number from 0.", request.seed));
  }
  const FittedFolder folder(request.folder, request.memory_limit, request.threads);
  if (folder.model == nullptr) throw UsageError("The release holds no model to draw rows from.");
  Rng rng(request.seed >= 0 ? static_cast<std::uint64_t>(request.seed) : SystemEntropy().word());
  Table rows = fitted_rows(*folder.model, Workload(), static_cast<std::size_t>(request.rows), rng,
                           memory_limit(request.memory_limit), request.threads.cancel);
  settle_rows(folder.schema.row_rules(), rows, rng);
  write_csv(request.out, folder.schema, rows, rng);
}

}  // namespace tandem
