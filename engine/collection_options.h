// The options of a collection, as `create` takes them and listCollections shows them.
//
// Source: MongoDB manual, "create", "Capped Collections", "Schema Validation", "Views".
//
// Thread-safety: a plain value. While one thread changes it, no other thread may use it.
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

  // True for a capped collection: an insert removes the oldest documents to make room for new ones.
  bool capped = false;
  // For a capped collection: the limit for the sum of the documents' BSON sizes. parse() rounds the
  // limit up to a multiple of 256.
  int64_t size_bytes = 0;
  // For a capped collection: the limit for the number of documents. 0: no such limit.
  int64_t max_documents = 0;

  // A filter. Documents that are inserted or updated must match it, as `level` and `action` say.
  std::optional<bson::Document> validator = {};
  std::optional<ValidationLevel> level = {};    // absent: strict
  std::optional<ValidationAction> action = {};  // absent: error

  // The field `enabled` of the option changeStreamPreAndPostImages. The embedded store keeps and
  // shows the option, but the option has no effect there: only change streams read these images,
  // and the embedded store has no change streams.
  std::optional<bool> pre_and_post_images = {};

  // Not empty for a view. The contents of a view are the result of `pipeline` over the collection
  // or view `view_on` of the same database.
  std::string view_on = {};
  std::optional<bson::Document> pipeline = {};  // the array of stages, as a document

  // The collation of the collection or view, with all fields (Collation::document()). Commands and
  // new indexes that have no collation of their own use it. If it is absent, strings are compared
  // as bytes.
  std::optional<bson::Document> collation = {};

  bool is_view() const { return !view_on.empty(); }

  // Parses the options of the collection `ns`. Ignores `autoIndexId: true`, and the options `flags`
  // and `usePowerOf2Sizes` of old servers. Does not parse the stages of `pipeline`. Fails with
  // - UnknownField if no server has the option;
  // - TypeMismatch for a value of a wrong type;
  // - Location51024 if `size` or `max` is out of range;
  // - BadValue for an empty `viewOn`, and for an unknown validation level or action;
  // - InvalidOptions if an option is not supported, conflicts with another one or lacks one that it
  //   needs, for a changeStreamPreAndPostImages that is not {enabled: <boolean>}, and for a
  //   validator in the databases admin, local and config;
  // - InvalidNamespace for a validator of a system.* collection, and if `viewOn` is not a valid
  //   name;
  // - the errors of query::Filter::parse() for the validator, and of
  //   query::Collation::parse_of_collection() for the collation.
  static Result<CollectionOptions> parse(const Namespace& ns, bson::View options);
  // Returns the options as listCollections shows them. parse() accepts this document, and returns
  // equivalent options.
  bson::Document document() const;

  // Sets `validator`, `level` or `action` from a field of collMod or create: validator,
  // validationLevel or validationAction. An empty validator removes the validator. Returns false if
  // `element` is none of these fields. Fails as parse() does.
  Result<bool> read_validation(const Namespace& ns, const bson::Element& element);
};

}  // namespace gridmount::engine
