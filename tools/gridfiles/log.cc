#include "tools/gridfiles/log.h"

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "command_line/progress.h"

namespace gridmount::tools {

void Log::line(Level level, std::string_view message) const {
  if (level > verbosity_) return;
  timeval now{};
  gettimeofday(&now, nullptr);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  std::array<char, 32> seconds{};
  std::array<char, 8> zone{};
  strftime(seconds.data(), seconds.size(), "%Y-%m-%dT%H:%M:%S", &local);
  strftime(zone.data(), zone.size(), "%z", &local);
  std::array<char, 8> milliseconds{};
  snprintf(milliseconds.data(), milliseconds.size(), ".%03d", static_cast<int>(now.tv_usec / 1000));
  std::string text = std::string(seconds.data()) + milliseconds.data() + zone.data() + "\t";
  text.append(message);
  text += '\n';
  hide_progress();
  // If stderr cannot be written, there is no other place to report it.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace gridmount::tools
