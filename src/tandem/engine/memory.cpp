// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/memory.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/table.h"
#include "tandem/query/workload.h"
#include "tandem/source/source_files.h"

namespace tandem {

namespace {

double parse_bytes(const std::string& text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1.0}, {"", 1.0}};
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number =
        parse_number(trim(std::string_view(text).substr(0, text.size() - unit.size())));
    if (number && *number > 0.0) return *number * bytes;
    break;
  }
  throw UsageError(
      fmt::format(TANDEM_SETTING("memory-limit") " is {}; write a size such as 8GB or 500MB.",
                  in_quotes(text)));
}

}  // namespace

double memory_limit(const std::string& stated) {
  if (!stated.empty()) return parse_bytes(stated);
  const double pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  return 0.75 * pages * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

namespace {

constexpr double kOfProcess = 20e6;  // the program, its buffers and threads; bytes

constexpr double kUsualRatio = 10.0;  // of text to what it is packed into

// How long the text is that a gzip file of so many bytes holds, as its last four bytes say it: of
// its last member, modulo 2^32. What says too little is guessed.
double unpacked_bytes(std::ifstream& file, double size) {
  std::array<unsigned char, 4> last{};
  file.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
  file.read(reinterpret_cast<char*>(last.data()), last.size());
  double stated = 0.0;
  for (std::size_t i = last.size(); file && i-- > 0;) stated = stated * 256.0 + last[i];
  const double guess = kUsualRatio * size;
  if (stated < size) return guess;
  return guess < 0x1p32 ? stated : std::max(stated, guess);
}

struct TextSize {
  double bytes = 0.0;  // 0: there is no such file
  bool guessed = false;
};

// As text, of all files of a source; what is packed is seldom more than ten times as large.
TextSize text_size(const std::string& source) {
  TextSize out;
  for (const auto& path : source_files(source)) {
    std::error_code missing;
    if (!std::filesystem::is_regular_file(path, missing)) continue;
    const auto size = static_cast<double>(std::filesystem::file_size(path, missing));
    if (missing) continue;
    std::ifstream file(path, std::ios::binary);
    const bool is_gzip = file.get() == 0x1f && file.get() == 0x8b;
    out.guessed = out.guessed || is_gzip || is_parquet(source);
    out.bytes += is_gzip              ? unpacked_bytes(file, size)
                 : is_parquet(source) ? kUsualRatio * size
                                      : size;
  }
  return out;
}

double text_bytes(const std::string& source) { return text_size(source).bytes; }

}  // namespace

// Of pairs: a user takes a line, and by far most take several.
constexpr double kBytesPerUser = 100.0;
constexpr double kBytesPerPair = 4.0;  // at least

double most_rows(const std::string& path, const Schema& schema) {
  if (is_pairs(path)) return text_bytes(path) / kBytesPerUser;
  return text_bytes(path) / (2.0 * static_cast<double>(schema.domain().size()));
}

std::optional<double> rows_at_most(const std::string& path, const Schema& schema) {
  const auto [bytes, guessed] = text_size(path);
  if (bytes == 0.0 || guessed) return std::nullopt;
  return bytes / (is_pairs(path) ? kBytesPerPair : static_cast<double>(schema.domain().size()));
}

double most_rows(const SynthSettings& s, const Schema& schema, std::optional<double> given) {
  return given ? *given : most_rows(s.private_source, schema);
}

double expected_rows(const SynthSettings& s, const Schema& schema, const PublicData& data,
                     std::optional<double> given) {
  if (given) return *given;
  double rows = 0.0;
  double bytes = 0.0;
  for (const auto& [name, table] : data.tables) rows += static_cast<double>(table.rows());
  for (const auto& source : s.public_sources) bytes += text_bytes(source);
  if (rows == 0.0 || bytes == 0.0) return most_rows(s.private_source, schema);
  return text_bytes(s.private_source) * rows / bytes;
}

double predicted_memory(const SynthSettings& s, const Schema& schema, double of_mechanism,
                        std::optional<double> given) {
  double row = 0.0;
  double cells = 0.0;
  for (const auto& attribute : schema.domain().attributes()) {
    row += static_cast<double>(code_width(attribute.size));
    cells += static_cast<double>(attribute.size);
  }
  const double most = most_rows(s, schema, given);
  if (!given && is_pairs(s.private_source)) {
    // A line of four bytes is a pair of four bytes, held twice while it is read, or a user, whose
    // name is kept as well; rows are numbers of records.
    constexpr double kPerByte = 4.0;
    constexpr double kPerValue = 600.0;  // of the schema, and of what mechanisms keep of a column
    const double made = s.rows > 0 ? static_cast<double>(s.rows) : most;
    return kPerByte * text_bytes(s.private_source) + 4.0 * made + kPerValue * cells + kOfProcess +
           of_mechanism;
  }
  double rows = (given ? 0.0 : most) + (s.rows > 0 ? static_cast<double>(s.rows) : most);
  for (const auto& source : s.public_sources) rows += most_rows(source, schema);
  return rows * row + 64.0 * cells + kOfProcess + of_mechanism;
}

void check_memory(const SynthSettings& s, const Schema& schema, double of_mechanism,
                  std::optional<double> given, bool may_tell) {
  const double need = predicted_memory(s, schema, of_mechanism, given);
  if (need <= memory_limit(s.memory_limit)) return;
  const bool tables = of_mechanism < need / 2.0;
  const bool conjunctions = Workload::bytes_to_draw(s.workload) > 0.0;
  const std::string limit = human_bytes(memory_limit(s.memory_limit));
  throw UsageError(fmt::format(
      "The run may need {}; raise " TANDEM_SETTING("memory-limit") " or choose a {}.",
      may_tell ? fmt::format("{} and the limit is {}", human_bytes(need), limit)
               : fmt::format("more than the limit of {}", limit),
      tables ? "smaller table"
      : conjunctions
          ? "smaller " TANDEM_SETTING("workload") ", such as conjunctions:3:20000:1"
          : "smaller " TANDEM_SETTING("workload") ", such as random-3way:1000:1, or max-model-mb"));
}

}  // namespace tandem
