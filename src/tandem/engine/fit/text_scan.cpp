// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/text_scan.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace tandem {

namespace {

constexpr std::size_t kBlocksPerThread = 2;

std::vector<KnownColumn> known_columns(const Schema& schema) {
  std::vector<KnownColumn> columns;
  for (const auto& column : schema.columns()) {
    columns.push_back({column.name, column.codec->numeric()});
  }
  return columns;
}

std::optional<TextFormat> format_of(const TextScanOptions& options, const Schema& schema) {
  if (options.format || options.policy == RowPolicy::MustFit) return options.format;
  return schema.format();
}

// Blocks that are read at the same time. An error of the file stands behind them.
struct Batch {
  explicit Batch(std::size_t most) : blocks(most) {}

  std::vector<CsvBlock> blocks;
  std::size_t used = 0;
  std::exception_ptr failure;

  void fill(CsvBlockReader& reader) {
    try {
      for (used = 0; used < blocks.size(); ++used) {
        reader.next(blocks[used]);
        if (blocks[used].empty()) return;
      }
    } catch (...) {
      failure = std::current_exception();
    }
  }
};

constexpr std::array<char, kCsvPadding> kNoField{};  // an empty field with bytes behind it

}  // namespace

TextScan::TextScan(const std::string& path, const Schema& schema, TextScanOptions options)
    : options_(std::move(options)),
      reader_(path, options_.policy, format_of(options_, schema), known_columns(schema),
              schema.format(), kCsvBlockBytes, options_.open),
      header_(reader_.read_header()),
      places_(kBlocksPerThread * static_cast<std::size_t>(std::max(1, options_.threads.count))) {}

void TextScan::run(const OnBlock& read, const OnBlock& done) {
  Batch batch(places_);
  Batch ahead(places_);
  for (batch.fill(reader_); batch.used > 0; std::swap(batch, ahead)) {
    if (options_.progress) options_.progress(reader_.stored_bytes_read(), reader_.stored_bytes());
    parallel_for(batch.used + 1, options_.threads, [&](std::size_t i) {
      if (i == 0) {
        ahead.used = 0;
        if (!batch.failure) ahead.fill(reader_);
      } else {
        read(i - 1, batch.blocks[i - 1]);
      }
    });
    for (std::size_t i = 0; i < batch.used; ++i) done(i, batch.blocks[i]);
    if (batch.failure) std::rethrow_exception(batch.failure);
  }
  if (batch.failure) std::rethrow_exception(batch.failure);
}

ScannedRecords::ScannedRecords(const CsvBlock& block, RowPolicy policy, const TextFormat& format,
                               std::size_t columns)
    : policy_(policy),
      columns_(columns),
      tokenizer_(policy, format),
      p_(block.text().data()),
      end_(p_ + block.text().size()),
      next_line_(block.first_line()) {
  fields_.reserve(columns);
}

bool ScannedRecords::next() {
  if (policy_ == RowPolicy::MustFit && columns_ > 1) {
    while (p_ < end_ && (*p_ == '\n' || (*p_ == '\r' && p_[1] == '\n'))) {
      p_ += *p_ == '\n' ? 1 : 2;
      ++next_line_;
    }
  }
  if (p_ >= end_) return false;
  fields_.clear();
  copied_ = 0;
  found_ = 0;
  malformed_ = false;
  line_ = next_line_;
  const char* start = p_;
  for (;; ++p_) {
    const char* field_start = p_;
    const auto [field, stop] = tokenizer_.next(p_, end_);
    if (stop == nullptr) {  // the rest of its line is passed over
      malformed_ = true;
      p_ = std::find(field_start, end_, '\n');
      break;
    }
    p_ = stop;
    ++found_;
    if (fields_.size() < columns_) take(field, field_start, stop);
    if (*p_ == '\n') break;
  }
  ++p_;
  next_line_ += static_cast<std::size_t>(std::count(start, std::min(p_, end_), '\n'));
  fields_.resize(columns_, std::string_view(kNoField.data(), 0));
  return true;
}

// A field that the tokenizer had to put together is kept until the record is done.
void ScannedRecords::take(std::string_view field, const char* start, const char* stop) {
  if (field.data() >= start && field.data() <= stop) {
    fields_.push_back(field);
    return;
  }
  if (copied_ == copies_.size()) copies_.push_back(std::make_unique<std::string>());
  std::string& copy = *copies_[copied_++];
  copy = field;
  copy.append(kCsvPadding, '\0');
  fields_.emplace_back(copy.data(), field.size());
}

}  // namespace tandem
