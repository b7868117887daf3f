#include "gridfs/namespace/path_range.h"

#include "engine/bson/builder.h"

namespace gridmount::gridfs {

bson::Document names_below_from(std::string_view field, std::string_view path,
                                std::string_view from, bool inclusive) {
  bson::Builder filter;
  filter.open_document(field).append(inclusive ? "$gte" : "$gt", from);
  // Strings compare only with strings, so the root needs no upper bound.
  if (!path.empty()) filter.append("$lt", end_of_names_below(path));
  filter.close();
  return std::move(filter).finish();
}

bson::Document names_below(std::string_view field, std::string_view path) {
  return names_below_from(field, path, path.empty() ? std::string() : std::string(path) + "/",
                          true);
}

}  // namespace gridmount::gridfs
