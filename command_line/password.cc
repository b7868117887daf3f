#include "command_line/password.h"

#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace gridmount::command_line {

namespace {

// Switches off the echo of the terminal while the object exists.
class SilentTerminal {
 public:
  SilentTerminal() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
  }
  ~SilentTerminal() {
    if (changed_) (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace

Result<std::string> ask_password() {
  const bool on_terminal = isatty(STDIN_FILENO) == 1;
  if (on_terminal) fputs("Enter password:\n", stderr);
  std::string password;
  {
    const SilentTerminal silent;
    // Reads single bytes, because `put --local -` reads the bytes after the line.
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') password += byte;
  }
  if (password.ends_with('\r')) password.pop_back();
  if (password.empty()) return fail(ErrorCode::kFailedToParse, "no password was given");
  return password;
}

Result<std::string> read_password(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string password;
  if (!stream || !std::getline(stream, password)) {
    return fail(ErrorCode::kFailedToParse, "cannot read a password from " + file.string());
  }
  if (password.ends_with('\r')) password.pop_back();
  if (password.empty()) {
    return fail(ErrorCode::kFailedToParse, "the first line of " + file.string() + " is empty");
  }
  return password;
}

}  // namespace gridmount::command_line
