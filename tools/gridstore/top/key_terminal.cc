#include "tools/gridstore/top/key_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace gridmount::tools {

namespace {

constexpr std::string_view kSecondScreen = "\033[?1049h";
constexpr std::string_view kFirstScreen = "\033[?1049l";
constexpr size_t kUsualColumns = 80;
constexpr size_t kUsualLines = 24;

void print(std::string_view text) {
  fwrite(text.data(), 1, text.size(), stdout);
  fflush(stdout);
}

winsize window() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

}  // namespace

bool KeyTerminal::is_there() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

KeyTerminal::KeyTerminal() {
  ::tcgetattr(STDIN_FILENO, &before_);
  termios keys = before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // keys such as Ctrl-C still send signals
  ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  print(kSecondScreen);
}

KeyTerminal::~KeyTerminal() {
  print(kFirstScreen);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void KeyTerminal::draw(std::string_view lines) {
  // Erases the rest of each line after drawing the line, so that the screen does not flicker.
  std::string text = "\033[H";
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    text.append(lines.substr(0, end)).append("\033[K");
    lines.remove_prefix(std::min(end, lines.size() - 1) + 1);
    if (!lines.empty()) text += "\r\n";
  }
  print(text + "\033[J");
}

size_t KeyTerminal::columns() const {
  const winsize size = window();
  return size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

size_t KeyTerminal::lines() const {
  const winsize size = window();
  return size.ws_row > 0 ? size.ws_row : kUsualLines;
}

std::optional<char> wait_for_key(std::chrono::milliseconds time, bool has_keys) {
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  const int ready = ::poll(&keys, has_keys ? 1 : 0, static_cast<int>(time.count()));
  char key = 0;
  if (ready > 0 && ::read(STDIN_FILENO, &key, 1) == 1) return key;
  return std::nullopt;
}

}  // namespace gridmount::tools
