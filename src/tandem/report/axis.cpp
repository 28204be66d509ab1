// SPDX-License-Identifier: Apache-2.0
#include "tandem/report/axis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tandem/base/check.h"

namespace tandem::report {

namespace {

constexpr double kWorthALog = 4.0;  // largest over smallest value from which logarithms show more

// Decades of an axis below which other digits than 1 are labelled too.
constexpr double kFewDecades = 2.5;     // 2 and 5
constexpr double kHardlyADecade = 1.3;  // 3 and 7 as well

std::vector<Tick> labelled(const std::vector<double>& values) {
  std::vector<Tick> out;
  for (const double value : values) out.push_back({value, plain_number(value)});
  return out;
}

}  // namespace

std::string plain_number(double value) {
  if (value == 0.0) return "0";
  const double size = std::abs(value);
  if (size >= 1e-4 && size < 1e6) return fmt::format("{:.6g}", value);
  std::string out = fmt::format("{:.3e}", value);  // 2.000e-07
  const auto at = out.find('e');
  std::string digits = out.substr(0, at);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return fmt::format("{}e{}", digits, std::stoi(out.substr(at + 1)));
}

Axis::Kind Axis::kind_for(std::span<const double> values) {
  if (values.empty()) return Kind::Linear;
  const auto [least, most] = std::ranges::minmax(values);
  return least > 0.0 && most >= kWorthALog * least ? Kind::Log : Kind::Linear;
}

Axis::Axis(Kind kind, double low, double high, double from, double to)
    : kind_(kind), low_(low), high_(high), from_(from), to_(to) {
  check(high > low && (kind == Kind::Linear || low > 0.0), "an axis has a length");
}

double Axis::measure(double value) const { return kind_ == Kind::Log ? std::log10(value) : value; }

double Axis::at(double value) const {
  const double share = (measure(value) - measure(low_)) / (measure(high_) - measure(low_));
  return from_ + share * (to_ - from_);
}

std::vector<Tick> Axis::ticks(std::size_t most) const {
  std::vector<double> values;
  if (kind_ == Kind::Log) {
    const double decades = std::log10(high_) - std::log10(low_);
    const int step = std::max(1, static_cast<int>(std::ceil(decades / static_cast<double>(most))));
    const int first = static_cast<int>(std::floor(std::log10(low_)));
    for (int power = first; power <= first + static_cast<int>(decades) + 2; ++power) {
      for (const double digit : {1.0, 2.0, 3.0, 5.0, 7.0}) {
        const bool common = digit == 2.0 || digit == 5.0;
        if (digit > 1.0 && decades > (common ? kFewDecades : kHardlyADecade)) continue;
        if (digit == 1.0 && (power - first) % step != 0) continue;
        const double value = digit * std::pow(10.0, power);
        // A bound that is round itself is not lost to the last bit of a power.
        if (value >= low_ * (1.0 - 1e-9) && value <= high_ * (1.0 + 1e-9)) values.push_back(value);
      }
    }
    return labelled(values);
  }
  const double rough = (high_ - low_) / static_cast<double>(most);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double digit : {5.0, 2.0, 1.0}) {
    if (digit * power >= rough) step = digit * power;
  }
  const double slack = 1e-9 * step;
  for (double i = std::ceil((low_ - slack) / step); i * step <= high_ + slack; ++i) {
    values.push_back(i * step);
  }
  return labelled(values);
}

std::vector<double> spread_apart(std::span<const double> wanted, double gap, double low,
                                 double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return wanted[i]; });
  // Less i gaps each, places must only not fall: neighbours that would are pooled at their mean.
  struct Pool {
    double sum = 0.0;
    double count = 0.0;
    double mean() const { return sum / count; }
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < order.size(); ++i) {
    pools.push_back({wanted[order[i]] - gap * static_cast<double>(i), 1.0});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  const double last = high - gap * static_cast<double>(std::max<std::size_t>(order.size(), 1) - 1);
  std::vector<double> out(wanted.size());
  std::size_t i = 0;
  for (const Pool& pool : pools) {
    const double place = std::max(low, std::min(pool.mean(), last));
    for (double k = 0.0; k < pool.count; ++k, ++i) {
      out[order[i]] = place + gap * static_cast<double>(i);
    }
  }
  return out;
}

}  // namespace tandem::report
