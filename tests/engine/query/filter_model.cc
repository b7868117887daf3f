#include "tests/engine/query/filter_model.h"

#include <cmath>
#include <functional>
#include <vector>

namespace gridmount::query::model {
namespace {

using bson::Element;

// A value that a path reaches in a document. No value means that a branch lacks the field.
struct Reached {
  std::optional<ValueView> value;
  bool is_position = false;  // reached by its position: an array there is not searched
};

bool is_number_text(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), ::isdigit);
}

void reach(bson::View document, const std::vector<std::string>& parts, size_t at,
           std::vector<Reached>& reached);

void reach_in_array(bson::View array, const std::vector<std::string>& parts, size_t at,
                    std::vector<Reached>& reached) {
  for (const Element element : array) {
    if (element.value.type() == Type::kDocument) {
      reach(element.value.as_document(), parts, at, reached);
    }
  }
  if (!is_number_text(parts[at])) return;
  for (const Element element : array) {
    if (element.key != parts[at]) continue;
    if (at + 1 == parts.size()) {
      reached.push_back({element.value, true});
    } else if (element.value.type() == Type::kDocument) {
      reach(element.value.as_document(), parts, at + 1, reached);
    } else if (element.value.type() == Type::kArray) {
      reach_in_array(element.value.as_document(), parts, at + 1, reached);
    }
  }
}

void reach(bson::View document, const std::vector<std::string>& parts, size_t at,
           std::vector<Reached>& reached) {
  for (const Element element : document) {
    if (element.key != parts[at]) continue;
    if (at + 1 == parts.size()) {
      reached.push_back({element.value});
    } else if (element.value.type() == Type::kDocument) {
      reach(element.value.as_document(), parts, at + 1, reached);
    } else if (element.value.type() == Type::kArray) {
      reach_in_array(element.value.as_document(), parts, at + 1, reached);
    } else {
      reached.push_back({});
    }
    return;
  }
  reached.push_back({});
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool bit(ValueView value, int64_t position) {
  if (value.type() == Type::kBinary) {
    const bson::Binary binary = value.as_binary();
    return position / 8 < binary.size && (binary.data[position / 8] >> (position % 8) & 1) != 0;
  }
  const int64_t number = *value.integral();
  return (number >> std::min<int64_t>(position, 63) & 1) != 0;
}

bool bits_match(std::string_view name, ValueView value, ValueView mask) {
  if (value.type() != Type::kBinary && !value.integral()) return false;
  std::vector<int64_t> positions;
  if (mask.type() == Type::kArray) {
    for (const Element element : mask.as_document()) positions.push_back(*element.value.integral());
  } else {
    const int64_t size = mask.type() == Type::kBinary ? 8 * int64_t{mask.as_binary().size} : 64;
    for (int64_t i = 0; i < size; ++i) {
      if (bit(mask, i)) positions.push_back(i);
    }
  }
  size_t set = 0;
  for (const int64_t position : positions) set += bit(value, position) ? 1 : 0;
  if (name == "$bitsAllSet") return set == positions.size();
  if (name == "$bitsAnySet") return set > 0;
  if (name == "$bitsAllClear") return set == 0;
  return set < positions.size();
}

bool mod_matches(ValueView value, bson::View operands) {
  if (!value.is_number()) return false;
  const double number = std::trunc(*value.number());
  if (!(std::abs(number) < 0x1p53)) return false;  // the tests use no larger ones
  const double divisor = *operands["0"].number();
  return std::fmod(number, divisor) == *operands["1"].number();
}

bool operators_match(bson::View operators, ValueView value);

// Matches one value. An array is not searched.
bool value_matches(std::string_view name, ValueView operand, ValueView value) {
  if (name == "$in") {
    for (const Element element : operand.as_document()) {
      const bool is_regex = element.value.type() == Type::kRegex;
      if (value_matches(is_regex ? "$regex" : "$eq", element.value, value)) return true;
    }
    return false;
  }
  if (name == "$ne") return !value_matches("$eq", operand, value);
  if (name == "$nin") return !value_matches("$in", operand, value);
  if (name == "$not") return !operators_match(operand.as_document(), value);
  if (name == "$exists") return operand.as_bool();
  if (name == "$type") return has_type(value, operand.as_string());
  if (name == "$regex") {
    const std::string_view pattern =
        operand.type() == Type::kRegex ? operand.as_regex().pattern : operand.as_string();
    if (value.type() == Type::kRegex) {
      return value.as_regex().pattern == pattern && value.as_regex().options.empty();
    }
    const bool is_text = value.type() == Type::kString || value.type() == Type::kSymbol;
    return is_text && contains_match(value, pattern);
  }
  if (name == "$mod") return mod_matches(value, operand.as_document());
  if (name.starts_with("$bits")) return bits_match(name, value, operand);
  if (name == "$size") {
    if (value.type() != Type::kArray) return false;
    int64_t size = 0;
    for ([[maybe_unused]] const Element element : value.as_document()) ++size;
    return size == operand.integral();
  }
  if (name == "$all") {
    bool all = !operand.as_document().empty();
    for (const Element element : operand.as_document()) {
      all = all && value_matches("$eq", element.value, value);
    }
    return all;
  }
  if (name == "$elemMatch") {
    if (value.type() != Type::kArray) return false;
    const bson::View conditions = operand.as_document();
    const bool of_values = !conditions.empty() && (*conditions.begin()).key.starts_with('$') &&
                           (*conditions.begin()).key != "$or";
    for (const Element element : value.as_document()) {
      const Type type = element.value.type();
      if (of_values ? operators_match(conditions, element.value)
                    : (type == Type::kDocument || type == Type::kArray) &&
                          matches(conditions, element.value.as_document())) {
        return true;
      }
    }
    return false;
  }
  return compares(name, value, operand);
}

bool operators_match(bson::View operators, ValueView value) {
  for (const Element element : operators) {
    if (!value_matches(element.key, element.value, value)) return false;
  }
  return true;
}

bool missing_matches(std::string_view name, ValueView operand) {
  if (name == "$eq" || name == "$gte" || name == "$lte") {
    if (is_nullish(operand)) return true;
  }
  if (name == "$lt" || name == "$lte") return operand.type() == Type::kMaxKey;
  if (name == "$gt" || name == "$gte") return operand.type() == Type::kMinKey;
  if (name == "$in") {
    for (const Element element : operand.as_document()) {
      if (is_nullish(element.value)) return true;
    }
  }
  return false;
}

bool field_matches(const std::string& path, std::string_view name, ValueView operand,
                   bson::View document) {
  if (name == "$ne") return !field_matches(path, "$eq", operand, document);
  if (name == "$nin") return !field_matches(path, "$in", operand, document);
  if (name == "$not") {
    for (const Element element : operand.as_document()) {
      if (!field_matches(path, element.key, element.value, document)) return true;
    }
    return false;
  }
  if (name == "$all") {
    bool all = !operand.as_document().empty();
    for (const Element element : operand.as_document()) {
      all = all && field_matches(path, "$eq", element.value, document);
    }
    return all;
  }
  std::vector<Reached> all_reached;
  reach(document, split(path), 0, all_reached);
  if (name == "$exists") {
    bool exists = false;
    for (const Reached& reached : all_reached) exists = exists || reached.value;
    return exists == operand.as_bool();
  }
  const bool searches = name != "$size" && name != "$elemMatch";
  for (const Reached& reached : all_reached) {
    if (!reached.value) {
      if (missing_matches(name, operand)) return true;
      continue;
    }
    if (value_matches(name, operand, *reached.value)) return true;
    if (!searches || reached.is_position || reached.value->type() != Type::kArray) continue;
    for (const Element element : reached.value->as_document()) {
      if (value_matches(name, operand, element.value)) return true;
    }
  }
  return false;
}

// Matches {$expr: {$gt: ["$field", {$literal: value}]}} and similar expressions.
bool expression_matches(bson::View expression, bson::View document) {
  const Element call = *expression.begin();
  const bson::View arguments = call.value.as_document();
  const auto value = document.find(arguments["0"].as_string().substr(1));
  const ValueView operand = arguments["1"].as_document()["$literal"];
  // A missing field is less than everything except MinKey.
  const auto order = value                             ? bson::compare(*value, operand)
                     : operand.type() == Type::kMinKey ? std::weak_ordering::greater
                                                       : std::weak_ordering::less;
  if (call.key == "$eq") return order == 0;
  return call.key == "$gt" ? order > 0 : order < 0;
}

}  // namespace

bool compares(std::string_view comparison, ValueView value, ValueView operand) {
  const bool or_equal = comparison == "$eq" || comparison.ends_with('e');
  if (is_nullish(operand)) return or_equal && is_nullish(value);
  if (value.is_number() && operand.is_number() && (is_nan(operand) || is_nan(value))) {
    return or_equal && is_nan(operand) && is_nan(value);
  }
  const std::weak_ordering order = bson::compare(value, operand);
  if (order == 0) return or_equal;
  if (comparison == "$eq") return false;
  const bool same_kind =
      (value.is_number() && operand.is_number()) ||
      bson::canonical_order(value.type()) == bson::canonical_order(operand.type()) ||
      operand.type() == Type::kMaxKey || operand.type() == Type::kMinKey;
  return same_kind && (comparison.starts_with("$l") ? order < 0 : order > 0);
}

bool has_type(ValueView value, std::string_view alias) {
  if (alias == "number") return value.is_number();
  if (alias == "boolean") return value.type() == Type::kBool;
  return bson::type_alias(value.type()) == alias;
}

bool matches(bson::View filter, bson::View document) {
  for (const Element element : filter) {
    bool met = true;
    if (element.key == "$and" || element.key == "$or" || element.key == "$nor") {
      size_t branches = 0;
      size_t matching = 0;
      for (const Element branch : element.value.as_document()) {
        ++branches;
        matching += matches(branch.value.as_document(), document) ? 1 : 0;
      }
      met = element.key == "$and"  ? matching == branches
            : element.key == "$or" ? matching > 0
                                   : matching == 0;
    } else if (element.key == "$alwaysFalse") {
      met = false;
    } else if (element.key == "$alwaysTrue") {
      met = true;
    } else if (element.key == "$expr") {
      met = expression_matches(element.value.as_document(), document);
    } else if (element.key == "$jsonSchema") {
      met = schema_allows(element.value.as_document(),
                          ValueView(Type::kDocument, document.data(), document.size()));
    } else {
      const std::string path(element.key);
      const ValueView value = element.value;
      const bool has_operators = value.type() == Type::kDocument && !value.as_document().empty() &&
                                 (*value.as_document().begin()).key.starts_with('$');
      if (has_operators) {
        for (const Element call : value.as_document()) {
          met = met && field_matches(path, call.key, call.value, document);
        }
      } else {
        met = field_matches(path, value.type() == Type::kRegex ? "$regex" : "$eq", value, document);
      }
    }
    if (!met) return false;
  }
  return true;
}

}  // namespace gridmount::query::model
