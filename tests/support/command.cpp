// SPDX-License-Identifier: Apache-2.0
#include "support/command.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>

extern char** environ;

namespace tandem::test {

StartedCommand::StartedCommand(const std::vector<std::string>& arguments,
                               const std::string& terminal) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const std::string out = dir_ / "out";
  const std::string err = terminal.empty() ? dir_ / "err" : terminal;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  const int failed = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("can't start " + arguments.front());
  running_ = true;
}

StartedCommand::~StartedCommand() {
  if (!running_) return;
  kill();
  wait();
}

void StartedCommand::kill() const { ::kill(pid_, SIGKILL); }

bool StartedCommand::has_ended() const {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == pid_;
}

CommandResult StartedCommand::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  running_ = false;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(dir_ / "out"),
          std::filesystem::exists(dir_ / "err") ? read_file(dir_ / "err") : ""};
}

CommandResult run_on_terminal(const std::vector<std::string>& arguments) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
    throw std::runtime_error("can't make a terminal");
  }
  StartedCommand command(arguments, ptsname(master));
  std::string shown;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(master, buffer, sizeof buffer)) > 0;) {
    shown.append(buffer, static_cast<std::size_t>(got));
  }  // the terminal hangs up when the command ends
  close(master);
  auto result = command.wait();
  result.err = shown;
  return result;
}

CommandResult run_command(const std::vector<std::string>& arguments) {
  return StartedCommand(arguments).wait();
}

}  // namespace tandem::test
