#include "engine/local/indexes/duplicate_key.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/hex.h"
#include "engine/bson/builder.h"
#include "engine/bson/text.h"
#include "engine/local/format/index_key_encoding.h"

namespace gridmount::local {
namespace {

// Appends the value of one part of a duplicate key. If the path ends at an array, appends the
// element whose encoding is in the key.
void append_key_value(bson::Builder& builder, const IndexPart& part, bson::View document,
                      std::string_view encoded) {
  std::optional<bson::Value> found;
  const auto matches = [&](bson::ValueView value) {
    std::string key;
    append_part(key, part, value);
    return encoded.starts_with(key);
  };
  part.path.visit(document, [&](const bson::Path::Reached& reached) {
    if (!reached.value) return true;
    if (matches(*reached.value)) {
      found = bson::Value(*reached.value);
    } else if (reached.value->type() == bson::Type::kArray) {
      for (const bson::Element element : reached.value->as_document()) {
        if (matches(element.value)) found = bson::Value(element.value);
      }
    }
    return !found;
  });
  if (!found) {
    // The field is missing, or its value is too long for the truncated key to identify it.
    if (const std::optional<bson::ValueView> value = part.path.resolve(document)) {
      found = bson::Value(*value);
    }
  }
  if (found) {
    builder.append(part.path.dotted(), *found);
  } else {
    builder.append_null(part.path.dotted());
  }
}

}  // namespace

Error duplicate_key(const CollectionMetadata& metadata, const IndexMetadata& index,
                    bson::View document, std::string_view encoded) {
  bson::Builder values;
  // Servers show the sort keys of strings, in hexadecimal.
  std::vector<bool> is_hexadecimal;
  for (const IndexPart& part : index.rules.parts) {
    bson::Builder one;
    append_key_value(one, part, document, encoded);
    const bson::Document found = std::move(one).finish();
    const bson::ValueView value = (*found.view().begin()).value;
    is_hexadecimal.push_back(part.collator != nullptr && value.type() == bson::Type::kString);
    if (is_hexadecimal.back()) {
      std::string sort_key;
      part.collator->append_sort_key(sort_key, value.as_string());
      values.append(part.path.dotted(), to_hex(sort_key));
    } else {
      values.append(part.path.dotted(), value);
    }
    encoded.remove_prefix(bson::key_string_size(encoded, part.descending).value_or(encoded.size()));
  }
  const bson::Document key_value = std::move(values).finish();

  std::string text;
  size_t part = 0;
  for (const bson::Element element : key_value.view()) {
    text += (text.empty() ? " " : ", ") + std::string(element.key) + ": " +
            (is_hexadecimal[part++] ? "\"0x" + std::string(element.value.as_string()) + "\""
                                    : bson::to_text(element.value));
  }
  const bson::Document* const collation = index.definition.own_collation();
  bson::Builder details;
  details.append("keyPattern", index.definition.keys).append("keyValue", key_value);
  if (collation != nullptr) {
    if (std::find(is_hexadecimal.begin(), is_hexadecimal.end(), true) != is_hexadecimal.end()) {
      details.open_array("hexEncoded");
      for (const bool hexadecimal : is_hexadecimal) details.push(bson::Value(hexadecimal).view());
      details.close();
    }
    details.append("collation", *collation);
  }
  return Error(ErrorCode::kDuplicateKey,
               "E11000 duplicate key error collection: " + metadata.ns.full() +
                   " index: " + index.definition.name +
                   (collation != nullptr ? " collation: " + bson::to_text(collation->view()) : "") +
                   " dup key: {" + text + " }")
      .with_details(std::move(details).finish().release());
}

}  // namespace gridmount::local
