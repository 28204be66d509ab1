// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/options.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

UsageError wrong(const std::string& name, const std::string& text, const std::string& expected) {
  return UsageError(fmt::format("{} is {}; expected {}.", setting("param." + std::string(name)),
                                in_quotes(text), expected));
}

std::string describe(const Range& range, const char* kind) {
  const bool below = std::isfinite(range.least);
  const bool above = std::isfinite(range.most);
  if (below && above) return fmt::format("a {} from {:g} to {:g}", kind, range.least, range.most);
  if (below) return fmt::format("a {} of at least {:g}", kind, range.least);
  if (above) return fmt::format("a {} of at most {:g}", kind, range.most);
  return fmt::format("a {}", kind);
}

bool inside(double value, const Range& range) {
  return value >= range.least && value <= range.most;
}

}  // namespace

Parameters parse_parameters(const std::vector<std::string>& texts) {
  Parameters parameters;
  for (const auto& text : texts) {
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0) {
      throw UsageError(fmt::format(TANDEM_SETTING("param") " {} is not of the form KEY=VALUE.",
                                   in_quotes(text)));
    }
    const std::string name = text.substr(0, at);
    for (const auto& [before, value] : parameters) {
      if (before == name) {
        throw UsageError(fmt::format(TANDEM_SETTING("param") " {} is given twice; give it once.",
                                     in_quotes(name)));
      }
    }
    parameters.emplace_back(name, text.substr(at + 1));
  }
  return parameters;
}

void assign(int& value, const std::string& name, const std::string& text, const Range& range) {
  const auto number = parse_integer(text);
  if (!number || *number > std::numeric_limits<int>::max() ||
      *number < std::numeric_limits<int>::min() || !inside(static_cast<double>(*number), range)) {
    throw wrong(name, text, describe(range, "whole number"));
  }
  value = static_cast<int>(*number);
}

void assign(double& value, const std::string& name, const std::string& text, const Range& range) {
  const auto number = parse_number(text);
  if (!number || !inside(*number, range)) throw wrong(name, text, describe(range, "number"));
  value = *number;
}

void assign(bool& value, const std::string& name, const std::string& text, const Range& /*range*/) {
  if (text == "true" || text == "yes" || text == "1") {
    value = true;
  } else if (text == "false" || text == "no" || text == "0") {
    value = false;
  } else {
    throw wrong(name, text, "true or false");
  }
}

void assign(std::optional<int>& value, const std::string& name, const std::string& text,
            const Range& range) {
  if (text == "auto") {
    value.reset();
    return;
  }
  const auto number = parse_integer(text);
  if (!number || *number > std::numeric_limits<int>::max() ||
      !inside(static_cast<double>(*number), range)) {
    throw wrong(name, text, "auto or " + describe(range, "whole number"));
  }
  value = static_cast<int>(*number);
}

void assign(std::optional<double>& value, const std::string& name, const std::string& text,
            const Range& range) {
  if (text == "auto") {
    value.reset();
    return;
  }
  const auto number = parse_number(text);
  if (!number || !inside(*number, range)) {
    throw wrong(name, text, "auto or " + describe(range, "number"));
  }
  value = *number;
}

void assign(std::vector<double>& values, const std::string& name, const std::string& text,
            const Range& range) {
  values.clear();
  if (text == "auto") return;
  for (const auto& part : split(text, ',')) {
    const auto number = parse_number(part);
    if (!number || !inside(*number, range)) {
      throw wrong(name, text, "auto or a list with commas, each " + describe(range, "number"));
    }
    values.push_back(*number);
  }
}

std::string show(int value) { return std::to_string(value); }
std::string show(double value) { return fmt::format("{}", value); }
std::string show(bool value) { return value ? "true" : "false"; }
std::string show(const std::optional<int>& value) { return value ? show(*value) : "auto"; }
std::string show(const std::optional<double>& value) { return value ? show(*value) : "auto"; }
std::string show(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + show(value);
  return text.empty() ? "auto" : text;
}
std::string type_of(int /*value*/) { return "whole number"; }
std::string type_of(double /*value*/) { return "number"; }
std::string type_of(bool /*value*/) { return "true or false"; }
std::string type_of(const std::optional<int>& /*value*/) { return "auto or a whole number"; }
std::string type_of(const std::optional<double>& /*value*/) { return "auto or a number"; }
std::string type_of(const std::vector<double>& /*values*/) { return "auto or numbers"; }

std::string type_of_choice(const std::vector<std::string>& words) {
  std::string text = "one of ";
  for (std::size_t i = 0; i < words.size(); ++i) text += (i > 0 ? ", " : "") + words[i];
  return text;
}

void fail_unknown_choice(const std::string& name, const std::string& text,
                         const std::vector<std::string>& words) {
  throw wrong(name, text, type_of_choice(words));
}

OptionInfo as_option(const std::vector<Printed>& printed) {
  std::vector<std::string> words = {kAsOurs};
  for (const auto& algorithm : printed) words.push_back(algorithm.word);
  return {
      kAs, type_of_choice(words), kAsOurs,
      "the settings of the paper, or of its authors' code, in one word; others may still be set"};
}

std::string as_word(const std::vector<Printed>& printed, const Parameters& parameters) {
  if (printed.empty()) return kAsOurs;
  for (const auto& [name, text] : parameters) {
    if (name != kAs || text == kAsOurs) continue;
    std::vector<std::string> words = {kAsOurs};
    for (const auto& algorithm : printed) {
      if (algorithm.word == text) return text;
      words.push_back(algorithm.word);
    }
    fail_unknown_choice(kAs, text, words);
  }
  return kAsOurs;
}

Parameters with_printed(const std::vector<Printed>& printed, const Parameters& parameters) {
  if (printed.empty()) return parameters;
  const std::string word = as_word(printed, parameters);
  Parameters out;
  for (const auto& algorithm : printed) {
    if (algorithm.word == word) out = algorithm.settings;
  }
  for (const auto& given : parameters) {
    if (given.first != kAs) out.push_back(given);
  }
  return out;
}

void fail_unknown_parameter(const std::string& mechanism, const std::string& name,
                            const std::vector<OptionInfo>& known) {
  std::vector<std::string> names;
  for (const auto& option : known) names.push_back(option.name);
  throw UsageError(fmt::format(
      TANDEM_SETTING("param") " {} is unknown to {}; {}.", in_quotes(name), mechanism,
      names.empty() ? "it has no parameters" : "its parameters are " + list_names(names, 40)));
}

}  // namespace tandem
