// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/people.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "tandem/data/csv_parser.h"

namespace tandem {

namespace {

constexpr std::size_t kShownAlike = 3;

std::string folded(std::string_view id) {
  std::string out;
  for (const char c : id) {
    if (key_of_field({&c, 1}).empty()) continue;
    if (out.empty() && c == '0') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

}  // namespace

void PeopleTally::add(std::string_view field) {
  const auto id = key_of_field(field);
  const std::hash<std::string_view> hash;
  if (!id.empty()) ids_.push_back({hash(folded(id)), hash(id), rows_});
  ++rows_;
}

void PeopleTally::append(const PeopleTally& more) {
  for (Id id : more.ids_) {
    id.row += rows_;
    ids_.push_back(id);
  }
  rows_ += more.rows_;
}

PeopleFit PeopleTally::finish(std::size_t rows_per_person) {
  PeopleFit out;
  out.blank_rows = rows_ - ids_.size();
  std::ranges::sort(ids_, [](const Id& a, const Id& b) {
    return std::tie(a.folded, a.exact, a.row) < std::tie(b.folded, b.exact, b.row);
  });
  std::vector<std::pair<std::size_t, std::size_t>> alike;
  for (std::size_t begin = 0; begin < ids_.size();) {
    const std::uint64_t group = ids_[begin].folded;
    std::vector<std::size_t> firsts;  // the first row of each spelling
    while (begin < ids_.size() && ids_[begin].folded == group) {
      std::size_t end = begin;
      while (end < ids_.size() && ids_[end].folded == group &&
             ids_[end].exact == ids_[begin].exact) {
        ++end;
      }
      const std::size_t rows = end - begin;
      ++out.people;
      out.most_rows = std::max(out.most_rows, rows);
      if (rows > rows_per_person) {
        ++out.above_bound;
        out.dropped_rows += rows - rows_per_person;
      }
      firsts.push_back(ids_[begin].row);
      begin = end;
    }
    if (firsts.size() < 2) continue;
    out.spelled_alike += firsts.size();
    std::ranges::sort(firsts);
    alike.emplace_back(firsts[0], firsts[1]);
  }
  std::ranges::sort(alike);
  alike.resize(std::min(alike.size(), kShownAlike));
  out.alike_rows = std::move(alike);
  return out;
}

}  // namespace tandem
