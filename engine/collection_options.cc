#include "engine/collection_options.h"

#include <algorithm>
#include <array>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/query/collation/collation.h"
#include "engine/query/filter/filter.h"
#include "engine/store.h"

namespace gridmount::engine {
namespace {

constexpr ErrorCode kOutOfRange{51024};
constexpr int64_t kCappedUnit = 256;
constexpr int64_t kCappedBytesMax = int64_t{1} << 50;
constexpr int64_t kCappedDocumentsMax = int64_t{1} << 31;

tl::unexpected<Error> invalid(const Namespace& ns, const std::string& why) {
  return fail(ErrorCode::kInvalidOptions, ns.full() + ": " + why);
}

tl::unexpected<Error> wrong_type(const Namespace& ns, const bson::Element& element,
                                 std::string_view wanted) {
  return fail(ErrorCode::kTypeMismatch, ns.full() + ": the option '" + std::string(element.key) +
                                            "' must be " + std::string(wanted) +
                                            ", but is of the type " +
                                            std::string(bson::type_alias(element.value.type())));
}

Result<bool> flag(const Namespace& ns, const bson::Element& element) {
  if (element.value.type() == bson::Type::kBool) return element.value.as_bool();
  if (const std::optional<double> number = element.value.number()) return *number != 0;
  return wrong_type(ns, element, "a boolean");
}

Result<int64_t> amount(const Namespace& ns, const bson::Element& element) {
  const std::optional<int64_t> number = bson::clamped_integer(element.value);
  if (!number) return wrong_type(ns, element, "a number");
  return *number;
}

// Returns whether MongoDB's servers have the option. The engine does not have it.
bool is_option_of_servers(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "timeseries",      "expireAfterSeconds",  "clusteredIndex",  "storageEngine", "temp",
      "encryptedFields", "indexOptionDefaults", "recordPreImages", "idIndex"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Status check_validator(const Namespace& ns, bson::View validator) {
  if (ns.database == "admin" || ns.database == "local" || ns.database == "config") {
    return invalid(ns, "Document validators are not allowed on collections in the " + ns.database +
                           " database");
  }
  if (ns.collection.starts_with("system.")) {
    return fail(ErrorCode::kInvalidNamespace, "Invalid system namespace: " + ns.full());
  }
  if (const Result<query::Filter> filter = query::Filter::parse(validator); !filter) {
    return fail(Error(filter.error()).with_context(ns.full() + ": the validator"));
  }
  return {};
}

std::string_view name_of(CollectionOptions::ValidationLevel level) {
  switch (level) {
    case CollectionOptions::ValidationLevel::kOff:
      return "off";
    case CollectionOptions::ValidationLevel::kModerate:
      return "moderate";
    case CollectionOptions::ValidationLevel::kStrict:
      break;
  }
  return "strict";
}

Status check_capped(const Namespace& ns, CollectionOptions& options, bool has_size, bool has_max) {
  if (!options.capped) {
    if (!has_size && !has_max) return {};
    return invalid(ns,
                   "the 'capped' field needs to be true when either the 'size' or 'max' fields are "
                   "present");
  }
  if (!has_size) return invalid(ns, "the 'size' field is required when 'capped' is true");
  if (options.size_bytes < 1 || options.size_bytes > kCappedBytesMax) {
    return fail(kOutOfRange,
                ns.full() + ": the size of a capped collection must be from 1 byte to 1 PB");
  }
  if (options.max_documents >= kCappedDocumentsMax) {
    return fail(kOutOfRange, ns.full() + ": max in a capped collection has to be < 2^31");
  }
  // 0 and negative values mean no limit.
  options.max_documents = std::max<int64_t>(options.max_documents, 0);
  options.size_bytes = (options.size_bytes + kCappedUnit - 1) / kCappedUnit * kCappedUnit;
  return {};
}

Status check_view(const Namespace& ns, const CollectionOptions& options) {
  if (!options.is_view()) {
    if (options.pipeline) {
      return invalid(ns, "the option 'pipeline' cannot be given without 'viewOn'");
    }
    return {};
  }
  if (options.capped || options.validator || options.level || options.action) {
    return invalid(ns, "a view cannot be capped or have a validator");
  }
  return check_namespace({ns.database, options.view_on});
}

// Parses {enabled: bool}.
Result<bool> read_pre_and_post_images(const Namespace& ns, const bson::Element& element) {
  if (element.value.type() != bson::Type::kDocument) return wrong_type(ns, element, "an object");
  const bson::View images = element.value.as_document();
  const std::optional<bson::ValueView> enabled = images.find("enabled");
  if (!enabled || enabled->type() != bson::Type::kBool ||
      std::next(images.begin()) != images.end()) {
    return invalid(ns, "'" + std::string(element.key) + "' is {enabled: true} or {enabled: false}");
  }
  return enabled->as_bool();
}

}  // namespace

Result<bool> CollectionOptions::read_validation(const Namespace& ns, const bson::Element& element) {
  if (element.key == "validator") {
    if (element.value.type() != bson::Type::kDocument) return wrong_type(ns, element, "an object");
    const bson::View filter = element.value.as_document();
    validator.reset();
    if (filter.empty()) return true;
    GM_TRY(check_validator(ns, filter));
    validator = bson::Document(filter);
    return true;
  }
  if (element.key != "validationLevel" && element.key != "validationAction") return false;
  if (element.value.type() != bson::Type::kString) return wrong_type(ns, element, "a string");
  const std::string_view name = element.value.as_string();
  if (element.key == "validationLevel") {
    if (name == "off") {
      level = ValidationLevel::kOff;
    } else if (name == "strict") {
      level = ValidationLevel::kStrict;
    } else if (name == "moderate") {
      level = ValidationLevel::kModerate;
    } else {
      return fail(ErrorCode::kBadValue, ns.full() + ": invalid validation level: " +
                                            std::string(name) + "; it is off, strict or moderate");
    }
    return true;
  }
  if (name == "error") {
    action = ValidationAction::kError;
  } else if (name == "warn") {
    action = ValidationAction::kWarn;
  } else {
    return fail(ErrorCode::kBadValue, ns.full() + ": invalid validation action: " +
                                          std::string(name) + "; it is error or warn");
  }
  return true;
}

Result<CollectionOptions> CollectionOptions::parse(const Namespace& ns, bson::View specification) {
  CollectionOptions options;
  bool has_size = false;
  bool has_max = false;
  for (const bson::Element element : specification) {
    const std::string_view name = element.key;
    GM_ASSIGN(const bool of_validation, options.read_validation(ns, element));
    if (of_validation) continue;
    if (name == "capped") {
      GM_ASSIGN(options.capped, flag(ns, element));
    } else if (name == "size") {
      GM_ASSIGN(options.size_bytes, amount(ns, element));
      has_size = true;
    } else if (name == "max") {
      GM_ASSIGN(options.max_documents, amount(ns, element));
      has_max = true;
    } else if (name == "changeStreamPreAndPostImages") {
      GM_ASSIGN(options.pre_and_post_images, read_pre_and_post_images(ns, element));
    } else if (name == "viewOn") {
      if (element.value.type() != bson::Type::kString) return wrong_type(ns, element, "a string");
      options.view_on = element.value.as_string();
      if (options.view_on.empty()) {
        return fail(ErrorCode::kBadValue, ns.full() + ": 'viewOn' cannot be empty");
      }
    } else if (name == "pipeline") {
      if (element.value.type() != bson::Type::kArray) return wrong_type(ns, element, "an array");
      options.pipeline = bson::Document(element.value.as_document());
    } else if (name == "autoIndexId") {
      GM_ASSIGN(const bool wanted, flag(ns, element));
      if (!wanted) return invalid(ns, "a collection without an index on _id is not supported");
    } else if (name == "flags" || name == "usePowerOf2Sizes") {
      // These options are for MMAPv1, a storage engine of old servers. They have no effect here.
    } else if (name == "collation") {
      if (bson::is_nullish(element.value.type())) continue;
      if (element.value.type() != bson::Type::kDocument) {
        return fail(ErrorCode::kTypeMismatch,
                    "BSON field 'create.collation' is the wrong type '" +
                        std::string(bson::type_alias(element.value.type())) +
                        "', expected type 'object'");
      }
      GM_ASSIGN(const std::optional<query::Collation> collation,
                query::Collation::parse_of_collection(element.value.as_document()));
      if (collation) options.collation = collation->document();
    } else if (is_option_of_servers(name)) {
      return invalid(ns, "the option '" + std::string(name) + "' is not supported");
    } else {
      return fail(ErrorCode::kUnknownField,
                  "BSON field 'create." + std::string(name) + "' is an unknown field.");
    }
  }
  GM_TRY(check_capped(ns, options, has_size, has_max));
  GM_TRY(check_view(ns, options));
  return options;
}

bson::Document CollectionOptions::document() const {
  bson::Builder builder;
  if (capped) {
    builder.append("capped", true).append("size", size_bytes);
    if (max_documents > 0) builder.append("max", max_documents);
  }
  if (validator) builder.append("validator", *validator);
  if (level) builder.append("validationLevel", name_of(*level));
  if (action) {
    builder.append("validationAction", *action == ValidationAction::kWarn ? "warn" : "error");
  }
  if (pre_and_post_images) {
    builder.open_document("changeStreamPreAndPostImages");
    builder.append("enabled", *pre_and_post_images).close();
  }
  if (is_view()) {
    builder.append("viewOn", view_on);
    if (pipeline) {
      builder.append_array("pipeline", *pipeline);
    } else {
      builder.open_array("pipeline").close();
    }
  }
  if (collation) builder.append("collation", *collation);
  return std::move(builder).finish();
}

}  // namespace gridmount::engine
