// The options of a collection, as `create` takes them and listCollections shows them.
// Source: MongoDB manual, "create", "Capped Collections", "Schema Validation", "Views".
//
// Thread-safety: a value. Not thread-safe for concurrent writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::engine {

struct Namespace;

struct CollectionOptions {
  enum class ValidationLevel { kOff, kStrict, kModerate };
  enum class ValidationAction { kError, kWarn };

  // In a capped collection the oldest documents are removed to make room for new ones.
  bool capped = false;
  int64_t size_bytes = 0;     // limit of the sum of the documents' BSON sizes; a multiple of 256
  int64_t max_documents = 0;  // 0: no limit but size_bytes

  // A filter that inserted and updated documents must match.
  std::optional<bson::Document> validator = {};
  std::optional<ValidationLevel> level = {};    // absent: strict
  std::optional<ValidationAction> action = {};  // absent: error

  // Stored and shown, without effect. Only change streams read these images, and they need a
  // replica set.
  std::optional<bool> pre_and_post_images = {};

  // If this is a view: its contents are the result of `pipeline` over the collection `view_on` of
  // the same database.
  std::string view_on = {};
  std::optional<bson::Document> pipeline = {};  // the elements of the array of stages

  bool is_view() const { return !view_on.empty(); }

  // Fails with InvalidOptions if an option is unknown, unsupported, or conflicts with another one,
  // and for validators where servers refuse them: in the databases admin, local and config, and on
  // system.* collections. A wrong type is TypeMismatch, a value out of range BadValue.
  // `autoIndexId: true` and the flags of old servers are accepted, because they change nothing.
  static Result<CollectionOptions> parse(const Namespace& ns, bson::View options);
  bson::Document document() const;

  // Reads one of the three validation fields (validator, validationLevel, validationAction), as
  // collMod and create take them. Returns false if the field is none of these.
  Result<bool> read_validation(const Namespace& ns, const bson::Element& element);
};

}  // namespace gridmount::engine
