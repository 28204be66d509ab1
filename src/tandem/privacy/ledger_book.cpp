// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/ledger_book.h"

#include <fmt/core.h>

#include <algorithm>

#include "tandem/base/check.h"
#include "tandem/base/digest.h"
#include "tandem/base/mutant.h"
#include "tandem/base/text.h"
#include "tandem/privacy/accountant.h"

namespace tandem {

namespace {

constexpr double kLargestLimit = 0x1p20;
constexpr double kLargestCost = 0x1p40;
constexpr std::size_t kLongestName = 200;  // bytes of a data set, mechanism or label

bool is_name(const std::optional<std::string>& text) {
  return text && !text->empty() && text->size() <= kLongestName && is_printable(*text);
}

std::optional<PrivacyUnit> unit_of(const LedgerEntry& e) {
  constexpr std::int64_t kMostRows = 1'000'000'000;
  if (!e.neighbors || !e.rows_per_person) return std::nullopt;
  if (*e.rows_per_person < 1 || *e.rows_per_person > kMostRows) return std::nullopt;
  for (const Neighbors neighbors : {Neighbors::ReplaceOne, Neighbors::AddRemove}) {
    if (*e.neighbors == name_of(neighbors)) {
      return PrivacyUnit{neighbors, static_cast<int>(*e.rows_per_person)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Composition composition) {
  switch (composition) {
    case Composition::Pure:
      return "pure";
    case Composition::Zcdp:
      return "zcdp";
    case Composition::Mixed:
      return "mixed";
  }
  throw InternalError("an unknown composition");
}

std::optional<std::string> fault_of(const LedgerTerms& terms) {
  if (!is_name(terms.dataset)) {
    return fmt::format("the data set's name is 1 to {} bytes of printable text", kLongestName);
  }
  if (!(terms.epsilon.value() > 0.0 && terms.epsilon.value() <= kLargestLimit)) {
    return fmt::format("epsilon is {}; choose a number above 0 and at most {}",
                       terms.epsilon.value(), kLargestLimit);
  }
  if (!(terms.delta.value() >= 0.0 && terms.delta.value() < 1.0)) {
    return fmt::format("delta is {}; choose a number from 0 and below 1", terms.delta.value());
  }
  if (terms.unit.rows_per_person < 1) {
    return fmt::format("rows per person is {}; choose 1 or more", terms.unit.rows_per_person);
  }
  return std::nullopt;
}

namespace {

constexpr std::string_view kQuotedMark = " (quoted)";
constexpr std::string_view kLinesMark = " (lines)";  // where a folder's name looks like the other

}  // namespace

std::string label_of(std::string text, Records records) {
  const bool quoted = records == Records::Quoted;
  const bool looks_quoted = records_of(text) == Records::Quoted;
  const std::string_view mark = quoted ? kQuotedMark : looks_quoted ? kLinesMark : "";
  const std::size_t most = kLongestName - mark.size();
  // Whatever bytes a folder's name has, the ledger stays readable.
  if (!is_printable(text) || text.size() > most) {
    for (char& c : text) {
      if (c < 0x20 || c > 0x7e) c = '?';
    }
  }
  text.resize(std::min(text.size(), most));
  return (text.empty() ? "-" : text) + std::string(mark);
}

Records records_of(std::string_view label) {
  return label.ends_with(kQuotedMark) ? Records::Quoted : Records::Lines;
}

std::optional<Records> Ledger::Book::records() const {
  for (const auto& run : runs_) {
    const bool drew_nothing = run.spent && run.spent->rho.is_zero();
    if (!drew_nothing) return records_of(run.label);
  }
  return std::nullopt;
}

bool within(const LedgerCharge& spent, const LedgerCharge& reserved) {
  if (spent.pure.has_value() != reserved.pure.has_value()) return false;
  return spent.rho <= reserved.rho && (!spent.pure || *spent.pure <= *reserved.pure);
}

const LedgerRun* Ledger::Book::find(const std::string& run) const {
  const auto found = index_.find(run);
  return found == index_.end() ? nullptr : &runs_[found->second];
}

std::optional<std::string> Ledger::Book::take(const LedgerEntry& entry) {
  if (entry.seq != entries_ + 1) return "does not follow the one before it";
  if (entry.hash != chain_hash(head_, entry)) {
    return "does not match its hash: it, or the one before it, was changed after it was written";
  }
  std::optional<std::string> fault = "is of an unknown kind";
  if (entry.kind == "create") fault = take_create(entry);
  if (entry.kind == "limit") fault = take_limit(entry);
  if (entry.kind == "reserve") fault = take_reserve(entry);
  if (entry.kind == "step" || entry.kind == "settle") {
    const auto found = index_.find(entry.run.value_or(""));
    if (found == index_.end()) {
      fault = "belongs to a run that was never reserved";
    } else if (runs_[found->second].spent) {
      fault = "belongs to a run that was settled before";
    } else {
      LedgerRun& run = runs_[found->second];
      fault = entry.kind == "step" ? take_step(entry, run) : take_settle(entry, run);
    }
  }
  if (fault) return fault;
  entries_ = entry.seq;
  head_ = entry.hash;
  return std::nullopt;
}

std::optional<std::string> Ledger::Book::take_create(const LedgerEntry& e) {
  if (entries_ != 0) return "creates a ledger that exists";
  if (e.run || e.mechanism || e.label || e.pure || e.rho || e.step || e.digest) {
    return "has fields that its kind does not";
  }
  const auto epsilon = parse_number(e.epsilon.value_or(""));
  const auto delta = parse_number(e.delta.value_or(""));
  const auto unit = unit_of(e);
  if (!e.dataset || !epsilon || !delta || !unit) return "does not state the ledger's terms";
  terms_ = {*e.dataset, Epsilon(*epsilon), Delta(*delta), *unit};
  created_ = e.time;
  return fault_of(terms_);
}

std::optional<std::string> Ledger::Book::take_limit(const LedgerEntry& e) {
  if (entries_ == 0) return "limits a ledger that was not created";
  if (e.dataset || e.delta || e.neighbors || e.rows_per_person || e.run || e.mechanism || e.label ||
      e.pure || e.rho || e.step || e.digest) {
    return "has fields that its kind does not";
  }
  const auto epsilon = parse_number(e.epsilon.value_or(""));
  if (!epsilon) return "does not state the new limit";
  terms_.epsilon = Epsilon(*epsilon);
  return fault_of(terms_);
}

std::optional<std::string> Ledger::Book::take_reserve(const LedgerEntry& e) {
  if (entries_ == 0) return "reserves from a ledger that was not created";
  if (e.dataset || e.epsilon || e.delta || e.neighbors || e.rows_per_person || e.step || e.digest) {
    return "has fields that its kind does not";
  }
  const auto charge = charge_of(e);
  if (!charge || !is_name(e.mechanism) || !is_name(e.label) || !e.run || e.run->size() != 32 ||
      !is_hex(*e.run)) {
    return "does not state its run and amount";
  }
  if (!charge->pure && terms_.delta.value() == 0.0) {
    return "reserves for a run that is not pure, from a ledger with delta 0";
  }
  if (!index_.emplace(*e.run, runs_.size()).second) return "reserves for a run that exists";
  runs_.push_back({*e.run, e.time, *e.mechanism, *e.label, *charge, 0, std::nullopt});
  // Amounts are at most 2^120 grains each, so sums below 2^127 can't overflow by one more.
  const Cost ceiling = Cost::at_most(kLargestCost) * 128.0;
  sums_.add(*charge, *charge);
  if (sums_.pure > ceiling || sums_.rho > ceiling) return "reserves an impossible amount";
  return std::nullopt;
}

std::optional<std::string> Ledger::Book::take_step(const LedgerEntry& e, LedgerRun& run) {
  if (e.dataset || e.epsilon || e.delta || e.neighbors || e.rows_per_person || e.mechanism ||
      e.label || e.pure || e.rho) {
    return "has fields that its kind does not";
  }
  if (e.step != run.steps) return "is not the next step of its run";
  if (!e.digest || !is_sha256_hex(*e.digest)) return "does not state its digest";
  ++run.steps;
  return std::nullopt;
}

std::optional<std::string> Ledger::Book::take_settle(const LedgerEntry& e, LedgerRun& run) {
  if (e.dataset || e.epsilon || e.delta || e.neighbors || e.rows_per_person || e.mechanism ||
      e.label || e.step || e.digest) {
    return "has fields that its kind does not";
  }
  const auto charge = charge_of(e);
  if (!charge || !within(*charge, run.reserved)) return "settles more than was reserved";
  sums_.settle(run.reserved, *charge);
  run.spent = charge;
  return std::nullopt;
}

std::optional<LedgerCharge> Ledger::Book::charge_of(const LedgerEntry& e) {
  const auto amount = [](const std::string& grains) -> std::optional<Cost> {
    // 37 digits hold 2^120 and fit 128 bits.
    if (grains.empty() || grains.size() > 37 || (grains.size() > 1 && grains.front() == '0') ||
        grains.find_first_not_of("0123456789") != std::string::npos) {
      return std::nullopt;
    }
    const Cost cost = Cost::from_grains(grains);
    return cost <= Cost::at_most(kLargestCost) ? std::optional(cost) : std::nullopt;
  };
  const auto rho = amount(e.rho.value_or(""));
  const auto pure = e.pure ? amount(*e.pure) : std::nullopt;
  if (!rho || (e.pure && (!pure || pure->is_zero() != rho->is_zero()))) return std::nullopt;
  return LedgerCharge{pure, *rho};
}

void Ledger::Book::Sums::add(const LedgerCharge& charge, const LedgerCharge& reserved) {
  rho = rho + charge.rho;
  if (charge.pure) {
    pure = pure + *charge.pure;
    reserved_pure = reserved_pure + *reserved.pure;
  } else {
    other_rho = other_rho + charge.rho;
    reserved_other_rho = reserved_other_rho + reserved.rho;
    ++others;
  }
}

void Ledger::Book::Sums::settle(const LedgerCharge& reserved, const LedgerCharge& spent) {
  rho = rho - reserved.rho + spent.rho;
  const bool drew_nothing = spent.rho.is_zero();
  if (reserved.pure) {
    pure = pure - *reserved.pure + *spent.pure;
    if (drew_nothing) reserved_pure = reserved_pure - *reserved.pure;
  } else {
    other_rho = other_rho - reserved.rho + spent.rho;
    if (drew_nothing) {
      reserved_other_rho = reserved_other_rho - reserved.rho;
      --others;
    }
  }
}

Ledger::Book::Sums Ledger::Book::sums(bool settled) const {
  Sums sums;
  for (const auto& run : runs_) {
    if (run.spent.has_value() != settled) continue;
    sums.add(run.reserved, run.reserved);
    if (settled) sums.settle(run.reserved, *run.spent);
  }
  return sums;
}

Cost Ledger::Book::converted(Cost rho) const {
  if (rho.is_zero()) return {};
  if (terms_.delta.value() == 0.0) return Cost::at_most(kLargestCost);
  const double epsilon = epsilon_of(Rho(rho.upper_bound()), terms_.delta).value();
  return Cost::at_least(std::min(epsilon, kLargestCost));  // beyond any limit
}

Ledger::Book::Total Ledger::Book::compose_apart(const Sums& sums) const {
  if (sums.others == 0) return {sums.pure, Composition::Pure};
  if (mutant(Mutant::MixReturnsUnspent)) {
    return {sums.pure + converted(sums.other_rho), Composition::Mixed};
  }
  return {sums.reserved_pure + converted(sums.reserved_other_rho), Composition::Mixed};
}

Ledger::Book::Total Ledger::Book::compose(const Sums& sums) const {
  const Total apart = compose_apart(sums);
  if (terms_.delta.value() == 0.0) return apart;
  const Total together{converted(sums.rho), Composition::Zcdp};
  const bool tie_as_zcdp = sums.others != 0 && together.epsilon == apart.epsilon;
  return together.epsilon < apart.epsilon || tie_as_zcdp ? together : apart;
}

Cost Ledger::Book::least_ever(const Sums& sums) const {
  const Cost today = compose(sums).epsilon;
  if (sums.others == 0) return today;
  return std::min(today, sums.pure + converted(sums.other_rho));
}

bool Ledger::Book::fits(const Sums& sums) const {
  return compose(sums).epsilon <= Cost::at_most(terms_.epsilon.value());
}

// By bisection, from an amount that fits up to the whole limit: a run costs at least its pure
// epsilon, or its rho, in epsilon.
Cost Ledger::Book::largest_that_fits(Cost low, LedgerCharge (*charge)(Cost)) const {
  const auto ok = [&](Cost amount) {
    Sums sums = sums_;
    sums.add(charge(amount), charge(amount));
    return fits(sums);
  };
  if (!ok(low)) return {};
  Cost high = Cost::at_most(terms_.epsilon.value());
  if (ok(high)) return high;
  for (;;) {
    const Cost half = (high - low) / 2.0;
    if (half <= low * 0x1p-50) return low;
    (ok(low + half) ? low : high) = low + half;
  }
}

Cost Ledger::Book::left_pure() const {
  // One pure run more adds its epsilon to the sum of the others, exactly.
  const Cost limit = Cost::at_most(terms_.epsilon.value());
  const Cost apart = compose_apart(sums_).epsilon;
  return largest_that_fits(apart < limit ? limit - apart : Cost(), [](Cost epsilon) {
    const double e = epsilon.upper_bound();
    return LedgerCharge{epsilon, Cost::at_least(e * e / 2.0 * (1.0 + 0x1p-50))};
  });
}

Cost Ledger::Book::left_rho() const {
  return largest_that_fits(Cost(), [](Cost rho) { return LedgerCharge{std::nullopt, rho}; });
}

}  // namespace tandem
