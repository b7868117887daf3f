// $split, $trim, $ltrim, $rtrim, $replaceOne and $replaceAll. Source: MongoDB manual, "String
// Expression Operators".

#include <algorithm>
#include <array>

#include "engine/query/expression/operator.h"
#include "engine/query/expression/utf8.h"
#include "engine/query/text/find_text.h"

namespace gridmount::query::expressions {
namespace {

// The number of steps that a search counts as (interruption.h), in addition to the bytes of the
// string searched for.
constexpr size_t kStepsOfASearch = 16;

using bson::Type;
using bson::ValueView;

Evaluated evaluate_split(const Call& call) {
  GM_ASSIGN(const MaybeValue input, call.argument(0));
  GM_ASSIGN(const MaybeValue separator, call.argument(1));
  if (is_nullish(input) || is_nullish(separator)) return make_null();
  if (!is_type(input, Type::kString)) {
    return fail(ErrorCode{40085},
                "$split requires an expression that evaluates to a string as a first argument, "
                "found: " +
                    std::string(type_name(input)));
  }
  if (!is_type(separator, Type::kString)) {
    return fail(ErrorCode{40086},
                "$split requires an expression that evaluates to a string as a second argument, "
                "found: " +
                    std::string(type_name(separator)));
  }
  const std::string_view between = separator->as_string();
  if (between.empty()) return fail(ErrorCode{40087}, "$split requires a non-empty separator");
  ValueOutput output(call.context, Type::kArray);
  const ArenaAccess::Mark mark = ArenaAccess::mark(call.context.arena);
  std::string_view rest = input->as_string();
  while (true) {
    GM_TRY(check_interruption_of(between.size() + kStepsOfASearch));
    const size_t at = find_text(rest, between, 0);
    GM_ASSIGN(const MaybeValue part, give(call.context, rest.substr(0, at)));
    GM_TRY(output.push_element(*part));
    ArenaAccess::rewind(call.context.arena, mark);
    if (at == std::string_view::npos) break;
    rest.remove_prefix(at + between.size());
  }
  return output.finish();
}

// White space and NUL, which the server trims by default.
constexpr std::array<std::string_view, 20> kWhiteSpace{std::string_view("\0", 1),
                                                       " ",
                                                       "\t",
                                                       "\n",
                                                       "\v",
                                                       "\f",
                                                       "\r",
                                                       "\u00A0",
                                                       "\u1680",
                                                       "\u2000",
                                                       "\u2001",
                                                       "\u2002",
                                                       "\u2003",
                                                       "\u2004",
                                                       "\u2005",
                                                       "\u2006",
                                                       "\u2007",
                                                       "\u2008",
                                                       "\u2009",
                                                       "\u200A"};

Result<std::vector<std::string_view>> code_points_of(std::string_view text,
                                                     const std::string& name) {
  const std::string invalid =
      "Failed to parse \"chars\" argument to " + name + ": Detected invalid UTF-8. ";
  std::vector<std::string_view> points;
  while (!text.empty()) {
    if (is_continuation_byte(text[0])) {
      return fail(ErrorCode{50698},
                  invalid + "Got continuation byte when expecting the start of a new code point.");
    }
    const size_t bytes = code_point_bytes(text[0]) > 4 ? 1 : code_point_bytes(text[0]);
    if (bytes > text.size()) {
      return fail(ErrorCode{50697},
                  invalid + "Missing expected continuation byte at end of string.");
    }
    points.push_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return points;
}

Result<std::string_view> trim(std::string_view text, std::span<const std::string_view> points,
                              bool left, bool right) {
  const auto at_begin = [&](std::string_view point) { return text.starts_with(point); };
  const auto at_end = [&](std::string_view point) { return text.ends_with(point); };
  while (left && !text.empty()) {
    GM_TRY(check_interruption_of(points.size()));
    const auto found = std::find_if(points.begin(), points.end(), at_begin);
    if (found == points.end()) break;
    text.remove_prefix(found->size());
  }
  while (right && !text.empty()) {
    GM_TRY(check_interruption_of(points.size()));
    const auto found = std::find_if(points.begin(), points.end(), at_end);
    if (found == points.end()) break;
    text.remove_suffix(found->size());
  }
  return text;
}

template <bool left, bool right>
Evaluated evaluate_trim(const Call& call) {
  GM_ASSIGN(const MaybeValue input, call.argument(0));
  if (is_nullish(input)) return make_null();
  const auto refuse = [&](ErrorCode code, std::string_view what, const MaybeValue& value) {
    return fail(code, call.name() + std::string(what) + show(value) + " (of type " +
                          std::string(type_name(value)) + ") instead.");
  };
  if (!is_type(input, Type::kString)) {
    return refuse(ErrorCode{50699}, " requires its input to be a string, got ", input);
  }
  std::string_view trimmed;
  if (call.has(1)) {
    GM_ASSIGN(const MaybeValue characters, call.argument(1));
    if (is_nullish(characters)) return make_null();
    if (!is_type(characters, Type::kString)) {
      return refuse(ErrorCode{50700}, " requires 'chars' to be a string, got ", characters);
    }
    GM_ASSIGN(const std::vector<std::string_view> points,
              code_points_of(characters->as_string(), call.name()));
    GM_ASSIGN(trimmed, trim(input->as_string(), points, left, right));
  } else {
    GM_ASSIGN(trimmed, trim(input->as_string(), kWhiteSpace, left, right));
  }
  if (trimmed.size() == input->as_string().size()) return input;
  return give(call.context, trimmed);
}

Result<ExpressionPointer> parse_trim(const Operator& op, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 2> kNames{"input", "chars"};
  const std::string name(op.name);
  const std::string not_an_object =
      name + " only supports an object as an argument, found " + std::string(type_name(operand));
  const std::string unknown = name + " found an unknown argument: ";
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{50696},
                        .not_an_object_message = not_an_object,
                        .unknown = ErrorCode{50694},
                        .unknown_message = unknown},
                       operand));
  GM_TRY(require(operands[0].has_value(), ErrorCode{50695}, name + " requires an 'input' field"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

template <bool all>
Evaluated evaluate_replace(const Call& call) {
  static constexpr std::array<std::string_view, 3> kNames{"input", "find", "replacement"};
  static constexpr std::array<ErrorCode, 3> kCodes{ErrorCode{51746}, ErrorCode{51745},
                                                   ErrorCode{51744}};
  std::array<MaybeValue, 3> values;
  for (size_t i = 0; i < values.size(); ++i) {
    GM_ASSIGN(values[i], call.argument(i));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_nullish(values[i]) || is_type(values[i], Type::kString)) continue;
    return fail(kCodes[i], call.name() + " requires that '" + std::string(kNames[i]) +
                               "' be a string, found: " + show(values[i]));
  }
  if (std::any_of(values.begin(), values.end(),
                  [](const MaybeValue& value) { return is_nullish(value); })) {
    return make_null();
  }
  const std::string_view find = values[1]->as_string();
  const std::string_view replacement = values[2]->as_string();
  std::string_view rest = values[0]->as_string();
  std::string result;
  bool is_replaced = false;
  size_t from = 0;
  while (all || !is_replaced) {
    GM_TRY(check_interruption_of(find.size() + kStepsOfASearch));
    const size_t at = find_text(rest, find, from);
    if (at == std::string_view::npos) break;
    is_replaced = true;
    result.append(rest.substr(0, at)).append(replacement);
    rest.remove_prefix(at + find.size());
    // An empty `find` matches once before every byte, and once at the end.
    from = find.empty() ? 1 : 0;
    if (from > rest.size()) break;
    if (result.size() > call.context.arena.bytes_left()) {
      return fail(ErrorCode::kExceededMemoryLimit, call.name() + " used too much memory");
    }
  }
  if (!is_replaced) return values[0];
  result.append(rest);
  return give(call.context, std::string_view(result));
}

Result<ExpressionPointer> parse_replace(const Operator& op, ValueView operand,
                                        ParseContext& context) {
  static constexpr std::array<std::string_view, 3> kNames{"input", "find", "replacement"};
  const std::string name(op.name);
  const std::string not_an_object =
      name + " requires an object as an argument, found: " + std::string(type_name(operand));
  const std::string unknown = name + " found an unknown argument: ";
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{51751},
                        .not_an_object_message = not_an_object,
                        .unknown = ErrorCode{51750},
                        .unknown_message = unknown},
                       operand));
  GM_TRY(require(operands[0].has_value(), ErrorCode{51749},
                 name + " requires 'input' to be specified"));
  GM_TRY(require(operands[1].has_value(), ErrorCode{51748},
                 name + " requires 'find' to be specified"));
  GM_TRY(require(operands[2].has_value(), ErrorCode{51747},
                 name + " requires 'replacement' to be specified"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

constexpr Operator kStringEditOperators[] = {
    {.name = "$split", .parse = parse_arguments, .evaluate = evaluate_split, .least = 2, .most = 2},
    {.name = "$trim", .parse = parse_trim, .evaluate = evaluate_trim<true, true>},
    {.name = "$ltrim", .parse = parse_trim, .evaluate = evaluate_trim<true, false>},
    {.name = "$rtrim", .parse = parse_trim, .evaluate = evaluate_trim<false, true>},
    {.name = "$replaceOne", .parse = parse_replace, .evaluate = evaluate_replace<false>},
    {.name = "$replaceAll", .parse = parse_replace, .evaluate = evaluate_replace<true>},
};

}  // namespace

std::span<const Operator> string_edit_operators() {
  return kStringEditOperators;
}

}  // namespace gridmount::query::expressions
