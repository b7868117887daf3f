// $concat, $substr, and operators for lengths, case and positions. As on the server, only ASCII
// letters have case. Source: MongoDB manual, "String Expression Operators".

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/query/expression/operator.h"
#include "engine/query/expression/utf8.h"
#include "engine/query/text/find_text.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

// A new string of `size` bytes in the arena. Its length and final NUL are already written.
struct NewText {
  ValueView value;
  char* data;
};

Result<NewText> make_text(EvaluationContext& context, size_t size) {
  const size_t bytes = 4 + size + 1;
  GM_ASSIGN(uint8_t* const data, ArenaAccess::allocate(context.arena, bytes));
  const auto length = static_cast<uint32_t>(size + 1);
  std::memcpy(data, &length, sizeof length);
  data[bytes - 1] = 0;
  return NewText{ValueView(Type::kString, data, static_cast<uint32_t>(bytes)),
                 reinterpret_cast<char*>(data) + 4};
}

Evaluated evaluate_concat(const Call& call) {
  constexpr size_t kInline = 8;
  std::array<std::string_view, kInline> few;
  std::vector<std::string_view> many;
  const size_t count = call.arguments.size();
  if (count > kInline) many.resize(count);
  std::string_view* const parts = count > kInline ? many.data() : few.data();
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    GM_ASSIGN(const MaybeValue value, call.argument(i));
    if (is_nullish(value)) return make_null();
    if (value->type() != Type::kString) {
      return fail(ErrorCode{16702},
                  "$concat only supports strings, not " + std::string(type_name(value)));
    }
    parts[i] = value->as_string();
    size += parts[i].size();
  }
  GM_ASSIGN(const NewText text, make_text(call.context, size));
  char* to = text.data;
  for (size_t i = 0; i < count; ++i) to = std::copy(parts[i].begin(), parts[i].end(), to);
  return MaybeValue(text.value);
}

Evaluated evaluate_substr_bytes(const Call& call) {
  GM_ASSIGN(const MaybeValue string, call.argument(0));
  GM_ASSIGN(const MaybeValue start, call.argument(1));
  GM_ASSIGN(const MaybeValue length, call.argument(2));
  GM_ASSIGN(const std::string_view text, coerce_to_string(call.context, string));
  if (!is_number(start)) {
    return fail(ErrorCode{16034},
                "$substrBytes:  starting index must be a numeric type (is BSON "
                "type " +
                    std::string(type_name(start)) + ")");
  }
  if (!is_number(length)) {
    return fail(ErrorCode{16035}, "$substrBytes:  length must be a numeric type (is BSON type " +
                                      std::string(type_name(length)) + ")");
  }
  const int64_t signed_begin = cut_to_int64(*start);
  if (signed_begin < 0) {
    return fail(ErrorCode{50752}, "$substrBytes:  starting index must be non-negative (got: " +
                                      std::to_string(signed_begin) + ")");
  }
  const size_t begin = std::min(static_cast<size_t>(signed_begin), text.size());
  const int64_t signed_length = cut_to_int64(*length);
  // A negative length means the rest of the text.
  const size_t size = signed_length < 0
                          ? text.size() - begin
                          : std::min(static_cast<size_t>(signed_length), text.size() - begin);
  if (begin < text.size() && is_continuation_byte(text[begin])) {
    return fail(ErrorCode{28656},
                "$substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.");
  }
  if (begin + size < text.size() && is_continuation_byte(text[begin + size])) {
    return fail(ErrorCode{28657},
                "$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 "
                "character.");
  }
  return give(call.context, text.substr(begin, size));
}

// Returns the position `count` code points later, or the end of the text.
Result<size_t> skip_code_points(std::string_view text, size_t at, int32_t count) {
  for (int32_t i = 0; i < count && at < text.size(); ++i) {
    if (is_continuation_byte(text[at]) || code_point_bytes(text[at]) > 4) {
      return fail(ErrorCode{34456}, "$substrCP: invalid UTF-8 string");
    }
    at += code_point_bytes(text[at]);
  }
  return std::min(at, text.size());
}

Evaluated evaluate_substr_cp(const Call& call) {
  GM_ASSIGN(const MaybeValue string, call.argument(0));
  GM_ASSIGN(const MaybeValue start, call.argument(1));
  GM_ASSIGN(const MaybeValue length, call.argument(2));
  GM_ASSIGN(const std::string_view text, coerce_to_string(call.context, string));
  if (!is_number(start)) {
    return fail(ErrorCode{34450},
                "$substrCP: starting index must be a numeric type (is BSON type " +
                    std::string(type_name(start)) + ")");
  }
  const std::optional<int32_t> begin = whole32(start);
  if (!begin) {
    return fail(ErrorCode{34451},
                "$substrCP: starting index cannot be represented as a 32-bit "
                "integral value: " +
                    show(start));
  }
  if (!is_number(length)) {
    return fail(ErrorCode{34452}, "$substrCP: length must be a numeric type (is BSON type " +
                                      std::string(type_name(length)) + ")");
  }
  const std::optional<int32_t> size = whole32(length);
  if (!size) {
    return fail(
        ErrorCode{34453},
        "$substrCP: length cannot be represented as a 32-bit integral value: " + show(length));
  }
  if (*size < 0) {
    return fail(ErrorCode{34454}, "$substrCP: length must be a nonnegative integer.");
  }
  if (*begin < 0) {
    return fail(ErrorCode{34455}, "$substrCP: the starting index must be nonnegative integer.");
  }
  GM_ASSIGN(const size_t from, skip_code_points(text, 0, *begin));
  GM_ASSIGN(const size_t to, skip_code_points(text, from, *size));
  return give(call.context, text.substr(from, to - from));
}

template <char first, char last, char difference>
Evaluated evaluate_case(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  GM_ASSIGN(const std::string_view text, coerce_to_string(call.context, value));
  GM_ASSIGN(const NewText changed, make_text(call.context, text.size()));
  std::transform(text.begin(), text.end(), changed.data, [](char c) {
    return c >= first && c <= last ? static_cast<char>(c + difference) : c;
  });
  return MaybeValue(changed.value);
}

Evaluated evaluate_strcasecmp(const Call& call) {
  GM_ASSIGN(const MaybeValue left, call.argument(0));
  GM_ASSIGN(const MaybeValue right, call.argument(1));
  GM_ASSIGN(const std::string_view a, coerce_to_string(call.context, left));
  GM_ASSIGN(const std::string_view b, coerce_to_string(call.context, right));
  const auto upper = [](char c) {
    return static_cast<unsigned char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  };
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (upper(a[i]) != upper(b[i])) {
      return give(call.context, int32_t{upper(a[i]) < upper(b[i]) ? -1 : 1});
    }
  }
  return give(call.context, int32_t{a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0});
}

Evaluated evaluate_length_bytes(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  if (!is_type(value, Type::kString)) {
    return fail(ErrorCode{34473},
                "$strLenBytes requires a string argument, found: " + std::string(type_name(value)));
  }
  return give(call.context, static_cast<int32_t>(value->as_string().size()));
}

Evaluated evaluate_length_cp(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  if (!is_type(value, Type::kString)) {
    return fail(ErrorCode{34471},
                "$strLenCP requires a string argument, found: " + std::string(type_name(value)));
  }
  return give(call.context, static_cast<int32_t>(count_code_points(value->as_string())));
}

// The first two arguments of $indexOfBytes and $indexOfCP. `text` is nullopt if the first argument
// is null.
struct Search {
  std::optional<std::string_view> text;
  std::string_view token;
};

Result<Search> read_search(const Call& call, ErrorCode first_code, ErrorCode second_code) {
  GM_ASSIGN(const MaybeValue text, call.argument(0));
  if (is_nullish(text)) return Search{};
  if (!is_type(text, Type::kString)) {
    return fail(first_code, call.name() + " requires a string as the first argument, found: " +
                                std::string(type_name(text)));
  }
  GM_ASSIGN(const MaybeValue token, call.argument(1));
  if (!is_type(token, Type::kString)) {
    return fail(second_code, call.name() + " requires a string as the second argument, found: " +
                                 std::string(type_name(token)));
  }
  return Search{text->as_string(), token->as_string()};
}

// Returns an index argument, or `otherwise` if it is absent.
Result<size_t> read_index(const Call& call, size_t i, std::string_view what, size_t otherwise) {
  if (!call.has(i)) return otherwise;
  GM_ASSIGN(const MaybeValue value, call.argument(i));
  const std::optional<int32_t> index = whole32(value);
  if (!index) {
    return fail(ErrorCode{40096}, call.name() + "requires an integral " + std::string(what) +
                                      ", found a value of type: " + std::string(type_name(value)) +
                                      ", with value: " + show(value));
  }
  if (*index < 0) {
    return fail(ErrorCode{40097}, call.name() + " requires a nonnegative " + std::string(what) +
                                      ", found: " + show(value));
  }
  return static_cast<size_t>(*index);
}

Evaluated evaluate_index_of_bytes(const Call& call) {
  GM_ASSIGN(const Search search, read_search(call, ErrorCode{40091}, ErrorCode{40092}));
  if (!search.text) return make_null();
  const std::string_view text = *search.text;
  GM_ASSIGN(const size_t begin, read_index(call, 2, "starting index", 0));
  GM_ASSIGN(const size_t wanted_end, read_index(call, 3, "ending index", text.size()));
  const size_t end = std::min(wanted_end, text.size());
  if (begin > text.size() || end < begin) return give(call.context, int32_t{-1});
  const size_t found = find_text(text.substr(0, end), search.token, begin);
  if (found == std::string_view::npos) return give(call.context, int32_t{-1});
  return give(call.context, static_cast<int32_t>(found));
}

Evaluated evaluate_index_of_cp(const Call& call) {
  GM_ASSIGN(const Search search, read_search(call, ErrorCode{40093}, ErrorCode{40094}));
  if (!search.text) return make_null();
  const std::string_view text = *search.text;
  GM_ASSIGN(const size_t begin, read_index(call, 2, "starting index", 0));
  GM_ASSIGN(const size_t end, read_index(call, 3, "ending index", SIZE_MAX));
  size_t index = 0;
  size_t next = 0;  // the next occurrence of the token, after index has reached `begin`
  if (begin == 0) next = find_text(text, search.token, 0);
  for (size_t at = 0; at < text.size() && index < end; ++index) {
    if (is_continuation_byte(text[at]) || code_point_bytes(text[at]) > 4) {
      return fail(ErrorCode{40095}, "$indexOfCP found bad UTF-8 in the input");
    }
    if (index >= begin && next < at) {
      GM_TRY(check_interruption_of(search.token.size()));
      next = find_text(text, search.token, at);
    }
    if (index >= begin && next == at) {
      return give(call.context, static_cast<int32_t>(index));
    }
    at += code_point_bytes(text[at]);
  }
  // The empty string is found in the empty string, but not at the end of other strings.
  const bool both_empty = text.empty() && search.token.empty();
  return give(call.context, int32_t{both_empty && begin == 0 ? 0 : -1});
}

constexpr Operator kStringOperators[] = {
    {.name = "$concat", .parse = parse_arguments, .evaluate = evaluate_concat},
    with_arguments("$substr", 3, evaluate_substr_bytes),
    with_arguments("$substrBytes", 3, evaluate_substr_bytes),
    with_arguments("$substrCP", 3, evaluate_substr_cp),
    with_arguments("$toUpper", 1, evaluate_case<'a', 'z', 'A' - 'a'>),
    with_arguments("$toLower", 1, evaluate_case<'A', 'Z', 'a' - 'A'>),
    with_arguments("$strcasecmp", 2, evaluate_strcasecmp),
    with_arguments("$strLenBytes", 1, evaluate_length_bytes),
    with_arguments("$strLenCP", 1, evaluate_length_cp),
    {.name = "$indexOfBytes",
     .parse = parse_arguments,
     .evaluate = evaluate_index_of_bytes,
     .least = 2,
     .most = 4},
    {.name = "$indexOfCP",
     .parse = parse_arguments,
     .evaluate = evaluate_index_of_cp,
     .least = 2,
     .most = 4},
};

}  // namespace

std::span<const Operator> string_operators() {
  return kStringOperators;
}

}  // namespace gridmount::query::expressions
