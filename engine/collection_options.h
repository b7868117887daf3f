// The options of a collection, as `create` takes them and listCollections shows them.
// Source: MongoDB manual, "create", "Capped Collections", "Schema Validation", "Views".
//
// Thread-safety: a value. While one thread changes it, no other thread may use it.
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
  int64_t size_bytes = 0;     // of a capped collection: limit of the sum of the documents' BSON
                              // sizes; parse() rounds it up to a multiple of 256
  int64_t max_documents = 0;  // of a capped collection; 0: only size_bytes limits it

  // A filter that inserted and updated documents must match.
  std::optional<bson::Document> validator = {};
  std::optional<ValidationLevel> level = {};    // absent: strict
  std::optional<ValidationAction> action = {};  // absent: error

  // The option changeStreamPreAndPostImages. It is stored and shown, but has no effect: only change
  // streams read these images, and change streams need a replica set.
  std::optional<bool> pre_and_post_images = {};

  // For a view: the contents are the result of `pipeline` over the collection `view_on` of the same
  // database. Empty: the collection is not a view.
  std::string view_on = {};
  std::optional<bson::Document> pipeline = {};  // the elements of the array of stages

  // The collation of the collection or view, with all its fields (Collation::document()). Commands
  // without a collation, and new indexes, have it. Absent: strings are compared as bytes.
  std::optional<bson::Document> collation = {};

  bool is_view() const { return !view_on.empty(); }

  // Fails with UnknownField if no server has the option, with TypeMismatch for a wrong type, with
  // Location51024 if `size` or `max` is out of range, and with BadValue for an empty `viewOn` or an
  // unknown validation level or action. Fails with InvalidOptions if an option is not supported or
  // conflicts with another one, and for a validator in the databases admin, local and config. Fails
  // with InvalidNamespace for a validator of a system.* collection, and if `viewOn` is not a valid
  // name. Fails with the errors of query::Filter::parse() if the validator is not a filter, and
  // with those of query::Collation::parse() for the collation. Accepts `autoIndexId: true`, and the
  // options `flags` and `usePowerOf2Sizes` of old servers, as these change nothing.
  static Result<CollectionOptions> parse(const Namespace& ns, bson::View options);
  // Returns the options as listCollections shows them. parse() reads this document again.
  bson::Document document() const;

  // Reads one of the fields validator, validationLevel and validationAction of collMod or create.
  // An empty validator removes the validator. Returns false if `element` is none of these. Fails as
  // parse() does.
  Result<bool> read_validation(const Namespace& ns, const bson::Element& element);
};

}  // namespace gridmount::engine
