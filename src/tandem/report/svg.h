// SPDX-License-Identifier: Apache-2.0
#pragma once
// A picture as SVG text: shapes and words, in colours for light and for dark pages.
//
// The same calls give the same bytes. Words stay words, and every one of them is cleaned and
// escaped, so that no name can end its element or turn the text around. There is no script, no link
// and nothing that a reader's program would have to load.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tandem::report {

struct Point {
  double x = 0.0;  // pixels from the left
  double y = 0.0;  // pixels from the top
};

// Either follows what the reader's program prefers; pages that switch by themselves take the
// others.
enum class Look { Either, Light, Dark };

// What a colour is for. Eight series can be told apart, also by those who confuse red and green.
enum class Tone : std::uint8_t {
  Ground,
  Text,
  Quiet,
  Axis,
  Grid,
  Alarm,
  Series0,
  Series1,
  Series2,
  Series3,
  Series4,
  Series5,
  Series6,
  Series7
};
Tone series_tone(std::size_t position);  // begins again after eight

enum class Marker { Circle, Square, Triangle, Diamond, Cross, Plus, Flag, Ring };
// The second thing, beside the colour, that tells a series: the first sixty-four differ in one.
Marker series_marker(std::size_t position);

struct Stroke {
  Tone tone = Tone::Text;
  double width = 1.0;
  std::string_view dashes = {};  // as SVG writes them: "6 4"
};

enum class Anchor { Start, Middle, End };
struct Lettering {
  Tone tone = Tone::Text;
  double size = 12.0;  // pixels
  Anchor anchor = Anchor::Start;
  bool bold = false;
  bool halo = false;  // the ground's colour around each letter, where lines run below
};

class Svg {
 public:
  // Who can't see the picture is read the title and the description.
  Svg(double width, double height, std::string_view title, std::string_view description);

  void line(Point from, Point to, const Stroke& stroke);
  void path(std::span<const Point> points, const Stroke& stroke);
  void area(std::span<const Point> corners, Tone tone, double opacity);
  void marker(Marker marker, Point at, Tone tone, double radius);
  // A text that had to be cut short can have the whole as its hint.
  void text(Point at, std::string_view words, const Lettering& how, std::string_view hint = {});

  std::string write(Look look) const;

 private:
  std::string fill(Tone tone);  // the class of a shape, which the style sheet then knows
  std::string stroke(Tone tone);

  double width_;
  double height_;
  std::string head_;
  std::string body_;
  std::uint32_t fills_ = 0;  // a bit for each tone that is used so
  std::uint32_t strokes_ = 0;
};

// Text for between tags and for attributes: valid UTF-8, without control characters, line breaks
// and marks that turn the direction of writing.
std::string xml_text(std::string_view text);

// About how wide a line of text is, in pixels; fonts differ, so a little too wide.
double text_width(std::string_view text, double size);

// The text, or as much of its beginning as fits with an ellipsis.
std::string shortened(std::string_view text, double size, double width);

}  // namespace tandem::report
