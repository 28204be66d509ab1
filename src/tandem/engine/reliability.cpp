// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/reliability.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

// Noise drowns a marginal when all of it together, in the mean, is above the rows there are: then a
// marginal of noise alone looks the same.
bool drowns(double sigma, double outputs, double rows) {
  return std::sqrt(2.0 / std::numbers::pi) * sigma * outputs > rows;
}

// A total is a guess when it is within two standard deviations of nothing.
constexpr double kSureTotal = 2.0;

// The standard deviation of the number of rows, from what was measured of it.
double sigma_of_total(const Release& release) {
  double precision = 0.0;
  for (const auto& y : release.measurements) {
    if (y.origin != Origin::Private || !y.query.map.is_identity() || !(y.sigma > Sigma(0.0))) {
      continue;
    }
    const double sigma = y.sigma.value();
    precision += 1.0 / (sigma * sigma * static_cast<double>(y.values.size()));
  }
  return precision > 0.0 ? 1.0 / std::sqrt(precision) : 0.0;
}

}  // namespace

std::vector<Warning> reliability_warnings(const Release& release, const PrivacyUnit& unit) {
  std::size_t noisy = 0;
  std::size_t drowned = 0;
  for (const auto& y : release.measurements) {
    if (y.origin != Origin::Private || !(y.sigma > Sigma(0.0)) || y.query.clique.empty()) continue;
    ++noisy;
    if (drowns(y.sigma.value(), static_cast<double>(y.values.size()), release.total)) ++drowned;
  }
  std::vector<Warning> out;
  // Answers have error bars of their own, and what they come from need not be counts.
  if (!release.answers.empty() && release.answers.front().stddev) {
    std::size_t lost = 0;
    std::size_t noise = 0;
    for (const auto& answer : release.answers) {
      lost += *answer.stddev > release.total ? 1 : 0;
      noise += std::abs(answer.measured.value_or(answer.estimate)) < *answer.stddev ? 1 : 0;
    }
    if (2 * lost > release.answers.size()) {
      out.push_back({"noise.drowns",
                     fmt::format("Noise drowns the private table: {} of {} answers have a standard "
                                 "deviation above the number of rows; a larger epsilon, coarser "
                                 "columns or a smaller workload would help.",
                                 lost, release.answers.size())});
    } else if (2 * noise > release.answers.size()) {
      out.push_back(
          {"answers.mostly_noise",
           fmt::format("{} of {} answers are nearer to zero than their standard deviation: a model "
                       "would serve most of them better, such as " TANDEM_SETTING(
                           "mechanism") " tandem; so would coarser columns or a smaller workload.",
                       with_commas(noise), with_commas(release.answers.size()))});
    }
  } else if (2 * drowned > noisy) {
    out.push_back(
        {"noise.drowns",
         fmt::format(
             "Noise drowns the private table: {} of {} measurements have more of it than there are "
             "rows. The release says little that was not public; a larger epsilon, coarser columns "
             "or a "
             "smaller workload would help.",
             drowned, noisy)});
  }
  const double sigma = sigma_of_total(release);
  if (!unit.keeps_rows() && release.total < kSureTotal * sigma) {
    out.push_back(
        {"rows.a_guess",
         fmt::format(
             "The number of rows, {:.4g}, is a guess: its noise has a standard deviation of "
             "{:.3g}; state rows where it is known.",
             release.total, sigma)});
  }
  return out;
}

std::vector<Warning> foreseen_warnings(const Curator& curator, const Problem& problem,
                                       double rows) {
  std::vector<AttributeId> columns;
  for (AttributeId id = 0; id < problem.domain.size(); ++id) {
    if (problem.domain[id].size > 1) columns.push_back(id);
  }
  if (columns.empty() || !(rows > 0.0)) return {};
  const Cost each = curator.remaining() / static_cast<double>(columns.size());
  std::size_t drowned = 0;
  double precision = 0.0;
  for (const auto id : columns) {
    const double cells = problem.domain[id].size;
    const double sigma = curator.noise_scale({Clique{id}}, each).value();
    if (drowns(sigma, cells, rows)) ++drowned;
    precision += 1.0 / (sigma * sigma * cells);
  }
  std::vector<Warning> out;
  if (2 * drowned > columns.size()) {
    out.push_back(
        {"noise.drowns",
         fmt::format(
             "Noise will drown the private table: a file of this size has at most {:.3g} rows, and "
             "even "
             "with the whole budget for single columns {} of {} would have more noise than that.",
             rows, drowned, columns.size())});
  }
  if (!curator.unit().keeps_rows() && rows * std::sqrt(precision) < kSureTotal) {
    out.push_back(
        {"rows.a_guess",
         fmt::format("The number of rows will be a guess: its noise has a standard deviation of "
                     "{:.3g} or more, "
                     "and a file of this size has at most {:.3g}; state rows where it is known.",
                     1.0 / std::sqrt(precision), rows)});
  }
  return out;
}

std::vector<Warning> promise_warnings(double epsilon, double delta, double rows) {
  // At 20 the odds that a person is in the table may change by a factor of 5e8.
  constexpr double kMostEpsilon = 20.0;
  std::vector<Warning> out;
  if (epsilon > kMostEpsilon) {
    out.push_back(
        {"promise.epsilon",
         fmt::format("epsilon {:g} is above {:g}, where the guarantee keeps hardly anything "
                     "from whoever looks for one person; choose 10 or less.",
                     epsilon, kMostEpsilon)});
  }
  if (rows >= 1.0 && delta > 1.0 / rows) {
    out.push_back(
        {"promise.delta",
         fmt::format("delta {:g} is above one over the {} rows there are, which a release "
                     "may keep that publishes one of them as it is; choose 1e-9.",
                     delta, with_commas(static_cast<std::uint64_t>(std::llround(rows))))});
  }
  return out;
}

}  // namespace tandem
