// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/file_fit.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/data/csv_columns.h"
#include "tandem/data/field_memo.h"
#include "tandem/data/relation_check.h"
#include "tandem/data/value_line.h"
#include "tandem/engine/fit/line_feeds.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;  // that a format is suggested by
constexpr std::size_t kMostMemoColumns = 256;             // beyond, their memory is worth more

// What is known of the file's columns before its rows are read.
struct Layout {
  std::vector<int> attributes;  // of each column of the file, or kIgnoredColumn
  int person = kIgnoredColumn;
  std::vector<bool> judged;         // rules all of whose columns the file has
  std::vector<bool> judged_orders;  // by their codes
};

// What a block says.
struct Part {
  std::size_t rows = 0;
  std::vector<ColumnFit> columns;
  std::vector<std::vector<double>> points;
  RecordFit records;
  std::vector<std::size_t> broken_rules;
  std::vector<BrokenRelation> relations;
  std::size_t rows_breaking = 0;
  PeopleTally people;
  std::vector<std::vector<Code>> codes;
  std::vector<std::vector<ValueFit>> outside;
};

class BlockFit {
 public:
  BlockFit(const Schema& schema, const FitOptions& options, const TextFormat& format,
           const Layout& layout, std::span<const std::string> header)
      : schema_(schema),
        options_(options),
        format_(format),
        layout_(layout),
        relations_(schema, header, format.decimal_mark) {
    const auto columns = schema.columns();
    part_.columns.resize(columns.size());
    part_.points.resize(columns.size());
    part_.broken_rules.resize(schema.rules().size());
    part_.codes.resize(columns.size());
    part_.outside.resize(columns.size());
    row_.resize(columns.size());
    for (const auto& column : columns) {
      memos_.emplace_back(*column.codec, columns.size() <= kMostMemoColumns);
      extents_.push_back(column.codec->extent());
    }
  }

  Part read(const CsvBlock& block) {
    ScannedRecords records(block, options_.reading.policy, format_, layout_.attributes.size());
    while (records.next()) {
      judge(records);
      const auto fields = records.fields();
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (layout_.attributes[i] == kIgnoredColumn) continue;
        value(static_cast<std::size_t>(layout_.attributes[i]), fields[i], i >= records.found());
      }
      if (layout_.person != kIgnoredColumn) {
        part_.people.add(fields[static_cast<std::size_t>(layout_.person)]);
      }
      judge_rules();
      if (!schema_.relations().empty()) relations_.add(fields);
      ++part_.rows;
    }
    part_.relations = relations_.counts();
    return std::move(part_);
  }

 private:
  void judge(const ScannedRecords& records) {
    RecordFit& out = part_.records;
    const std::size_t columns = layout_.attributes.size();
    const bool odd = records.malformed() || records.found() != columns;
    if (odd && out.first_odd_line == 0) out.first_odd_line = records.line();
    if (records.malformed()) {
      ++out.malformed;
    } else if (records.found() < columns) {
      ++out.short_rows;
    } else if (records.found() > columns) {
      ++out.long_rows;
    }
  }

  void value(std::size_t id, std::string_view field, bool missing) {
    const Codec& codec = *schema_.columns()[id].codec;
    ColumnFit& fit = part_.columns[id];
    Encoded encoded;
    std::string_view text = field;
    if (format_.decimal_mark == ',' && codec.numeric()) {
      text = swap_decimal_marks(field, room_);
      encoded = codec.encode(text);
    } else {
      encoded = memos_[id].encode(field);
    }
    const ValueFit verdict = missing ? ValueFit::Missing : value_fit(codec, text, encoded);
    ++fit.counts[static_cast<std::size_t>(verdict)];
    row_[id] = encoded.code;
    if (verdict == ValueFit::Unfit) fit.unfit.add(field);
    if (verdict == ValueFit::Other) fit.other.add(field);
    const auto& extent = extents_[id];
    const bool beyond = verdict == ValueFit::Below || verdict == ValueFit::Above;
    if (beyond || (options_.keep_points && extent && !missing && encoded.code < extent->ranges &&
                   encoded.fit != Fit::Unfit)) {
      const double point = *extent->line->parse(text);
      if (options_.keep_points) part_.points[id].push_back(point);
      if (beyond) {
        fit.beyond.add(field);
        const bool below = verdict == ValueFit::Below;
        double& extreme = below ? fit.least : fit.greatest;
        const bool first = fit.count(verdict) == 1;
        extreme = first ? point : below ? std::min(extreme, point) : std::max(extreme, point);
      }
    }
    if (options_.keep_codes) {
      part_.codes[id].push_back(encoded.code);
      auto& outside = part_.outside[id];
      if (verdict >= ValueFit::Below) outside.resize(part_.rows, ValueFit::Exact);
      if (verdict >= ValueFit::Below) outside.push_back(verdict);
    }
  }

  void judge_rules() {
    bool any = false;
    for (std::size_t i = 0; i < part_.broken_rules.size(); ++i) {
      if (!layout_.judged[i] || !breaks(schema_.rules()[i], row_)) continue;
      ++part_.broken_rules[i];
      any = true;
    }
    const auto& orders = schema_.relations().orders;
    for (std::size_t i = 0; i < orders.size() && !any; ++i) {
      any =
          layout_.judged_orders[i] && orders[i].excludes(row_[orders[i].low], row_[orders[i].high]);
    }
    part_.rows_breaking += any ? 1 : 0;
  }

  const Schema& schema_;
  const FitOptions& options_;
  const TextFormat& format_;
  const Layout& layout_;
  RelationCheck relations_;
  Part part_;
  std::vector<FieldMemo> memos_;
  std::vector<std::optional<Extent>> extents_;
  std::vector<Code> row_;
  std::string room_;
};

// Codes that grow block by block.
class GrowingRows {
 public:
  explicit GrowingRows(const Domain& domain) : domain_(domain), outside_(domain.size()) {
    for (const auto& attribute : domain.attributes()) {
      switch (code_width(attribute.size)) {
        case 1:
          columns_.emplace_back(std::vector<std::uint8_t>());
          break;
        case 2:
          columns_.emplace_back(std::vector<std::uint16_t>());
          break;
        default:
          columns_.emplace_back(std::vector<std::uint32_t>());
      }
    }
  }

  void append(const Part& part) {
    for (std::size_t id = 0; id < columns_.size(); ++id) {
      std::visit(
          [&]<class T>(std::vector<T>& codes) {
            for (const Code code : part.codes[id]) codes.push_back(static_cast<T>(code));
          },
          columns_[id]);
      if (part.outside[id].empty()) continue;
      outside_[id].resize(rows_, ValueFit::Exact);
      outside_[id].insert(outside_[id].end(), part.outside[id].begin(), part.outside[id].end());
    }
    rows_ += part.rows;
  }

  RawRows finish() {
    std::vector<Column> columns;
    for (auto& column : columns_) columns.emplace_back(std::move(column));
    for (auto& verdicts : outside_) {
      if (!verdicts.empty()) verdicts.resize(rows_, ValueFit::Exact);
    }
    return {Table(domain_, std::move(columns)), std::move(outside_)};
  }

 private:
  Domain domain_;
  std::vector<Column::Codes> columns_;
  std::vector<std::vector<ValueFit>> outside_;
  std::size_t rows_ = 0;
};

void add(RecordFit& to, const RecordFit& more) {
  to.short_rows += more.short_rows;
  to.long_rows += more.long_rows;
  to.malformed += more.malformed;
  if (to.first_odd_line == 0) to.first_odd_line = more.first_odd_line;
}

// The first bytes of the file; none where they are damaged. UsageError when it can't be opened.
std::string head_of(const std::string& path, const OpenBytes& open) {
  const auto source = open ? open() : ByteSource::open(path);
  std::string head(kHeadBytes, '\0');
  try {
    head.resize(source->read(head));
  } catch (const UsageError&) {
    head.clear();
  }
  return head;
}

// INTERNAL: nobody else may look at a private file to find its format.
std::optional<TextFormat> suggested(const std::string& head, const Schema& schema) {
  if (head.empty()) return std::nullopt;
  std::vector<KnownColumn> known;
  for (const auto& column : schema.columns()) {
    known.push_back({column.name, column.codec->numeric()});
  }
  return sniff_format(head, head.size() < kHeadBytes, known, schema.format());
}

void match_leniently(const Domain& domain, FileFit& out, Layout& layout) {
  std::unordered_set<std::string_view> seen;
  for (const auto& name : out.header) {
    const bool repeated = !name.empty() && !seen.insert(name).second;
    if (repeated) out.repeated_columns.push_back(name);
    const auto id = repeated ? std::nullopt : domain.find(name);
    layout.attributes.push_back(id ? static_cast<int>(*id) : kIgnoredColumn);
    if (!id && !repeated) out.ignored_columns.push_back(name);
  }
  for (const auto& attribute : domain.attributes()) {
    if (!seen.contains(attribute.name)) out.missing_columns.push_back(attribute.name);
  }
}

Layout lay_out(const TextScan& scan, const Schema& schema, const FitOptions& options,
               FileFit& out) {
  Layout layout;
  const Domain& domain = schema.domain();
  layout.person = find_key(out.path, scan.header(), options.person);
  if (options.lenient) {
    match_leniently(domain, out, layout);
  } else {
    auto matched = match_columns(scan.reader(), scan.header(), domain, options.reading.policy);
    layout.attributes = std::move(matched.attributes);
    out.ignored_columns = std::move(matched.ignored);
  }
  if (layout.person != kIgnoredColumn) std::erase(out.ignored_columns, options.person);
  const auto has_column = [&](AttributeId id) {
    return std::ranges::find(out.missing_columns, domain[id].name) == out.missing_columns.end();
  };
  for (const auto& rule : schema.rules()) {
    const auto there = [&](const Condition& condition) {
      return std::ranges::all_of(condition,
                                 [&](const auto& clause) { return has_column(clause.attribute); });
    };
    layout.judged.push_back(there(rule.when) && there(rule.then));
  }
  for (const auto& order : schema.relations().orders) {
    layout.judged_orders.push_back(has_column(order.low) && has_column(order.high));
  }
  for (const auto& derived : schema.relations().derived) {
    std::erase(out.ignored_columns, derived.column.name);
  }
  return layout;
}

}  // namespace

FileFit fit_file(const std::string& path, const Schema& schema, const FitOptions& options) {
  TextScanOptions reading = options.reading;
  auto text = text_of(path, &schema, reading.policy, reading.threads, options.person);
  if (text.open) {
    reading.open = std::move(text.open);
    reading.format = text.format;
  }
  FileFit out;
  out.path = path;
  out.format = reading.format.value_or(schema.format());
  out.columns.resize(schema.columns().size());
  out.broken_rules.resize(schema.rules().size());
  out.relations = RelationCheck(schema, {}).counts();
  std::optional<TextScan> started;
  const std::string head = options.lenient ? head_of(path, reading.open) : "";
  try {
    started.emplace(path, schema, reading);
  } catch (const UsageError& error) {
    if (!options.lenient) throw;
    out.unread = error.what();
    out.looks_like = suggested(head, schema);
    return out;
  }
  TextScan& scan = *started;
  out.format = scan.format();
  out.header = scan.header().names;
  const Layout layout = lay_out(scan, schema, options, out);
  if (!out.missing_columns.empty()) out.looks_like = suggested(head, schema);

  LineFeedWalk line_feeds(out.format, out.header.size());
  PeopleTally people;
  GrowingRows rows(schema.domain());
  const bool with_codes = options.keep_codes && out.missing_columns.empty();
  std::vector<Part> parts(scan.places());
  const auto read = [&](std::size_t place, const CsvBlock& block) {
    parts[place] = BlockFit(schema, options, out.format, layout, out.header).read(block);
  };
  const auto done = [&](std::size_t place, const CsvBlock& block) {
    const Part part = std::exchange(parts[place], {});
    for (std::size_t id = 0; id < out.columns.size(); ++id) {
      out.columns[id].add(part.columns[id]);
      out.columns[id].points.add_all(part.points[id]);
    }
    add(out.records, part.records);
    for (std::size_t i = 0; i < part.broken_rules.size(); ++i) {
      out.broken_rules[i] += part.broken_rules[i];
    }
    for (std::size_t i = 0; i < part.relations.size(); ++i) {
      out.relations[i].judged += part.relations[i].judged;
      out.relations[i].broken += part.relations[i].broken;
    }
    out.rows_breaking += part.rows_breaking;
    if (layout.person != kIgnoredColumn) people.append(part.people);
    if (with_codes) rows.append(part);
    const bool lines = out.format.records == Records::Lines;
    if (reading.policy == RowPolicy::Repair && lines) line_feeds.walk(block.text());
    out.rows += part.rows;
  };
  try {
    scan.run(read, done);
  } catch (const UsageError& error) {
    if (!options.lenient) throw;
    out.unread = error.what();
  }
  out.records.quoted_line_feeds = line_feeds.inside_quotes();
  out.records.cut_records = line_feeds.records();
  out.records.line_feeds_by_column = line_feeds.by_column();
  out.records.quote_never_closed = line_feeds.never_closed();
  if (layout.person != kIgnoredColumn) out.people = people.finish(options.rows_per_person);
  if (with_codes) out.raw = rows.finish();
  return out;
}

}  // namespace tandem
