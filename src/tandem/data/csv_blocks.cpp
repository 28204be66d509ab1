// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/csv_blocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/data/encoding.h"

namespace tandem {

namespace {

constexpr std::size_t kFirstBlockBytes = std::size_t{64} << 10;
constexpr std::size_t kSniffedBytes = std::size_t{1} << 20;

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

void CsvBlock::drop_front(std::size_t bytes) {
  const std::size_t lines = count_lines(text().substr(0, bytes));
  begin_ += bytes;
  first_line_ += lines;
  lines_ -= lines;
}

CsvBlockReader::CsvBlockReader(const std::string& path, RowPolicy policy,
                               const std::optional<TextFormat>& format,
                               std::span<const KnownColumn> columns, const TextFormat& likely,
                               std::size_t block_bytes, const OpenBytes& open)
    : path_(path),
      policy_(policy),
      sniffed_(!format),
      most_(std::max<std::size_t>(block_bytes, 1)),
      least_(std::min(most_, kFirstBlockBytes)) {
  check(format || policy == RowPolicy::MustFit, "a private file's format is stated");
  this->open(open, format, columns, likely);
}

void CsvBlockReader::open(const OpenBytes& open, const std::optional<TextFormat>& format,
                          std::span<const KnownColumn> columns, const TextFormat& likely) {
  source_ = open ? open() : ByteSource::open(path_);
  const std::size_t looked_at = format ? byte_order_mark(Encoding::Utf8).size() : kSniffedBytes;
  std::string head;
  bool whole = false;
  while (!whole && head.size() < looked_at) {  // small files cost little
    const std::size_t before = head.size();
    const std::size_t wanted = std::min(looked_at, std::max(4 * before, kFirstBlockBytes));
    head.resize(wanted);
    head.resize(before + source_->read(std::span(head).subspan(before)));
    whole = head.size() < wanted;
  }
  format_ = format ? *format : sniff_format(head, whole, columns, likely);
  require_usable(format_);
  if (const auto marked = encoding_by_mark(head)) {
    if (*marked != format_.encoding) {
      throw UsageError(fmt::format(
          "{} starts with the mark of {}, and its format is said to be {}; state its encoding.",
          path_, encoding_name(*marked), encoding_name(format_.encoding)));
    }
    head.erase(0, byte_order_mark(*marked).size());
  }
  source_ = as_utf8(rewound(std::move(head), std::move(source_)), format_.encoding);
}

CsvHeader CsvBlockReader::read_header() {
  fill(first_);
  if (first_.empty()) {
    throw UsageError(
        fmt::format("{} is empty; a CSV file starts with a line of column names.", path_));
  }
  std::string_view text = first_.text();
  std::string_view line = text.substr(0, text.find('\n') + 1);
  if (policy_ == RowPolicy::Repair) {
    line = text = text.substr(0, CsvTokenizer(policy_, format_).first_record(text));
  }
  CsvHeader header;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if (byte == '\r' && line[i + 1] != '\n') header.inner_carriage_return = true;
    if (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') {
      throw UsageError(fmt::format(
          "{} is not a text file{}: its first line holds control characters; name a CSV file{}.",
          path_, sniffed_ ? "" : fmt::format(" in {}", encoding_name(format_.encoding)),
          sniffed_ ? "" : ", or state its encoding"));
    }
  }
  CsvTokenizer tokenizer(RowPolicy::MustFit, format_);
  const char* p = text.data();
  const char* end = p + text.size();
  for (;; ++p) {
    const auto [name, stop] = tokenizer.next(p, end);
    p = stop;
    if (p == nullptr) {
      throw UsageError(fmt::format("{}, line 1: {}.", path_, tokenizer.problem()));
    }
    header.names.emplace_back(name);
    if (header.names.size() > kMostCsvColumns) {
      throw UsageError(fmt::format("{} has more than {} columns, the most a table may have.", path_,
                                   with_commas(kMostCsvColumns)));
    }
    if (*p == '\n') break;
  }
  first_.drop_front(static_cast<std::size_t>(p + 1 - text.data()));
  return header;
}

void CsvBlockReader::next(CsvBlock& block) {
  if (!first_.empty()) {
    block = std::exchange(first_, {});
  } else {
    fill(block);
  }
}

void CsvBlockReader::fill(CsvBlock& block) {
  std::string& bytes = block.bytes_;
  bytes = rest_;
  rest_.clear();
  const std::size_t least = std::exchange(least_, std::min(2 * least_, most_));
  while (!ended_) {
    const std::size_t before = bytes.size();
    const std::size_t wanted = std::max(least, before + std::max(before, least) / 2 + 1);
    bytes.resize(wanted);
    bytes.resize(before + source_->read(std::span(bytes).subspan(before)));
    ended_ = bytes.size() < wanted;
    limit_first_record(bytes);
    if (cut_ && !cut_->passed) continue;
    std::size_t whole = 0;
    if (cut_) {  // stands by itself, so that lines are counted right
      whole = cut_->at + 1;
      if (bytes.size() == cut_->at) bytes += '\n';
    } else if (!ended_) {
      whole = CsvTokenizer(policy_, format_).whole_records(bytes);
    }
    if (whole > 0) {
      rest_.assign(bytes, whole);
      bytes.resize(whole);
      break;
    }
  }
  if (!bytes.empty() && bytes.back() != '\n') bytes += '\n';
  block.begin_ = 0;
  block.first_line_ = lines_ + 1;
  block.lines_ = count_lines(bytes);
  lines_ += block.lines_ + (cut_ ? cut_->lines : 0);
  cut_.reset();
  bytes.append(kCsvPadding, '\n');
}

void CsvBlockReader::refuse_long_record() const {
  throw UsageError(
      fmt::format("{}, line {}: a row is longer than {}; check the file's line ends and quotes.",
                  path_, lines_ + 1, human_bytes(static_cast<double>(kLongestCsvRecord))));
}

// A record beyond the limit: an error, or (private) the record is cut and its rest is passed by.
// Only the first of a block can be so long: a block grows no further than its first record.
void CsvBlockReader::limit_first_record(std::string& bytes) {
  if (policy_ == RowPolicy::Repair && format_.records == Records::Quoted) {
    limit_quoted_record(bytes);
    return;
  }
  if (bytes.size() <= kLongestCsvRecord) return;
  const CsvTokenizer tokenizer(policy_, format_);
  const auto within_limit = std::string_view(bytes).substr(0, kLongestCsvRecord);
  if (tokenizer.whole_records(within_limit) > 0) return;
  if (policy_ == RowPolicy::MustFit || lines_ == 0) refuse_long_record();  // the header is public
  const auto line_end = std::min(bytes.find('\n', kLongestCsvRecord), bytes.size());
  bytes.erase(kLongestCsvRecord, line_end - kLongestCsvRecord);
}

// The record loses the value that crosses the limit and all that follow: cut inside quotes, it
// might become several. How much of it is at hand at a time changes nothing.
void CsvBlockReader::limit_quoted_record(std::string& bytes) {
  using FieldEnd = CsvTokenizer::FieldEnd;
  if (!cut_ && bytes.size() <= kLongestCsvRecord) return;
  const CsvTokenizer tokenizer(policy_, format_);
  const auto pass_by = [&](std::size_t to) {
    const std::size_t size = to - cut_->at;
    cut_->lines += count_lines(std::string_view(bytes).substr(cut_->at, size));
    bytes.erase(cut_->at, size);
  };
  for (std::size_t at = cut_ ? cut_->at : 0;;) {  // a field starts there
    FieldEnd end{FieldEnd::Stop, std::min(bytes.find('\n', at), bytes.size())};
    if (!cut_ || !cut_->as_line) {
      end = tokenizer.field_end(bytes, at, !ended_);
    } else if (end.at == bytes.size() && !ended_) {
      end.kind = FieldEnd::Line;
    }
    if (!cut_ && end.kind != FieldEnd::Uncertain && end.at >= kLongestCsvRecord) {
      if (lines_ == 0) refuse_long_record();  // the header is public
      cut_ = Cut{.at = at};
    }
    if (end.kind == FieldEnd::Stop && end.at < bytes.size() && bytes[end.at] != '\n') {
      at = end.at + 1;
      continue;
    }
    if (!cut_) return;
    cut_->as_line = end.kind == FieldEnd::Line;
    cut_->passed = end.kind == FieldEnd::Stop;
    pass_by(end.kind == FieldEnd::Stop || end.kind == FieldEnd::Line ? end.at : at);
    if (end.kind == FieldEnd::Plain) bytes.resize(cut_->at + 1);  // which says as much
    return;
  }
}

}  // namespace tandem
