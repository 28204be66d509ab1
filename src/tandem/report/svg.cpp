// SPDX-License-Identifier: Apache-2.0
#include "tandem/report/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/base/text.h"

namespace tandem::report {

namespace {

constexpr std::size_t kSeriesTones = 8;
constexpr std::size_t kMarkers = 8;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::string_view kEllipsis = "\xe2\x80\xa6";     // U+2026
constexpr std::string_view kFonts =
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif";

// Chosen so that any two series differ in lightness or hue in normal vision and in simulations of
// protanopia and deuteranopia (Machado, Oliveira, Fernandes 2009), on either ground.
struct Colours {
  std::string_view light;
  std::string_view dark;
};
constexpr std::array<Colours, 14> kColours = {{
    {"#ffffff", "#0d1117"},  // Ground
    {"#1f2328", "#e6edf3"},  // Text
    {"#59636e", "#9aa5b1"},  // Quiet
    {"#8c959f", "#6e7681"},  // Axis
    {"#e4e8ec", "#232a33"},  // Grid
    {"#b3261e", "#ff8a80"},  // Alarm
    {"#0969da", "#4a9eff"},  // Series0
    {"#cf3f02", "#ff7b42"},
    {"#0a7350", "#3dbb86"},
    {"#5a2590", "#a06bff"},
    {"#c69200", "#ffe08a"},
    {"#e2549f", "#ff9ecf"},
    {"#46aedb", "#a5e3ff"},
    {"#6b3410", "#b5651d"},
}};

// Two decimals of a pixel are finer than any screen, and short.
std::string number(double value) {
  check(std::isfinite(value), "a place in a picture is a number");
  std::string out = fmt::format("{:.2f}", value);
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string place(Point at) { return number(at.x) + ' ' + number(at.y); }

std::string outline(std::span<const Point> points) {
  std::string out;
  for (const Point& point : points) {
    out += out.empty() ? 'M' : 'L';
    out += place(point);
  }
  return out;
}

// Bytes of the character at the front, as far as its first byte tells.
std::size_t length_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return std::min(length, text.size());
}

// Characters that are printable and still can't stand in a label: those that turn the direction of
// writing, separators of lines, and what XML forbids.
bool misleads(std::string_view character) {
  if (character == "\xd8\x9c") return true;  // U+061C
  if (character.size() != 3) return false;
  if (character >= "\xe2\x80\x8b" && character <= "\xe2\x80\x8f") return true;  // U+200B to 200F
  if (character >= "\xe2\x80\xa8" && character <= "\xe2\x80\xae") return true;  // U+2028 to 202E
  if (character >= "\xe2\x81\xa0" && character <= "\xe2\x81\xaf") return true;  // U+2060 to 206F
  return character == "\xef\xbb\xbf" || character >= "\xef\xbf\xbe";  // U+FEFF, U+FFFE, U+FFFF
}

// The characters of a text as they may be shown.
std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::string_view next = text.substr(0, length_of(text));
    if (next == "\n" || next == "\t" || next == "\r") {
      out.emplace_back(" ");
    } else if (!is_printable(next)) {
      out.push_back(kReplacement);
      text.remove_prefix(1);
      continue;
    } else {
      out.push_back(misleads(next) ? kReplacement : next);
    }
    text.remove_prefix(next.size());
  }
  return out;
}

// In parts of the letters' size, from above over common fonts without serifs.
double width_of(std::string_view character) {
  if (character.size() > 2) return character == kEllipsis ? 1.0 : 1.05;
  if (character.size() == 2) return 0.72;
  const char c = character.front();
  if (std::string_view("ijlI.,:;|!'` ").find(c) != std::string_view::npos) return 0.33;
  if (std::string_view("frt()[]{}-/\\\"").find(c) != std::string_view::npos) return 0.43;
  if (std::string_view("mwMW@%").find(c) != std::string_view::npos) return 0.95;
  return c >= 'A' && c <= 'Z' ? 0.74 : 0.62;
}

constexpr std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::Start ? "start" : anchor == Anchor::Middle ? "middle" : "end";
}

}  // namespace

Tone series_tone(std::size_t position) {
  return static_cast<Tone>(static_cast<std::size_t>(Tone::Series0) + position % kSeriesTones);
}

Marker series_marker(std::size_t position) {
  return static_cast<Marker>((position + position / kSeriesTones) % kMarkers);
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const std::string_view character : characters(text)) {
    if (character == "&") {
      out += "&amp;";
    } else if (character == "<") {
      out += "&lt;";
    } else if (character == ">") {
      out += "&gt;";
    } else if (character == "\"") {
      out += "&quot;";
    } else if (character == "'") {
      out += "&#39;";
    } else {
      out += character;
    }
  }
  return out;
}

double text_width(std::string_view text, double size) {
  double out = 0.0;
  for (const std::string_view character : characters(text)) out += width_of(character) * size;
  return out;
}

std::string shortened(std::string_view text, double size, double width) {
  if (text_width(text, size) <= width) return std::string(text);
  double used = width_of(kEllipsis) * size;
  std::string out;
  for (const std::string_view character : characters(text)) {
    used += width_of(character) * size;
    if (used > width) break;
    out += character;
  }
  return out + std::string(kEllipsis);
}

Svg::Svg(double width, double height, std::string_view title, std::string_view description)
    : width_(width), height_(height) {
  head_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-labelledby=\"title description\">\n"
      "<title id=\"title\">{2}</title>\n<desc id=\"description\">{3}</desc>\n",
      number(width), number(height), xml_text(title), xml_text(description));
  body_ = fmt::format("<rect class=\"{}\" width=\"{}\" height=\"{}\"/>\n", fill(Tone::Ground),
                      number(width_), number(height_));
}

std::string Svg::fill(Tone tone) {
  fills_ |= 1U << static_cast<unsigned>(tone);
  return fmt::format("f{}", static_cast<unsigned>(tone));
}

std::string Svg::stroke(Tone tone) {
  strokes_ |= 1U << static_cast<unsigned>(tone);
  return fmt::format("s{}", static_cast<unsigned>(tone));
}

void Svg::line(Point from, Point to, const Stroke& how) {
  const std::array<Point, 2> ends = {from, to};
  path(ends, how);
}

void Svg::path(std::span<const Point> points, const Stroke& how) {
  body_ +=
      fmt::format("<path class=\"{}\" stroke-width=\"{}\"", stroke(how.tone), number(how.width));
  if (!how.dashes.empty()) body_ += fmt::format(" stroke-dasharray=\"{}\"", how.dashes);
  body_ += fmt::format(" d=\"{}\"/>\n", outline(points));
}

void Svg::area(std::span<const Point> corners, Tone tone, double opacity) {
  body_ += fmt::format("<path class=\"{}\" fill-opacity=\"{}\" d=\"{}Z\"/>\n", fill(tone),
                       number(opacity), outline(corners));
}

void Svg::marker(Marker marker, Point at, Tone tone, double radius) {
  const double r = radius;
  const auto closed = [&](std::initializer_list<Point> offsets) {
    std::vector<Point> corners;
    for (const Point& offset : offsets) {
      corners.push_back({at.x + r * offset.x, at.y + r * offset.y});
    }
    area(corners, tone, 1.0);
  };
  const auto strokes = [&](Point one, Point other) {
    const Stroke thick{.tone = tone, .width = 0.6 * r};
    for (const Point& way : {one, other}) {
      line({at.x - r * way.x, at.y - r * way.y}, {at.x + r * way.x, at.y + r * way.y}, thick);
    }
  };
  // All have about the area of the circle.
  switch (marker) {
    case Marker::Circle:
      body_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", fill(tone),
                           number(at.x), number(at.y), number(r));
      return;
    case Marker::Square:
      return closed({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case Marker::Triangle:
      return closed({{0.0, -1.25}, {1.2, 0.85}, {-1.2, 0.85}});
    case Marker::Diamond:
      return closed({{0.0, -1.3}, {1.3, 0.0}, {0.0, 1.3}, {-1.3, 0.0}});
    case Marker::Cross:
      return strokes({1.0, 1.0}, {1.0, -1.0});
    case Marker::Plus:
      return strokes({1.3, 0.0}, {0.0, 1.3});
    case Marker::Flag:
      return closed({{0.0, 1.25}, {1.2, -0.85}, {-1.2, -0.85}});
    case Marker::Ring:
      body_ += fmt::format(
          "<circle class=\"{} {}\" stroke-width=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
          fill(Tone::Ground), stroke(tone), number(0.5 * r), number(at.x), number(at.y),
          number(0.9 * r));
      return;
  }
}

void Svg::text(Point at, std::string_view words, const Lettering& how, std::string_view hint) {
  std::string classes = fill(how.tone);
  if (how.halo) {
    classes += " h";
    fills_ |= 1U << static_cast<unsigned>(Tone::Ground);
  }
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"", classes,
                       number(at.x), number(at.y), number(how.size));
  if (how.anchor != Anchor::Start) {
    body_ += fmt::format(" text-anchor=\"{}\"", anchor_name(how.anchor));
  }
  if (how.bold) body_ += " font-weight=\"600\"";
  body_ += '>';
  if (!hint.empty()) body_ += fmt::format("<title>{}</title>", xml_text(hint));
  body_ += xml_text(words) + "</text>\n";
}

std::string Svg::write(Look look) const {
  const auto rules = [&](bool dark) {
    std::string out;
    const auto colour = [&](std::size_t i) { return dark ? kColours[i].dark : kColours[i].light; };
    for (std::size_t i = 0; i < kColours.size(); ++i) {
      if ((fills_ >> i & 1U) != 0) out += fmt::format(".f{}{{fill:{}}}", i, colour(i));
      if ((strokes_ >> i & 1U) != 0) out += fmt::format(".s{}{{stroke:{}}}", i, colour(i));
    }
    return out + fmt::format(".h{{stroke:{}}}", colour(0));
  };
  std::string style = fmt::format(
      "text{{font-family:{}}}path{{fill:none;stroke-linejoin:round;stroke-linecap:round}}"
      ".h{{stroke-width:3.5px;stroke-linejoin:round;paint-order:stroke}}\n{}",
      kFonts, rules(look == Look::Dark));
  if (look == Look::Either) {
    style += fmt::format("\n@media (prefers-color-scheme:dark){{{}}}", rules(true));
  }
  return head_ + "<style>\n" + style + "\n</style>\n" + body_ + "</svg>\n";
}

}  // namespace tandem::report
