// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/release_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tandem/base/text.h"
#include "tandem/engine/release/release_documents.h"

namespace tandem {
namespace {

constexpr std::size_t kMostListed = 5;
constexpr std::size_t kMostColumns = 6;

constexpr std::size_t kIndent = 15;      // of a summary's texts, in characters
constexpr std::size_t kLineWidth = 100;  // of a summary

std::vector<std::string> names_in(const Document& columns) {
  std::vector<std::string> out;
  for (const auto& column : columns.as_array()) out.push_back(column.as_string());
  return out;
}

// "'a' and 'b'; 'c'; and 3 more"
std::string listed(const Document& lists) {
  std::string out;
  const auto& all = lists.as_array();
  const std::size_t shown = std::min(all.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += "; ";
    out += all[i].is_array() ? list_names(names_in(all[i]), kMostColumns)
                             : in_quotes(all[i].as_string());
  }
  if (all.size() > shown) out += fmt::format("; and {} more", all.size() - shown);
  return out;
}

std::string percent(double share) {
  return share < 0.01 ? "less than 1%" : fmt::format("{:.0f}%", 100.0 * share);
}

// A factor e^epsilon as a person would say it.
std::string times(double factor, double epsilon) {
  constexpr double kSayable = 1e6;
  if (factor >= kSayable) return fmt::format("e^{:g} times", epsilon);
  if (factor >= 100.0) {
    return with_commas(static_cast<std::uint64_t>(std::ceil(factor))) + " times";
  }
  // Rounded up: it is a bound.
  return fmt::format("{:g} times", std::ceil(factor * 100.0) / 100.0);
}

std::string rows_in_words(double rows) {
  return with_commas(static_cast<std::uint64_t>(std::llround(rows)));
}

void tell_of(const Document& source, std::vector<std::string>& out) {
  const std::string& name = source.at("name").as_string();
  if (source.at("left_aside").as_bool()) {
    out.push_back(fmt::format(
        "Public data {}: left aside; most of its columns are not as in the private data.", name));
  } else {
    out.push_back(fmt::format(
        "Public data {}: counted as {} private rows, {} of what its {} rows could be worth.", name,
        rows_in_words(source.at("counted_as_rows").as_number()),
        percent(source.at("worth").as_number()), rows_in_words(source.at("rows").as_number())));
    if (!source.at("shifted").as_array().empty()) {
      out.push_back(fmt::format(
          "Public data {} has other shares in {}; these are taken from private measurements alone.",
          name, listed(source.at("shifted"))));
    }
  }
  if (!source.at("overruled").as_array().empty()) {
    out.push_back(fmt::format("Private measurements overruled public data {} on {}.", name,
                              listed(source.at("overruled"))));
  }
}

// How noisy marginals were fitted by weights on rows.
std::string sentence_of_fit(const Document& fit) {
  std::string out = fmt::format("The {} measured marginals are missed by {:.3g} in all",
                                static_cast<std::int64_t>(fit.at("marginals").as_number()),
                                fit.at("misfit").as_number());
  const bool settled = fit.at("settled").as_bool();
  if (const auto* least = fit.find("least_misfit")) {
    out += settled ? ", which is the least that weights on public rows can"
                   : fmt::format(", and no weights on public rows miss them by less than {:.3g}",
                                 least->as_number());
  } else if (!settled) {
    out += ", in a fit that had not settled";
  }
  if (const auto* kl = fit.find("kl")) {
    out += fmt::format("; relative entropy to the public rows {:.3g}", kl->as_number());
    if (fit.find("gap") != nullptr && settled) out += ", the least for that";
  }
  return out + ".";
}

std::string sentence_of_game(const Document& game) {
  const auto rounds = static_cast<std::uint64_t>(game.at("rounds").as_integer());
  std::string out = fmt::format(
      "The rows are {0} records, each repeated, so answers are multiples of 1/{0}; {1} draws a "
      "round at rate {2:.3g}",
      with_commas(rounds), with_commas(static_cast<std::uint64_t>(game.at("draws").as_integer())),
      game.at("rate").as_number());
  if (const auto optimal = game.at("optimal_rounds").as_integer(); optimal > 0) {
    out += fmt::format(", {} records proven the best for theirs",
                       with_commas(static_cast<std::uint64_t>(optimal)));
  }
  if (const auto* alpha = game.find("alpha")) {
    out += fmt::format("; the theorem promises errors of at most {:.2g}", alpha->as_number());
  }
  return out + ".";
}

std::string sentence_of_no_certificate(const Document& why) {
  if (why.at("reason").as_string() == "rows") {
    return "The error of these rows was not measured, for nothing that was released says well "
           "enough "
           "how many rows the private table has.";
  }
  return fmt::format(
      "The error of these rows was not measured, for its noise would have had a standard deviation "
      "of {:.2g}, where errors are 0 to 2; a larger epsilon would measure it.",
      why.at("stddev").as_number());
}

}  // namespace

std::vector<std::string> sentences_of(const Document& facts) {
  std::vector<std::string> out;
  if (const auto* sources = facts.find("public")) {
    for (const auto& source : sources->as_array()) tell_of(source, out);
  }
  if (const auto* alone = facts.find("from_public_alone"); alone && !alone->as_array().empty()) {
    out.push_back(fmt::format("Only public data speaks of {}.", listed(*alone)));
  }
  if (const auto* share = facts.find("public_row_share"); share && share->as_number() > 0.0) {
    // What is nothing but public rows can't be made without them.
    const bool all = share->as_number() >= 1.0;
    out.push_back(fmt::format(
        "Rows of the public data, reweighted, are {} of the release, and model.bin holds all of "
        "them{}.",
        percent(share->as_number()),
        all ? "" : "; if they are not yours to pass on, public-rows=0 makes a release without"));
  }
  if (const auto* why = facts.find("not_certified"))
    out.push_back(sentence_of_no_certificate(*why));
  if (const auto* fit = facts.find("fit")) out.push_back(sentence_of_fit(*fit));
  if (const auto* game = facts.find("dual_query")) out.push_back(sentence_of_game(*game));
  if (const auto* choice = facts.find("final_choice")) {
    out.push_back(fmt::format("The final choice took {}.", choice->as_string()));
  }
  return out;
}

std::vector<std::string> notes_in(const Document& release) {
  if (const auto* facts = release.find("facts")) return sentences_of(*facts);
  std::vector<std::string> out;
  if (const auto* notes = release.find("notes")) {
    for (const auto& note : notes->as_array()) out.push_back(note.as_string());
  }
  return out;
}

std::string certified_text(const Document& error) {
  const auto marginals = static_cast<std::uint64_t>(error.at("marginals").as_integer());
  const auto of = static_cast<std::uint64_t>(error.at("of_marginals").as_integer());
  return fmt::format("average {:.3g} over {}{} marginals, at most {:.3g} with {:g}% confidence",
                     error.at("average_error").as_number(), with_commas(marginals),
                     of > marginals ? fmt::format(" of {}", with_commas(of)) : "",
                     error.at("at_most").as_number(), 100.0 * error.at("confidence").as_number());
}

std::string answers_in_words(const Document& release) {
  const auto answers = static_cast<std::uint64_t>(release.at("answers").as_integer());
  const auto with =
      static_cast<std::uint64_t>(release.at("facts").at("answers_with_intervals").as_integer());
  return fmt::format("{}, {} with an interval", with_commas(answers),
                     with == answers ? "all" : with_commas(with));
}

std::string stamp_line(const Document& release) {
  const auto* stamp = release.find("stamp");
  return stamp == nullptr ? "" : stamp->as_string() + ": for tests and research only\n";
}

std::string promise_in_words(const Document& guarantee) {
  const double epsilon = guarantee.at("epsilon").as_number();
  const double delta = guarantee.at("delta").as_number();
  const auto rows = static_cast<std::uint64_t>(guarantee.at("rows_per_person").as_integer());
  const auto* absent = guarantee.find("person_may_be_absent");
  std::string otherwise = "been any other";
  if (absent != nullptr && absent->as_bool()) otherwise += ", or none";
  const std::string whose =
      guarantee.at("neighbors").as_string() == "add-remove" ? "that person not been in the table"
      : rows == 1                                           ? "that person's row " + otherwise
                  : fmt::format("that person's rows, up to {}, {}", with_commas(rows), otherwise);
  return fmt::format(
      "Whatever anybody learns from this release about a person, they could have learnt nearly as "
      "well had {}: no outcome is more than {} as likely with the one as with the other{}.",
      whose, times(std::exp(epsilon), epsilon),
      delta > 0.0 ? fmt::format(", but for a probability of {:g}", delta) : "");
}

std::string summary_line(std::string_view name, const std::string& text) {
  std::string out = fmt::format("  {:<12}", name);
  std::size_t column = out.size();
  for (const auto word : split(text, ' ')) {
    if (column > kIndent && column + 1 + word.size() > kLineWidth) {
      out += '\n' + std::string(kIndent - 1, ' ');
      column = kIndent - 1;
    }
    out += ' ';
    out += word;
    column += 1 + word.size();
  }
  return out + '\n';
}

std::string closing_lines(const Document& release, Notes notes) {
  std::string out;
  if (notes == Notes::Shown) {
    for (const auto& note : notes_in(release)) out += summary_line("note", note);
  }
  for (const auto& warning : warnings_in(release)) out += summary_line("warning", warning.text);
  return out;
}

}  // namespace tandem
