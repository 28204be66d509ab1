// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/ledger.h"

#include <fmt/core.h>
#include <openssl/rand.h>

#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/digest.h"
#include "tandem/base/mutant.h"
#include "tandem/base/text.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/ledger_book.h"
#include "tandem/privacy/ledger_file.h"

namespace tandem {

using Transaction = LedgerFile::Transaction;

struct Ledger::Impl {
  LedgerFile file;
  LedgerTerms terms;

  const std::string& path() const { return file.path(); }
  std::string replay(Book& book, const std::function<void(const LedgerEntry&)>& visit = {}) const;
  Book read() const;
  void append(Book& book, const LedgerEntry& entry);
  void require_terms(const RunInfo& info, const LedgerCharge& charge) const;
  void require_beside(const Book& book, const RunInfo& info, const LedgerCharge& charge) const;
  [[noreturn]] void refuse_amount(const Book& book, const LedgerCharge& charge) const;
};

namespace {

std::string random_id() {
  std::array<unsigned char, 16> bytes{};
  check(RAND_bytes(bytes.data(), bytes.size()) == 1, "OpenSSL has no randomness");
  return to_hex(bytes);
}

LedgerEntry entry_of(const char* kind, const std::string& run) {
  LedgerEntry entry;
  entry.kind = kind;
  entry.run = run;
  return entry;
}

void set_amount(LedgerEntry& entry, const LedgerCharge& charge) {
  if (charge.pure) entry.pure = charge.pure->grains();
  entry.rho = charge.rho.grains();
}

std::string describe(const PrivacyUnit& unit) {
  return fmt::format("{} with {} row{} per person", name_of(unit.neighbors), unit.rows_per_person,
                     unit.rows_per_person == 1 ? "" : "s");
}

// Six digits, rounded down: what a person types from a message still fits.
std::string rounded_down(double value) {
  if (value <= 0.0) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 5.0);
  return fmt::format("{:.6g}", std::floor(value / unit) * unit);
}

}  // namespace

// Reads the chain into `book`; returns the first fault as a sentence without its path, or nothing.
std::string Ledger::Impl::replay(Book& book,
                                 const std::function<void(const LedgerEntry&)>& visit) const {
  file.check_structure();
  std::string fault;
  file.each([&](const LedgerEntry& entry) {
    if (const auto wrong = book.take(entry)) {
      fault = fmt::format("entry {} {}", book.entries() + 1, *wrong);
    } else if (visit) {
      visit(entry);
    }
    return fault.empty();
  });
  if (!fault.empty()) return fault;
  if (book.entries() == 0) return "there is no entry that creates the ledger";
  const LedgerFile::Head head = file.head();
  if (head.seq != book.entries() || head.hash != book.head()) {
    return fmt::format("the head is not entry {}: entries were cut off or added by hand",
                       book.entries());
  }
  return {};
}

Ledger::Book Ledger::Impl::read() const {
  Book book;
  if (const std::string fault = replay(book); !fault.empty()) {
    throw BudgetError(
        fmt::format("{}: {}; nothing can be reserved from a ledger that was "
                    "tampered with, restore it from a backup.",
                    path(), fault));
  }
  return book;
}

// Nothing is committed that verify() would object to.
void Ledger::Impl::append(Book& book, const LedgerEntry& entry) {
  check(!book.take(file.append(entry)), "a new entry of a ledger breaks its rules");
}

Ledger::Ledger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Ledger Ledger::create(const std::string& path, const LedgerTerms& terms,
                      std::chrono::milliseconds patience) {
  if (const auto fault = fault_of(terms)) {
    throw UsageError(fmt::format("{} can't be made: {}.", path, *fault));
  }
  LedgerEntry first;
  first.kind = "create";
  first.dataset = terms.dataset;
  first.epsilon = fmt::format("{}", terms.epsilon.value());
  first.delta = fmt::format("{}", terms.delta.value());
  first.neighbors = name_of(terms.unit.neighbors);
  first.rows_per_person = terms.unit.rows_per_person;
  return Ledger(std::make_unique<Impl>(Impl{LedgerFile::create(path, first, patience), terms}));
}

Ledger Ledger::open(const std::string& path, std::chrono::milliseconds patience) {
  LedgerFile file = LedgerFile::open(path, patience);
  Book book;
  std::string fault = "it has no entries";
  file.each([&](const LedgerEntry& first) {
    fault = book.take(first).value_or("");
    return false;
  });
  if (!fault.empty()) {
    throw UsageError(fmt::format("{}: entry 1 {}; restore it from a backup.", path, fault));
  }
  return Ledger(std::make_unique<Impl>(Impl{std::move(file), book.terms()}));
}

const LedgerTerms& Ledger::terms() const { return impl_->terms; }

std::string Ledger::new_run_id() { return random_id(); }

std::string Ledger::reserve(const RunInfo& info, const LedgerCharge& charge) {
  std::string run = new_run_id();
  reserve(run, info, charge);
  return run;
}

// What no ledger, or none of these terms, takes.
void Ledger::Impl::require_terms(const RunInfo& info, const LedgerCharge& charge) const {
  check(!charge.pure || charge.pure->is_zero() == charge.rho.is_zero(),
        "a run costs epsilon exactly when it costs rho");
  if (info.seeded) {
    throw BudgetError(path() +
                      ": a seeded run is not private, so no ledger accepts it; leave the "
                      "seed out.");
  }
  if (!info.unit.covers(terms.unit)) {
    throw BudgetError(
        fmt::format("{}: the ledger protects {}, and this run states {}; state the "
                    "ledger's, or more rows.",
                    path(), describe(terms.unit), describe(info.unit)));
  }
  if (!charge.pure && terms.delta.value() == 0.0) {
    throw BudgetError(path() +
                      ": the ledger has delta 0, and this run has no pure guarantee; choose "
                      "a mechanism that has one.");
  }
}

// What a new run must keep to beside the runs so far.
void Ledger::Impl::require_beside(const Book& book, const RunInfo& info,
                                  const LedgerCharge& charge) const {
  const Records records = book.records().value_or(info.records);
  if (records != info.records && !mutant(Mutant::MixRecords)) {
    throw BudgetError(fmt::format(
        "{}: the runs so far read records as {}, and this run reads them as {}; a ledger takes one "
        "of the two, so state " TANDEM_SETTING("records") " {}, or charge a ledger of its own.",
        path(), records_key(records), records_key(info.records), records_key(records)));
  }
  Book::Sums with = book.sums();
  with.add(charge, charge);
  if (!book.fits(with)) refuse_amount(book, charge);
}

void Ledger::require_room(const RunInfo& info, const LedgerCharge& charge) const {
  impl_->require_terms(info, charge);
  const Transaction view(impl_->file, Transaction::Read);
  impl_->require_beside(impl_->read(), info, charge);
}

void Ledger::reserve(const std::string& run, const RunInfo& info, const LedgerCharge& charge) {
  impl_->require_terms(info, charge);
  Transaction only_writer(impl_->file, Transaction::Write);
  Book book = impl_->read();
  if (const LedgerRun* known = book.find(run)) {
    if (known->reserved == charge) return;
    throw BudgetError(fmt::format("{}: the run {} reserved another amount; start a new release.",
                                  impl_->path(), in_quotes(run)));
  }
  impl_->require_beside(book, info, charge);
  LedgerEntry entry = entry_of("reserve", run);
  entry.mechanism = label_of(info.mechanism, Records::Lines);
  entry.label = label_of(info.label, info.records);
  set_amount(entry, charge);
  impl_->append(book, entry);
  only_writer.commit();
}

void Ledger::set_limit(Epsilon epsilon) {
  LedgerTerms terms = impl_->terms;
  terms.epsilon = epsilon;
  if (const auto fault = fault_of(terms)) {
    throw UsageError(fmt::format("{}: the limit can't be set: {}.", impl_->path(), *fault));
  }
  Transaction only_writer(impl_->file, Transaction::Write);
  Book book = impl_->read();
  LedgerEntry entry = entry_of("limit", "");
  entry.run.reset();
  entry.epsilon = fmt::format("{}", epsilon.value());
  impl_->append(book, entry);
  if (!book.fits(book.sums())) {
    throw BudgetError(fmt::format(
        "{}: the runs so far hold epsilon {:.6g}, so the limit can't be {:g}; choose a larger one.",
        impl_->path(), book.compose(book.sums()).epsilon.upper_bound(), epsilon.value()));
  }
  only_writer.commit();
  impl_->terms = terms;
}

void Ledger::Impl::refuse_amount(const Book& book, const LedgerCharge& charge) const {
  const Delta delta = terms.delta;
  Book::Sums alone;
  alone.add(charge, charge);
  std::string left = "pure epsilon " + rounded_down(book.left_pure().lower_bound());
  if (delta.value() > 0.0) {
    const Rho rho(book.left_rho().lower_bound());
    const double epsilon = rho.value() > 0.0 ? epsilon_of(rho, delta).value() : 0.0;
    left += fmt::format(", or epsilon {} at delta {} (rho {})", rounded_down(epsilon),
                        delta.value(), rounded_down(rho.value()));
  }
  throw BudgetError(fmt::format(
      "{}: this run asks for epsilon {:.6g}, the runs so far hold {:.6g}, and the limit is {:.6g} "
      "at delta {}; left is {}.",
      path(), book.compose(alone).epsilon.upper_bound(),
      book.compose(book.sums()).epsilon.upper_bound(), book.terms().epsilon.value(), delta.value(),
      left));
}

void Ledger::record_step(const std::string& run, std::int64_t index, const std::string& digest) {
  check(index >= 0 && is_sha256_hex(digest), "a step has a number and a SHA-256 digest");
  const std::string& path = impl_->path();
  Transaction only_writer(impl_->file, Transaction::Write);
  if (impl_->file.head() != impl_->file.newest()) {
    throw BudgetError(path +
                      ": the head is not the newest entry, so the ledger was tampered with; "
                      "restore it from a backup.");
  }
  const LedgerFile::Progress progress = impl_->file.progress(run);
  if (!progress.reserved) {
    throw BudgetError(
        fmt::format("{} holds no run {}; is it the release's ledger?", path, in_quotes(run)));
  }
  if (index < progress.steps) {
    if (impl_->file.digest(run, index) == digest) return;
    throw BudgetError(
        fmt::format("{}: another copy of this run has drawn step {}; only the copy "
                    "that goes on first can be resumed.",
                    path, index));
  }
  if (progress.settled) {
    throw BudgetError(fmt::format("{}: run {} is settled; start a new run.", path, run));
  }
  if (index > progress.steps) {
    throw BudgetError(
        fmt::format("{}: step {} of run {} comes after step {}; the release's "
                    "transcript is not this ledger's.",
                    path, index, run, progress.steps - 1));
  }
  LedgerEntry entry = entry_of("step", run);
  entry.step = index;
  entry.digest = digest;
  impl_->file.append(entry);
  only_writer.commit();
}

void Ledger::settle(const std::string& run, const LedgerCharge& spent, std::int64_t steps) {
  const std::string& path = impl_->path();
  Transaction only_writer(impl_->file, Transaction::Write);
  Book book = impl_->read();
  const LedgerRun* known = book.find(run);
  if (known == nullptr) {
    throw BudgetError(
        fmt::format("{} holds no run {}; is it the release's ledger?", path, in_quotes(run)));
  }
  if (known->spent == spent) return;
  if (known->spent) {
    throw BudgetError(fmt::format("{}: run {} is settled at another amount.", path, run));
  }
  if (steps != known->steps && !mutant(Mutant::SettleFewerSteps)) {
    throw BudgetError(fmt::format(
        "{}: run {} has drawn {} step{} and would settle {}; resume the copy of the release that "
        "drew most.",
        path, run, known->steps, known->steps == 1 ? "" : "s", steps));
  }
  if (!within(spent, known->reserved)) {
    throw BudgetError(
        fmt::format("{}: run {} would settle more than it reserved, or another kind "
                    "of amount.",
                    path, run));
  }
  LedgerEntry entry = entry_of("settle", run);
  set_amount(entry, spent);
  impl_->append(book, entry);
  only_writer.commit();
}

RunState Ledger::state(const std::string& run) const {
  const Transaction view(impl_->file, Transaction::Read);
  const Book book = impl_->read();
  const LedgerRun* known = book.find(run);
  if (known == nullptr) {
    throw BudgetError(fmt::format("{} holds no run {}; is it the release's ledger?", impl_->path(),
                                  in_quotes(run)));
  }
  return {known->reserved, impl_->file.digests(run), known->spent};
}

std::string Ledger::head() const { return impl_->file.head().hash; }

VerifyReport Ledger::verify(std::span<const std::string> anchors) const {
  const Transaction view(impl_->file, Transaction::Read);
  Book book;
  VerifyReport report;
  std::set<std::string> missing(anchors.begin(), anchors.end());
  std::string overspent;
  try {
    report.fault = impl_->replay(book, [&](const LedgerEntry& entry) {
      missing.erase(entry.hash);
      // With a little slack, so that a later accountant's rounding finds no fault in old entries.
      const double limit = book.terms().epsilon.value() * (1.0 + 1e-9);
      if (entry.kind == "reserve" && overspent.empty() &&
          book.least_ever(book.sums()).lower_bound() > limit) {
        overspent = fmt::format("entry {} reserves more than the limit allows", entry.seq);
      }
    });
  } catch (const UsageError& damage) {  // this is the door that reports it
    report.fault = damage.what();
  }
  report.entries = book.entries();
  report.head = book.head();
  if (report.whole()) report.fault = overspent;
  if (report.whole() && !missing.empty()) {
    report.fault = fmt::format(
        "the cited hash {} is not in the chain: entries were cut off or "
        "rewritten, or it is of another ledger",
        in_quotes(*missing.begin()));
  }
  return report;
}

LedgerReport Ledger::report() const {
  const Transaction view(impl_->file, Transaction::Read);
  const Book book = impl_->read();
  const auto total = [&](const Book::Sums& sums) {
    const Book::Total found = book.compose(sums);
    return LedgerTotal{Epsilon(found.epsilon.upper_bound()), found.composition};
  };
  return {.terms = book.terms(),
          .created = book.created(),
          .head = book.head(),
          .spent = total(book.sums(true)),
          .reserved = total(book.sums(false)),
          .total = total(book.sums()),
          .left_pure = Epsilon(book.left_pure().lower_bound()),
          .left_rho = Rho(terms().delta.value() > 0.0 ? book.left_rho().lower_bound() : 0.0),
          .runs = book.runs(),
          .records = book.records()};
}

}  // namespace tandem
