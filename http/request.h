// The head of a request of HTTP, after the connection has parsed it.
//
// A plain value, so thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gridmount::http {

struct Request {
  enum class Method {
    kOptions,
    kGet,
    kHead,
    kFindProperties,  // PROPFIND
    kPut,
    kDelete,
    kMakeCollection,  // MKCOL
    kCopy,
    kMove,
    kLock,
    kUnlock,
    kPatchProperties,  // PROPPATCH
    kOther,
  };

  Method method = Method::kGet;
  std::string target;  // as sent: "/fs/a%20b?download"
  // The fields of the head in the order of arrival. The names are as the client wrote them.
  std::vector<std::pair<std::string, std::string>> fields;

  bool has_body = false;
  std::optional<uint64_t> body_bytes;  // Content-Length; unset if the request does not have it

  // Returns true if the request asks for content.
  bool is_read() const { return method == Method::kGet || method == Method::kHead; }
  // Returns false for methods that change nothing. Returns true for unknown methods.
  bool is_change() const {
    return !is_read() && method != Method::kOptions && method != Method::kFindProperties;
  }
  // Returns the value of a field. Ignores the case of its name. Joins the values of a field that
  // occurs several times by ", " (RFC 9110, 5.3). Returns nothing if the field is missing.
  std::optional<std::string> field(std::string_view name) const;
};

// Returns true if the two texts differ at most in the case of ASCII letters.
bool equals_ignoring_case(std::string_view a, std::string_view b);
// Removes spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace gridmount::http
