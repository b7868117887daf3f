#include "engine/query/plan/index_definition.h"

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/text.h"

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

Status check_collation(const bson::Element& element) {
  if (element.value.type() != bson::Type::kDocument) {
    return wrong_type(element.key, "an object", element.value);
  }
  const std::optional<bson::ValueView> locale = element.value.as_document().find("locale");
  if (locale && locale->type() == bson::Type::kString && locale->as_string() == "simple") return {};
  return fail(ErrorCode::kCannotCreateIndex,
              "collation " + bson::to_text(element.value.as_document()) +
                  " is not supported: strings are compared as bytes ({locale: \"simple\"})");
}

Status read_option(const bson::Element& element, IndexDefinition& index) {
  const std::string_view name = element.key;
  if (name == "unique") {
    GM_ASSIGN(index.unique, flag(element));
  } else if (name == "sparse") {
    GM_ASSIGN(index.sparse, flag(element));
  } else if (name == "hidden") {
    GM_ASSIGN(index.hidden, flag(element));
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
    return check_collation(element);
  } else if (name != "ns") {
    return fail(ErrorCode::kInvalidIndexSpecificationOption,
                "The field '" + std::string(name) +
                    "' is not valid for an index specification. Valid fields are key, name, "
                    "unique, sparse, hidden, partialFilterExpression and expireAfterSeconds");
  }
  return {};
}

}  // namespace

Result<IndexDefinition> IndexDefinition::parse(bson::View specification) {
  IndexDefinition index;
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
    } else {
      GM_TRY(read_option(element, index));
    }
  }
  if (!has_key) {
    return fail(ErrorCode::kFailedToParse,
                "The 'key' field is a required property of an index specification");
  }
  GM_TRY(check_combination(index));
  if (index.name.empty()) index.name = default_index_name(index.keys);
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
  return bson::compare(a.keys.view(), b.keys.view()) == 0;
}

bool same_options(const IndexDefinition& a, const IndexDefinition& b) {
  return a.expire_after_seconds == b.expire_after_seconds && a.hidden == b.hidden;
}

}  // namespace gridmount::query
