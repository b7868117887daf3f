#include "engine/query/filter/canonical_form.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/expression/expression.h"
#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Builder;
using bson::Document;
using bson::Element;
using bson::Type;
using bson::ValueView;

using Conditions = std::vector<Document>;

// The server's order of conditions. Conditions that are not in this list come last.
constexpr std::array<std::string_view, 19> kOrder = {
    "$and", "$or",  "$elemMatch", "$size", "$eq",         "$lte", "$lt",
    "$gt",  "$gte", "$regex",     "$mod",  "$exists",     "$in",  "$bitsAllSet",
    "$not", "$nor", "$type",      "$expr", "$jsonSchema",
};

// Returns {path: {operator: value}}.
template <typename T>
Document condition(std::string_view path, std::string_view name, const T& value) {
  Builder out;
  out.open_document(path).append(name, value).close();
  return std::move(out).finish();
}

Document regex_condition(std::string_view path, std::string_view pattern,
                         std::string_view options) {
  Builder out;
  out.open_document(path).append("$regex", pattern);
  if (!options.empty()) out.append("$options", options);
  out.close();
  return std::move(out).finish();
}

// A regular expression in place of a value is a $regex, and not an $eq.
Document value_condition(std::string_view path, ValueView value) {
  if (value.type() != Type::kRegex) return condition(path, "$eq", value);
  const bson::Regex regex = value.as_regex();
  return regex_condition(path, regex.pattern, regex.options);
}

Document negation(std::string_view path, const Document& positive) {
  return condition(path, "$not", (*positive.view().begin()).value);
}

Document in_condition(std::string_view path, bson::View operands) {
  std::vector<ValueView> values;
  std::vector<ValueView> regexes;
  for (const Element operand : operands) {
    (operand.value.type() == Type::kRegex ? regexes : values).push_back(operand.value);
  }
  std::stable_sort(values.begin(), values.end(),
                   [](ValueView a, ValueView b) { return bson::compare(a, b) < 0; });
  values.erase(std::unique(values.begin(), values.end(),
                           [](ValueView a, ValueView b) { return bson::compare(a, b) == 0; }),
               values.end());
  values.insert(values.end(), regexes.begin(), regexes.end());
  if (values.size() == 1) return value_condition(path, values.front());
  Builder out;
  Builder& list = out.open_document(path).open_array("$in");
  for (const ValueView& value : values) list.push(value);
  list.close().close();
  return std::move(out).finish();
}

Document type_condition(std::string_view path, ValueView operand) {
  std::vector<ValueView> aliases;
  if (operand.type() == Type::kArray) {
    for (const Element one : operand.as_document()) aliases.push_back(one.value);
  } else {
    aliases.push_back(operand);
  }
  Builder out;
  Builder& list = out.open_document(path).open_array("$type");
  for (const ValueView& alias : aliases) {
    std::vector<Type> types;
    const bool named = alias.type() == Type::kString && alias.as_string() != "number" &&
                       add_types(alias.as_string(), types) && types.size() == 1;
    if (named) {
      list.push(bson::Value(int32_t{static_cast<int8_t>(types.front())}).view());
    } else {
      list.push(alias);
    }
  }
  list.close().close();
  return std::move(out).finish();
}

// The operand of $elemMatch has either operators, which test each element as a value, or a filter,
// which tests elements that are documents.
Document element_condition(std::string_view path, ValueView operand) {
  if (operand.type() != Type::kDocument || is_operator_document(operand)) {
    return condition(path, "$elemMatch", operand);
  }
  return condition(path, "$elemMatch", canonical_form(operand.as_document()));
}

void add_all_of(std::string_view path, bson::View operands, Conditions& out) {
  for (const Element operand : operands) {
    const bool elements = operand.value.type() == Type::kDocument &&
                          operand.value.as_document().find("$elemMatch").has_value();
    out.push_back(elements ? element_condition(path, operand.value.as_document()["$elemMatch"])
                           : value_condition(path, operand.value));
  }
}

Document regex_of_operators(std::string_view path, ValueView regex, bson::View siblings) {
  const std::optional<ValueView> options = siblings.find("$options");
  std::string_view flags;
  if (regex.type() == Type::kRegex) flags = regex.as_regex().options;
  if (options && options->type() == Type::kString) flags = options->as_string();
  if (regex.type() == Type::kRegex) return regex_condition(path, regex.as_regex().pattern, flags);
  if (regex.type() == Type::kString) return regex_condition(path, regex.as_string(), flags);
  return condition(path, "$regex", regex);
}

void add_operators(std::string_view path, bson::View operators, Conditions& out);

Document not_condition(std::string_view path, ValueView operand) {
  if (operand.type() == Type::kRegex) return negation(path, value_condition(path, operand));
  if (operand.type() == Type::kDocument) {
    Conditions inner;
    add_operators(path, operand.as_document(), inner);
    if (inner.size() == 1) return negation(path, inner.front());
  }
  return condition(path, "$not", operand);
}

void add_operator(std::string_view path, const Element& call, bson::View siblings,
                  Conditions& out) {
  const std::string_view name = call.key;
  const ValueView operand = call.value;
  const bool is_list = operand.type() == Type::kArray;
  if (name == "$ne") {
    out.push_back(negation(path, condition(path, "$eq", operand)));
  } else if (name == "$in" && is_list) {
    out.push_back(in_condition(path, operand.as_document()));
  } else if (name == "$nin" && is_list) {
    out.push_back(negation(path, in_condition(path, operand.as_document())));
  } else if (name == "$exists") {
    const Document exists = condition(path, "$exists", true);
    out.push_back(is_true(operand) ? exists : negation(path, exists));
  } else if (name == "$not") {
    out.push_back(not_condition(path, operand));
  } else if (name == "$regex") {
    out.push_back(regex_of_operators(path, operand, siblings));
  } else if (name == "$type") {
    out.push_back(type_condition(path, operand));
  } else if (name == "$elemMatch") {
    out.push_back(element_condition(path, operand));
  } else if (name == "$all" && is_list && !operand.as_document().empty()) {
    add_all_of(path, operand.as_document(), out);
  } else if (name != "$options") {
    out.push_back(condition(path, name, operand));
  }
}

void add_operators(std::string_view path, bson::View operators, Conditions& out) {
  for (const Element call : operators) add_operator(path, call, operators, out);
}

// Returns the rank of the condition's operator and its path. The path is empty for $and and similar
// operators.
std::pair<size_t, std::string_view> place_of(const Document& condition) {
  const Element first = *condition.view().begin();
  const auto rank = [](std::string_view name) {
    if (name.starts_with("$bits")) name = "$bitsAllSet";
    return static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), name) - kOrder.begin());
  };
  if (!is_operator_document(first.value)) return {rank(first.key), {}};
  return {rank((*first.value.as_document().begin()).key), first.key};
}

void put_in_order(Conditions& conditions) {
  std::stable_sort(conditions.begin(), conditions.end(),
                   [](const Document& a, const Document& b) { return place_of(a) < place_of(b); });
}

void add_conditions(bson::View filter, Conditions& out);

void add_branches(const Element& element, Conditions& out) {
  Conditions branches;
  for (const Element branch : element.value.as_document()) {
    if (branch.value.type() != Type::kDocument) continue;
    branches.push_back(canonical_form(branch.value.as_document()));
  }
  if (element.key == "$or" && branches.size() == 1) {
    return add_conditions(branches.front(), out);
  }
  // An $or that matches everything has an empty branch, which has no rank.
  const bool placed = std::none_of(branches.begin(), branches.end(),
                                   [](const Document& one) { return one.view().empty(); });
  if (placed) put_in_order(branches);
  Builder list;
  list.open_array(element.key);
  for (const Document& branch : branches) list.push(branch.view());
  list.close();
  out.push_back(std::move(list).finish());
}

void add_conditions(bson::View filter, Conditions& out) {
  for (const Element element : filter) {
    const bool is_list = element.value.type() == Type::kArray;
    if (element.key == "$and" && is_list) {
      for (const Element one : element.value.as_document()) {
        if (one.value.type() == Type::kDocument) add_conditions(one.value.as_document(), out);
      }
    } else if ((element.key == "$or" || element.key == "$nor") && is_list) {
      add_branches(element, out);
    } else if (element.key.starts_with('$') && element.key != "$ref" && element.key != "$id" &&
               element.key != "$db") {
      if (element.key == "$comment") continue;
      Builder own;
      own.append(element.key, element.value);
      out.push_back(std::move(own).finish());
    } else if (is_operator_document(element.value)) {
      add_operators(element.key, element.value.as_document(), out);
    } else {
      out.push_back(value_condition(element.key, element.value));
    }
  }
}

void put_shape(Builder& out, bson::View normal) {
  for (const Element element : normal) {
    // The value with which a field is compared is not part of the shape. A document below a path is
    // part of the shape.
    const bool is_value = element.key.starts_with('$') && element.key != "$not" &&
                          element.key != "$elemMatch" && element.key != "$expr";
    if (element.value.type() == Type::kDocument && !is_value) {
      out.open_document(element.key);
      put_shape(out, element.value.as_document());
      out.close();
    } else if (element.key == "$and" || element.key == "$or" || element.key == "$nor") {
      out.open_document(element.key);
      if (element.value.type() == Type::kArray) put_shape(out, element.value.as_document());
      out.close();
    } else {
      out.append_null(element.key);
    }
  }
}

}  // namespace

std::vector<bson::Document> conditions_of(bson::View filter) {
  Conditions conditions;
  add_conditions(filter, conditions);
  put_in_order(conditions);
  return conditions;
}

bson::Document conjunction_of(const std::vector<bson::Document>& conditions) {
  if (conditions.size() == 1) return conditions.front();
  Builder out;
  if (!conditions.empty()) {
    out.open_array("$and");
    for (const Document& one : conditions) out.push(one.view());
    out.close();
  }
  return std::move(out).finish();
}

bson::Document canonical_form(bson::View filter) {
  return conjunction_of(conditions_of(filter));
}

bson::Document shape_of(bson::View canonical_form) {
  Builder out;
  put_shape(out, canonical_form);
  return std::move(out).finish();
}

}  // namespace gridmount::query
