#include "fuse/monitoring/metrics_request.h"

#include <spdlog/fmt/fmt.h>

namespace gridmount::fuse {

namespace {

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr std::string_view kMetrics = "text/plain; version=0.0.4; charset=utf-8";

std::string reply(std::string_view status, std::string_view type, std::string_view body,
                  bool with_body = true) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{}",
      status, type, body.size(), status.starts_with("405") ? "Allow: GET, HEAD\r\n" : "",
      with_body ? body : "");
}

std::string refusal(std::string_view status) {
  return reply(status, kPlainText, fmt::format("{}\n", status));
}

// Removes the text up to the next space, and the space, and returns the text.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

}  // namespace

std::string http_reply(std::string_view head, const std::function<std::string()>& metrics) {
  std::string_view line = head.substr(0, head.find("\r\n"));
  const std::string_view method = take_word(line);
  const std::string_view target = take_word(line);
  if (method.empty() || target.empty() || (line != "HTTP/1.1" && line != "HTTP/1.0")) {
    return refusal("400 Bad Request");
  }
  if (target.substr(0, target.find('?')) != "/metrics") return refusal("404 Not Found");
  if (method != "GET" && method != "HEAD") return refusal("405 Method Not Allowed");
  return reply("200 OK", kMetrics, metrics(), method == "GET");
}

std::string http_reply_to_long_head() {
  return refusal("431 Request Header Fields Too Large");
}

}  // namespace gridmount::fuse
