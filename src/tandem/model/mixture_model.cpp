// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/mixture_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/math.h"
#include "tandem/model/model_file.h"
#include "tandem/model/model_reader.h"
#include "tandem/model/model_writer.h"
#include "tandem/model/restricted.h"

namespace tandem {
namespace {

constexpr std::string_view kKind = "mixture";

}  // namespace

MixtureModel::MixtureModel(std::vector<Part> parts) : parts_(std::move(parts)) {
  check(!parts_.empty(), "a mixture has a part");
  double sum = 0.0;
  for (const auto& part : parts_) {
    check(part.model != nullptr && part.share > 0.0, "a part of a mixture has a model and a share");
    check(part.model->domain() == domain(), "parts of a mixture have one domain");
    sum += part.share;
  }
  check(std::abs(sum - 1.0) < 1e-9, "shares of a mixture add up to 1");
}

Factor MixtureModel::project(const Clique& clique) const {
  return std::move(project_all(std::span(&clique, 1)).front());
}

std::vector<Factor> MixtureModel::project_all(std::span<const Clique> cliques) const {
  std::vector<Factor> out;
  for (const auto& clique : cliques) {
    out.push_back({clique, std::vector<double>(domain().cells(clique), 0.0)});
  }
  for (const auto& part : parts_) {
    const auto mine = part.model->project_all(cliques);
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t c = 0; c < out[i].values.size(); ++c) {
        out[i].values[c] += part.share * mine[i].values[c];
      }
    }
  }
  return out;
}

Table MixtureModel::sample(std::size_t rows, Rng& rng) const {
  std::vector<double> shares;
  for (const auto& part : parts_) shares.push_back(part.share);
  const auto counts = round_to_total(shares, rows, rng);
  // Where each of the parts' rows goes.
  std::vector<std::size_t> place(rows);
  std::iota(place.begin(), place.end(), std::size_t{0});
  for (std::size_t i = rows; i > 1; --i) std::swap(place[i - 1], place[rng.below(i)]);
  Table out(domain(), rows);
  std::size_t next = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Table mine = parts_[p].model->sample(counts[p], rng);
    for (AttributeId id = 0; id < domain().size(); ++id) {
      for (std::size_t row = 0; row < counts[p]; ++row) {
        out.column(id).set(place[next + row], mine.column(id)[row]);
      }
    }
    next += counts[p];
  }
  return out;
}

std::unique_ptr<Model> MixtureModel::given(const Restriction& only) const {
  std::vector<Part> parts;
  double sum = 0.0;
  for (const auto& [share, model] : parts_) {
    const double rows = share * allowed_rows(*model, only);
    if (!(rows > 0.0)) continue;
    parts.push_back({rows, model->given(only)});
    sum += rows;
  }
  for (auto& part : parts) part.share /= sum;
  if (parts.size() == 1) return std::move(parts.front().model);
  return std::make_unique<MixtureModel>(std::move(parts));
}

// Each part is a file of its own inside this one.
bool MixtureModel::write(ModelWriter& out) const {
  out.begin(kKind, total());
  Document shares = Document::array();
  for (const auto& [share, model] : parts_) {
    const auto inner = write_model(*model);
    if (!inner) return false;
    shares.push(share);
    out.add("model", Clique{},
            std::span(reinterpret_cast<const std::uint8_t*>(inner->data()), inner->size()));
  }
  out.set("shares", std::move(shares));
  return true;
}

std::unique_ptr<Model> MixtureModel::read(const ModelReader& in) {
  const auto& shares = in.header().at("shares").as_array();
  std::vector<Part> parts;
  double sum = 0.0;
  for (const auto& array : in.arrays()) {
    if (array.what != "model" || array.type != "u1" || parts.size() == shares.size()) {
      in.fail("has no model where one belongs");
    }
    const double share = shares[parts.size()].as_number();
    if (!(share > 0.0 && share <= 1.0)) in.fail("has a share that is none");
    sum += share;
    const std::string_view bytes(array.bytes, array.count);
    if (ModelReader(bytes, in.domain(), in.name(), in.limits()).kind() == kKind) {
      in.fail("mixes mixtures");
    }
    auto part = read_model(bytes, in.domain(), in.name(), in.limits());
    if (std::abs(part->total() - in.total()) > 1e-6 * in.total()) {
      in.fail("has parts of another total");
    }
    parts.push_back({share, std::move(part)});
  }
  if (parts.empty() || parts.size() != shares.size() || !(std::abs(sum - 1.0) < 1e-9)) {
    in.fail("has shares that don't add up");
  }
  return std::make_unique<MixtureModel>(std::move(parts));
}

}  // namespace tandem
