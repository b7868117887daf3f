// The field If of WebDAV: lists of the lock tokens and entity tags that resources must have. The
// tokens in the lists also show which lock tokens the client knows. Source: RFC 4918, 10.4.
//
// Thread-safe: plain values and functions without state.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::http {

// The maximum number of conditions in a field, and so also of lists and resources.
inline constexpr size_t kIfConditionsMax = 100;

struct IfCondition {
  bool is_negated = false;
  bool is_tag = false;  // an entity tag, otherwise a state token
  std::string value;    // the tag with its quotes, or the token without its brackets
};

struct IfList {
  std::optional<std::string> resource;  // a URL or path; unset: the target of the request
  std::vector<IfCondition> conditions;  // all must hold
};

// Parses the value of the field. Fails with BadValue for a syntax error, and with kXmlTooLarge for
// more than kIfConditionsMax conditions.
Result<std::vector<IfList>> parse_if(std::string_view field);

// Returns all tokens in the lists.
std::vector<std::string> tokens_in(const std::vector<IfList>& lists);

// The tokens and the tag with which the conditions for a resource are compared.
struct ResourceState {
  std::vector<std::string> tokens;  // of the locks that cover the resource
  std::optional<std::string> tag;   // the entity tag; unset if the resource is no file
};
// Returns the state of a resource, or of the target if `resource` is unset.
using StateOf = std::function<Result<ResourceState>(const std::optional<std::string>& resource)>;

// Returns true if there is a list whose conditions all hold. Calls `state_of` for each list, up to
// the first list whose conditions hold. Fails as `state_of` does.
Result<bool> holds(const std::vector<IfList>& lists, const StateOf& state_of);

}  // namespace gridmount::http
