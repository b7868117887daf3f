#include "engine/local/stored_document.h"

#include <string>

#include "engine/bson/builder.h"
#include "engine/query/current_timestamp.h"

namespace gridmount::local {
namespace {

// A document this small may be a view of this transaction, on a page whose entries the insert
// moves. A larger document has pages of its own.
constexpr uint32_t kCopiedBytesMax = 4096;

tl::unexpected<Error> refuse(const engine::Namespace& ns, ErrorCode code, std::string_view why) {
  return fail(code, "inserting into " + ns.full() + ": " + std::string(why));
}

// Refuses names that begin with '$' within an _id, at any depth, arrays included.
Status check_names(const engine::Namespace& ns, bson::ValueView value) {
  if (value.type() != bson::Type::kDocument && value.type() != bson::Type::kArray) return {};
  for (const bson::Element element : value.as_document()) {
    if (element.key.starts_with('$')) {
      return refuse(ns, ErrorCode::kDollarPrefixedFieldName,
                    "_id fields may not contain '$'-prefixed fields: " + std::string(element.key) +
                        " is not valid for storage.");
    }
    GM_TRY(check_names(ns, element.value));
  }
  return {};
}

Status check_id(const engine::Namespace& ns, bson::ValueView id) {
  switch (id.type()) {
    case bson::Type::kArray:
    case bson::Type::kRegex:
    case bson::Type::kUndefined:
      return refuse(
          ns, ErrorCode::kInvalidIdField,
          "The '_id' value cannot be of type " + std::string(bson::type_alias(id.type())));
    default:
      return check_names(ns, id);
  }
}

}  // namespace

Result<StoredDocument> stored_form(const engine::Namespace& ns, bson::View document,
                                   bool keep_empty_timestamps) {
  std::optional<bson::ValueView> id;
  bool first = true;
  bool id_first = false;
  bool has_empty_timestamp = false;
  for (const bson::Element element : document) {
    if (element.key == "_id") {
      if (id) {
        return refuse(ns, ErrorCode::kBadValue, "can't have multiple _id fields in one document");
      }
      id = element.value;
      id_first = first;
    }
    if (!keep_empty_timestamps && query::is_to_be_filled_in(element)) has_empty_timestamp = true;
    first = false;
  }
  if (id) GM_TRY(check_id(ns, *id));

  StoredDocument stored{document, std::nullopt,
                        id.value_or(bson::ValueView(bson::Type::kNull, nullptr, 0))};
  if (!id_first || has_empty_timestamp) {
    bson::Builder builder;
    if (id) {
      builder.append("_id", *id);
    } else {
      builder.append("_id", bson::ObjectId::generate());
    }
    for (const bson::Element element : document) {
      if (element.key == "_id") continue;
      if (!keep_empty_timestamps && query::is_to_be_filled_in(element)) {
        builder.append(element.key, query::current_timestamp());
      } else {
        builder.append(element.key, element.value);
      }
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
    return fail(ErrorCode::kBadValue,
                "object to insert too large. size in bytes: " + std::to_string(stored.view.size()) +
                    ", max size: " + std::to_string(bson::kMaxDocumentBytes));
  }
  return stored;
}

}  // namespace gridmount::local
