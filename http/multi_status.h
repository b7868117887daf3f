// Replies of WebDAV whose body is XML: several statuses in one reply (207), and the conditions that
// a request has not met. Source: RFC 4918, 13 and 16.
//
// Thread-safe: pure functions. A body is used by one thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "http/reply.h"

namespace gridmount::http {

// Returns the next element `response` as XML, or nothing at the end.
using ResponseSource = std::function<Result<std::optional<std::string>>()>;

// Returns the reply 207 with these elements. The body takes the elements one by one while the reply
// is sent, so the memory does not grow with their number.
Reply multi_status_reply(ResponseSource responses);

// Returns xml_reply() with the element `error`. Its content is the XML `condition`.
Reply condition_reply(int status, std::string_view condition);

// Returns the element `status`.
std::string status_element(int status);

// Returns a reply whose body is the element with the name `element` in the namespace "DAV:".
// `content` is the XML in the element, where "D" is the prefix of this namespace.
Reply xml_reply(int status, std::string_view element, std::string_view content);

}  // namespace gridmount::http
