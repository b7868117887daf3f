// The metadata of a dumped collection. mongodump writes them beside the documents, as one line of
// canonical Extended JSON: {options, indexes, uuid, collectionName, type}.
//
// Not thread-safe: plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::tools {

struct Metadata {
  bson::Document options;
  std::vector<bson::Document> indexes;  // in the form of listIndexes
  std::string collection_name;          // empty in old dumps
  std::string type;                     // "collection", "view", "timeseries"; empty in old dumps

  bool is_view() const { return type == "view" || options.find("viewOn").has_value(); }

  // Returns the text of the metadata file.
  std::string to_json() const;
  // Fails with FailedToParse if the text is not a document of this form. Ignores the uuid, because
  // collections here have none, and the options create, uuid and idIndex.
  static Result<Metadata> parse(std::string_view text);
};

}  // namespace gridmount::tools
