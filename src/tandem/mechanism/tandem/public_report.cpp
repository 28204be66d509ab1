// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/public_report.h"
#include "tandem/mechanism/tandem/tuning.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tandem/base/text.h"

namespace tandem {
using namespace tuning;

namespace {

std::string listed(const Domain& domain, std::span<const Clique> cliques) {
  std::string out;
  const std::size_t named = std::min(cliques.size(), kMostNamed);
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) out += "; ";
    out += domain.describe(cliques[i]);
  }
  if (cliques.size() > named) out += fmt::format("; and {} more", cliques.size() - named);
  return out;
}

std::string rows_in_words(double rows) {
  return with_commas(static_cast<std::uint64_t>(std::llround(rows)));
}

// The fillers that no private measurement speaks of.
std::vector<Clique> supplied(const TiltedModel& p) {
  std::vector<Clique> out;
  for (const auto& filler : p.fillers()) {
    const auto speaks = [&](const Clique& measured) { return measured.contains(filler); };
    if (std::ranges::none_of(p.measured(), speaks)) out.push_back(filler);
  }
  return out;
}

// Those of several columns.
std::size_t joint(std::span<const Clique> cliques) {
  return static_cast<std::size_t>(
      std::ranges::count_if(cliques, [](const Clique& clique) { return clique.size() > 1; }));
}

// Measured marginals that the source's own rows do not explain, the furthest first.
std::vector<Clique> overruled(const TiltedModel& p, const PublicSource& source) {
  const double n = p.model().total();
  std::vector<std::pair<double, Clique>> found;
  for (const auto& y : p.measurements()) {
    auto answer = source.model.model().project(y.query.clique).values;
    for (double& value : answer) value /= source.model.rows();
    auto wanted = y.values;
    for (double& value : wanted) value /= n;
    const double off = surprise(answer, wanted, y.sigma.value() / n, source.trust.most());
    if (off > kOverruled) found.emplace_back(-off, y.query.clique);
  }
  std::ranges::sort(found);
  std::vector<Clique> out;
  for (const auto& [off, clique] : found) {
    if (std::ranges::find(out, clique) == out.end()) out.push_back(clique);
  }
  return out;
}

std::vector<Clique> columns_that_are(const PublicSource& source, Likeness likeness) {
  std::vector<Clique> out;
  for (AttributeId id = 0; id < source.columns.size(); ++id) {
    if (source.columns[id] == likeness) out.push_back(Clique{id});
  }
  return out;
}

double worth_of(const PublicSource& source, bool dismissed) {
  return dismissed ? 0.0 : source.nu() / source.trust.most();
}

// Of what it should have been, whichever model was released.
void warn_of(const TiltedModel& p, const PublicSource& source, bool dismissed, Release& release) {
  const double worth = worth_of(source, dismissed);
  if (const auto rows = static_cast<double>(source.all_rows); source.model.rows() < rows) {
    release.warnings.push_back(
        {"public.repeated", fmt::format("Every row of public data {} occurs {} times or a multiple "
                                        "of it; its {} rows count as {}.",
                                        source.name, rows_in_words(rows / source.model.rows()),
                                        rows_in_words(rows), rows_in_words(source.model.rows()))});
  }
  if (source.model.rows() < kFew * p.model().total()) {
    release.warnings.push_back(
        {"public.few",
         fmt::format(
             "Public data {} has less than a hundredth of the private rows and can say little.",
             source.name)});
  }
  if (worth < kDistrusted) {
    release.warnings.push_back(
        {"public.contradicts", fmt::format("Public data {} contradicts the private data; check "
                                           "that its columns and codes mean the "
                                           "same, or leave it out.",
                                           source.name)});
  }
  const auto foreign = columns_that_are(source, Likeness::Foreign);
  if (!dismissed && !foreign.empty()) {
    release.warnings.push_back(
        {"public.foreign_columns",
         fmt::format("Public data {} has hardly any rows like the private ones in {}; what it says "
                     "of that is left aside.",
                     source.name, listed(p.model().domain(), foreign))});
  }
  const auto lost = overruled(p, source);
  if (worth >= kDistrusted && 2 * joint(lost) > joint(p.measured())) {
    release.warnings.push_back(
        {"public.differs",
         fmt::format(
             "Public data {} differs from the private data in {} of {} measured marginals of "
             "several "
             "columns; it may describe other people, or its columns may not belong together.",
             source.name, joint(lost), joint(p.measured()))});
  }
}

Document columns_of(const Domain& domain, const Clique& clique) {
  Document out = Document::array();
  for (const auto id : clique) out.push(domain[id].name);
  return out;
}

Document lists_of(const Domain& domain, std::span<const Clique> cliques) {
  Document out = Document::array();
  for (const auto& clique : cliques) out.push(columns_of(domain, clique));
  return out;
}

Document columns_that_are(const Domain& domain, const PublicSource& source, Likeness likeness) {
  Document out = Document::array();
  for (const auto& column : columns_that_are(source, likeness)) out.push(domain[column[0]].name);
  return out;
}

// What the model has of it.
Document facts_of(const TiltedModel& p, const PublicSource& source, bool dismissed) {
  const Domain& domain = p.model().domain();
  return Document::object({{"name", source.name},
                           {"rows", source.model.rows()},
                           {"left_aside", dismissed},
                           {"counted_as_rows", dismissed ? 0.0 : source.nu()},
                           {"worth", worth_of(source, dismissed)},
                           {"shifted", columns_that_are(domain, source, Likeness::Shifted)},
                           {"foreign", columns_that_are(domain, source, Likeness::Foreign)},
                           {"overruled", lists_of(domain, overruled(p, source))}});
}

}  // namespace

void report_public_data(const TiltedModel& p, std::optional<double> share, Release& release) {
  for (const auto& source : p.prior().sources()) warn_of(p, source, false, release);
  for (const auto& source : p.prior().dismissed()) warn_of(p, source, true, release);
  if (!share) return;
  Document sources = Document::array();
  for (const auto& source : p.prior().sources()) sources.push(facts_of(p, source, false));
  for (const auto& source : p.prior().dismissed()) sources.push(facts_of(p, source, true));
  if (sources.as_array().empty()) return;
  release.facts.set("public", std::move(sources));
  release.facts.set("from_public_alone", lists_of(p.model().domain(), supplied(p)));
  release.facts.set("public_row_share", *share);
}

}  // namespace tandem
