#include "engine/query/plan/index_definition.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/bson/text.h"
#include "engine/query/collation/collation.h"
#include "engine/query/plan/text_index_definition.h"
#include "engine/query/plan/wildcard_index_definition.h"

namespace gridmount::query {
namespace {

// The server's limit, which keeps the sum of a date and the seconds in range.
constexpr int64_t kExpireSecondsMax = 2147483647;

tl::unexpected<Error> wrong_type(std::string_view field, std::string_view wanted,
                                 bson::ValueView value) {
  return fail(ErrorCode::kTypeMismatch, "The field '" + std::string(field) + "' must be " +
                                            std::string(wanted) + ", but got " +
                                            std::string(bson::type_alias(value.type())));
}

// A boolean may be given as a number.
Result<bool> flag(const bson::Element& element) {
  if (element.value.type() == bson::Type::kBool) return element.value.as_bool();
  if (const std::optional<double> number = element.value.number()) return *number != 0;
  return wrong_type(element.key, "a boolean", element.value);
}

Result<int64_t> expire_seconds(const bson::Element& element) {
  const std::optional<double> seconds = element.value.number();
  if (!seconds) {
    return fail(ErrorCode::kCannotCreateIndex,
                "TTL index 'expireAfterSeconds' option must be numeric, but received a type of '" +
                    std::string(bson::type_alias(element.value.type())) + "'");
  }
  if (!(*seconds >= 0 && *seconds <= static_cast<double>(kExpireSecondsMax))) {
    return fail(ErrorCode::kCannotCreateIndex,
                "TTL index 'expireAfterSeconds' option must be within an acceptable range, 0 to " +
                    std::to_string(kExpireSecondsMax));
  }
  return static_cast<int64_t>(*seconds);
}

Result<bson::Document> read_collation(const bson::Element& element) {
  if (element.value.type() != bson::Type::kDocument) {
    return wrong_type(element.key, "an object", element.value);
  }
  const bson::View given = element.value.as_document();
  if (given.empty()) {
    return fail(ErrorCode::kBadValue, "The field 'collation' cannot be an empty object.");
  }
  GM_ASSIGN(const std::optional<Collation> collation, Collation::parse(given));
  return collation ? collation->document() : bson::Document();
}

// Options of other kinds of indexes that servers store with any index, in the order in which
// servers show them (wildcardProjection comes last, see specification()), with the types to which
// servers convert them.
enum class OtherType { kInt, kDouble, kText, kDocument };
struct OtherOption {
  std::string_view name;
  OtherType type;
};
constexpr OtherOption kOtherOptions[] = {
    {kWildcardProjection, OtherType::kDocument},
    {"weights", OtherType::kDocument},
    {"default_language", OtherType::kText},
    {"language_override", OtherType::kText},
    {"textIndexVersion", OtherType::kInt},
    {"2dsphereIndexVersion", OtherType::kInt},
    {"bits", OtherType::kInt},
    {"min", OtherType::kDouble},
    {"max", OtherType::kDouble},
    {"coarsestIndexedLevel", OtherType::kInt},
    {"finestIndexedLevel", OtherType::kInt},
};

const OtherOption* other_option(std::string_view name) {
  const auto* const found = std::ranges::find(kOtherOptions, name, &OtherOption::name);
  return found == std::end(kOtherOptions) ? nullptr : found;
}

Status read_other_option(const OtherOption& option, bson::ValueView value,
                         std::map<std::string_view, bson::Value>& options) {
  if (option.type == OtherType::kDocument) {
    if (value.type() != bson::Type::kDocument) {
      const bool is_weights = option.name == "weights";
      if (!is_weights || value.type() != bson::Type::kString) {
        return wrong_type(option.name, is_weights ? "an object" : "a non-empty object", value);
      }
      return fail(ErrorCode::kCannotCreateIndex,
                  "text index option '" + std::string(option.name) + "' must be an object");
    }
    options[option.name] = bson::Value(value);
    return {};
  }
  if (option.type == OtherType::kText) {
    if (value.type() != bson::Type::kString) return wrong_type(option.name, "a string", value);
    options[option.name] = bson::Value(value);
    return {};
  }
  if (!value.is_number()) return wrong_type(option.name, "a number", value);
  if (option.type == OtherType::kDouble) {
    options[option.name] = bson::Value(value.number().value_or(0));
    return {};
  }
  const int64_t number = bson::clamped_integer(value).value_or(0);
  options[option.name] = bson::Value(static_cast<int32_t>(std::clamp<int64_t>(
      number, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max())));
  return {};
}

// Refuses an option that is not valid for any supported kind of index.
Status refuse_option_of_others(const bson::Element& element) {
  const std::string_view name = element.key;
  const bson::Type type = element.value.type();
  if (name == "storageEngine") {
    if (type != bson::Type::kDocument || element.value.as_document().empty()) {
      return fail(ErrorCode::kCannotCreateIndex,
                  type == bson::Type::kDocument
                      ? "Empty \"storageEngine\" options are invalid. Please remove the field or "
                        "include valid options."
                      : "\"storageEngine\" options must be a document if present");
    }
  }
  return fail(
      ErrorCode::kInvalidIndexSpecificationOption,
      "The field '" + std::string(name) +
          "' is not valid for an index specification. Valid fields are key, name, "
          "unique, sparse, hidden, background, partialFilterExpression, expireAfterSeconds, "
          "collation, weights, default_language, language_override, textIndexVersion and "
          "wildcardProjection");
}

Status read_option(const bson::Element& element, IndexDefinition& index) {
  const std::string_view name = element.key;
  if (name == "unique") {
    GM_ASSIGN(index.unique, flag(element));
  } else if (name == "sparse") {
    GM_ASSIGN(index.sparse, flag(element));
  } else if (name == "hidden") {
    // As on servers, only this flag may not be a number.
    if (element.value.type() != bson::Type::kBool) return wrong_type(name, "a bool", element.value);
    index.hidden = element.value.as_bool();
  } else if (name == "background") {
    GM_ASSIGN(index.background, flag(element));
  } else if (name == "dropDups") {
    GM_TRY(flag(element));
  } else if (name == "expireAfterSeconds") {
    GM_ASSIGN(index.expire_after_seconds, expire_seconds(element));
  } else if (name == "partialFilterExpression") {
    if (element.value.type() != bson::Type::kDocument) {
      return wrong_type(name, "an object", element.value);
    }
    index.partial_filter = bson::Document(element.value.as_document());
  } else if (name == "v") {
    const std::optional<int64_t> version = element.value.integral();
    if (version != 1 && version != 2) {
      return fail(ErrorCode::kCannotCreateIndex,
                  "Invalid index specification: only the index versions 1 and 2 "
                  "are supported");
    }
  } else if (name == "collation") {
    GM_ASSIGN(index.collation, read_collation(element));
  } else if (name != "ns" && name != "_id") {
    return refuse_option_of_others(element);
  }
  return {};
}

}  // namespace

Result<IndexDefinition> IndexDefinition::parse(bson::View specification) {
  IndexDefinition index;
  std::map<std::string_view, bson::Value> other_options;
  bool has_key = false;
  for (const bson::Element element : specification) {
    if (element.key == "key") {
      if (element.value.type() != bson::Type::kDocument) {
        return wrong_type("key", "an object", element.value);
      }
      index.keys = bson::Document(element.value.as_document());
      has_key = true;
    } else if (element.key == "name") {
      if (element.value.type() != bson::Type::kString) {
        return wrong_type("name", "a string", element.value);
      }
      index.name = element.value.as_string();
      if (index.name.empty()) {
        return fail(ErrorCode::kCannotCreateIndex, "index names cannot be empty");
      }
    } else if (const OtherOption* const other = other_option(element.key)) {
      GM_TRY(read_other_option(*other, element.value, other_options));
    } else {
      GM_TRY(read_option(element, index));
    }
  }
  bson::Builder others;
  for (const OtherOption& option : kOtherOptions) {
    const auto given = other_options.find(option.name);
    if (given != other_options.end()) others.append(option.name, given->second);
  }
  index.other_options = std::move(others).finish();
  if (!has_key) {
    return fail(ErrorCode::kFailedToParse,
                "The 'key' field is a required property of an index specification");
  }
  const std::optional<bson::ValueView> version = specification.find("v");
  if (index.collation && version && version->integral() == 1) {
    return fail(ErrorCode::kCannotCreateIndex,
                "Invalid index specification " + bson::to_text(specification) +
                    "; cannot create an index with the 'collation' option and v=1");
  }
  if (index.name.empty()) index.name = default_index_name(index.keys);
  GM_TRY(complete_text_index(index));
  GM_TRY(check_wildcard_index(index));
  GM_TRY(check_combination(index));
  return index;
}

Status check_combination(const IndexDefinition& index) {
  const bson::View keys = index.keys;
  const bool on_id = !keys.empty() && (*keys.begin()).key == "_id" && ++keys.begin() == keys.end();
  if (index.sparse && index.partial_filter) {
    return fail(ErrorCode::kCannotCreateIndex,
                "cannot mix \"partialFilterExpression\" and \"sparse\" options");
  }
  if (on_id && (index.sparse || index.partial_filter || index.hidden)) {
    return fail(index.hidden ? ErrorCode::kBadValue : ErrorCode::kInvalidIndexSpecificationOption,
                "the _id index cannot be sparse, partial or hidden");
  }
  if (index.expire_after_seconds) {
    if (on_id) {
      return fail(ErrorCode::kCannotCreateIndex,
                  "The field 'expireAfterSeconds' is not valid for an _id index specification");
    }
    if (!keys.empty() && ++keys.begin() != keys.end()) {
      return fail(ErrorCode::kCannotCreateIndex,
                  "TTL indexes are single-field indexes, compound indexes do not support TTL. "
                  "Index spec: " +
                      bson::to_text(keys));
    }
  }
  return {};
}

bson::Document IndexDefinition::specification() const {
  bson::Builder builder;
  builder.append("v", int32_t{2}).append("key", keys).append("name", name);
  if (unique && name != "_id_") builder.append("unique", true);
  if (background) builder.append("background", *background);
  if (sparse) builder.append("sparse", true);
  if (hidden) builder.append("hidden", true);
  if (partial_filter) builder.append("partialFilterExpression", *partial_filter);
  if (expire_after_seconds) {
    builder.append("expireAfterSeconds", static_cast<int32_t>(*expire_after_seconds));
  }
  for (const bson::Element option : other_options.view()) {
    if (option.key != kWildcardProjection) builder.append(option.key, option.value);
  }
  if (const bson::Document* const own = own_collation()) builder.append("collation", *own);
  if (const auto projection = other_options.view().find(kWildcardProjection)) {
    builder.append(kWildcardProjection, *projection);
  }
  return std::move(builder).finish();
}

std::string default_index_name(bson::View keys) {
  std::string name;
  for (const bson::Element element : keys) {
    if (!name.empty()) name += "_";
    name += std::string(element.key) + "_";
    if (element.value.type() == bson::Type::kString) {
      name += element.value.as_string();
    } else {
      const double direction = element.value.number().value_or(0);
      const std::optional<int64_t> whole = element.value.integral();
      name += std::to_string(whole ? *whole : direction < 0 ? -1 : 1);
    }
  }
  return name;
}

bool same_index(const IndexDefinition& a, const IndexDefinition& b) {
  if (a.unique != b.unique || a.sparse != b.sparse) return false;
  if (a.partial_filter.has_value() != b.partial_filter.has_value()) return false;
  if (a.partial_filter && bson::compare(a.partial_filter->view(), b.partial_filter->view()) != 0) {
    return false;
  }
  if ((a.own_collation() != nullptr) != (b.own_collation() != nullptr)) return false;
  if (a.own_collation() != nullptr &&
      bson::compare(a.collation->view(), b.collation->view()) != 0) {
    return false;
  }
  const auto projection_of = [](const IndexDefinition& index) {
    const auto projection = index.other_options.view().find(kWildcardProjection);
    return projection ? projection->as_document() : bson::View();
  };
  return bson::compare(a.keys.view(), b.keys.view()) == 0 &&
         bson::compare(projection_of(a), projection_of(b)) == 0;
}

bool same_options(const IndexDefinition& a, const IndexDefinition& b) {
  return a.expire_after_seconds == b.expire_after_seconds &&
         bson::compare(a.other_options.view(), b.other_options.view()) == 0;
}

}  // namespace gridmount::query
