// The metadata of a dumped collection. mongodump writes the metadata beside the documents, as one
// line of canonical Extended JSON: {options, indexes, uuid, collectionName, type}.
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

  // Returns the text of the metadata file, without a uuid, and without options if there are none.
  std::string to_json() const;
  // Fails as bson::document_from_json() does, and with FailedToParse if a field has a wrong type.
  // Ignores other fields, among them the uuid, because a restored collection gets a new UUID.
  // Leaves out the options create, uuid and idIndex of old dumps, which `create` does not accept.
  static Result<Metadata> parse(std::string_view text);
};

}  // namespace gridmount::tools
