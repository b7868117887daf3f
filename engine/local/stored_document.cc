#include "engine/local/stored_document.h"

#include <string>

#include "engine/bson/builder.h"

namespace gridmount::local {
namespace {

// A document this small may be a view of this very transaction's, on a page that the insert moves
// things about on; a larger one has pages of its own.
constexpr uint32_t kCopiedBytesMax = 4096;

tl::unexpected<Error> refuse(const engine::Namespace& ns, ErrorCode code, std::string_view why) {
  return fail(code, "inserting into " + ns.full() + ": " + std::string(why));
}

Status check_id(const engine::Namespace& ns, bson::ValueView id) {
  switch (id.type()) {
    case bson::Type::kArray:
    case bson::Type::kRegex:
    case bson::Type::kUndefined:
      return refuse(
          ns, ErrorCode::kInvalidIdField,
          "The '_id' value cannot be of type " + std::string(bson::type_alias(id.type())));
    case bson::Type::kDocument:
      for (const bson::Element element : id.as_document()) {
        if (element.key.starts_with('$')) {
          return refuse(ns, ErrorCode::kDollarPrefixedFieldName,
                        "_id fields may not contain '$'-prefixed fields: " +
                            std::string(element.key) + " is not valid for storage.");
        }
      }
      return {};
    default:
      return {};
  }
}

}  // namespace

Result<StoredDocument> stored_form(const engine::Namespace& ns, bson::View document) {
  std::optional<bson::ValueView> id;
  bool first = true;
  bool id_first = false;
  for (const bson::Element element : document) {
    if (element.key.starts_with('$')) {
      return refuse(ns, ErrorCode::kDollarPrefixedFieldName,
                    "the top-level field name '" + std::string(element.key) +
                        "' begins with '$', which is not allowed");
    }
    if (element.key == "_id") {
      if (id) {
        return refuse(ns, ErrorCode::kBadValue, "can't have multiple _id fields in one document");
      }
      id = element.value;
      id_first = first;
    }
    first = false;
  }
  if (id) GM_TRY(check_id(ns, *id));

  StoredDocument stored{document, std::nullopt,
                        id.value_or(bson::ValueView(bson::Type::kNull, nullptr, 0))};
  if (!id_first) {
    bson::Builder builder;
    if (id) {
      builder.append("_id", *id);
    } else {
      builder.append("_id", bson::ObjectId::generate());
    }
    for (const bson::Element element : document) {
      if (element.key != "_id") builder.append(element.key, element.value);
    }
    stored.rebuilt = std::move(builder).finish();
    stored.view = *stored.rebuilt;
    stored.id = stored.view["_id"];
  } else if (document.size() <= kCopiedBytesMax) {
    stored.rebuilt = bson::Document(document);
    stored.view = *stored.rebuilt;
    stored.id = stored.view["_id"];
  }
  if (stored.view.size() > bson::kMaxDocumentBytes) {
    return refuse(ns, ErrorCode::kBsonObjectTooLarge,
                  "the document has " + std::to_string(stored.view.size()) + " bytes; at most " +
                      std::to_string(bson::kMaxDocumentBytes) + " are allowed");
  }
  return stored;
}

}  // namespace gridmount::local
