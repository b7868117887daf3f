// The files and directories that could not be changed when a tree was changed. Source: RFC 4918,
// 9.6.1 and 9.8.3.
//
// Must be used by one thread at a time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/log.h"
#include "http/multi_status.h"
#include "http/site_error.h"
#include "http/target.h"
#include "http/xml_document.h"

namespace gridmount::http {

// The change of a tree ends when this many of its files and directories could not be changed.
inline constexpr size_t kTreeFailuresMax = 100;

class TreeFailures {
 public:
  bool empty() const { return failures_.empty(); }
  // Returns true if the change must end.
  bool are_too_many() const { return failures_.size() >= kTreeFailuresMax; }
  void add(const std::vector<std::string>& components, const Error& error) {
    const int status = status_of(error.code(), true);
    if (status == 500) log::error("http: {}: {}", path_of(components), error.message());
    failures_.emplace_back(path_of(components), status);
  }
  // Returns a reply with the status 207 and the failures. There must be at least one failure.
  Reply reply() const {
    return multi_status_reply(
        [failures = failures_, next = size_t{0}]() mutable -> Result<std::optional<std::string>> {
          if (next == failures.size()) return std::optional<std::string>();
          const auto& [href, status] = failures[next++];
          return std::optional("<D:response><D:href>" + xml_text(href) + "</D:href>" +
                               status_element(status) + "</D:response>\n");
        });
  }

 private:
  std::vector<std::pair<std::string, int>> failures_;
};

}  // namespace gridmount::http
