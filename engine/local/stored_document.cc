#include "engine/local/stored_document.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "engine/bson/builder.h"

namespace gridmount::local {
namespace {

// A document this small may be a view of this very transaction's, on a page that the insert moves
// things about on; a larger one has pages of its own.
constexpr uint32_t kCopiedBytesMax = 4096;

// Seconds since 1970, and a count that sets apart those of one second.
bson::Timestamp next_timestamp() {
  static std::atomic<uint64_t> last{0};
  const auto now = static_cast<uint64_t>(bson::Date::now().milliseconds / 1000) << 32;
  uint64_t before = last.load();
  uint64_t next = 0;
  do {
    next = std::max(before, now) + 1;
  } while (!last.compare_exchange_weak(before, next));
  return {static_cast<uint32_t>(next >> 32), static_cast<uint32_t>(next)};
}

// An application leaves it to the store to fill it in; in an _id it does not.
bool is_empty_timestamp(const bson::Element& element) {
  return element.value.type() == bson::Type::kTimestamp &&
         element.value.as_timestamp() == bson::Timestamp{} && element.key != "_id";
}

tl::unexpected<Error> refuse(const engine::Namespace& ns, ErrorCode code, std::string_view why) {
  return fail(code, "inserting into " + ns.full() + ": " + std::string(why));
}

// Within an _id at any depth, arrays included.
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
    if (!keep_empty_timestamps && is_empty_timestamp(element)) has_empty_timestamp = true;
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
      if (!keep_empty_timestamps && is_empty_timestamp(element)) {
        builder.append(element.key, next_timestamp());
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
