#include "engine/query/collation/collation.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "engine/bson/builder.h"
#include "engine/bson/number.h"
#include "engine/bson/text.h"
#include "engine/query/collation/collation_locale.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr ErrorCode kMissingField{40414};
constexpr ErrorCode kUnknownField{40415};
constexpr ErrorCode kOutOfRange{51024};
constexpr ErrorCode kIncompatibleCollationVersion{161};

constexpr std::string_view kSimple = "simple";

tl::unexpected<Error> wrong_type(const bson::Element& field, std::string_view expected) {
  return fail(ErrorCode::kTypeMismatch, "BSON field 'collation." + std::string(field.key) +
                                            "' is the wrong type '" +
                                            std::string(bson::type_alias(field.value.type())) +
                                            "', " + std::string(expected));
}

tl::unexpected<Error> no_such_value(const bson::Element& field, std::string_view value) {
  return fail(ErrorCode::kBadValue, "Enumeration value '" + std::string(value) +
                                        "' for field 'collation." + std::string(field.key) +
                                        "' is not a valid value.");
}

Status read_text(const bson::Element& field, std::string& text) {
  if (field.value.type() != Type::kString) return wrong_type(field, "expected type 'string'");
  text = field.value.as_string();
  return {};
}

Status read_one_of(const bson::Element& field, std::initializer_list<std::string_view> values,
                   std::string& text) {
  GM_TRY(read_text(field, text));
  if (std::ranges::find(values, text) == values.end()) return no_such_value(field, text);
  return {};
}

Status read_flag(const bson::Element& field, bool& flag) {
  if (field.value.type() != Type::kBool) return wrong_type(field, "expected type 'bool'");
  flag = field.value.as_bool();
  return {};
}

Status read_strength(const bson::Element& field, int32_t& strength) {
  constexpr int64_t kMin = 1;
  constexpr int64_t kMax = 5;
  const std::optional<int64_t> number = bson::clamped_integer(field.value);
  if (!number) return wrong_type(field, "expected types '[long, int, decimal, double']");
  const int64_t clamped = std::clamp<int64_t>(*number, std::numeric_limits<int32_t>::min(),
                                              std::numeric_limits<int32_t>::max());
  if (clamped > kMax || clamped < 0) {
    return fail(kOutOfRange, "BSON field 'strength' value must be " +
                                 std::string(clamped < 0 ? ">= 0" : "<= 5") + ", actual value '" +
                                 std::to_string(clamped) + "'");
  }
  if (clamped < kMin) return no_such_value(field, std::to_string(clamped));
  strength = static_cast<int32_t>(clamped);
  return {};
}

Status read_backwards(const bson::Element& field, std::optional<bool>& backwards) {
  if (field.value.type() != Type::kBool) {
    return fail(ErrorCode::kTypeMismatch,
                "Field 'backwards' should be a boolean value, but found: " +
                    std::string(bson::type_alias(field.value.type())));
  }
  backwards = field.value.as_bool();
  return {};
}

struct Fields {
  Collation collation;
  std::optional<std::string> locale;
  std::optional<std::string> version;
};

constexpr std::string_view kFields[] = {
    "locale",    "caseLevel",   "caseFirst",     "strength",  "numericOrdering",
    "alternate", "maxVariable", "normalization", "backwards", "version"};

bool is_field(std::string_view name) {
  return std::ranges::find(kFields, name) != std::end(kFields);
}

Status read_field(const bson::Element& field, Fields& fields) {
  Collation& collation = fields.collation;
  const std::string_view name = field.key;
  if (name == "locale") return read_text(field, fields.locale.emplace());
  if (name == "caseLevel") return read_flag(field, collation.case_level);
  if (name == "caseFirst") {
    return read_one_of(field, {"upper", "lower", "off"}, collation.case_first);
  }
  if (name == "strength") return read_strength(field, collation.strength);
  if (name == "numericOrdering") return read_flag(field, collation.numeric_ordering);
  if (name == "alternate") {
    return read_one_of(field, {"non-ignorable", "shifted"}, collation.alternate);
  }
  if (name == "maxVariable") return read_one_of(field, {"punct", "space"}, collation.max_variable);
  if (name == "normalization") return read_flag(field, collation.normalization);
  if (name == "backwards") return read_backwards(field, collation.backwards);
  if (name == "version") return read_text(field, fields.version.emplace());
  return fail(kUnknownField,
              "BSON field 'collation." + std::string(name) + "' is an unknown field.");
}

enum class Defaults { kOfLocale, kOfCollections };

// Returns a collation with the defaults of the locale, before the other fields are read.
Collation with_defaults(bson::View specification, Defaults kind) {
  Collation collation;
  const std::optional<ValueView> locale = specification.find("locale");
  if (!locale || locale->type() != Type::kString) return collation;
  const LocaleDefaults defaults = defaults_of_locale(locale->as_string());
  collation.backwards = defaults.backwards;
  if (kind == Defaults::kOfCollections) return collation;
  if (defaults.upper_first) collation.case_first = "upper";
  if (defaults.shifted) collation.alternate = "shifted";
  collation.normalization = defaults.normalization;
  return collation;
}

Result<Fields> read_fields(bson::View specification, Defaults defaults) {
  Fields fields;
  fields.collation = with_defaults(specification, defaults);
  for (const bson::Element field : specification) {
    // A field that is null counts as absent.
    if (bson::is_nullish(field.value.type()) && is_field(field.key)) continue;
    GM_TRY(read_field(field, fields));
  }
  if (!fields.locale) {
    return fail(kMissingField, "BSON field 'collation.locale' is missing but a required field");
  }
  fields.collation.locale = *fields.locale;
  return fields;
}

Status check_locale(std::string_view locale, bson::View specification) {
  const std::string shown = bson::to_text(specification);
  const auto refuse = [](std::string message) {
    return fail(ErrorCode::kBadValue, std::move(message));
  };
  if (locale.find('\0') != std::string_view::npos) {
    return refuse("Field 'locale' cannot contain null byte. Collation spec: " + shown);
  }
  if (locale.empty()) return refuse("Field 'locale' cannot be the empty string in: " + shown);
  if (locale.size() > Collation::kLocaleBytesMax) {
    return refuse("Field 'locale' is not valid in: " + shown);
  }
  if (!is_collation_locale(locale)) return refuse("Field 'locale' is invalid in: " + shown);
  return {};
}

Status check_together(const Collation& collation, bson::View specification) {
  if (collation.backwards.value_or(false) && collation.strength == 1) {
    return fail(ErrorCode::kBadValue,
                "'backwards' is invalid with 'strength' of 1 in: " + bson::to_text(specification));
  }
  if (collation.case_first != "off" && !collation.case_level && collation.strength <= 2) {
    return fail(ErrorCode::kBadValue,
                "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 "
                "in: " +
                    bson::to_text(specification));
  }
  return {};
}

Result<std::optional<Collation>> parse_with(bson::View specification, Defaults defaults) {
  GM_ASSIGN(Fields fields, read_fields(specification, defaults));
  if (fields.collation.locale == kSimple) return std::optional<Collation>();
  GM_TRY(check_locale(fields.collation.locale, specification));
  if (fields.version && *fields.version != Collation::kVersion) {
    return fail(kIncompatibleCollationVersion,
                "Requested collation version " + *fields.version +
                    " but the only available collator version was " +
                    std::string(Collation::kVersion) +
                    ". Requested collation spec: " + bson::to_text(specification));
  }
  GM_TRY(check_together(fields.collation, specification));
  return std::optional(std::move(fields.collation));
}

}  // namespace

Result<std::optional<Collation>> Collation::parse(bson::View specification) {
  return parse_with(specification, Defaults::kOfLocale);
}

Result<std::optional<Collation>> Collation::parse_of_collection(bson::View specification) {
  return parse_with(specification, Defaults::kOfCollections);
}

bson::Document Collation::document() const {
  bson::Builder builder;
  builder.append("locale", locale)
      .append("caseLevel", case_level)
      .append("caseFirst", case_first)
      .append("strength", strength)
      .append("numericOrdering", numeric_ordering)
      .append("alternate", alternate)
      .append("maxVariable", max_variable)
      .append("normalization", normalization)
      .append("backwards", backwards.value_or(false))
      .append("version", kVersion);
  return std::move(builder).finish();
}

}  // namespace gridmount::query
