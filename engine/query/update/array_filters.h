// The arrayFilters of an update, which select the array elements that `$[id]` stands for. Internal
// to engine/query. Immutable once parsed, so safe to share between threads.
//
// Source: MongoDB manual, "$[<identifier>]". The error codes and messages are the server's.
#pragma once

#include <map>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

class ArrayFilters {
 public:
  // `filters` is an array of conditions, each on one identifier: [{"i.price": {$gt: 5}}, {$or: [{j:
  // 1}, {j: 2}]}]. Fails with TypeMismatch, FailedToParse or BadValue.
  static Result<ArrayFilters> parse(bson::View filters);

  bool contains(std::string_view identifier) const {
    return filters_.find(identifier) != filters_.end();
  }
  // Returns whether the element matches the condition of the identifier, which must be contained.
  // The identifier "", which `$[]` stands for, matches all elements.
  Result<bool> matches(std::string_view identifier, bson::ValueView element) const;

  using ByIdentifier = std::map<std::string, Filter, std::less<>>;
  const ByIdentifier& by_identifier() const { return filters_; }

 private:
  ByIdentifier filters_;
};

}  // namespace gridmount::query
