#include "command_line/password.h"

#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "command_line/connection_string.h"
#include "engine/system/system_error.h"

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
    ssize_t got = 0;
    do {
      got = read(STDIN_FILENO, &byte, 1);
      if (got == 1 && byte != '\n') password += byte;
    } while ((got == 1 && byte != '\n') || (got < 0 && errno == EINTR));
    if (got < 0) return fail(system::system_error(errno, "reading the password"));
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

Result<std::string> uri_with_password(const std::string& uri, const std::filesystem::path& file) {
  if (!lacks_password(uri)) {
    if (file.empty()) return uri;
    return fail(ErrorCode::kBadValue,
                "--password-file needs a user without a password in the connection string");
  }
  if (!file.empty()) {
    GM_ASSIGN(const std::string password, read_password(file));
    return with_password(uri, password);
  }
  if (const char* const password = getenv("GRIDMOUNT_PASSWORD")) {
    return with_password(uri, password);
  }
  const Result<std::string> asked = ask_password();
  if (asked) return with_password(uri, *asked);
  return fail(
      ErrorCode::kBadValue,
      asked.error().message() + "; --password-file or the variable GRIDMOUNT_PASSWORD can hold it");
}

}  // namespace gridmount::command_line
