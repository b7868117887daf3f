// A terminal on which a program draws, and from which the program reads single keys.
//
// Not thread-safe. Only one object may exist at a time.
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

  // Switches to the terminal's second screen, turns off the echo, and makes the terminal pass on
  // each key without waiting for the end of a line.
  KeyTerminal();
  // Switches back to the first screen and the former settings.
  ~KeyTerminal();
  KeyTerminal(const KeyTerminal&) = delete;
  KeyTerminal& operator=(const KeyTerminal&) = delete;

  // Replaces what the screen shows by `lines`. `lines` must have at most lines() lines. Each line
  // must end with '\n' and have at most columns() columns.
  void draw(std::string_view lines);
  size_t columns() const;
  size_t lines() const;

 private:
  termios before_{};
};

// Waits until a key is pressed, the time has passed, or a signal arrives. Returns the key, if one
// was pressed. If `has_keys` is false, does not read keys.
std::optional<char> wait_for_key(std::chrono::milliseconds time, bool has_keys);

}  // namespace gridmount::tools
