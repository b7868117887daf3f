// A terminal that a program draws on, and whose keys it reads one by one.
//
// Not thread-safe. One object at a time.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace gridmount::tools {

class KeyTerminal {
 public:
  // Returns whether stdin and stdout are terminals.
  static bool is_there();

  // Switches to the terminal's second screen, and turns off its echo.
  KeyTerminal();
  // Switches back.
  ~KeyTerminal();
  KeyTerminal(const KeyTerminal&) = delete;
  KeyTerminal& operator=(const KeyTerminal&) = delete;

  // Replaces what the screen shows. `lines` are at most lines() lines. Each must end with '\n' and
  // fit into columns().
  void draw(std::string_view lines);
  size_t columns() const;
  size_t lines() const;

 private:
  termios before_{};
};

// Waits for a key, or until the time has passed or a signal comes. Returns the key, if one was
// pressed. Without `has_keys` only waits.
std::optional<char> wait_for_key(std::chrono::milliseconds time, bool has_keys);

}  // namespace gridmount::tools
