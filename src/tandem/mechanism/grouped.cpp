// SPDX-License-Identifier: Apache-2.0
// Grouped: a distribution for each group of rows, from public rows by way of coarser groups.
//   Prior-aware distribution estimation for differential privacy. Algorithm 2.
//   Symbols: p public rows, S coarse groups, g fine groups, n_S and n_g their rows, W_S and W_G the
//   marginals measured of them, q_S and q_g the estimates.
//   A row is in one group, so the counts of all groups together are those of a marginal with the
//   key: one query, one pass, and the gate prices it as any other marginal.
//   Departures: docs/mechanisms/grouped.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/groups/group_keys.h"
#include "tandem/mechanism/groups/group_marginals.h"
#include "tandem/mechanism/groups/group_rows.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/weights/prior_rows.h"
#include "tandem/model/grouped_model.h"
#include "tandem/model/histogram/iterative_estimate.h"
#include "tandem/model/histogram/support.h"

namespace tandem::mechanism {
namespace {

struct Options {
  std::string fine;
  std::string coarse;
  std::vector<double> shares;
  bool consistent = true;
  bool learnt_trust = true;
  bool drop_small = true;
  std::string coarse_marginals = kPublicCliques;
  std::string fine_marginals = kColumns;
  MarginalNoise noise = MarginalNoise::Auto;
  SweepOrder order = SweepOrder::Sweep;
  bool damping = true;
  int sweeps = 200;
  double max_model_mb = 4096.0;
};

// Of the budget: coarse totals, W_S, fine totals, W_G. The paper's are equal; totals need little.
const std::vector<double> kShares = {0.02, 0.28, 0.05, 0.65};

constexpr double kTolerance = 1e-5;          // of a group's estimate, in L1
constexpr double kSecondsPerVisit = 1.7e-9;  // of a row, a marginal and a sweep
constexpr double kUsualSweeps = 60.0;

constexpr double kLeastShare = 1e-6;         // of the budget, that a step can be given
constexpr double kMostCells = 4294967295.0;  // of a marginal with the key, in one count

std::vector<double> shares_of(const Options& options) {
  if (options.shares.empty()) return kShares;
  const auto& shares = options.shares;
  double sum = 0.0;
  for (const double share : shares) sum += share;
  const auto enough = [&](double share) { return share > 0.0 && share >= kLeastShare * sum; };
  if (shares.size() != 4 || !enough(shares[0]) || !(shares[1] == 0.0 || enough(shares[1])) ||
      !enough(shares[2]) || !enough(shares[3])) {
    throw UsageError(TANDEM_SETTING(
        "param.shares") " needs four numbers above 0, none a millionth of their sum or less: of "
                        "coarse totals, coarse marginals (0: none are measured), fine totals and "
                        "fine marginals.");
  }
  return shares;
}

// The most marginals that a level can have, where an option names them or takes all columns.
std::vector<Clique> possible_marginals(const GroupKeys& keys, const std::string& wanted,
                                       const std::string& option) {
  if (auto named = named_marginals(keys, wanted, option)) return std::move(*named);
  std::vector<Clique> out;
  for (AttributeId id = 0; id < keys.inner.size(); ++id) out.push_back({id});
  return out;
}

double cells_together(const Domain& domain, std::span<const Clique> marginals) {
  double out = 0.0;
  for (const auto& marginal : marginals) out += domain.about_cells(marginal);
  return out;
}

// Marginals of coarse and of fine groups, as many as there can be.
struct Possible {
  std::vector<Clique> coarse;
  std::vector<Clique> fine;

  Possible(const GroupKeys& keys, const Options& options)
      : coarse(possible_marginals(keys, options.coarse_marginals, "coarse-marginals")),
        fine(possible_marginals(keys, options.fine_marginals, "fine-marginals")) {}

  // Numbers of all groups.
  double cells(const GroupKeys& keys) const {
    return cells_together(keys.inner, coarse) * static_cast<double>(keys.coarse_groups) +
           cells_together(keys.inner, fine) * static_cast<double>(keys.groups());
  }
};

// Bytes of the rows, their cells in each marginal, a weighting for each coarse group, and what each
// group has for each cell.
double model_bytes(const GroupKeys& keys, double rows, const Possible& possible) {
  const double row = 2.0 * static_cast<double>(keys.inner.size()) +
                     4.0 * static_cast<double>(possible.fine.size()) +
                     8.0 * static_cast<double>(keys.coarse_groups);
  return row * rows + 8.0 * possible.cells(keys);
}

void refuse_too_many_cells(const GroupKeys& keys, const Clique& key,
                           std::span<const Clique> marginals, const char* option) {
  for (const auto& marginal : marginals) {
    const double cells = keys.domain.about_cells(key) * keys.inner.about_cells(marginal);
    if (cells <= kMostCells) continue;
    throw UsageError(fmt::format(
        "The parameter {} would count {} in each group, {:.3g} cells in all, and 4e9 is the limit; "
        "name marginals of fewer cells.",
        option, keys.inner.describe(marginal), cells));
  }
}

void check_settings(const Curator& curator, const Problem& problem, const GroupKeys& keys,
                    const Options& options) {
  noise_of(curator, options.noise);
  shares_of(options);
  const double rows = problem.public_data.rows();
  if (rows == 0.0) {
    throw UsageError("The public data has no rows; give some with " TANDEM_SETTING("public") ".");
  }
  const Possible possible(keys, options);
  refuse_too_many_cells(keys, keys.coarse, possible.coarse, "coarse-marginals");
  refuse_too_many_cells(keys, keys.fine, possible.fine, "fine-marginals");
  const double bytes = model_bytes(keys, rows, possible);
  if (bytes > 1e6 * options.max_model_mb) {
    throw UsageError(fmt::format(
        "grouped would keep {} groups on {:.6g} rows in {}, and max-model-mb allows {:g} MB; raise "
        "it, take fewer public rows, or name columns or marginals with fewer values.",
        with_commas(keys.groups()), rows, human_bytes(bytes), options.max_model_mb));
  }
}

// What is left for the step with this share, when those of later steps are still to come.
Cost due(const Curator& curator, std::span<const double> shares, std::size_t step) {
  double later = 0.0;
  for (std::size_t i = step; i < shares.size(); ++i) later += shares[i];
  return curator.remaining() * std::min(1.0, shares[step] / later);
}

std::vector<double> values_of(const GroupTotals& totals) {
  std::vector<double> out;
  for (const auto& total : totals.of) out.push_back(total.value);
  return out;
}

// n_g, at least 0.
std::vector<double> settled_rows(const GroupTotals& n_g, GroupTotals n_S, const GroupKeys& keys,
                                 std::optional<double> n, const Options& options) {
  if (!options.consistent) {
    for (auto& total : n_S.of) total.variance = HUGE_VAL;  // it decides nothing
    n.reset();
  }
  std::vector<double> out =
      options.consistent ? agreeing_totals(n_g, n_S, keys.coarse_of, n) : values_of(n_g);
  if (options.drop_small) return rows_of_groups(n_g, n_S, keys.coarse_of, std::move(out), n);
  for (double& rows : out) rows = std::max(0.0, std::floor(rows));
  return out;
}

// Estimates for each group of a level, from those of the level above.
struct Level {
  std::span<const Measurement> y;          // marginals with the key
  std::span<const Clique> marginals;       // the same without
  std::span<const double> rows;            // of each group
  std::span<const std::vector<double>> q;  // of the groups above
  std::span<const std::size_t> above;      // which is each group's
};

// q_g / q_above as exponents: of the cells of all marginals, one marginal after the other, and of
// rows that these alone don't explain.
struct Exponents {
  std::vector<double> u;
  std::vector<RowTilt> t;
};

// Hands over each group's estimate. From several threads, and for groups with rows alone.
using Keep =
    std::function<void(std::size_t group, IterativeEstimate&& estimate, Exponents&& exponents)>;

constexpr double kNothing = 1e-9;  // the share of a group that a row may have and not be told of

// Where answers contradict each other, one marginal may want a row that another brings to nothing.
// Such a row was held above zero and is not what its cells' factors make of it.
std::vector<RowTilt> tilts_of(std::span<const double> above, std::span<const PartialWorkload> W,
                              const IterativeEstimate& estimate) {
  const auto off = [&](std::size_t r) {
    double by_cells = std::log(above[r]);
    for (std::size_t i = 0; i < W.size(); ++i) by_cells += estimate.exponents[i][W[i].cell()[r]];
    return std::log(estimate.q[r]) - by_cells;
  };
  std::size_t most = estimate.q.size();  // the largest that was not held: it gives the scale
  auto next = estimate.held.begin();
  for (std::size_t r = 0; r < estimate.q.size(); ++r) {
    if (next != estimate.held.end() && *next == r)
      ++next;
    else if (most == estimate.q.size() || estimate.q[r] > estimate.q[most])
      most = r;
  }
  const double scale = most < estimate.q.size() ? off(most) : 0.0;
  std::vector<RowTilt> out;
  for (const std::uint32_t r : estimate.held) {
    if (estimate.q[r] > kNothing && above[r] > 0.0) out.push_back({r, off(r) - scale});
  }
  return out;
}

void estimate_level(const Curator& curator, const GroupKeys& keys, const Table& support,
                    const Level& level, const Options& options, Rng& rng, const Keep& keep) {
  const std::size_t groups = level.rows.size();
  const std::size_t marginals = level.marginals.size();
  std::vector<GroupTable> tables;
  std::vector<std::vector<std::vector<double>>> b(marginals);  // of each marginal and q above
  std::vector<double> phi;
  for (std::size_t i = 0; i < marginals; ++i) {
    tables.emplace_back(support, level.marginals[i], by_group(keys, level.y[i], groups),
                        level.y[i].sigma.value());
    for (const auto& q : level.q) b[i].push_back(tables[i].marginal_of(q));
    phi.push_back(tables[i].spread(level.rows, b[i], level.above));
  }
  std::vector<Rng> streams;
  for (std::size_t g = 0; g < groups; ++g) streams.emplace_back(rng.next());
  parallel_for(groups, curator.threads(), [&](std::size_t g) {
    if (level.rows[g] <= 0.0) return;
    const std::size_t s = level.above[g];
    const double n = std::max(1.0, level.rows[g]);
    std::vector<PartialWorkload> W;
    W.reserve(marginals);
    for (std::size_t i = 0; i < marginals; ++i) {
      W.push_back(tables[i].workload(options.learnt_trust ? tables[i].trusted(g, n, b[i][s], phi[i])
                                                          : tables[i].shares(g, n)));
    }
    auto estimate = estimate_distribution(level.q[s], W,
                                          {.order = options.order,
                                           .damping = options.damping,
                                           .sweeps = options.sweeps,
                                           .tolerance = kTolerance,
                                           .trace = false,
                                           .threads = curator.threads()},
                                          streams[g]);
    Exponents exponents{.u = {}, .t = tilts_of(level.q[s], W, estimate)};
    for (std::size_t i = 0; i < marginals; ++i) {
      tables[i].add_exponents(estimate.exponents[i], exponents.u);
    }
    keep(g, std::move(estimate), std::move(exponents));
  });
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  const GroupKeys keys = group_keys(problem, options.fine, options.coarse);
  check_settings(curator, problem, keys, options);
  const auto shares = shares_of(options);
  const NoiseKind noise = noise_of(curator, options.noise);
  const Problem inner = without_keys(problem, keys);
  Release release;
  release.warnings = public_data_warnings(inner);
  const auto n = public_total(curator);
  const auto keep = [&](std::span<const Measurement> y) {
    release.measurements.insert(release.measurements.end(), y.begin(), y.end());
  };
  const Support p = public_rows(inner.public_data);
  const std::vector<std::vector<double>> prior = {p.weights};

  // Coarse groups: n_S, W_S, q_S.
  GroupTotals n_S{.of = {{n.value_or(0.0), 0.0}}};
  std::vector<Measurement> y_S;
  if (!n || keys.coarse_groups > 1) {
    y_S.push_back(curator.measure(keys.with_coarse({}), due(curator, shares, 0), noise));
    keep(y_S);
    n_S = group_totals(keys, y_S, keys.coarse_groups);
  }
  std::vector<double> rows_S = values_of(n_S);
  const Cost for_S = due(curator, shares, 1);
  std::vector<std::vector<double>> q_S(keys.coarse_groups, p.weights);
  const auto W_S = choose_coarse(curator, inner, keys, options.coarse_marginals,
                                 {.cost = for_S, .noise = noise, .rows = mean_rows(rows_S)});
  if (!W_S.empty() && !for_S.is_zero()) {
    std::vector<LinearQuery> queries;
    for (const auto& clique : W_S) queries.push_back(keys.with_coarse(clique));
    const std::vector<Cost> costs(queries.size(), for_S / static_cast<double>(queries.size()));
    const auto y = curator.measure_all(queries, costs, noise);
    keep(y);
    y_S.insert(y_S.end(), y.begin(), y.end());
    if (options.consistent && !(n && keys.coarse_groups == 1)) {
      n_S = group_totals(keys, y_S, keys.coarse_groups);
      rows_S = values_of(n_S);
    }
    const std::vector<std::size_t> all(keys.coarse_groups, 0);
    estimate_level(curator, keys, p.rows,
                   {.y = y, .marginals = W_S, .rows = rows_S, .q = prior, .above = all}, options,
                   rng, [&](std::size_t s, IterativeEstimate&& estimate, Exponents&&) {
                     q_S[s] = std::move(estimate.q);
                   });
  }

  // Fine groups: n_g, W_G, q_g.
  std::vector<Measurement> y_g = {
      curator.measure(keys.with_fine({}), due(curator, shares, 2), noise)};
  auto n_g = group_totals(keys, y_g, keys.groups());
  const auto W_G =
      choose_fine(curator, inner, keys, options.fine_marginals,
                  {.cost = curator.remaining(), .noise = noise, .rows = mean_rows(values_of(n_g))});
  std::vector<LinearQuery> queries;
  for (const auto& clique : W_G) queries.push_back(keys.with_fine(clique));
  const auto y = measure_to_the_end(curator, queries, noise);
  y_g.insert(y_g.end(), y.begin(), y.end());
  keep(y_g);
  if (options.consistent) n_g = group_totals(keys, y_g, keys.groups());
  std::vector<double> rows_g = settled_rows(n_g, n_S, keys, n, options);
  if (std::ranges::all_of(rows_g, [](double rows) { return rows == 0.0; })) {
    const auto most = std::ranges::max_element(n_g.of, {}, &NoisyTotal::value);
    rows_g[static_cast<std::size_t>(most - n_g.of.begin())] = 1.0;
  }
  std::vector<Exponents> of_g(keys.groups());
  estimate_level(curator, keys, p.rows,
                 {.y = y, .marginals = W_G, .rows = rows_g, .q = q_S, .above = keys.coarse_of},
                 options, rng, [&](std::size_t g, IterativeEstimate&&, Exponents&& exponents) {
                   of_g[g] = std::move(exponents);
                 });

  // n_g rows from q_g with the key's values.
  std::vector<GroupedModel::Group> groups;
  double sum = 0.0;
  for (const double rows : rows_g) sum += rows;
  release.total = n ? *n : sum;
  for (std::size_t g = 0; g < rows_g.size(); ++g) {
    if (rows_g[g] == 0.0) continue;
    groups.push_back({.key = keys.codes_of(g),
                      .rows = rows_g[g] * release.total / sum,
                      .base = static_cast<std::uint32_t>(keys.coarse_of[g]),
                      .u = std::move(of_g[g].u),
                      .t = std::move(of_g[g].t)});
  }
  if (groups.size() < keys.groups()) {
    release.warnings.push_back(
        {"groups.without_rows",
         fmt::format("{} of {} groups got no rows{}.", with_commas(keys.groups() - groups.size()),
                     with_commas(keys.groups()),
                     options.drop_small ? ", for their counts could be noise alone" : "")});
  }
  release.facts.set("groups",
                    Document::object({{"fine", static_cast<std::uint64_t>(keys.groups())},
                                      {"coarse", static_cast<std::uint64_t>(keys.coarse_groups)},
                                      {"with_rows", static_cast<std::uint64_t>(groups.size())},
                                      {"coarse_marginals", static_cast<std::uint64_t>(W_S.size())},
                                      {"fine_marginals", static_cast<std::uint64_t>(W_G.size())}}));
  release.model = std::make_unique<GroupedModel>(
      problem.domain, keys.fine,
      GroupRows{.rows = p.rows, .bases = std::move(q_S), .marginals = W_G}, std::move(groups));
  return release;
}

Effort effort_of(const Curator& curator, const Problem& problem, const Options& options,
                 double /*rows_expected*/) {
  const GroupKeys keys = group_keys(problem, options.fine, options.coarse);
  check_settings(curator, problem, keys, options);
  const double rows = problem.public_data.rows();
  const Possible possible(keys, options);
  Effort out;
  out.model_bytes = model_bytes(keys, rows, possible);
  const auto marginals = static_cast<double>(possible.fine.size());
  // Answers are kept as measured and by group, each thread has weights of its own.
  out.bytes = out.model_bytes + 24.0 * possible.cells(keys) + 24.0 * rows * curator.threads().count;
  out.seconds = static_cast<double>(keys.groups() + keys.coarse_groups) * marginals *
                std::min(kUsualSweeps, static_cast<double>(options.sweeps)) * kSecondsPerVisit *
                rows;
  return out;
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  const GroupKeys keys = group_keys(problem, options.fine, options.coarse);
  check_settings(curator, problem, keys, options);
  const auto shares = shares_of(options);
  const Cost all = curator.remaining();
  double sum = 0.0;
  for (const double share : shares) sum += share;
  const double totals = curator.noise_scale(keys.with_fine({}), all * (shares[2] / sum)).value();
  const auto columns = static_cast<double>(std::max<std::size_t>(1, keys.inner.size()));
  const double counts =
      curator.noise_scale(keys.with_fine(Clique{0}), all * (shares[3] / sum) / columns).value();
  Plan out;
  out.push_back(
      {"groups",
       Document::object({{"fine", static_cast<std::uint64_t>(keys.groups())},
                         {"coarse", static_cast<std::uint64_t>(keys.coarse_groups)},
                         {"sigma_totals", totals},
                         {"sigma", counts}}),
       fmt::format("Measures {} groups within {} coarser ones: the rows of each with noise of "
                   "standard deviation {:.3g}, and counts of at most {} columns with {:.3g}.",
                   with_commas(keys.groups()), with_commas(keys.coarse_groups), totals,
                   keys.inner.size(), counts)});
  out.push_back(
      plan_to_weigh(problem.public_data.rows(),
                    model_bytes(keys, problem.public_data.rows(), Possible(keys, options))));
  return out;
}

template <class T>
Field<Options> text_field(const std::string& name, T Options::*member, const std::string& help) {
  const Options defaults;
  return {.info = {name, "text", defaults.*member, help},
          .set = [=](Options& options, const std::string& text) { options.*member = text; },
          .get = [=](const Options& options) { return options.*member; }};
}

}  // namespace

Mechanism grouped() {
  Mechanism out = make_mechanism<Options>(
      {.name = "grouped",
       .summary = "Public rows moved to noisy marginals of each of many groups",
       .reference = "Prior-aware distribution estimation for differential privacy. Algorithm 2.",
       .needs_public_data = true,
       .pure = true},
      run, plan,
      {text_field("fine", &Options::fine,
                  "key columns that make the groups, with commas; required"),
       text_field("coarse", &Options::coarse,
                  "what makes larger groups of them: a key column, or a CSV file with a value of "
                  "one key column and its coarser one on each line, public like the public rows; "
                  "empty: all groups are one"),
       field("shares", &Options::shares,
             "of the budget, for coarse totals, coarse marginals, fine totals and fine marginals; "
             "auto: 0.02,0.28,0.05,0.65; the paper's are 1,1,1,1; none is 0 but that of coarse "
             "marginals, which are then not measured",
             between(0.0, 1e6)),
       choice("totals", &Options::consistent, {{"consistent", true}, {"independent", false}},
              "whether the rows of fine groups are made to agree with those of coarse ones"),
       choice("trust", &Options::learnt_trust, {{"learnt", true}, {"full", false}},
              "learnt: a measured count moves the estimate as far as its column differs between "
              "groups beyond the noise; full: all the way, as in the paper"),
       choice("small-groups", &Options::drop_small, {{"drop", true}, {"keep", false}},
              "drop: groups whose rows could be noise alone, each and together, get none; keep: as "
              "in the paper"),
       text_field("coarse-marginals", &Options::coarse_marginals,
                  "W_S: public-cliques, which public data recommends; columns; or such as "
                  "age+sex,region"),
       text_field("fine-marginals", &Options::fine_marginals,
                  "W_G: columns, each by itself, as far as the noise allows; or such as age+sex,"
                  "region"),
       choice("noise", &Options::noise,
              {{"auto", MarginalNoise::Auto},
               {"laplace", MarginalNoise::Laplace},
               {"gaussian", MarginalNoise::Gaussian}},
              "of each count; auto: Laplace on a pure epsilon, else Gaussian"),
       choice("order", &Options::order,
              {{"sweep", SweepOrder::Sweep}, {"random", SweepOrder::Random}},
              "marginals by turns in random order, or drawn at random as in the paper"),
       field("damping", &Options::damping,
             "smaller steps once sweeps no longer lower the misfit, so that there is a limit"),
       field("sweeps", &Options::sweeps,
             "at most, over the marginals of a group; the contest's is 2, with order=random",
             between(1, 1e6)),
       field("max-model-mb", &Options::max_model_mb, "memory for the rows of all groups, in MB",
             at_least(0.001))},
      effort_of,
      {{"paper",
        {{"shares", "1,1,1,1"},
         {"totals", "independent"},
         {"trust", "full"},
         {"small-groups", "keep"},
         {"order", "random"},
         {"sweeps", "2"},
         {"damping", "false"}}}});
  out.public_may_lack = [](const Parameters& parameters) {
    std::vector<std::string> names;
    for (const auto& [name, text] : parameters) {
      if (name != "fine" && name != "coarse") continue;
      for (const auto column : split(text, ',')) names.emplace_back(trim(column));
    }
    return names;
  };
  out.names_files = [](const Parameters& parameters, const Domain& domain) {
    std::vector<std::string> options;
    for (const auto& [name, text] : parameters) {
      if (name == "coarse" && names_a_file(domain, text)) options.push_back(name);
    }
    return options;
  };
  return out;
}

}  // namespace tandem::mechanism
