#include "engine/wire/arguments.h"

#include <algorithm>
#include <unordered_set>

#include "engine/bson/number.h"

namespace gridmount::wire {
namespace {

using bson::Type;

// Commands with more fields than this look for duplicates in a set. Otherwise the time would grow
// with the square of the number of fields.
constexpr size_t kFieldsCompared = 32;

constexpr std::string_view kBooleanTypes = "types '[bool, long, int, decimal, double']";
constexpr std::string_view kIntegerTypes = "types '[long, int, decimal, double']";

std::string quoted(std::string_view type) {
  return "type '" + std::string(type) + "'";
}

bool truth(bson::ValueView value) {
  return value.type() == Type::kBool ? value.as_bool() : value.number().value_or(0) != 0;
}

}  // namespace

std::string_view type_name(bson::ValueView value) {
  return bson::type_alias(value.type());
}

Result<Arguments> Arguments::of(const Request& request) {
  Arguments arguments(request.name(), &request);
  GM_TRY(arguments.read(request.body));
  for (const Sequence& sequence : request.sequences) {
    const auto same = [&](const Sequence& other) { return other.name == sequence.name; };
    if (std::count_if(request.sequences.begin(), request.sequences.end(), same) > 1 ||
        request.body.find(sequence.name)) {
      return arguments.duplicate(sequence.name);
    }
  }
  return arguments;
}

Result<Arguments> Arguments::of(std::string_view path, bson::View document) {
  Arguments arguments(path, nullptr);
  GM_TRY(arguments.read(document));
  return arguments;
}

Status Arguments::read(bson::View document) {
  std::unordered_set<std::string_view> names;
  for (const bson::Element element : document) {
    if (fields_.size() < kFieldsCompared) {
      for (const Field& field : fields_) {
        if (field.element.key == element.key) return duplicate(element.key);
      }
    } else {
      if (names.empty()) {
        for (const Field& field : fields_) names.insert(field.element.key);
      }
      if (!names.insert(element.key).second) return duplicate(element.key);
    }
    fields_.push_back({element});
  }
  return {};
}

const bson::Element* Arguments::take(std::string_view name) {
  for (Field& field : fields_) {
    if (field.element.key != name) continue;
    field.taken = true;
    const Type type = field.element.value.type();
    return type == Type::kNull || type == Type::kUndefined ? nullptr : &field.element;
  }
  return nullptr;
}

bool Arguments::has(std::string_view name) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const Field& field) { return field.element.key == name; });
}

tl::unexpected<Error> Arguments::duplicate(std::string_view name) const {
  return fail(kDuplicateField, "BSON field '" + std::string(path_) + "." + std::string(name) +
                                   "' is a duplicate field");
}

tl::unexpected<Error> Arguments::missing(std::string_view name) const {
  return fail(kMissingField, "BSON field '" + std::string(path_) + "." + std::string(name) +
                                 "' is missing but a required field");
}

tl::unexpected<Error> Arguments::wrong_type(std::string_view name, bson::ValueView value,
                                            std::string_view expected) const {
  return fail(ErrorCode::kTypeMismatch, "BSON field '" + std::string(path_) + "." +
                                            std::string(name) + "' is the wrong type '" +
                                            std::string(type_name(value)) + "', expected " +
                                            std::string(expected));
}

std::optional<bson::ValueView> Arguments::any(std::string_view name) {
  const bson::Element* const element = take(name);
  if (element == nullptr) return std::nullopt;
  return element->value;
}

Result<bson::ValueView> Arguments::required(std::string_view name) {
  for (Field& field : fields_) {
    if (field.element.key != name) continue;
    field.taken = true;
    return field.element.value;
  }
  return missing(name);
}

Result<std::optional<std::string_view>> Arguments::string(std::string_view name) {
  const std::optional<bson::ValueView> value = any(name);
  if (!value) return std::optional<std::string_view>();
  if (value->type() != Type::kString) return wrong_type(name, *value, quoted("string"));
  return std::optional(value->as_string());
}

Result<std::string_view> Arguments::required_string(std::string_view name) {
  GM_ASSIGN(const std::optional<std::string_view> text, string(name));
  if (!text) return missing(name);
  return *text;
}

Result<std::optional<bson::View>> Arguments::document(std::string_view name) {
  const std::optional<bson::ValueView> value = any(name);
  if (!value) return std::optional<bson::View>();
  if (value->type() != Type::kDocument) return wrong_type(name, *value, quoted("object"));
  return std::optional(value->as_document());
}

Result<bson::View> Arguments::required_document(std::string_view name) {
  GM_ASSIGN(const std::optional<bson::View> given, document(name));
  if (!given) return missing(name);
  return *given;
}

Result<bson::View> Arguments::document_or_empty(std::string_view name) {
  GM_ASSIGN(const std::optional<bson::View> given, document(name));
  return given.value_or(bson::View());
}

Result<std::optional<bson::View>> Arguments::array(std::string_view name) {
  const std::optional<bson::ValueView> value = any(name);
  if (!value) return std::optional<bson::View>();
  if (value->type() != Type::kArray) return wrong_type(name, *value, quoted("array"));
  return std::optional(value->as_document());
}

Result<std::optional<bool>> Arguments::strict_boolean(std::string_view name) {
  const std::optional<bson::ValueView> value = any(name);
  if (!value) return std::optional<bool>();
  if (value->type() != Type::kBool) return wrong_type(name, *value, quoted("bool"));
  return std::optional(value->as_bool());
}

Result<std::optional<bool>> Arguments::optional_boolean(std::string_view name) {
  const std::optional<bson::ValueView> value = any(name);
  if (!value) return std::optional<bool>();
  if (value->type() != Type::kBool && !value->is_number()) {
    return wrong_type(name, *value, kBooleanTypes);
  }
  return std::optional(truth(*value));
}

Result<bool> Arguments::boolean(std::string_view name, bool fallback) {
  GM_ASSIGN(const std::optional<bool> given, optional_boolean(name));
  return given.value_or(fallback);
}

Result<std::optional<int64_t>> Arguments::integer(std::string_view name) {
  const std::optional<bson::ValueView> value = any(name);
  if (!value) return std::optional<int64_t>();
  const std::optional<int64_t> number = bson::clamped_integer(*value);
  if (!number) return wrong_type(name, *value, kIntegerTypes);
  return number;
}

Result<std::optional<int64_t>> Arguments::integer_from(std::string_view name, int64_t least) {
  GM_ASSIGN(const std::optional<int64_t> number, integer(name));
  if (number && *number < least) {
    return fail(kValueOutOfBounds, "BSON field '" + std::string(name) +
                                       "' value must be >= " + std::to_string(least) +
                                       ", actual value '" + std::to_string(*number) + "'");
  }
  return number;
}

Result<std::vector<bson::View>> Arguments::documents(std::string_view name) {
  if (request_ != nullptr) {
    for (const Sequence& sequence : request_->sequences) {
      if (sequence.name == name) return sequence.documents;
    }
  }
  GM_ASSIGN(const std::optional<bson::View> given, array(name));
  if (!given) return missing(name);
  std::vector<bson::View> documents;
  for (const bson::Element element : *given) {
    // Servers skip such elements too.
    if (element.value.type() == Type::kNull || element.value.type() == Type::kUndefined) continue;
    if (element.value.type() != Type::kDocument) {
      return wrong_type(std::string(name) + "." + std::string(element.key), element.value,
                        quoted("object"));
    }
    documents.push_back(element.value.as_document());
  }
  return documents;
}

Result<std::string> Arguments::database() const {
  const std::string name(request_ != nullptr ? request_->database : std::string_view());
  if (const Status checked = engine::check_namespace({name, "c"}); !checked) {
    return fail(ErrorCode::kInvalidNamespace, "Invalid database name: '" + name + "'");
  }
  return name;
}

Result<engine::Namespace> Arguments::collection() {
  GM_ASSIGN(const bson::ValueView value, required(path_));
  if (value.type() != Type::kString) {
    return fail(ErrorCode::kInvalidNamespace,
                "collection name has invalid type " + std::string(type_name(value)));
  }
  engine::Namespace ns;
  GM_ASSIGN(ns.database, database());
  ns.collection = value.as_string();
  GM_TRY(engine::check_namespace(ns));
  return ns;
}

std::vector<bson::Element> Arguments::rest() {
  std::vector<bson::Element> elements;
  for (Field& field : fields_) {
    if (field.taken) continue;
    field.taken = true;
    elements.push_back(field.element);
  }
  return elements;
}

Status Arguments::finish() const {
  for (const Field& field : fields_) {
    if (field.taken) continue;
    return fail(ErrorCode::kUnknownField, "BSON field '" + std::string(path_) + "." +
                                              std::string(field.element.key) +
                                              "' is an unknown field.");
  }
  if (request_ == nullptr) return {};
  for (const Sequence& sequence : request_->sequences) {
    const bool known = (sequence.name == "documents" && path_ == "insert") ||
                       (sequence.name == "updates" && path_ == "update") ||
                       (sequence.name == "deletes" && path_ == "delete");
    if (!known) {
      return fail(ErrorCode::kUnknownField, "BSON field '" + std::string(path_) + "." +
                                                std::string(sequence.name) +
                                                "' is an unknown field.");
    }
  }
  return {};
}

}  // namespace gridmount::wire
