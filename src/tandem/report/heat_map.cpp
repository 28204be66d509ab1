// SPDX-License-Identifier: Apache-2.0
#include "tandem/report/heat_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tandem/base/check.h"
#include "tandem/report/axis.h"

namespace tandem::report {

namespace {

// All lengths are in pixels of the picture's own size.
constexpr double kWidth = 900.0;
constexpr double kMargin = 20.0;
constexpr double kLine = 18.0;          // of small text
constexpr double kWidestLabel = 150.0;  // of a row
constexpr double kNarrowest = 14.0;     // cell
constexpr double kWidest = 72.0;        // cell
constexpr double kHeight = 24.0;        // of a cell
constexpr double kWithNumber = 30.0;    // a cell of this width shows its number
constexpr double kGap = 1.0;            // between cells
constexpr double kPanelGap = 34.0;      // below a panel, with its labels
constexpr double kLabelGap = 10.0;      // between two labels
constexpr double kScaleWidth = 180.0;
constexpr double kScaleHeight = 12.0;
constexpr int kScaleSteps = 20;
constexpr std::size_t kMostTicks = 5;
// Opacity of the smallest and of the largest value; from the middle on, numbers are light.
constexpr double kFaint = 0.08;
constexpr double kFull = 1.0;
constexpr double kMiddle = 0.75;

constexpr Lettering kTitle{.size = 18, .bold = true};
constexpr Lettering kStamp{.tone = Tone::Alarm, .size = 12.5, .bold = true};
constexpr Lettering kNote{.tone = Tone::Quiet, .size = 13};
constexpr Lettering kLabel{.tone = Tone::Quiet, .size = 12};

// .18 instead of 0.18: a cell is narrow.
std::string short_number(double value) {
  std::string out = fmt::format("{:.2f}", value);
  return out.starts_with("0.") ? out.substr(1) : out;
}

class Drawing {
 public:
  explicit Drawing(const HeatMap& map)
      : map_(map),
        top_(kMargin + 28.0 + kLine * static_cast<double>(map.notes.size()) +
             (map.stamp.empty() ? 0.0 : 22.0) + 52.0),
        left_(kMargin + widest_label() + 8.0),
        panels_(panels()),
        across_((map.columns.size() + panels_ - 1) / panels_),
        cell_(std::min(kWidest, (kWidth - kMargin - left_) / static_cast<double>(across_))),
        panel_height_(kHeight * static_cast<double>(map.rows.size()) + kPanelGap),
        svg_(kWidth, top_ + panel_height_ * static_cast<double>(panels_) + 8.0, map.title,
             description()) {
    find_range();
  }

  std::string write(Look look) {
    head();
    scale();
    for (std::size_t panel = 0; panel < panels_; ++panel) draw_panel(panel);
    return svg_.write(look);
  }

 private:
  double widest_label() const {
    double out = 0.0;
    for (const auto& row : map_.rows) out = std::max(out, text_width(row, kLabel.size));
    return std::min(out, kWidestLabel);
  }

  std::size_t panels() const {
    const auto fit = static_cast<std::size_t>((kWidth - kMargin - left_) / kNarrowest);
    return (map_.columns.size() + fit - 1) / fit;
  }

  // Round values that hold all others between them.
  void find_range() {
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    for (const auto& cell : map_.cells) {
      if (!cell) continue;
      check(std::isfinite(cell->value), "the value of a cell is a number");
      if (cell->alarm) continue;
      least = std::min(least, cell->value);
      most = std::max(most, cell->value);
    }
    if (!(least <= most)) least = most = 0.0;
    const double length = std::max(most - least, 1e-3 * std::max(1.0, std::abs(most)));
    const double power = std::pow(10.0, std::floor(std::log10(length)));
    const double step = length / power < 2.5 ? power / 2.0 : power;
    low_ = std::floor(least / step) * step;
    high_ = std::max(std::ceil(most / step) * step, low_ + step);
  }

  // What a reader who can't see the picture is told.
  std::string description() const {
    std::string out = map_.value_name + ".";
    double sum = 0.0;
    std::size_t shown = 0;
    std::size_t alarms = 0;
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    for (const auto& cell : map_.cells) {
      if (!cell) continue;
      alarms += cell->alarm ? 1 : 0;
      if (cell->alarm) continue;
      ++shown;
      sum += cell->value;
      least = std::min(least, cell->value);
      most = std::max(most, cell->value);
    }
    if (shown > 0) {
      out += fmt::format(" {} cells, {:.3g} on average, from {:.3g} to {:.3g}.", shown,
                         sum / static_cast<double>(shown), least, most);
    }
    if (alarms > 0) out += fmt::format(" {} crossed: {}.", alarms, map_.alarm_name);
    return out;
  }

  double opacity_of(double value) const {
    return kFaint + (kFull - kFaint) * std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
  }

  void box(Point at, double width, double height, Tone tone, double opacity) {
    const std::array<Point, 4> corners = {
        at, {at.x + width, at.y}, {at.x + width, at.y + height}, {at.x, at.y + height}};
    svg_.area(corners, tone, opacity);
  }

  void crossed(Point at, double width, double height) {
    box(at, width, height, Tone::Alarm, 1.0);
    svg_.marker(Marker::Cross, {at.x + width / 2.0, at.y + height / 2.0}, Tone::Ground, 4.0);
  }

  void head() {
    double y = kMargin;
    const double width = kWidth - 2.0 * kMargin;
    const auto line = [&](const std::string& text, const Lettering& how, double height) {
      y += height;
      const std::string shown = shortened(text, how.size, width);
      svg_.text({kMargin, y - 6.0}, shown, how, shown == text ? "" : text);
    };
    if (!map_.stamp.empty()) line(map_.stamp, kStamp, 22.0);
    line(map_.title, kTitle, 24.0);
    y += 4.0;
    for (const auto& note : map_.notes) line(note, kNote, kLine);
  }

  void scale() {
    const double y = top_ - 42.0;
    const double step = kScaleWidth / kScaleSteps;
    for (int i = 0; i < kScaleSteps; ++i) {
      const double middle = low_ + (high_ - low_) * (i + 0.5) / kScaleSteps;
      box({kMargin + i * step, y}, step, kScaleHeight, Tone::Series0, opacity_of(middle));
    }
    const Axis axis(Axis::Kind::Linear, low_, high_, kMargin, kMargin + kScaleWidth);
    Lettering number = kLabel;
    number.anchor = Anchor::Middle;
    for (const auto& tick : axis.ticks(kMostTicks)) {
      svg_.text({axis.at(tick.value), y + kScaleHeight + 14.0}, tick.label, number);
    }
    double x = kMargin + kScaleWidth + 14.0;
    svg_.text({x, y + 10.0}, map_.value_name, kNote);
    const bool alarms = std::ranges::any_of(
        map_.cells, [](const std::optional<Heat>& cell) { return cell && cell->alarm; });
    if (!alarms) return;
    x += text_width(map_.value_name, kNote.size) + 24.0;
    crossed({x, y - 1.0}, 14.0, 14.0);
    svg_.text({x + 20.0, y + 10.0},
              shortened(map_.alarm_name, kNote.size, kWidth - kMargin - x - 20.0), kNote);
  }

  void draw_panel(std::size_t panel) {
    const double top = top_ + panel_height_ * static_cast<double>(panel);
    const std::size_t first = panel * across_;
    const std::size_t last = std::min(map_.columns.size(), first + across_);
    Lettering right = kLabel;
    right.anchor = Anchor::End;
    for (std::size_t r = 0; r < map_.rows.size(); ++r) {
      const double y = top + kHeight * static_cast<double>(r);
      const std::string shown = shortened(map_.rows[r], kLabel.size, kWidestLabel);
      svg_.text({left_ - 8.0, y + 16.0}, shown, right, shown == map_.rows[r] ? "" : map_.rows[r]);
      for (std::size_t c = first; c < last; ++c) {
        draw_cell({left_ + cell_ * static_cast<double>(c - first), y},
                  map_.cells[r * map_.columns.size() + c]);
      }
    }
    // Each name under its cell; where cells are narrow, some of them, from the cell's left edge.
    double widest = 0.0;
    for (std::size_t c = first; c < last; ++c) {
      widest = std::max(widest, text_width(map_.columns[c], kLabel.size));
    }
    Lettering label = kLabel;
    label.anchor = widest <= cell_ ? Anchor::Middle : Anchor::Start;
    double free_from = 0.0;
    const double y = top + kHeight * static_cast<double>(map_.rows.size()) + 15.0;
    for (std::size_t c = first; c < last; ++c) {
      const double x = left_ + cell_ * static_cast<double>(c - first);
      const double width = text_width(map_.columns[c], kLabel.size);
      if (label.anchor == Anchor::Middle) {
        svg_.text({x + cell_ / 2.0, y}, map_.columns[c], label);
      } else if (x >= free_from && x + width <= kWidth) {
        svg_.text({x, y}, map_.columns[c], label);
        free_from = x + width + kLabelGap;
      }
    }
  }

  void draw_cell(Point at, const std::optional<Heat>& cell) {
    const double width = cell_ - kGap;
    const double height = kHeight - kGap;
    if (!cell) return box(at, width, height, Tone::Grid, 0.5);
    if (cell->alarm) return crossed(at, width, height);
    const double opacity = opacity_of(cell->value);
    box(at, width, height, Tone::Series0, opacity);
    if (cell_ < kWithNumber) return;
    const Lettering number{.tone = opacity > kMiddle ? Tone::Ground : Tone::Text,
                           .size = 12,
                           .anchor = Anchor::Middle};
    svg_.text({at.x + width / 2.0, at.y + 16.0}, short_number(cell->value), number);
  }

  const HeatMap& map_;
  double top_;   // of the first panel
  double left_;  // of the cells
  std::size_t panels_;
  std::size_t across_;  // columns of a panel
  double cell_;
  double panel_height_;
  double low_ = 0.0;
  double high_ = 1.0;
  Svg svg_;
};

}  // namespace

std::string draw(const HeatMap& map, Look look) {
  check(!map.rows.empty() && !map.columns.empty() &&
            map.cells.size() == map.rows.size() * map.columns.size(),
        "a heat map has a cell for each row and column");
  return Drawing(map).write(look);
}

}  // namespace tandem::report
