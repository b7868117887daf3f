// Reads Extended JSON: the syntax of RFC 8259. json_value.cc handles objects that represent values.
#include <bson/bson.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/bson/json_value.h"

namespace gridmount::bson {
namespace {

// Limits the recursion. The text of a document may be nested more deeply than the document: code
// with a scope takes two levels of the text and one of the document, and the objects that represent
// a value take up to three more levels of the text. validate() checks the depth of the document.
constexpr uint32_t kTextDepthMax = 2 * kMaxDepth + 3;

void append_utf8(std::string& text, uint32_t code) {
  const auto push = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return push(code);
  if (code < 0x800) {
    push(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      push(0xE0 | code >> 12);
    } else {
      push(0xF0 | code >> 18);
      push(0x80 | (code >> 12 & 0x3F));
    }
    push(0x80 | (code >> 6 & 0x3F));
  }
  push(0x80 | (code & 0x3F));
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Document> document() {
    skip_space();
    if (next() != '{') return refuse("a document was expected here");
    Builder builder;
    GM_TRY(members(builder, 0));
    skip_space();
    if (at_ < text_.size()) return refuse("there is text after the document");
    return std::move(builder).finish();
  }

  Result<Document> array() {
    skip_space();
    if (next() != '[') return refuse("an array was expected here");
    Builder holder;
    holder.open_array("");
    GM_TRY(elements(holder, 0));
    holder.close();
    skip_space();
    if (at_ < text_.size()) return refuse("there is text after the array");
    const Document held = std::move(holder).finish();
    return Document((*held.view().begin()).value.as_document());
  }

 private:
  tl::unexpected<Error> refuse(const std::string& what) const {
    return fail(ErrorCode::kFailedToParse,
                "invalid JSON at byte " + std::to_string(at_) + ": " + what);
  }

  // Returns the next character, or NUL at the end.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  Status check_depth(uint32_t depth) const {
    if (depth <= kTextDepthMax) return {};
    return fail(ErrorCode::kOverflow,
                "invalid JSON at byte " + std::to_string(at_) + ": it is nested too deeply");
  }

  // Reads from '{' to the matching '}', both included.
  Status members(Builder& builder, uint32_t depth) {
    GM_TRY(check_depth(depth));
    ++at_;
    skip_space();
    if (next() == '}') {
      ++at_;
      return {};
    }
    while (true) {
      skip_space();
      const size_t begin = at_;
      GM_ASSIGN(const std::string key, string());
      if (key.find('\0') != std::string::npos) {
        at_ = begin;
        return refuse("a name holds a NUL");
      }
      skip_space();
      if (next() != ':') return refuse("a colon is missing");
      ++at_;
      GM_TRY(value(builder, &key, depth));
      GM_ASSIGN(const bool goes_on, comma_before('}'));
      if (!goes_on) return {};
    }
  }

  // Reads from '[' to the matching ']', both included.
  Status elements(Builder& builder, uint32_t depth) {
    GM_TRY(check_depth(depth));
    ++at_;
    skip_space();
    if (next() == ']') {
      ++at_;
      return {};
    }
    while (true) {
      GM_TRY(value(builder, nullptr, depth));
      GM_ASSIGN(const bool goes_on, comma_before(']'));
      if (!goes_on) return {};
    }
  }

  // Skips a comma or the end character. Returns true for a comma.
  Result<bool> comma_before(char end) {
    skip_space();
    const char found = next();
    if (found != ',' && found != end) {
      return refuse(std::string("a comma or '") + end + "' is missing");
    }
    ++at_;
    return found == ',';
  }

  static void put(Builder& builder, const std::string* key, ValueView value) {
    if (key != nullptr) {
      builder.append(*key, value);
    } else {
      builder.push(value);
    }
  }

  // Appends a member if there is a key, otherwise an array element.
  Status value(Builder& builder, const std::string* key, uint32_t depth) {
    skip_space();
    const char first = next();
    if (first == '{') return object(builder, key, depth);
    if (first == '[') {
      if (key != nullptr) {
        builder.open_array(*key);
      } else {
        builder.push_open_array();
      }
      GM_TRY(elements(builder, depth + 1));
      builder.close();
      return {};
    }
    if (first == '"') {
      GM_ASSIGN(const std::string text, string());
      put(builder, key, Value(std::string_view(text)));
      return {};
    }
    GM_ASSIGN(const Value value, literal());
    put(builder, key, value);
    return {};
  }

  Status object(Builder& builder, const std::string* key, uint32_t depth) {
    const size_t begin = at_;
    GM_ASSIGN(const bool may_be_value, first_name_begins_value());
    if (!may_be_value) {
      if (key != nullptr) {
        builder.open_document(*key);
      } else {
        builder.push_open_document();
      }
      GM_TRY(members(builder, depth + 1));
      builder.close();
      return {};
    }
    Builder separate;
    GM_TRY(members(separate, depth + 1));
    const Document read = std::move(separate).finish();
    const Result<std::optional<Value>> value = value_of_object(read);
    if (!value) {
      at_ = begin;
      return refuse(value.error().message());
    }
    put(builder, key, *value ? **value : Value(read.view()));
    return {};
  }

  // Looks ahead and does not move the position.
  Result<bool> first_name_begins_value() {
    const size_t begin = at_++;
    skip_space();
    bool begins = false;
    if (next() == '"') {
      GM_ASSIGN(const std::string name, string());
      begins = begins_value(name);
    }
    at_ = begin;
    return begins;
  }

  Result<std::string> string() {
    if (next() != '"') return refuse("a string in quotation marks is missing");
    std::string read;
    for (++at_; next() != '"';) {
      if (at_ == text_.size()) return refuse("a string is not terminated");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) return refuse("a string holds a control character");
      if (c == '\\') {
        GM_TRY(escape(read));
      } else {
        read.push_back(c);
        ++at_;
      }
    }
    ++at_;
    return read;
  }

  Status escape(std::string& read) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    ++at_;
    if (next() == 'u') return code_point(read);
    const size_t found = at_ < text_.size() ? kNames.find(text_[at_]) : std::string_view::npos;
    if (found == std::string_view::npos) return refuse("the escape sequence is invalid");
    read.push_back(kMeanings[found]);
    ++at_;
    return {};
  }

  // Called at the 'u' of an escape. Characters beyond 16 bits are written as two escapes.
  Status code_point(std::string& read) {
    GM_ASSIGN(uint32_t code, hexadecimal());
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      ++at_;
      GM_ASSIGN(const uint32_t low, hexadecimal());
      if (low < 0xDC00 || low > 0xDFFF) return refuse("there is an unpaired surrogate");
      code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
    }
    if (code >= 0xD800 && code <= 0xDFFF) return refuse("there is an unpaired surrogate");
    append_utf8(read, code);
    return {};
  }

  Result<uint32_t> hexadecimal() {
    const std::string_view digits = text_.substr(at_ + 1, 4);
    uint32_t code = 0;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || error != std::errc() || stop != digits.data() + 4) {
      return refuse("\\u must be followed by four hexadecimal digits");
    }
    at_ += 5;
    return code;
  }

  // NaN and Infinity are not JSON, but texts of version 1 contain them.
  static std::optional<Value> word(std::string_view read) {
    if (read == "null") return Value();
    if (read == "true" || read == "false") return Value(read == "true");
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (read == "NaN") return Value(std::numeric_limits<double>::quiet_NaN());
    if (read == "Infinity") return Value(kInfinity);
    if (read == "-Infinity") return Value(-kInfinity);
    return std::nullopt;
  }

  // Reads a number or a word.
  Result<Value> literal() {
    const size_t end = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
    const std::string_view read = text_.substr(at_, end - at_);
    if (const std::optional<Value> value = word(read)) {
      at_ = end;
      return *value;
    }
    GM_ASSIGN(Value value, number(read));
    at_ = end;
    return value;
  }

  // A number without fraction and exponent gets the smallest integer type that holds it.
  Result<Value> number(std::string_view read) const {
    if (!is_number(read)) return refuse("a JSON value was expected here");
    const char* const end = read.data() + read.size();
    if (read.find_first_of(".eE") != std::string_view::npos) {
      double value = 0;
      if (std::from_chars(read.data(), end, value).ec != std::errc()) {
        return refuse("the number " + std::string(read) + " is out of range");
      }
      return Value(value);
    }
    int64_t value = 0;
    if (std::from_chars(read.data(), end, value).ec != std::errc()) {
      return refuse("the integer " + std::string(read) + " is out of range");
    }
    const auto small = static_cast<int32_t>(value);
    return small == value ? Value(small) : Value(value);
  }

  static bool is_number(std::string_view read) {
    const auto digits = [&read]() {
      const size_t count = std::min(read.find_first_not_of("0123456789"), read.size());
      read.remove_prefix(count);
      return count;
    };
    if (read.starts_with('-')) read.remove_prefix(1);
    const bool begins_with_zero = read.starts_with('0');
    const size_t whole = digits();
    if (whole == 0 || (begins_with_zero && whole > 1)) return false;
    if (read.starts_with('.')) {
      read.remove_prefix(1);
      if (digits() == 0) return false;
    }
    if (read.starts_with('e') || read.starts_with('E')) {
      read.remove_prefix(1);
      if (read.starts_with('+') || read.starts_with('-')) read.remove_prefix(1);
      if (digits() == 0) return false;
    }
    return read.empty();
  }

  std::string_view text_;
  size_t at_ = 0;
};

Status check_text(std::string_view text) {
  if (bson_utf8_validate(text.data() == nullptr ? "" : text.data(), text.size(), false)) return {};
  return fail(ErrorCode::kFailedToParse, "invalid JSON: the text is not UTF-8, or holds a NUL");
}

// Checks the size and the depth of the document, which the Reader does not check.
Result<Document> validated(Document read) {
  GM_TRY(validate(read.view().bytes()));
  return read;
}

}  // namespace

Result<Document> document_from_json(std::string_view text) {
  GM_TRY(check_text(text));
  GM_ASSIGN(Document read, Reader(text).document());
  return validated(std::move(read));
}

Result<Document> array_from_json(std::string_view text) {
  GM_TRY(check_text(text));
  GM_ASSIGN(Document read, Reader(text).array());
  return validated(std::move(read));
}

}  // namespace gridmount::bson
