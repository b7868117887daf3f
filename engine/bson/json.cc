#include "engine/bson/json.h"

#include <bson/bson.h>

#include <memory>

#include "engine/bson/builder.h"

namespace gridmount::bson {
namespace {

struct BsonFree {
  void operator()(void* memory) const { bson_free(memory); }
};

std::optional<std::string> print(View document, JsonForm form) {
  bson_t wrapped;
  if (!bson_init_static(&wrapped, document.data(), document.size())) return std::nullopt;
  size_t length = 0;
  const std::unique_ptr<char, BsonFree> text(
      form == JsonForm::kCanonical ? bson_as_canonical_extended_json(&wrapped, &length)
                                   : bson_as_relaxed_extended_json(&wrapped, &length));
  if (!text) return std::nullopt;
  return std::string(text.get(), length);
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    size_t size = 1;
    while (size < 4 && size < text.size() && (static_cast<uint8_t>(text[size]) & 0xC0) == 0x80) {
      ++size;
    }
    // If NUL is allowed, libbson also accepts the two bytes C0 80 as NUL, and then cannot print
    // them.
    if (text[0] == '\0' || bson_utf8_validate(text.data(), size, false)) {
      valid.append(text.substr(0, size));
    } else {
      valid.append("\xEF\xBF\xBD");
    }
    text.remove_prefix(size);
  }
  return valid;
}

// Appends the document with U+FFFD in place of bytes that are not UTF-8, because JSON cannot hold
// them.
void append_printable(Builder& builder, View document) {
  for (const Element element : document) {
    const std::string key = replace_invalid_utf8(element.key);
    switch (element.value.type()) {
      case Type::kDocument:
      case Type::kArray: {
        if (element.value.type() == Type::kArray) {
          builder.open_array(key);
        } else {
          builder.open_document(key);
        }
        append_printable(builder, element.value.as_document());
        builder.close();
        break;
      }
      case Type::kString:
        builder.append(key, replace_invalid_utf8(element.value.as_string()));
        break;
      case Type::kSymbol:
      case Type::kCode: {
        const Value text(replace_invalid_utf8(element.value.as_string()));
        builder.append(key,
                       ValueView(element.value.type(), text.view().data(), text.view().size()));
        break;
      }
      case Type::kRegex: {
        const Regex regex = element.value.as_regex();
        builder.append_regex(key, replace_invalid_utf8(regex.pattern),
                             replace_invalid_utf8(regex.options));
        break;
      }
      case Type::kDbPointer:
      case Type::kCodeWithScope:
        // Prints only the type's name: these types are deprecated, and their text may not be UTF-8.
        builder.append(key, "(" + std::string(type_alias(element.value.type())) + ")");
        break;
      default:
        builder.append(key, element.value);
    }
  }
}

std::optional<std::string> print_always(View document, JsonForm form) {
  if (std::optional<std::string> text = print(document, form)) return text;
  Builder printable;
  append_printable(printable, document);
  return print(std::move(printable).finish(), form);
}

}  // namespace

std::string to_json(View document, JsonForm form) {
  return print_always(document, form).value_or("{ }");
}

std::string to_json(ValueView value, JsonForm form) {
  Builder builder;
  builder.append("v", value);
  const std::optional<std::string> text = print_always(std::move(builder).finish(), form);
  if (!text) return "\"(" + std::string(type_alias(value.type())) + ")\"";
  constexpr std::string_view kBefore = R"({ "v" : )";
  constexpr std::string_view kAfter = " }";
  return text->substr(kBefore.size(), text->size() - kBefore.size() - kAfter.size());
}

}  // namespace gridmount::bson
