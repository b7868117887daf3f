#include "tools/gridfiles/write_concern.h"

#include <cctype>
#include <charconv>

#include "engine/bson/document.h"
#include "engine/bson/json.h"

namespace gridmount::tools {

namespace {

// Converts the shell's JSON, which mongofiles accepts, to Extended JSON. The shell's JSON has names
// without quotes, and strings in single quotes.
std::string strict_json(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '"' || c == '\'') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      out += '"';
      out += text.substr(i + 1, end - i - 1);
      out += '"';
      i = end + 1;
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
      size_t end = i;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
        ++end;
      }
      std::string word(text.substr(i, end - i));
      size_t next = text.find_first_not_of(" \t\n", end);
      bool is_name = next != std::string_view::npos && text[next] == ':';
      out += is_name ? "\"" + word + "\"" : word;
      i = end;
    } else {
      out += c;
      ++i;
    }
  }
  return out;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t number = 0;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

auto invalid(std::string_view field, std::string_view value) {
  return fail(ErrorCode::kFailedToParse,
              "invalid '" + std::string(field) + "' argument: " + std::string(value));
}

Status set_w(WriteConcern& concern, int64_t number) {
  if (number < 0) return invalid("w", std::to_string(number));
  concern.w = number;
  return {};
}

Status set_mode(WriteConcern& concern, std::string_view mode) {
  if (auto number = whole_number(mode)) return set_w(concern, *number);
  if (!mode.empty()) concern.mode = mode;
  return {};
}

// Returns true if the value means true. As on servers, j and fsync may also be numbers. Any number
// except 0 means true, and null means false.
Result<bool> truth(std::string_view field, bson::ValueView value) {
  if (value.type() == bson::Type::kBool) return value.as_bool();
  if (auto number = value.number()) return *number != 0;
  if (value.type() == bson::Type::kNull) return false;
  return invalid(field, bson::to_json(value, bson::JsonForm::kRelaxed));
}

Status set_field(WriteConcern& concern, const bson::Element& field) {
  if (field.key == "w") {
    if (auto number = field.value.integral()) return set_w(concern, *number);
    if (field.value.type() == bson::Type::kString) {
      return set_mode(concern, field.value.as_string());
    }
    return invalid("w", bson::to_json(field.value, bson::JsonForm::kRelaxed));
  }
  if (field.key == "j" || field.key == "fsync") {
    GM_ASSIGN(bool wanted, truth(field.key, field.value));
    concern.journal = concern.journal || wanted;
    return {};
  }
  if (field.key == "wtimeout") {
    concern.timeout_ms = field.value.integral();
    if (!concern.timeout_ms || *concern.timeout_ms < 0) {
      return invalid("wtimeout", bson::to_json(field.value, bson::JsonForm::kRelaxed));
    }
    return {};
  }
  return fail(ErrorCode::kFailedToParse,
              "unknown field '" + std::string(field.key) + "'; known are w, j, fsync and wtimeout");
}

}  // namespace

Result<WriteConcern> WriteConcern::parse(std::string_view text) {
  WriteConcern concern;
  size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return concern;
  if (text[begin] != '{') {
    std::string_view mode = text;
    if (mode.size() > 1 && mode.front() == '"' && mode.back() == '"') {
      mode = mode.substr(1, mode.size() - 2);
    }
    GM_TRY(set_mode(concern, mode));
    return concern;
  }
  GM_ASSIGN(bson::Document document, bson::document_from_json(strict_json(text)));
  for (bson::Element field : document.view()) GM_TRY(set_field(concern, field));
  return concern;
}

Status WriteConcern::check_for_one_member() const {
  if (!w && mode != "majority") {
    return fail(ErrorCode::kBadValue,
                "cannot use non-majority 'w' mode " + mode + " when a host is not replicated");
  }
  if (w && *w > 1) {
    return fail(ErrorCode::kBadValue, "cannot use 'w' > 1 when a host is not replicated");
  }
  if (w && *w == 0 && journal) {
    return fail(
        ErrorCode::kBadValue,
        "a write concern cannot have both w=0 and j=true: nothing would wait for the journal");
  }
  return {};
}

std::string WriteConcern::text() const {
  std::string out = "{w: " + (w ? std::to_string(*w) : "\"" + mode + "\"");
  if (journal) out += ", j: true";
  if (timeout_ms) out += ", wtimeout: " + std::to_string(*timeout_ms);
  return out + "}";
}

}  // namespace gridmount::tools
