#include "tools/gridstore/dump/metadata_file.h"

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "tools/gridstore/compact_json.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

using bson::Type;

tl::unexpected<Error> wrong_type(std::string_view field, std::string_view wanted) {
  return fail(ErrorCode::kFailedToParse, in_quotes(field) + " is not " + std::string(wanted));
}

// Removes options that dumps of old servers contain and that `create` no longer accepts.
bson::Document current_options(bson::View options) {
  bson::Builder current;
  for (const bson::Element option : options) {
    if (option.key == "create" || option.key == "uuid" || option.key == "idIndex") continue;
    current.append(option.key, option.value);
  }
  return std::move(current).finish();
}

Status read_indexes(bson::ValueView value, std::vector<bson::Document>& indexes) {
  if (value.type() != Type::kArray) return wrong_type("indexes", "an array");
  for (const bson::Element element : value.as_document()) {
    if (element.value.type() != Type::kDocument)
      return wrong_type("indexes", "an array of objects");
    indexes.emplace_back(element.value.as_document());
  }
  return {};
}

Status read_text(const bson::Element& element, std::string& text) {
  if (element.value.type() != Type::kString) return wrong_type(element.key, "a string");
  text = element.value.as_string();
  return {};
}

}  // namespace

std::string Metadata::to_json() const {
  bson::Builder builder;
  if (!options.view().empty()) builder.append("options", options);
  bson::Builder& list = builder.open_array("indexes");
  for (const bson::Document& index : indexes) list.push(index.view());
  list.close();
  builder.append("collectionName", collection_name).append("type", type);
  return compact_json(std::move(builder).finish(), bson::JsonForm::kCanonical);
}

Result<Metadata> Metadata::parse(std::string_view text) {
  GM_ASSIGN(const bson::Document document, bson::document_from_json(text));
  Metadata metadata;
  for (const bson::Element field : document.view()) {
    if (field.key == "options") {
      if (field.value.type() == Type::kNull) continue;
      if (field.value.type() != Type::kDocument) return wrong_type(field.key, "an object");
      metadata.options = current_options(field.value.as_document());
    } else if (field.key == "indexes") {
      if (field.value.type() == Type::kNull) continue;
      GM_TRY(read_indexes(field.value, metadata.indexes));
    } else if (field.key == "collectionName") {
      GM_TRY(read_text(field, metadata.collection_name));
    } else if (field.key == "type") {
      GM_TRY(read_text(field, metadata.type));
    }
  }
  return metadata;
}

}  // namespace gridmount::tools
