// SPDX-License-Identifier: Apache-2.0
#include "tandem/report/line_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tandem/report/axis.h"

namespace tandem::report {

namespace {

// All lengths are in pixels of the picture's own size.
constexpr double kWidth = 900.0;
constexpr double kMargin = 20.0;
constexpr double kLeft = 66.0;        // of the plot: numbers of the left axis stand before it
constexpr double kRightNumbers = 62;  // beyond the right axis
constexpr double kInset = 18.0;       // between an axis and the first spot
constexpr double kPlotHeight = 350.0;
constexpr double kLine = 18.0;      // of small text
constexpr double kLabelGap = 18.0;  // between names of lines
constexpr double kWidestLabel = 250.0;
constexpr double kLeader = 26.0;  // from the last spot to its name
constexpr double kRadius = 4.0;   // of a marker
constexpr double kBand = 0.22;    // its opacity
constexpr double kTickGap = 8.0;  // the least between two numbers of an axis
constexpr double kAir = 0.05;     // of the vertical axis, left free above and below
constexpr std::size_t kMostTicks = 8;
constexpr std::size_t kMostOwnTicks = 12;  // values of x that are labelled themselves

constexpr Lettering kTitle{.size = 18, .bold = true};
constexpr Lettering kStamp{.tone = Tone::Alarm, .size = 12.5, .bold = true};
constexpr Lettering kNote{.tone = Tone::Quiet, .size = 13};
constexpr Lettering kName{.size = 13.5, .halo = true};
constexpr Lettering kNumber{.tone = Tone::Quiet, .size = 12.5};
constexpr Lettering kAxisName{.size = 13};

constexpr Stroke kDashed{.tone = Tone::Quiet, .width = 1.7, .dashes = "7 5"};

Lettering anchored(Lettering how, Anchor anchor) {
  how.anchor = anchor;
  return how;
}

struct Label {
  std::string name;
  Point end;  // of its line
  Tone tone = Tone::Quiet;
  std::optional<Marker> marker;
};

Axis vertical_axis(const LineChart& chart, double bottom, double top) {
  std::vector<double> values;
  for (const auto& series : chart.series) {
    for (const auto& spot : series.spots) {
      values.insert(values.end(), {spot.y, spot.low, spot.high});
    }
  }
  for (const auto& level : chart.levels) values.push_back(level.y);
  if (values.empty()) return {Axis::Kind::Linear, 0.0, 1.0, bottom, top};
  const auto [least, most] = std::ranges::minmax(values);
  if (Axis::kind_for(values) == Axis::Kind::Log) {
    const double air = std::pow(most / least, kAir);
    return {Axis::Kind::Log, least / air, most * air, bottom, top};
  }
  const double low = std::min(0.0, least);
  const double high = std::max(0.0, most);
  const double length = high > low ? high - low : 1.0;
  return {Axis::Kind::Linear, low, high + kAir * length + (high > low ? 0.0 : 1.0), bottom, top};
}

std::vector<double> places_of(const LineChart& chart) {
  std::vector<double> out;
  for (const auto& series : chart.series) {
    for (const auto& spot : series.spots) out.push_back(spot.x);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Axis horizontal_axis(const std::vector<double>& places, double from, double to) {
  if (places.empty()) return {Axis::Kind::Linear, 0.0, 1.0, from, to};
  const double low = places.front();
  const double high = places.back();
  if (low == high) return {Axis::Kind::Linear, low - 1.0, high + 1.0, from, to};
  return {Axis::kind_for(places), low, high, from, to};
}

// The values themselves where there are few and their numbers don't touch, otherwise round ones.
std::vector<Tick> horizontal_ticks(const Axis& axis, const std::vector<double>& places) {
  std::vector<Tick> own;
  double free_from = -kWidth;
  for (const double place : places) {
    Tick tick{place, plain_number(place)};
    const double half = text_width(tick.label, kNumber.size) / 2.0;
    if (axis.at(place) - half < free_from) return axis.ticks(kMostTicks);
    free_from = axis.at(place) + half + kTickGap;
    own.push_back(std::move(tick));
  }
  return own.size() <= kMostOwnTicks ? own : axis.ticks(kMostTicks);
}

// What a reader who can't see the picture is told.
std::string description_of(const LineChart& chart) {
  std::string out = fmt::format("{} against {}.", chart.y_name, chart.x_name);
  for (const auto& series : chart.series) {
    out += fmt::format(" {}:", series.name);
    for (const auto& spot : series.spots) {
      out += fmt::format("{} {:.3g} at {}", &spot == &series.spots.front() ? "" : ",", spot.y,
                         plain_number(spot.x));
    }
    out += '.';
  }
  for (const auto& level : chart.levels) out += fmt::format(" {}: {:.3g}.", level.name, level.y);
  return out;
}

class Drawing {
 public:
  explicit Drawing(const LineChart& chart)
      : chart_(chart),
        labels_(chart.series.size() + chart.levels.size()),
        names_share_a_line_(text_width(chart.y_name, kAxisName.size) +
                                text_width(chart.right_name, kAxisName.size) + 2.0 * kMargin <
                            kWidth - 2.0 * kMargin),
        top_(head_height()),
        bottom_(top_ + std::max(kPlotHeight, kLabelGap * static_cast<double>(labels_))),
        right_(chart.right.empty() ? kWidth - kMargin : kWidth - kRightNumbers),
        label_width_(widest_label()),
        last_spot_(right_ - label_width_ - kLeader - kInset),
        places_(places_of(chart)),
        x_(horizontal_axis(places_, kLeft + kInset, last_spot_)),
        y_(vertical_axis(chart, bottom_, top_)),
        svg_(kWidth, bottom_ + 60.0, chart.title, description_of(chart)) {}

  std::string write(Look look) {
    head();
    left_axis();
    right_axis();
    bottom_axis();
    lines();
    names();
    return svg_.write(look);
  }

 private:
  double head_height() const {
    double out = kMargin + 28.0 + kLine * static_cast<double>(chart_.notes.size());
    if (!chart_.stamp.empty()) out += 22.0;
    return out + 34.0 + (names_share_a_line_ ? 0.0 : kLine);
  }

  double widest_label() const {
    double out = 0.0;
    for (const auto& series : chart_.series) {
      out = std::max(out, text_width(series.name, kName.size));
    }
    for (const auto& level : chart_.levels) {
      out = std::max(out, text_width(level.name, kName.size));
    }
    return std::min(out, kWidestLabel) + 3.0 * kRadius;
  }

  void head() {
    double y = kMargin;
    const double width = kWidth - 2.0 * kMargin;
    const auto line = [&](const std::string& text, const Lettering& how, double height) {
      y += height;
      const std::string shown = shortened(text, how.size, width);
      svg_.text({kMargin, y - 6.0}, shown, how, shown == text ? "" : text);
    };
    if (!chart_.stamp.empty()) line(chart_.stamp, kStamp, 22.0);
    line(chart_.title, kTitle, 24.0);
    y += 4.0;
    for (const auto& note : chart_.notes) line(note, kNote, kLine);
    const double names = top_ - 14.0;
    svg_.text({kMargin, names - (names_share_a_line_ ? 0.0 : kLine)}, chart_.y_name, kAxisName);
    if (!chart_.right.empty()) {
      svg_.text({kWidth - kMargin, names}, chart_.right_name, anchored(kAxisName, Anchor::End));
    }
  }

  void left_axis() {
    for (const auto& tick : y_.ticks(kMostTicks)) {
      const double y = y_.at(tick.value);
      svg_.line({kLeft, y}, {right_, y}, {.tone = Tone::Grid});
      svg_.text({kLeft - 9.0, y + 4.0}, tick.label, anchored(kNumber, Anchor::End));
    }
  }

  void right_axis() {
    if (chart_.right.empty()) return;
    svg_.line({right_, top_}, {right_, bottom_}, {.tone = Tone::Axis});
    double free_from = top_ - kLine;
    auto marks = chart_.right;
    std::ranges::stable_sort(marks, std::ranges::greater{}, &Mark::y);
    for (const auto& mark : marks) {
      if (!y_.holds(mark.y)) continue;
      const double y = y_.at(mark.y);
      if (y < free_from) continue;
      free_from = y + kNumber.size + 2.0;
      svg_.line({right_, y}, {right_ + 5.0, y}, {.tone = Tone::Axis});
      svg_.text({right_ + 9.0, y + 4.0}, mark.label, kNumber);
    }
  }

  void bottom_axis() {
    svg_.line({kLeft, bottom_}, {last_spot_ + kInset, bottom_}, {.tone = Tone::Axis});
    for (const auto& tick : horizontal_ticks(x_, places_)) {
      const double x = x_.at(tick.value);
      svg_.line({x, bottom_}, {x, bottom_ + 5.0}, {.tone = Tone::Axis});
      svg_.text({x, bottom_ + 19.0}, tick.label, anchored(kNumber, Anchor::Middle));
    }
    svg_.text({kLeft, bottom_ + 42.0}, chart_.x_name, kAxisName);
  }

  Point at(const Spot& spot) const { return {x_.at(spot.x), y_.at(spot.y)}; }

  void band(const Series& series, Tone tone) {
    std::vector<Point> corners;
    for (const auto& spot : series.spots) corners.push_back({x_.at(spot.x), y_.at(spot.high)});
    for (auto spot = series.spots.rbegin(); spot != series.spots.rend(); ++spot) {
      corners.push_back({x_.at(spot->x), y_.at(spot->low)});
    }
    if (series.spots.size() > 1) return svg_.area(corners, tone, kBand);
    if (series.spots.size() == 1) svg_.path(corners, {.tone = tone, .width = 2.0});
  }

  // The first line is the one its caller named first, so it lies on top.
  void lines() {
    for (const auto& level : chart_.levels) {
      const double y = y_.at(level.y);
      svg_.line({kLeft, y}, {last_spot_ + kInset, y}, kDashed);
    }
    for (std::size_t i = chart_.series.size(); i-- > 0;) {
      band(chart_.series[i], series_tone(i));
    }
    for (std::size_t i = chart_.series.size(); i-- > 0;) {
      std::vector<Point> points;
      for (const auto& spot : chart_.series[i].spots) points.push_back(at(spot));
      if (points.empty()) continue;
      svg_.path(points, {.tone = series_tone(i), .width = 2.2});
      for (const Point& point : points) {
        svg_.marker(series_marker(i), point, series_tone(i), kRadius);
      }
    }
  }

  void names() {
    std::vector<Label> labels;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const auto& series = chart_.series[i];
      if (series.spots.empty()) continue;
      labels.push_back({series.name, at(series.spots.back()), series_tone(i), series_marker(i)});
    }
    for (const auto& level : chart_.levels) {
      labels.push_back({level.name, {last_spot_ + kInset, y_.at(level.y)}, Tone::Quiet, {}});
    }
    std::vector<double> wanted;
    wanted.reserve(labels.size());
    for (const auto& label : labels) wanted.push_back(label.end.y);
    const auto places = spread_apart(wanted, kLabelGap, top_ + 4.0, bottom_ - 6.0);
    const double left = right_ - label_width_ - kMargin / 2.0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto& label = labels[i];
      const Point begin{label.end.x + (label.marker ? 2.0 * kRadius : 2.0), label.end.y};
      const Point end{left - kRadius - 3.0, places[i]};
      if (begin.x < end.x) svg_.line(begin, end, {.tone = label.tone, .width = 0.9});
      if (label.marker) {
        svg_.marker(*label.marker, {left, places[i]}, label.tone, kRadius);
      } else {
        svg_.line({left - kRadius, places[i]}, {left + kRadius, places[i]}, kDashed);
      }
      const double x = left + 2.5 * kRadius;
      const std::string shown = shortened(label.name, kName.size, right_ - x);
      svg_.text({x, places[i] + 4.5}, shown, kName, shown == label.name ? "" : label.name);
    }
  }

  const LineChart& chart_;
  std::size_t labels_;
  bool names_share_a_line_;
  double top_;     // of the plot
  double bottom_;  // of the plot
  double right_;   // where the right axis stands
  double label_width_;
  double last_spot_;
  std::vector<double> places_;
  Axis x_;
  Axis y_;
  Svg svg_;
};

}  // namespace

std::string draw(const LineChart& chart, Look look) { return Drawing(chart).write(look); }

}  // namespace tandem::report
