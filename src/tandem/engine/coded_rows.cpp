// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/coded_rows.h"

#include <fmt/core.h>

#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/rows_per_person.h"

namespace tandem {

namespace {

Domain domain_of(const std::vector<std::int64_t>& sizes) {
  std::vector<Attribute> attributes;
  for (const auto size : sizes) {
    if (size < 1 || size > kLargestAttribute) {
      throw UsageError(fmt::format(TANDEM_SETTING("sizes") " holds {}; a column has 1 to {} codes.",
                                   size, kLargestAttribute));
    }
    attributes.push_back({fmt::format("{}", attributes.size()), static_cast<Code>(size), {}});
  }
  return Domain(std::move(attributes));
}

}  // namespace

Schema schema_in(const std::string& text, const std::string& kind) {
  if (kind != "toml" && kind != "json") {
    throw UsageError(
        fmt::format(TANDEM_SETTING("kind") " is {}; choose toml or json.", in_quotes(kind)));
  }
  return Schema::from_document(kind == "toml" ? Document::parse_toml(text, "the schema")
                                              : Document::parse_json(text, "the schema"));
}

BlockEncoder::BlockEncoder(const EncoderRequest& request)
    : schema_(std::make_unique<Schema>(schema_in(request.schema, request.kind))),
      encoder_(*schema_, request.person),
      seal_(request.seal) {}

Document BlockEncoder::layout() const {
  Document names = Document::array();
  Document sizes = Document::array();
  Document bytes = Document::array();
  std::int64_t row = 0;
  for (const auto& attribute : schema_->domain().attributes()) {
    const auto width = static_cast<std::int64_t>(code_width(attribute.size));
    names.push(attribute.name);
    sizes.push(static_cast<std::int64_t>(attribute.size));
    bytes.push(width);
    row += width;
  }
  auto out = Document::object({});
  out.set("names", std::move(names));
  out.set("sizes", std::move(sizes));
  out.set("bytes", std::move(bytes));
  out.set("bytes_per_row", row);
  return out;
}

std::string BlockEncoder::encode(const ArrowArray& batch, const ArrowSchema& schema) {
  CodedRows rows = encoder_.encode(batch, schema);
  seal_persons(rows.persons, seal_, Sealing::Seal);
  return to_block(rows, encoder_.has_persons());
}

std::string within_share(std::span<const std::string_view> blocks, std::int64_t rows_per_person,
                         const std::string& seal) {
  if (rows_per_person < 1) {
    throw UsageError(fmt::format(TANDEM_SETTING("rows_per_person") " is {}; choose 1 or more.",
                                 rows_per_person));
  }
  if (blocks.empty()) {
    throw UsageError("There are no blocks of rows; give at least one, which may be of no rows.");
  }
  CodedRows rows = joined_rows(blocks);
  seal_persons(rows.persons, seal, Sealing::Open);
  if (rows.persons.size() != rows.table.rows()) {
    throw UsageError(
        "The blocks don't say whose rows they hold; encode them with a person column.");
  }
  const auto kept = rows_within_share(rows.table, rows.persons, rows_per_person);
  return to_block({rows.table.select(kept), {}}, false);
}

BlockCounter::BlockCounter(const std::vector<std::int64_t>& sizes,
                           const std::vector<std::vector<std::int64_t>>& cliques,
                           const Threads& threads)
    : domain_(domain_of(sizes)) {
  std::vector<Clique> wanted;
  for (const auto& columns : cliques) {
    std::vector<AttributeId> ids;
    for (const auto column : columns) {
      if (column < 0 || column >= static_cast<std::int64_t>(domain_.size())) {
        throw UsageError(fmt::format(
            TANDEM_SETTING("cliques") " names column {}, and there are {}; number them from 0.",
            column, domain_.size()));
      }
      if (!ids.empty() && column <= static_cast<std::int64_t>(ids.back())) {
        throw UsageError(TANDEM_SETTING(
            "cliques") " has columns out of order; list those of a clique in order, each once.");
      }
      ids.push_back(static_cast<AttributeId>(column));
    }
    wanted.emplace_back(std::move(ids));
  }
  counter_ = std::make_unique<MarginalCounter>(domain_, std::move(wanted), threads);
}

void BlockCounter::add(std::string_view block) { counter_->add(CodedBlock(block).table(domain_)); }

}  // namespace tandem
