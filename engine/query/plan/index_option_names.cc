#include "engine/query/plan/index_option_names.h"

#include <algorithm>
#include <iterator>

namespace gridmount::query {
namespace {

constexpr std::string_view kNames[] = {"v",
                                       "key",
                                       "name",
                                       "ns",
                                       "unique",
                                       "sparse",
                                       "hidden",
                                       "background",
                                       "expireAfterSeconds",
                                       "partialFilterExpression",
                                       "collation",
                                       "weights",
                                       "default_language",
                                       "language_override",
                                       "textIndexVersion",
                                       "2dsphereIndexVersion",
                                       "bits",
                                       "min",
                                       "max",
                                       "coarsestIndexedLevel",
                                       "finestIndexedLevel",
                                       "wildcardProjection",
                                       "storageEngine",
                                       "dropDups",
                                       "clustered",
                                       "prepareUnique"};

}  // namespace

bool is_index_option(std::string_view name) {
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace gridmount::query
