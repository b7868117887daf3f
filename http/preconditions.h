// The conditions of a request: If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since and
// If-Range. Source: RFC 9110, 13.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http/request.h"

namespace gridmount::http {

// The validators (RFC 9110, 8.8) of a file's present content.
struct Validators {
  std::string tag;               // entity_tag()
  int64_t modified_seconds = 0;  // Last-Modified
};

enum class Verdict {
  kPerform,      // no condition prevents the request
  kNotModified,  // 304
  kFailed,       // 412
};

// Evaluates the conditions of a GET or HEAD in the order of RFC 9110, 13.2.2. Ignores conditions
// with an invalid date.
Verdict evaluate_conditions(const Request& request, const Validators& validators);

// Evaluates the conditions of a request that changes a file. `present` must be unset if there is no
// file. Returns false if the change must not be made (412).
bool may_change(const Request& request, const std::optional<Validators>& present);

// Returns true if the field Range applies: the request has no If-Range, or its If-Range has the
// strong tag of the present content. A date in If-Range never matches, because Last-Modified is the
// mtime of the file. Programs can set the mtime, so it does not identify the content.
bool is_range_wanted(const Request& request, const Validators& validators);

}  // namespace gridmount::http
