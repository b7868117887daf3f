// Wildcard indexes: {"$**": 1} on all fields, {"a.$**": 1} on all fields below one, and with a
// wildcardProjection on chosen fields. Such an index has one key for each value of a document,
// which consists of the value's path and the value.
//
// Source: MongoDB manual, "Wildcard Indexes", and mongod 6.0.5.
//
// Thread-safety: pure functions, and a type that is never changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/query/plan/index_definition.h"

namespace gridmount::query {

// The field of the key that stands for the paths. The name is that of servers.
inline constexpr std::string_view kWildcardPathField = "$_path";

// The option with the fields that an index on "$**" holds, or leaves out.
inline constexpr std::string_view kWildcardProjection = "wildcardProjection";

// Returns whether the only field of the index's key is "$**" or ends with ".$**".
bool is_wildcard_index(const IndexDefinition& index);

// Checks the options of a wildcard index, and does nothing for other indexes. Fails with
// CannotCreateIndex for a compound index, for a value that is no number greater than 0, and for an
// index that is unique, sparse or has expireAfterSeconds, with FailedToParse (9) for an empty
// wildcardProjection or one beside a path, with BadValue for one of another index, with 51271 if it
// has a value other than true or false, and as Projection::parse() does.
Status check_wildcard_index(const IndexDefinition& index);

// Tells which paths a wildcard index holds.
class WildcardPaths {
 public:
  // `index` must be a wildcard index that check_wildcard_index() accepts.
  static WildcardPaths of(const IndexDefinition& index);

  // Returns whether the index has the values at the path.
  bool holds(std::string_view path) const;
  // Returns whether the index has the values at the path and at all paths below it.
  bool holds_all_below(std::string_view path) const;
  // Returns whether the index has the values at the path, or at some path below it.
  bool leads_to_held(std::string_view path) const;

 private:
  std::string root_;  // the path before ".$**"; empty: the whole document
  // The paths in wildcardProjection, without _id. Empty: all paths.
  std::vector<std::string> listed_;
  bool is_exclusion_ = true;  // listed_ has the paths that are left out
  bool has_id_ = false;
};

}  // namespace gridmount::query
