// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/ledger_entry.h"

#include "tandem/base/digest.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

std::optional<std::string> decimal(const std::optional<std::int64_t>& number) {
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

}  // namespace

LedgerFields to_fields(const LedgerEntry& e) {
  return {std::to_string(e.seq),
          e.time,
          e.kind,
          e.dataset,
          e.epsilon,
          e.delta,
          e.neighbors,
          decimal(e.rows_per_person),
          e.run,
          e.mechanism,
          e.label,
          e.pure,
          e.rho,
          decimal(e.step),
          e.digest,
          e.hash};
}

std::optional<LedgerEntry> to_entry(const LedgerFields& f) {
  const auto number = [](const std::optional<std::string>& text) {
    return text ? parse_integer(*text) : std::nullopt;
  };
  LedgerEntry e{.seq = number(f[0]).value_or(0),
                .time = f[1].value_or(""),
                .kind = f[2].value_or(""),
                .dataset = f[3],
                .epsilon = f[4],
                .delta = f[5],
                .neighbors = f[6],
                .rows_per_person = number(f[7]),
                .run = f[8],
                .mechanism = f[9],
                .label = f[10],
                .pure = f[11],
                .rho = f[12],
                .step = number(f[13]),
                .digest = f[14],
                .hash = f[15].value_or("")};
  return to_fields(e) == f ? std::optional(std::move(e)) : std::nullopt;
}

std::string chain_hash(std::string_view previous, const LedgerEntry& entry) {
  std::string bytes = "tandem-ledger-1\n";
  bytes += previous;
  const LedgerFields fields = to_fields(entry);
  for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
    if (fields[i]) {
      bytes += std::to_string(fields[i]->size()) + ':' + *fields[i] + ',';
    } else {
      bytes += '-';
    }
  }
  return sha256_hex(bytes);
}

}  // namespace tandem
