// $convert and its shorthands ($toInt and others). Source: MongoDB manual, "Type Expression
// Operators".

#include <array>

#include "engine/query/expression/binary_conversion.h"
#include "engine/query/expression/conversion.h"
#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

constexpr std::array kTypes{
    Type::kDouble,    Type::kString,    Type::kDocument, Type::kArray,      Type::kBinary,
    Type::kUndefined, Type::kObjectId,  Type::kBool,     Type::kDate,       Type::kNull,
    Type::kRegex,     Type::kDbPointer, Type::kCode,     Type::kSymbol,     Type::kCodeWithScope,
    Type::kInt32,     Type::kTimestamp, Type::kInt64,    Type::kDecimal128, Type::kMaxKey,
    Type::kMinKey};

// The positions of the arguments of $convert.
enum Part : size_t { kInput, kTo, kOnError, kOnNull, kFormat, kByteOrder };

tl::unexpected<Error> refuse_target(Type type) {
  return fail(ErrorCode::kFailedToParse,
              "$convert's 'to' argument must be a string or number, but is " +
                  std::string(bson::type_alias(type)));
}

// Returns nullopt for "missing" and for 0. The operator $type returns "missing" for a missing
// value, but no value can be converted to this type.
Result<std::optional<Type>> read_type(ValueView to) {
  if (to.type() == Type::kString) {
    const std::string_view name = to.as_string();
    if (name == "missing") return std::optional<Type>();
    for (const Type type : kTypes) {
      if (bson::type_alias(type) == name) return std::optional(type);
    }
    return fail(ErrorCode::kBadValue, "Unknown type name: " + std::string(name));
  }
  if (!to.is_number()) return refuse_target(to.type());
  const std::optional<int32_t> code = whole32(to);
  if (!code) {
    return fail(ErrorCode::kFailedToParse, "In $convert, numeric 'to' argument is not an integer");
  }
  if (*code == 0) return std::optional<Type>();
  for (const Type type : kTypes) {
    const int32_t own_code = type == Type::kMinKey ? -1 : static_cast<int32_t>(type);
    if (own_code == *code) return std::optional(type);
  }
  return fail(ErrorCode::kFailedToParse,
              "In $convert, numeric value for 'to' does not correspond to a BSON type: " +
                  std::to_string(*code));
}

struct ConversionTarget {
  std::optional<Type> type;
  MaybeValue subtype;  // the subtype of binary data
};

// Reads a type, or {type, subtype}.
Result<ConversionTarget> read_target(ValueView to) {
  if (to.type() != Type::kDocument) {
    GM_ASSIGN(const std::optional<Type> type, read_type(to));
    return ConversionTarget{type, {}};
  }
  const MaybeValue type = to.as_document().find("type");
  if (!type) return refuse_target(Type::kDocument);
  ConversionTarget target;
  for (const bson::Element element : to.as_document()) {
    GM_TRY(require(element.key == "type" || element.key == "subtype", ErrorCode::kFailedToParse,
                   "$convert's 'to' argument has an unknown field: " + std::string(element.key)));
    if (element.key == "subtype") target.subtype = element.value;
  }
  GM_ASSIGN(target.type, read_type(*type));
  return target;
}

Result<std::optional<BinaryFormat>> read_format(const MaybeValue& value) {
  if (is_nullish(value)) return std::optional<BinaryFormat>();
  if (!is_type(value, Type::kString)) {
    return fail(ErrorCode{4341114}, "$convert requires that 'format' be a string, found: " +
                                        std::string(type_name(value)) + " with value " +
                                        show(value));
  }
  const std::optional<BinaryFormat> format = find_binary_format(value->as_string());
  if (format) return format;
  return fail(ErrorCode{4341125},
              "Invalid 'format' argument for $convert: " + std::string(value->as_string()));
}

Result<bool> read_byte_order(const MaybeValue& value) {
  if (is_nullish(value)) return false;
  if (!is_type(value, Type::kString)) {
    return fail(ErrorCode{9130001}, "$convert requires that 'byteOrder' be a string, found: " +
                                        std::string(type_name(value)) + " with value " +
                                        show(value));
  }
  if (value->as_string() == "big") return true;
  if (value->as_string() == "little") return false;
  return fail(ErrorCode{9130002},
              "Invalid 'byteOrder' argument for $convert: " + std::string(value->as_string()));
}

Evaluated convert_to(EvaluationContext& context, ValueView value, std::optional<Type> target,
                     const BinaryForm& form) {
  if (!target) return refuse_conversion(type_name(value), "missing");
  if (concerns_binary(value, *target)) return convert_binary(context, value, *target, form);
  return convert(context, value, *target);
}

Evaluated optional_argument(const Call& call, size_t i) {
  return call.has(i) ? call.argument(i) : make_missing();
}

Evaluated evaluate_convert(const Call& call) {
  GM_ASSIGN(const MaybeValue to, call.argument(kTo));
  GM_ASSIGN(const MaybeValue input, call.argument(kInput));
  GM_ASSIGN(const MaybeValue format, optional_argument(call, kFormat));
  GM_ASSIGN(const MaybeValue byte_order, optional_argument(call, kByteOrder));
  ConversionTarget target;
  if (!is_nullish(to)) {
    GM_ASSIGN(target, read_target(*to));
  }
  if (is_nullish(input)) return call.has(kOnNull) ? call.argument(kOnNull) : make_null();
  if (is_nullish(to)) return make_null();
  BinaryForm form;
  form.subtype = target.subtype;
  GM_ASSIGN(form.format, read_format(format));
  GM_ASSIGN(form.is_big_endian, read_byte_order(byte_order));
  Evaluated converted = convert_to(call.context, *input, target.type, form);
  if (converted || converted.error().code() != ErrorCode::kConversionFailure ||
      !call.has(kOnError)) {
    return converted;
  }
  return call.argument(kOnError);
}

Result<ExpressionPointer> parse_convert(const Operator& op, ValueView operand,
                                        ParseContext& context) {
  static constexpr std::array<std::string_view, 6> kNames{"input",  "to",     "onError",
                                                          "onNull", "format", "byteOrder"};
  const std::string not_an_object =
      "$convert expects an object of named arguments but found: " + std::string(type_name(operand));
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode::kFailedToParse,
                        .not_an_object_message = not_an_object,
                        .unknown = ErrorCode::kFailedToParse,
                        .unknown_message = "$convert found an unknown argument: "},
                       operand));
  GM_TRY(require(operands[kInput].has_value(), ErrorCode::kFailedToParse,
                 "Missing 'input' parameter to $convert"));
  GM_TRY(require(operands[kTo].has_value(), ErrorCode::kFailedToParse,
                 "Missing 'to' parameter to $convert"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

template <Type target>
Evaluated evaluate_short_form(const Call& call) {
  GM_ASSIGN(const MaybeValue input, call.argument(0));
  if (is_nullish(input)) return make_null();
  BinaryForm form;
  form.format = BinaryFormat::kAuto;
  return convert_to(call.context, *input, target, form);
}

Evaluated evaluate_to_uuid(const Call& call) {
  GM_ASSIGN(const MaybeValue input, call.argument(0));
  if (is_nullish(input)) return make_null();
  const bson::Value subtype(int32_t{kUuidSubtype});
  BinaryForm form;
  form.format = BinaryFormat::kUuid;
  form.subtype = subtype.view();
  return convert_to(call.context, *input, Type::kBinary, form);
}

Result<ExpressionPointer> parse_short_form(const Operator& op, ValueView operand,
                                           ParseContext& context) {
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_list(operand, context));
  GM_TRY(require(arguments.size() == 1, ErrorCode{50723},
                 std::string(op.name) + " requires a single argument, got " +
                     std::to_string(arguments.size())));
  return make_call(op, std::move(arguments), context);
}

template <Type target>
constexpr Operator short_form(std::string_view name) {
  return {.name = name, .parse = parse_short_form, .evaluate = evaluate_short_form<target>};
}

constexpr Operator kConversionOperators[] = {
    {.name = "$convert", .parse = parse_convert, .evaluate = evaluate_convert},
    short_form<Type::kBool>("$toBool"),
    short_form<Type::kDate>("$toDate"),
    short_form<Type::kDecimal128>("$toDecimal"),
    short_form<Type::kDouble>("$toDouble"),
    short_form<Type::kInt32>("$toInt"),
    short_form<Type::kInt64>("$toLong"),
    short_form<Type::kObjectId>("$toObjectId"),
    short_form<Type::kString>("$toString"),
    {.name = "$toUUID", .parse = parse_short_form, .evaluate = evaluate_to_uuid},
};

}  // namespace

std::span<const Operator> conversion_operators() {
  return kConversionOperators;
}

}  // namespace gridmount::query::expressions
