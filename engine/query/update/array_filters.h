// The arrayFilters of an update. The filter on an identifier selects the array elements that
// `$[id]` in a path changes. Internal to engine/query. Immutable, so thread-safe.
//
// Source: MongoDB manual, "$[<identifier>]". The error codes and messages are those of servers.
#pragma once

#include <map>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

class ArrayFilters {
 public:
  // Parses array filters. `filters` is an array of filters, each on one identifier: [{"i.price":
  // {$gt: 5}}, {$or: [{j: 1}, {j: 2}]}]. Fails with TypeMismatch, FailedToParse or BadValue, with
  // QueryFeatureNotAllowed (224) for $expr and $jsonSchema, and as Filter::parse() does.
  static Result<ArrayFilters> parse(bson::View filters, const SharedCollator& collator);

  bool contains(std::string_view identifier) const {
    return filters_.find(identifier) != filters_.end();
  }
  // Returns whether the element matches the filter on the identifier. contains(identifier) must be
  // true, or the identifier must be "", which means `$[]` and matches all elements.
  Result<bool> matches(std::string_view identifier, bson::ValueView element) const;

  using ByIdentifier = std::map<std::string, Filter, std::less<>>;
  const ByIdentifier& by_identifier() const { return filters_; }

 private:
  ByIdentifier filters_;
};

}  // namespace gridmount::query
