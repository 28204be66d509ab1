// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/time_zone.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

constexpr std::int64_t kDay = 86400;

std::int64_t day_of(std::int64_t year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  return std::chrono::sys_days(date).time_since_epoch().count();
}

std::int64_t year_of(std::int64_t second) {
  const std::int64_t days = second / kDay - (second % kDay < 0 ? 1 : 0);
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  return static_cast<int>(date.year());
}

// Reads the parts of a rule from left to right.
class RuleText {
 public:
  explicit RuleText(const std::string& text) : text_(text) {}

  bool done() const { return at_ == text_.size(); }
  bool take(char c) {
    const bool there = at_ < text_.size() && text_[at_] == c;
    if (there) ++at_;
    return there;
  }
  void name() {
    if (take('<')) {
      while (at_ < text_.size() && !take('>')) ++at_;
      return;
    }
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool at_number() const {
    return at_ < text_.size() &&
           (text_[at_] == '+' || text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9'));
  }
  int number() {
    int out = 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && at_ - start < 4 && text_[at_] >= '0' && text_[at_] <= '9') {
      out = out * 10 + (text_[at_++] - '0');
    }
    if (at_ == start) throw UsageError("has a rule that can't be read");
    return out;
  }
  std::int64_t time() {  // [+-]hh[:mm[:ss]]
    const bool minus = take('-');
    if (!minus) take('+');
    std::int64_t out = std::int64_t{number()} * 3600;
    if (take(':')) out += std::int64_t{number()} * 60;
    if (take(':')) out += number();
    return minus ? -out : out;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

// Whole numbers of a zone file: the first byte is the highest.
class ZoneBytes {
 public:
  explicit ZoneBytes(const std::string& bytes) : bytes_(bytes) {}

  std::int64_t integer(std::size_t size) {
    std::uint64_t out = 0;
    const std::string_view part = take(size);
    for (const char c : part) out = out << 8 | static_cast<unsigned char>(c);
    if (size == 4) return static_cast<std::int32_t>(static_cast<std::uint32_t>(out));
    return static_cast<std::int64_t>(out);
  }
  std::string_view take(std::size_t size) {
    if (bytes_.size() - at_ < size) throw UsageError("ends too early");
    at_ += size;
    return std::string_view(bytes_).substr(at_ - size, size);
  }
  std::string_view rest() const { return std::string_view(bytes_).substr(at_); }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

struct ZoneCounts {
  std::size_t universal = 0;
  std::size_t standard = 0;
  std::size_t leaps = 0;
  std::size_t changes = 0;
  std::size_t types = 0;
  std::size_t letters = 0;
};

ZoneCounts read_header(ZoneBytes& bytes, char& version) {
  if (bytes.take(4) != "TZif") throw UsageError("is no zone file");
  version = bytes.take(1)[0];
  bytes.take(15);
  ZoneCounts out;
  for (auto* count :
       {&out.universal, &out.standard, &out.leaps, &out.changes, &out.types, &out.letters}) {
    *count = static_cast<std::uint32_t>(bytes.integer(4));
  }
  return out;
}

// "+01:30", "-0800", "+02".
std::optional<std::int64_t> fixed_offset(std::string_view name) {
  if (name.empty() || (name[0] != '+' && name[0] != '-')) return {};
  std::string digits;
  for (const char c : name.substr(1)) {
    if (c == ':' && digits.size() == 2) continue;
    if (c < '0' || c > '9') return {};
    digits += c;
  }
  if (digits.size() != 2 && digits.size() != 4) return {};
  digits.resize(4, '0');
  const std::int64_t minutes = std::stoi(digits.substr(0, 2)) * 60 + std::stoi(digits.substr(2));
  return (name[0] == '-' ? -60 : 60) * minutes;
}

bool is_zone_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '-' || c == '+';
  };
  return !name.empty() && name.size() < 100 && name.front() != '/' &&
         std::ranges::all_of(name, plain);
}

}  // namespace

std::int64_t TimeZone::Change::in_year(std::int64_t year) const {
  if (kind == Kind::Month) {
    const std::int64_t first = day_of(year, month, 1);
    const std::int64_t weekday = ((first + 4) % 7 + 7) % 7;  // 1970 began on a Thursday
    std::int64_t at = first + (day - weekday + 7) % 7 + (week - 1) * 7;
    const std::int64_t next = month == 12 ? day_of(year + 1, 1, 1) : day_of(year, month + 1, 1);
    while (at >= next) at -= 7;  // week 5 is the last
    return at * kDay + second;
  }
  std::int64_t at = day_of(year, 1, 1) + day;
  if (kind == Kind::Julian) {
    const bool leap = std::chrono::year(static_cast<int>(year)).is_leap();
    at += leap && day >= 60 ? 0 : -1;  // day 60 is always the first of March
  }
  return at * kDay + second;
}

TimeZone::Rule TimeZone::parse_rule(const std::string& text) {
  RuleText from(text);
  Rule out;
  from.name();
  out.standard = -from.time();
  if (from.done()) return out;
  from.name();
  out.has_summer = true;
  out.summer = from.at_number() ? -from.time() : out.standard + 3600;
  for (auto* change : {&out.begins, &out.ends}) {
    if (!from.take(',')) throw UsageError("has a rule that can't be read");
    if (from.take('M')) {
      change->month = from.number();
      from.take('.');
      change->week = from.number();
      from.take('.');
      change->day = from.number();
      if (change->month < 1 || change->month > 12 || change->week < 1 || change->week > 5 ||
          change->day > 6) {
        throw UsageError("has a rule that can't be read");
      }
    } else {
      change->kind = from.take('J') ? Change::Kind::Julian : Change::Kind::Day;
      change->day = from.number();
    }
    if (from.take('/')) change->second = from.time();
  }
  return out;
}

std::int64_t TimeZone::by_rule(std::int64_t second) const {
  if (!rule_.has_summer) return rule_.standard;
  const std::int64_t year = year_of(second + rule_.standard);
  const std::int64_t begins = rule_.begins.in_year(year) - rule_.standard;
  const std::int64_t ends = rule_.ends.in_year(year) - rule_.summer;
  const bool summer =
      begins < ends ? begins <= second && second < ends : second < ends || second >= begins;
  return summer ? rule_.summer : rule_.standard;
}

std::int64_t TimeZone::offset_at(std::int64_t second) const {
  const auto next = std::ranges::upper_bound(changes_, second);
  if (next == changes_.end() && has_rule_) return by_rule(second);
  if (next == changes_.begin()) return before_;
  return offsets_[static_cast<std::size_t>(next - changes_.begin()) - 1];
}

TimeZone TimeZone::parse(const std::string& bytes) {
  ZoneBytes from(bytes);
  char version = '\0';
  ZoneCounts counts = read_header(from, version);
  std::size_t width = 4;
  if (version >= '2') {  // the second part says the same with 64 bits
    from.take(counts.changes * 5 + counts.types * 6 + counts.letters + counts.leaps * 8 +
              counts.standard + counts.universal);
    counts = read_header(from, version);
    width = 8;
  }
  TimeZone out;
  for (std::size_t i = 0; i < counts.changes; ++i) out.changes_.push_back(from.integer(width));
  const std::string_view kinds = from.take(counts.changes);
  std::vector<std::int64_t> offsets;
  std::vector<bool> summer;
  for (std::size_t i = 0; i < counts.types; ++i) {
    offsets.push_back(from.integer(4));
    summer.push_back(from.take(2)[0] != '\0');
  }
  if (offsets.empty()) throw UsageError("names no offset");
  for (const char kind : kinds) {
    const auto at = static_cast<unsigned char>(kind);
    if (at >= offsets.size()) throw UsageError("names an offset that it does not have");
    out.offsets_.push_back(offsets[at]);
  }
  if (!std::ranges::is_sorted(out.changes_)) throw UsageError("has changes out of order");
  out.before_ = offsets[0];
  from.take(counts.letters + counts.leaps * (width + 4) + counts.standard + counts.universal);
  if (width == 8) {
    const std::string_view rest = from.rest();
    const auto end = rest.find('\n', 1);
    if (!rest.empty() && rest[0] == '\n' && end != std::string_view::npos && end > 1) {
      out.rule_ = parse_rule(std::string(rest.substr(1, end - 1)));
      out.has_rule_ = true;
    }
  }
  return out;
}

TimeZone TimeZone::read(const std::string& name, std::string_view column) {
  if (const auto fixed = fixed_offset(name)) {
    TimeZone out;
    out.before_ = *fixed;
    return out;
  }
  if (name == "UTC" || name == "Etc/UTC" || name == "GMT" || name == "Z") return {};
  if (is_zone_name(name)) {
    const char* stated = std::getenv("TZDIR");
    for (const char* folder : {stated, "/usr/share/zoneinfo", "/usr/lib/zoneinfo",
                               "/usr/share/lib/zoneinfo", "/etc/zoneinfo"}) {
      if (folder == nullptr) continue;
      const std::string path = std::string(folder) + "/" + name;
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      std::ifstream file(path, std::ios::binary);
      if (!file) continue;
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      if (!bytes.starts_with("TZif")) continue;
      try {
        return parse(bytes);
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("The zone file of {} {}; mend the machine's time zones.",
                                     in_quotes(name), error.what()));
      }
    }
  }
  throw UsageError(fmt::format(
      "The time zone {} of the column {} is not known to this machine; install its time "
      "zone files (tzdata), or convert the column.",
      in_quotes(name), in_quotes(column)));
}

}  // namespace tandem
