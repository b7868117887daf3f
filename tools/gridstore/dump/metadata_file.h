// The metadata of a dumped collection, which mongodump writes beside its documents: one document of
// canonical Extended JSON {options, indexes, uuid, collectionName, type}, in one line.
//
// Thread-safety: as for any value type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::tools {

struct Metadata {
  bson::Document options;
  std::vector<bson::Document> indexes;  // as listIndexes shows them
  std::string collection_name;          // empty in old dumps
  std::string type;                     // "collection", "view", "timeseries"; empty in old dumps

  bool is_view() const { return type == "view" || options.find("viewOn").has_value(); }

  std::string to_json() const;
  // FailedToParse for what is none. A uuid is passed over: collections here have none.
  static Result<Metadata> parse(std::string_view text);
};

// Without the spaces between its parts, which mongodump does not write.
std::string without_spaces(std::string_view json);

}  // namespace gridmount::tools
