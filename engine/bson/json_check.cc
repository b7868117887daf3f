#include "engine/bson/json_check.h"

#include <bson/bson.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/value.h"

namespace gridmount::bson {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kHexadecimal = "0123456789abcdefABCDEF";

bool is_double(const std::string& text) {
  if (text == "NaN" || text == "Infinity" || text == "-Infinity") return true;
  if (text.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  double ignored = 0;
  const char* const end = text.data() + text.size();
  // Too large a number is the parser's to refuse.
  const auto [stop, error] = std::from_chars(text.data(), end, ignored);
  return error != std::errc::invalid_argument && stop == end;
}

bool is_decimal(const std::string& text) {
  bson_decimal128_t ignored;
  return bson_decimal128_from_string(text.c_str(), &ignored);
}

bool is_subtype(const std::string& text) {
  return (text.size() == 1 || text.size() == 2) &&
         text.find_first_not_of(kHexadecimal) == std::string::npos;
}

class JsonCheck {
 public:
  explicit JsonCheck(std::string_view text) : text_(text) {}

  Status run() {
    skip_space();
    if (at_ == text_.size() || text_[at_] != '{') return refuse("no document begins here");
    while (at_ < text_.size()) {
      switch (const char c = text_[at_]; c) {
        case '{':
        case '[':
          levels_.push_back({c == '{', levels_.empty() ? "" : levels_.back().key});
          ++at_;
          break;
        case '}':
        case ']':
          levels_.pop_back();
          ++at_;
          if (levels_.empty()) return nothing_follows();
          break;
        case ',':
          levels_.back().key.clear();
          levels_.back().at_value = !levels_.back().is_object;
          ++at_;
          break;
        case ':':
          levels_.back().at_value = true;
          ++at_;
          break;
        case '"':
          GM_TRY(string());
          break;
        default:
          GM_TRY(literal());
      }
      skip_space();
    }
    return refuse("the document does not end");
  }

 private:
  // An object or array that is not closed yet.
  struct Level {
    bool is_object;
    std::string name;      // the key it stands at
    std::string key = {};  // the member being read
    bool at_value = !is_object;
  };

  tl::unexpected<Error> refuse(const std::string& what) const {
    return fail(ErrorCode::kFailedToParse,
                "invalid JSON at byte " + std::to_string(at_) + ": " + what);
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

  Status nothing_follows() {
    skip_space();
    if (at_ < text_.size()) return refuse("something follows the document");
    return {};
  }

  // The characters at at_ to the closing quotation mark, and at_ behind it. Of the escapes only
  // those of ASCII are resolved: what is looked for here has no others.
  std::string characters() {
    std::string read;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\' || at_ + 1 == text_.size()) {
        read.push_back(text_[at_]);
        continue;
      }
      ++at_;
      unsigned code = 0x80;
      if (text_[at_] == 'u' && at_ + 4 < text_.size()) {
        std::from_chars(text_.data() + at_ + 1, text_.data() + at_ + 5, code, 16);
      }
      if (code < 0x80) {
        read.push_back(static_cast<char>(code));
        at_ += 4;
      } else {
        read.append(text_.substr(at_ - 1, 2));
      }
    }
    ++at_;
    return read;
  }

  Status string() {
    const size_t begin = at_;
    std::string read = characters();
    Level& level = levels_.back();
    if (!level.at_value) {
      level.key = std::move(read);
      return {};
    }
    const std::optional<std::string> wrong = wrong_string(level, read);
    if (!wrong) return {};
    at_ = begin;
    return refuse(*wrong);
  }

  std::optional<std::string> wrong_string(const Level& level, const std::string& read) const {
    // The document itself is no value, so names that stand for a type are ordinary in it.
    if (levels_.size() == 1) return std::nullopt;
    if (level.key == "$oid" && !ObjectId::from_hex(read)) {
      return "an ObjectId has 24 hexadecimal digits, not '" + read + "'";
    }
    if (level.key == "$numberDouble" && !is_double(read)) return "'" + read + "' is no double";
    if (level.key == "$numberDecimal" && !is_decimal(read)) {
      return "'" + read + "' is no Decimal128 of at most 34 digits";
    }
    if (level.key == "$code" && read.find('\0') != std::string::npos) return "code holds a NUL";
    if (level.key == "subType" && level.name == "$binary" && !is_subtype(read)) {
      return "a subtype of binary data has one or two hexadecimal digits, not '" + read + "'";
    }
    return std::nullopt;
  }

  // A number or a word.
  Status literal() {
    const size_t end = std::min(text_.find_first_of(" \t\r\n,:]}", at_ + 1), text_.size());
    const std::string_view read = text_.substr(at_, end - at_);
    const Level& level = levels_.back();
    if (level.key == "$undefined" && levels_.size() > 1 && read != "true") {
      return refuse("$undefined is always true");
    }
    if (read.find_first_not_of("-0123456789") == std::string_view::npos) {
      int64_t integer = 0;
      if (std::from_chars(read.data(), read.data() + read.size(), integer).ec != std::errc()) {
        return refuse("the integer " + std::string(read) + " is out of range");
      }
      if (level.name == "$timestamp" && integer > std::numeric_limits<uint32_t>::max()) {
        return refuse("a timestamp's parts are below 2^32, " + std::string(read) + " is not");
      }
    }
    at_ = end;
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Level> levels_;
};

}  // namespace

Status check_json(std::string_view text) {
  return JsonCheck(text).run();
}

}  // namespace gridmount::bson
