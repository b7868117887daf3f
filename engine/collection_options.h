// The options of a collection, as `create` takes them and listCollections shows them.
// Source: MongoDB manual, "create", "Capped Collections", "Schema Validation", "Views".
// Thread-safety: as for any value type.
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

  // Capped: the oldest documents make room for new ones.
  bool capped = false;
  int64_t size_bytes = 0;     // sum of the documents' BSON sizes; a multiple of 256
  int64_t max_documents = 0;  // 0: as many as the size allows

  // What inserted and updated documents must match: a filter.
  std::optional<bson::Document> validator = {};
  std::optional<ValidationLevel> level = {};    // none given: strict
  std::optional<ValidationAction> action = {};  // none given: error

  // Shown and nothing else: what reads such images, a change stream, needs a replica set.
  std::optional<bool> pre_and_post_images = {};

  // A view: what `pipeline` makes of `view_on`, which is in the same database.
  std::string view_on = {};
  std::optional<bson::Document> pipeline = {};  // the elements of the array

  bool is_view() const { return !view_on.empty(); }

  // InvalidOptions for options that are not known, not supported, of the wrong type or do not go
  // together, and for validators where servers refuse them: in admin, local and config and on
  // system.*. autoIndexId: true and flags of old servers are taken, as they change nothing.
  static Result<CollectionOptions> parse(const Namespace& ns, bson::View options);
  bson::Document document() const;

  // The three fields of validation as collMod and create take them; false if the field is none.
  Result<bool> read_validation(const Namespace& ns, const bson::Element& element);
};

}  // namespace gridmount::engine
