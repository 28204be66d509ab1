// SPDX-License-Identifier: Apache-2.0
#include "args.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/base/version.h"

namespace tandem::cli {

namespace {

CLI::App& app_of(void* app) { return *static_cast<CLI::App*>(app); }

template <class T>
void add(void* app, const std::string& flag, T& value, const std::string& help, Args::Need need) {
  auto* option = app_of(app).add_option(flag, value, help);
  if (need == Args::Need::Required) option->required();
  if constexpr (std::is_arithmetic_v<T>) option->capture_default_str();
}

// Settings as flags: --epsilon, --param rounds.
std::string as_flag(std::string_view key) {
  constexpr std::string_view kParameter = "param.";
  if (!key.starts_with(kParameter)) return "--" + std::string(key);
  return "--param " + std::string(key.substr(kParameter.size()));
}

int complain(const std::string& message, int code) {
  tell("tandem: " + spelled(message, as_flag) + "\n");
  return code;
}

// What was printed must have arrived: a full disk is a failure, not a short answer.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return complain(fmt::format("The output can't be written ({}).", std::strerror(errno)), 1);
}

// What was given and not understood, with the nearest thing that would be.
std::string unknown_argument(const CLI::App& app, const CLI::App& at) {
  const auto rest = app.remaining(true);
  const std::string given = rest.empty() ? "" : rest.front();
  std::vector<std::string> names;
  for (const auto* sub : at.get_subcommands({})) names.push_back(sub->get_name());
  for (const auto* option : at.get_options()) names.push_back(option->get_name());
  const auto guess = nearest(given, names);
  return fmt::format("{} is not known here{}", in_quotes(given),
                     guess ? " (did you mean " + in_quotes(*guess) + "?)" : "");
}

// A parser's message as one sentence that ends with the cure.
std::string sentence(std::string text, const std::string& command) {
  constexpr std::string_view kConversion = "Could not convert: ";
  if (text.starts_with(kConversion)) {  // "Could not convert: --epsilon = two"
    const auto at = text.find(" = ");
    text = fmt::format("{} is {}, which is not a number",
                       text.substr(kConversion.size(), at - kConversion.size()),
                       in_quotes(at == std::string::npos ? "" : text.substr(at + 3)));
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  return fmt::format("{}; see 'tandem {}--help'.", text, command.empty() ? "" : command + " ");
}

}  // namespace

void tell(const std::string& text) { std::fputs(text.c_str(), stderr); }

void Args::option(const std::string& flag, std::string& value, const std::string& help, Need need) {
  add(app_, flag, value, help, need);
}

void Args::option(const std::string& flag, std::vector<std::string>& value, const std::string& help,
                  Need need) {
  auto* option = app_of(app_).add_option(flag, value, help);
  option->take_all()->expected(1);
  if (need == Need::Required) option->required();
}

void Args::option(const std::string& flag, double& value, const std::string& help, Need need) {
  add(app_, flag, value, help, need);
}

void Args::option(const std::string& flag, std::int64_t& value, const std::string& help,
                  Need need) {
  add(app_, flag, value, help, need);
}

void Args::flag(const std::string& flag, bool& value, const std::string& help) {
  app_of(app_).add_flag(flag, value, help);
}

void CommonFlags::declare(Args& args) {
  args.option("--threads", threads, "threads; 0 takes all cores");
  args.flag("--json", json, "print JSON");
  args.flag("--quiet", quiet, "print no notes and no progress");
}

Threads CommonFlags::thread_count() const {
  if (threads < 0 || threads > 4096) {
    throw UsageError(fmt::format("--threads is {}; choose 0 (all cores) to 4096.", threads));
  }
  return threads == 0 ? Threads::all() : Threads{.count = static_cast<int>(threads)};
}

void CommonFlags::note(const std::string& text) const {
  if (!quiet) tell(spelled(text, as_flag) + "\n");
}

void CommonFlags::complain(const std::string& text) const { cli::complain(text, 1); }

bool Args::given(const std::string& flag) const { return app_of(app_).count(flag) > 0; }

int run_commands(int argc, const char* const* argv,
                 const std::vector<std::unique_ptr<Command>>& commands) {
  CLI::App app("tandem: differentially private synthetic data, with help from public data");
  app.set_version_flag("--version", "tandem " + std::string(version()));
  app.name("tandem");
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(32);
  std::vector<std::pair<CLI::App*, Command*>> known;
  for (const auto& command : commands) {
    auto* sub = app.add_subcommand(command->name(), command->summary());
    sub->get_formatter()->column_width(32);
    Args args(sub);
    command->declare(args);
    known.emplace_back(sub, command.get());
  }

  std::string called;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (const auto& [sub, command] : known) {
      if (sub->parsed()) {
        std::fputs(sub->help("tandem").c_str(), stdout);
        return finish(0);
      }
    }
    std::fputs(app.help().c_str(), stdout);
    return finish(0);
  } catch (const CLI::CallForVersion&) {
    fmt::print("tandem {}\n", version());
    return finish(0);
  } catch (const CLI::ParseError& error) {
    const CLI::App* at = &app;
    for (const auto& [sub, command] : known) {
      if (sub->parsed()) {
        called = command->name();
        at = sub;
      }
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      return complain(sentence(unknown_argument(app, *at), called), 2);
    }
    return complain(sentence(error.what(), called), 2);
  }

  try {
    for (const auto& [sub, command] : known) {
      if (!sub->parsed()) continue;
      if (command->internal()) umask(S_IRWXG | S_IRWXO);
      return finish(command->run());
    }
    fmt::print("{}", app.help());
    return finish(0);
  } catch (const UsageError& error) {
    return complain(error.what(), 2);
  } catch (const BudgetError& error) {
    return complain(error.what(), 3);
  } catch (const Cancelled& error) {
    return complain(error.what(), 130);
  } catch (const Error& error) {
    return complain(error.what(), 1);
  } catch (const std::bad_alloc&) {
    return complain("The machine has too little memory for this run; choose a smaller one.", 1);
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return finish(1);  // a long output fails before its end
    return complain(fmt::format("An unexpected failure ({}); please report it.", error.what()), 1);
  }
}

}  // namespace tandem::cli
