// SPDX-License-Identifier: Apache-2.0
#pragma once
// A mechanism's own parameters: declared once as fields of a struct, they become `--param` keys,
// configuration keys, the table in the docs and a part of the release.

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

// "rounds=30" as {"rounds", "30"}. UsageError for another form, or a name given twice.
using Parameters = std::vector<std::pair<std::string, std::string>>;
Parameters parse_parameters(const std::vector<std::string>& texts);

struct OptionInfo {
  std::string name;
  std::string type;  // "whole number", "number", "true or false", "one of ..."
  std::string default_value;
  std::string help;
};

struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
constexpr Range at_least(double least) { return {.least = least}; }
constexpr Range between(double least, double most) { return {.least = least, .most = most}; }

// Text to value; UsageError names the parameter and what is allowed.
void assign(int& value, const std::string& name, const std::string& text, const Range& range);
void assign(double& value, const std::string& name, const std::string& text, const Range& range);
void assign(bool& value, const std::string& name, const std::string& text, const Range& range);
void assign(std::optional<int>& value, const std::string& name, const std::string& text,
            const Range& range);  // nothing is 'auto'
void assign(std::optional<double>& value, const std::string& name, const std::string& text,
            const Range& range);  // likewise
void assign(std::vector<double>& values, const std::string& name, const std::string& text,
            const Range& range);  // 'auto', or numbers with commas between
std::string show(int value);
std::string show(double value);
std::string show(bool value);
std::string show(const std::optional<int>& value);
std::string show(const std::optional<double>& value);
std::string show(const std::vector<double>& values);
std::string type_of(int value);
std::string type_of(double value);
std::string type_of(bool value);
std::string type_of(const std::optional<int>& value);
std::string type_of(const std::optional<double>& value);
std::string type_of(const std::vector<double>& values);

template <class Options>
struct Field {
  OptionInfo info;
  std::function<void(Options&, const std::string& text)> set;
  std::function<std::string(const Options&)> get;
};

// A field of an options struct; its default is the struct's own.
template <class Options, class T>
Field<Options> field(const std::string& name, T Options::*member, const std::string& help,
                     Range range = {}) {
  const Options defaults;
  return {.info = {name, type_of(defaults.*member), show(defaults.*member), help},
          .set = [=](Options& options,
                     const std::string& text) { assign(options.*member, name, text, range); },
          .get = [=](const Options& options) { return show(options.*member); }};
}

// A field that is one of a few words, each for a value of an enumeration.
template <class E>
using Choices = std::vector<std::pair<std::string, E>>;

[[noreturn]] void fail_unknown_choice(const std::string& name, const std::string& text,
                                      const std::vector<std::string>& words);
std::string type_of_choice(const std::vector<std::string>& words);

template <class Options, class E>
Field<Options> choice(const std::string& name, E Options::*member, const Choices<E>& choices,
                      const std::string& help) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) words.push_back(word);
  const auto word_of = [=](E wanted) {
    for (const auto& [word, value] : choices) {
      if (value == wanted) return word;
    }
    return std::string();
  };
  const Options defaults;
  return {.info = {name, type_of_choice(words), word_of(defaults.*member), help},
          .set =
              [=](Options& options, const std::string& text) {
                for (const auto& [word, value] : choices) {
                  if (word != text) continue;
                  options.*member = value;
                  return;
                }
                fail_unknown_choice(name, text, words);
              },
          .get = [=](const Options& options) { return word_of(options.*member); }};
}

[[noreturn]] void fail_unknown_parameter(const std::string& mechanism, const std::string& name,
                                         const std::vector<OptionInfo>& known);

// One word for the settings of a printed algorithm: `as=paper`, or `as=authors` where their code
// is known to differ from it. Parameters that are given as well win.
struct Printed {
  std::string word;
  Parameters settings;
};
inline constexpr const char* kAs = "as";
inline constexpr const char* kAsOurs = "default";

OptionInfo as_option(const std::vector<Printed>& printed);
// The word that is given, or kAsOurs. UsageError for one that the mechanism does not have.
std::string as_word(const std::vector<Printed>& printed, const Parameters& parameters);
// The settings of that word, then what is given beside it.
Parameters with_printed(const std::vector<Printed>& printed, const Parameters& parameters);

template <class Options>
Options read_options(const std::string& mechanism, const std::vector<Field<Options>>& fields,
                     const Parameters& parameters) {
  Options options;
  for (const auto& [name, text] : parameters) {
    bool found = false;
    for (const auto& field : fields) {
      if (field.info.name != name) continue;
      field.set(options, text);
      found = true;
    }
    if (!found) {
      std::vector<OptionInfo> known;
      for (const auto& field : fields) known.push_back(field.info);
      fail_unknown_parameter(mechanism, name, known);
    }
  }
  return options;
}

}  // namespace tandem
