#include "engine/query/expression/binary_conversion.h"

#include <algorithm>
#include <cstring>

#include "engine/query/expression/conversion.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

constexpr uint8_t kOldSubtype = 2;  // the data of this subtype begin with a second length

std::string_view bytes_of(ValueView value) {
  const bson::Binary binary = value.as_binary();
  return {reinterpret_cast<const char*>(binary.data), binary.size};
}

Evaluated make_binary(EvaluationContext& context, std::string_view bytes, uint8_t subtype) {
  std::string value;
  const auto append_length = [&](size_t length) {
    const auto number = static_cast<uint32_t>(length);
    value.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  append_length(bytes.size() + (subtype == kOldSubtype ? 4 : 0));
  value += static_cast<char>(subtype);
  if (subtype == kOldSubtype) append_length(bytes.size());
  value += bytes;
  GM_ASSIGN(const ValueView kept, context.arena.keep(ValueView(
                                      Type::kBinary, reinterpret_cast<const uint8_t*>(value.data()),
                                      static_cast<uint32_t>(value.size()))));
  return MaybeValue(kept);
}

Result<uint8_t> read_subtype(const MaybeValue& subtype) {
  if (!subtype) return uint8_t{0};
  if (!subtype->is_number()) {
    return fail(ErrorCode{4341108},
                "For BinData, $convert's 'subtype' argument must be a number, but is " +
                    std::string(type_name(subtype)));
  }
  const std::optional<int32_t> code = whole32(subtype);
  if (!code) {
    return fail(ErrorCode{4341106}, "In $convert, numeric 'subtype' argument is not an integer");
  }
  if ((*code < 0 || *code > 8) && (*code < 128 || *code > 255)) {
    return fail(ErrorCode{4341107},
                "In $convert, numeric value for 'subtype' does not correspond to a BinData type: " +
                    std::to_string(*code));
  }
  return static_cast<uint8_t>(*code);
}

Result<BinaryFormat> require_format(const BinaryForm& form, ValueView value, Type target) {
  if (form.format) return *form.format;
  return fail(ErrorCode{4341115}, "Format must be speficied when converting from '" +
                                      std::string(bson::type_alias(value.type())) + "' to '" +
                                      std::string(bson::type_alias(target)) + "'");
}

Evaluated from_text(EvaluationContext& context, ValueView value, const BinaryForm& form) {
  GM_ASSIGN(const BinaryFormat format, require_format(form, value, Type::kBinary));
  GM_ASSIGN(const uint8_t subtype, read_subtype(form.subtype));
  const std::string_view text = value.as_string();
  const auto refuse = [&](std::string_view reason) {
    return fail(ErrorCode::kConversionFailure,
                "Failed to parse BinData '" + std::string(text) +
                    "' in $convert with no onError value: " + std::string(reason));
  };
  if ((format == BinaryFormat::kUuid) != (subtype == kUuidSubtype)) {
    return refuse("Only the 'uuid' format is allowed with the UUID subtype");
  }
  if (format == BinaryFormat::kAuto) return refuse("Invalid format 'auto'");
  const std::optional<std::string> bytes = binary_from_text(text, format);
  if (!bytes) return refuse("Input is not of that format");
  return make_binary(context, *bytes, subtype);
}

Evaluated to_text(EvaluationContext& context, ValueView value, const BinaryForm& form) {
  GM_ASSIGN(BinaryFormat format, require_format(form, value, Type::kString));
  const std::string_view bytes = bytes_of(value);
  const bool is_uuid = value.as_binary().subtype == kUuidSubtype && bytes.size() == 16;
  if (format == BinaryFormat::kAuto && is_uuid) format = BinaryFormat::kUuid;
  std::optional<std::string> text;
  if (format != BinaryFormat::kUuid || is_uuid) text = binary_to_text(bytes, format);
  if (text) return give(context, *text);
  return fail(ErrorCode::kConversionFailure,
              "Failed to convert '" + show(value) +
                  "' to string in $convert with no onError value: BinData does "
                  "not represent a valid " +
                  (format == BinaryFormat::kUuid ? "UUID" : "UTF-8 string"));
}

// Returns the bytes of the number in the requested byte order.
template <typename Number>
std::string number_to_bytes(Number number, bool is_big_endian) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  if (is_big_endian) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

template <typename Number>
Number number_from_bytes(std::string bytes, bool is_big_endian) {
  if (is_big_endian) std::reverse(bytes.begin(), bytes.end());
  Number number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

Evaluated from_number(EvaluationContext& context, ValueView value, const BinaryForm& form) {
  GM_ASSIGN(const uint8_t subtype, read_subtype(form.subtype));
  const std::string bytes =
      value.type() == Type::kInt32   ? number_to_bytes(value.as_int32(), form.is_big_endian)
      : value.type() == Type::kInt64 ? number_to_bytes(value.as_int64(), form.is_big_endian)
                                     : number_to_bytes(value.as_double(), form.is_big_endian);
  return make_binary(context, bytes, subtype);
}

tl::unexpected<Error> refuse_length(ValueView value) {
  return fail(ErrorCode::kConversionFailure,
              "Failed to convert '" + show(value) +
                  "' to number in $convert because of invalid length: " +
                  std::to_string(value.as_binary().size));
}

Evaluated to_integer(EvaluationContext& context, ValueView value, Type target, bool is_big_endian) {
  const std::string bytes(bytes_of(value));
  int64_t number = 0;
  switch (bytes.size()) {
    case 1:
      number = number_from_bytes<uint8_t>(bytes, is_big_endian);
      if (number > INT8_MAX) number -= 256;
      break;
    case 2:
      number = number_from_bytes<int16_t>(bytes, is_big_endian);
      break;
    case 4:
      number = number_from_bytes<int32_t>(bytes, is_big_endian);
      break;
    case 8:
      if (target == Type::kInt32) return refuse_length(value);
      number = number_from_bytes<int64_t>(bytes, is_big_endian);
      break;
    default:
      return refuse_length(value);
  }
  if (target == Type::kInt64) return give(context, number);
  return give(context, static_cast<int32_t>(number));
}

Evaluated to_double(EvaluationContext& context, ValueView value, bool is_big_endian) {
  const std::string bytes(bytes_of(value));
  if (bytes.size() == 4) {
    return give(context, double{number_from_bytes<float>(bytes, is_big_endian)});
  }
  if (bytes.size() != 8) return refuse_length(value);
  return give(context, number_from_bytes<double>(bytes, is_big_endian));
}

}  // namespace

Evaluated convert_binary(EvaluationContext& context, ValueView value, Type target,
                         const BinaryForm& form) {
  if (target == Type::kBinary) {
    switch (value.type()) {
      case Type::kString:
        return from_text(context, value, form);
      case Type::kInt32:
      case Type::kInt64:
      case Type::kDouble:
        return from_number(context, value, form);
      case Type::kBinary: {
        GM_ASSIGN(const uint8_t subtype, read_subtype(form.subtype));
        if (subtype == value.as_binary().subtype) return MaybeValue(value);
        return fail(ErrorCode::kConversionFailure,
                    "Conversions between different BinData subtypes are not supported");
      }
      default:
        break;
    }
  } else if (target == Type::kString) {
    return to_text(context, value, form);
  } else if (target == Type::kInt32 || target == Type::kInt64) {
    return to_integer(context, value, target, form.is_big_endian);
  } else if (target == Type::kDouble) {
    return to_double(context, value, form.is_big_endian);
  }
  return refuse_conversion(bson::type_alias(value.type()), bson::type_alias(target));
}

}  // namespace gridmount::query::expressions
