// The field If of WebDAV: lists of lock tokens and entity tags that resources must have, and by
// which a client shows the tokens that it knows. Source: RFC 4918, 10.4.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::http {

// A field with more conditions, or about more resources, is refused.
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

// Parses the value of the field. Fails with BadValue for a syntax error, and with XmlTooLarge for
// more than kIfConditionsMax conditions.
Result<std::vector<IfList>> parse_if(std::string_view field);

// Returns all tokens in the lists.
std::vector<std::string> tokens_in(const std::vector<IfList>& lists);

// What is known of a resource.
struct ResourceState {
  std::vector<std::string> tokens;  // of the locks that cover it
  std::optional<std::string> tag;   // of a file
};
// Returns the state of a resource, or of the target if `resource` is unset.
using StateOf = std::function<Result<ResourceState>(const std::optional<std::string>& resource)>;

// Returns true if all conditions of one of the lists hold. Fails as `state_of` does, which is
// called once for each list.
Result<bool> holds(const std::vector<IfList>& lists, const StateOf& state_of);

}  // namespace gridmount::http
