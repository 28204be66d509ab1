// SPDX-License-Identifier: Apache-2.0
// Writes a list of pairs as large as Netflix's: 480,189 users and 17,770 items, about 100 million
// pairs, items as popular as rank^-0.9 and users log-normally active; and its schema. By hand.
//
//   netflix_like FOLDER [SCALE]     SCALE divides the number of users

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/base/text.h"

namespace {

constexpr std::size_t kUsers = 480'189;
constexpr std::size_t kItems = 17'770;
constexpr double kPairsPerUser = 209.25;  // 100,480,507 ratings
constexpr double kPopularity = 0.9;
constexpr double kSpread = 1.2;  // standard deviation of the logarithm of a user's pairs

// A draw from popularities by their running sum.
std::size_t draw_item(const std::vector<double>& sums, tandem::Rng& rng) {
  const double at = rng.uniform() * sums.back();
  return static_cast<std::size_t>(std::ranges::upper_bound(sums, at) - sums.begin());
}

double normal(tandem::Rng& rng) {
  const double u = 1.0 - rng.uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * 3.14159265358979323846 * rng.uniform());
}

}  // namespace

int main(int argc, char** argv) {
  const auto scale = argc > 2 ? tandem::parse_integer(argv[2]) : 1;
  if (argc < 2 || !scale || *scale < 1) {
    std::fprintf(stderr, "usage: netflix_like FOLDER [SCALE]\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const auto open = [&](const char* name) {
    std::FILE* file = std::fopen((folder / name).c_str(), "wb");
    if (file == nullptr) {
      std::perror(name);
      std::exit(1);
    }
    return file;
  };
  std::FILE* schema = open("schema.toml");
  fmt::print(schema, "[[columns]]\nprefix = \"i\"\ncount = {}\nsize = 2\n", kItems);
  std::fclose(schema);

  std::vector<double> sums;
  double sum = 0.0;
  for (std::size_t rank = 1; rank <= kItems; ++rank) {
    sums.push_back(sum += std::pow(static_cast<double>(rank), -kPopularity));
  }
  std::FILE* pairs = open("pairs.csv");
  fmt::print(pairs, "user,item\n");
  tandem::Rng rng(1);
  std::vector<bool> has(kItems);
  std::vector<std::size_t> items;
  std::size_t written = 0;
  std::string text;
  for (std::size_t user = 0; user < kUsers / static_cast<std::size_t>(*scale); ++user) {
    const double active = kPairsPerUser * std::exp(kSpread * normal(rng) - kSpread * kSpread / 2.0);
    const auto wanted = std::clamp(static_cast<std::size_t>(active), std::size_t{1}, kItems / 2);
    items.clear();
    while (items.size() < wanted) {
      const std::size_t item = draw_item(sums, rng);
      if (has[item]) continue;
      has[item] = true;
      items.push_back(item);
    }
    text.clear();
    for (const auto item : items) {
      has[item] = false;
      fmt::format_to(std::back_inserter(text), "{},i{}\n", user, item);
    }
    if (std::fwrite(text.data(), 1, text.size(), pairs) != text.size()) break;
    written += items.size();
  }
  if (std::ferror(pairs) != 0 || std::fclose(pairs) != 0) {
    std::perror("pairs.csv");
    return 1;
  }
  fmt::print("{} pairs\n", tandem::with_commas(written));
  return 0;
}
