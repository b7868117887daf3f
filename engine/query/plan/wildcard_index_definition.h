// Wildcard indexes: {"$**": 1} on all fields, {"a.$**": 1} on the field `a` and all fields below
// it, and {"$**": 1} with a wildcardProjection on chosen fields. A wildcard index has one key for
// each indexed value of a document. The key consists of the value's path and the value.
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

// The field of the key that stands for the paths. Servers use the same name.
inline constexpr std::string_view kWildcardPathField = "$_path";

// The option that lists the fields that an index on "$**" holds, or the fields that it leaves out.
inline constexpr std::string_view kWildcardProjection = "wildcardProjection";

// Returns whether the only field of the index's key is "$**" or ends with ".$**".
bool is_wildcard_index(const IndexDefinition& index);

// Checks the wildcard fields of an index's key, and the options of a wildcard index. Fails with
// CannotCreateIndex for a compound index with a wildcard field whose value is a number, for a
// wildcard index whose value is neither a string nor a number greater than 0, for an invalid path
// before ".$**", for a wildcard index that is unique, sparse or has expireAfterSeconds, and for a
// wildcardProjection that is no document. Fails for a wildcardProjection with BadValue if the index
// is no wildcard index, with FailedToParse (9) if the wildcardProjection is empty or the field is
// not "$**", with 51271 if a value in it is neither a boolean nor a number nor a document of these,
// and as Projection::parse() does.
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
  // The paths in wildcardProjection, without _id unless the projection is {_id: 1}. Empty: all
  // paths.
  std::vector<std::string> listed_;
  bool is_exclusion_ = true;  // listed_ has the paths that are left out
  bool has_id_ = false;
};

}  // namespace gridmount::query
