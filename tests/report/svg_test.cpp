// SPDX-License-Identifier: Apache-2.0
// Pictures: what names may do to them, and that light and dark differ in colours alone.

#include "tandem/report/svg.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>

#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem::report {
namespace {

using test::contains;

// Whether tags are closed in order and nothing but text stands between them.
bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size();) {
    const auto tag = xml.find('<', at);
    const std::string text = xml.substr(at, tag == std::string::npos ? tag : tag - at);
    for (std::size_t i = text.find('&'); i != std::string::npos; i = text.find('&', i + 1)) {
      const auto end = text.find(';', i);
      const std::set<std::string> known = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      if (end == std::string::npos || !known.contains(text.substr(i, end - i + 1))) return false;
    }
    if (tag == std::string::npos) break;
    const auto end = xml.find('>', tag);
    if (end == std::string::npos) return false;
    const std::string inside = xml.substr(tag + 1, end - tag - 1);
    const std::string name = inside.substr(0, inside.find_first_of(" /", 1));
    if (inside.starts_with('/')) {
      if (open.empty() || "/" + open.back() != inside) return false;
      open.pop_back();
    } else if (!inside.ends_with('/')) {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty();
}

std::string with_text(const std::string& words) {
  Svg svg(100, 50, words, words);
  svg.text({10, 20}, words, {.halo = true}, words);
  return svg.write(Look::Either);
}

TEST(Svg, NoNameEndsItsElementOrBeginsAnother) {
  for (const std::string name :
       {"</text><script>alert(1)</script>", "\" onload=\"alert(1)", "' x='", "a&b;", "<!--", "]]>",
        "</style><style>*{display:none}", "&lt;b&gt;", "<?xml?>"}) {
    const std::string picture = with_text(name);
    EXPECT_TRUE(is_well_formed(picture)) << picture;
    EXPECT_FALSE(contains(picture, "<script")) << picture;
    EXPECT_FALSE(contains(picture, "onload=\"")) << picture;
  }
}

TEST(Svg, TextIsCleanUtf8) {
  EXPECT_EQ(xml_text("a\nb\tc"), "a b c");
  EXPECT_EQ(xml_text(std::string("a\0b", 3)),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(xml_text("\xff\xc3"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(xml_text("\xc3\xa9\xe6\xb0\xb4\xf0\x9f\x90\x9f"),
            "\xc3\xa9\xe6\xb0\xb4\xf0\x9f\x90\x9f");
  for (const std::string hidden : {"\xe2\x80\xae", "\xe2\x80\x8f", "\xe2\x81\xa6", "\xd8\x9c",
                                   "\xe2\x80\xa8", "\xef\xbb\xbf", "\xef\xbf\xbf"}) {
    EXPECT_EQ(xml_text(hidden), "\xef\xbf\xbd");
  }
}

RC_GTEST_PROP(Svg, AnyBytesGiveAWellFormedPicture, (const std::string& bytes)) {
  RC_ASSERT(is_well_formed(with_text(bytes)));
  std::string clean = xml_text(bytes);
  RC_ASSERT(is_printable(clean));
  RC_ASSERT(is_printable(shortened(bytes, 12.0, 30.0)) || !is_printable(bytes));
}

TEST(Svg, LooksDifferInTheStyleSheetAlone) {
  Svg svg(100, 50, "title", "description");
  svg.marker(Marker::Ring, {5, 5}, Tone::Series3, 4);
  svg.line({0, 0}, {1, 1}, {.tone = Tone::Axis});
  const auto body = [](const std::string& picture) {
    return picture.substr(picture.find("</style>"));
  };
  const std::string either = svg.write(Look::Either);
  const std::string dark = svg.write(Look::Dark);
  const std::string light = svg.write(Look::Light);
  EXPECT_EQ(body(either), body(dark));
  EXPECT_EQ(body(either), body(light));
  EXPECT_TRUE(contains(either, "@media (prefers-color-scheme:dark)"));
  EXPECT_FALSE(contains(dark, "@media"));
  EXPECT_TRUE(contains(either, "#ffffff"));
  EXPECT_TRUE(contains(either, "#0d1117"));
  EXPECT_FALSE(contains(dark, "#ffffff"));
  EXPECT_FALSE(contains(light, "#0d1117"));
}

TEST(Svg, SixtyFourSeriesDifferInColourOrMarker) {
  std::set<std::pair<Tone, Marker>> seen;
  for (std::size_t i = 0; i < 64; ++i) seen.insert({series_tone(i), series_marker(i)});
  EXPECT_EQ(seen.size(), 64U);
}

TEST(Svg, APlaceThatIsNoNumberIsRefused) {
  Svg svg(100, 50, "", "");
  EXPECT_THROW(svg.line({0, std::nan("")}, {1, 1}, {}), InternalError);
}

TEST(Svg, WordsAreCutToFit) {
  EXPECT_EQ(shortened("short", 12, 200), "short");
  const std::string cut = shortened("a name that is far too long for its place", 12, 100);
  EXPECT_TRUE(cut.ends_with("\xe2\x80\xa6"));
  EXPECT_LE(text_width(cut, 12), 100.0);
  EXPECT_GT(text_width(cut, 12), 80.0);
}

}  // namespace
}  // namespace tandem::report
