// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/catalogue.h"

#include <fmt/core.h>

#include "tandem/mechanism/registry.h"

namespace tandem {

namespace {

constexpr int kFormat = 1;

std::string guarantee_of(const Mechanism& mechanism) {
  return mechanism.pure ? "zCDP, or pure with --delta 0" : "zCDP";
}

std::string public_data_of(const Mechanism& mechanism) {
  switch (mechanism.public_data) {
    case PublicUse::NotUsed:
      return "not used";
    case PublicUse::Helps:
      return "helps";
    case PublicUse::Needed:
      return "needed";
  }
  return {};
}

}  // namespace

Document catalogue_document() {
  Document list = Document::array();
  for (const auto& mechanism : all_mechanisms()) {
    Document options = Document::array();
    for (const auto& option : mechanism.options) {
      options.push(Document::object({{"name", option.name},
                                     {"type", option.type},
                                     {"default", option.default_value},
                                     {"help", option.help}}));
    }
    list.push(Document::object({{"name", mechanism.name},
                                {"summary", mechanism.summary},
                                {"reference", mechanism.reference},
                                {"guarantee", guarantee_of(mechanism)},
                                {"pure", mechanism.pure},
                                {"needs_public_data", mechanism.public_data == PublicUse::Needed},
                                {"public_data", public_data_of(mechanism)},
                                {"parameters", std::move(options)}}));
  }
  return Document::object({{"format", kFormat}, {"mechanisms", std::move(list)}});
}

std::string catalogue_text() {
  std::string out;
  for (const auto& mechanism : all_mechanisms()) {
    out += fmt::format("{}\n  {}\n  guarantee: {}; public data: {}\n  from: {}\n", mechanism.name,
                       mechanism.summary, guarantee_of(mechanism), public_data_of(mechanism),
                       mechanism.reference);
    for (const auto& option : mechanism.options) {
      out += fmt::format("  --param {}=... ({}, default {}): {}\n", option.name, option.type,
                         option.default_value, option.help);
    }
  }
  return out;
}

}  // namespace tandem
