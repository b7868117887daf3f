// The arrayFilters of an update: which elements of an array `$[id]` stands for. Internal to this
// folder. Source: MongoDB manual, "$[<identifier>]"; codes and messages as the server's.
#pragma once

#include <map>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

class ArrayFilters {
 public:
  // An array of conditions, each on one identifier: [{"i.price": {$gt: 5}}, {$or: [{j: 1}, {j:
  // 2}]}]. TypeMismatch, FailedToParse, BadValue.
  static Result<ArrayFilters> parse(bson::View filters);

  bool contains(std::string_view identifier) const {
    return filters_.find(identifier) != filters_.end();
  }
  // Whether the element fits the identifier's condition; all fit "", which `$[]` stands for.
  // The identifier must be contained.
  Result<bool> matches(std::string_view identifier, bson::ValueView element) const;

  using ByIdentifier = std::map<std::string, Filter, std::less<>>;
  const ByIdentifier& by_identifier() const { return filters_; }

 private:
  ByIdentifier filters_;
};

}  // namespace gridmount::query
