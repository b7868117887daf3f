// Changes a collection's options: collMod and convertToCapped.
// Source: MongoDB manual, "collMod", "convertToCapped".

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "engine/aggregation/view.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/local/catalog/patched_records.h"
#include "engine/local/collection.h"
#include "engine/local/database.h"
#include "engine/local/storage/range_cursor.h"

namespace gridmount::local {
namespace {

using engine::CollectionOptions;

tl::unexpected<Error> wrong_type(std::string_view field, bson::ValueView value,
                                 std::string_view wanted) {
  return fail(ErrorCode::kTypeMismatch, "BSON field 'collMod." + std::string(field) +
                                            "' is the wrong type '" +
                                            std::string(bson::type_alias(value.type())) +
                                            "', expected " + std::string(wanted));
}

// The requested change of an index. A field is empty if it was not given.
struct IndexChange {
  std::optional<bson::ValueView> name;
  std::optional<bson::ValueView> keys;
  std::optional<bson::ValueView> expire_after_seconds;
  std::optional<bson::ValueView> hidden;

  static Result<IndexChange> read(bson::View index);
  bool is_of(const query::IndexDefinition& definition) const {
    if (name) return definition.name == name->as_string();
    return bson::compare(definition.keys.view(), keys->as_document()) == 0;
  }
};

Result<IndexChange> IndexChange::read(bson::View index) {
  IndexChange change;
  for (const bson::Element field : index) {
    const bson::ValueView value = field.value;
    const std::string path = "index." + std::string(field.key);
    const bool is_given = value.type() != bson::Type::kNull;
    std::optional<bson::ValueView>* into = nullptr;
    if (field.key == "name") {
      if (is_given && value.type() != bson::Type::kString) return wrong_type(path, value, "string");
      into = &change.name;
    } else if (field.key == "keyPattern") {
      if (is_given && value.type() != bson::Type::kDocument) {
        return wrong_type(path, value, "object");
      }
      into = &change.keys;
    } else if (field.key == "expireAfterSeconds") {
      if (is_given && !value.is_number()) return wrong_type(path, value, "a number");
      into = &change.expire_after_seconds;
    } else if (field.key == "hidden") {
      if (is_given && !value.is_number() && value.type() != bson::Type::kBool) {
        return wrong_type(path, value, "a boolean or a number");
      }
      into = &change.hidden;
    } else if (field.key == "unique" || field.key == "prepareUnique") {
      return fail(ErrorCode::kInvalidOptions,
                  "collMod: '" + std::string(field.key) + "' of an index cannot be changed");
    } else {
      return fail(ErrorCode::kUnknownField,
                  "BSON field 'collMod." + path + "' is an unknown field.");
    }
    if (is_given) *into = value;
  }
  if (change.name.has_value() == change.keys.has_value()) {
    return fail(ErrorCode::kInvalidOptions,
                "collMod: give either the index's name or its keyPattern");
  }
  if (!change.expire_after_seconds && !change.hidden) {
    return fail(ErrorCode::kInvalidOptions,
                "collMod: no expireAfterSeconds or hidden field for the index");
  }
  return change;
}

// A value beyond the range becomes the longest possible expiry.
Status set_expiry(query::IndexDefinition& definition, bson::ValueView value, bson::Builder& reply) {
  const int64_t seconds = bson::clamped_integer(value).value_or(0);
  if (seconds < 0) {
    return fail(ErrorCode::kInvalidOptions,
                "TTL index 'expireAfterSeconds' option cannot be less than 0");
  }
  if (definition.expire_after_seconds) {
    reply.append("expireAfterSeconds_old", *definition.expire_after_seconds);
  }
  definition.expire_after_seconds = std::min<int64_t>(seconds, std::numeric_limits<int32_t>::max());
  reply.append("expireAfterSeconds_new", *definition.expire_after_seconds);
  if (const Status fits = query::check_combination(definition); !fits) {
    return fail(ErrorCode::kInvalidOptions, fits.error().message());
  }
  return {};
}

// Applies {index: {name or keyPattern: ..., expireAfterSeconds: ..., hidden: ...}}.
Status modify_index(CollectionMetadata& metadata, const bson::Element& element,
                    bson::Builder& reply) {
  if (element.value.type() != bson::Type::kDocument) {
    return wrong_type("index", element.value, "object");
  }
  GM_ASSIGN(const IndexChange change, IndexChange::read(element.value.as_document()));
  const auto at =
      std::find_if(metadata.indexes.begin(), metadata.indexes.end(),
                   [&](const IndexMetadata& index) { return change.is_of(index.definition); });
  if (at == metadata.indexes.end()) {
    return fail(ErrorCode::kIndexNotFound,
                metadata.ns.full() + ": collMod: cannot find the index for the change");
  }
  query::IndexDefinition& definition = at->definition;
  if (change.expire_after_seconds) {
    if (metadata.settings.capped) {
      return fail(ErrorCode::kInvalidOptions,
                  metadata.ns.full() + ": collMod: documents of a capped collection do not expire");
    }
    GM_TRY(set_expiry(definition, *change.expire_after_seconds, reply));
  }
  if (!change.hidden) return {};
  const bool hidden = change.hidden->type() == bson::Type::kBool ? change.hidden->as_bool()
                                                                 : change.hidden->number() != 0;
  if (hidden == definition.hidden) return {};
  reply.append("hidden_old", definition.hidden).append("hidden_new", hidden);
  definition.hidden = hidden;
  return query::check_combination(definition);
}

// Applies a field of a view. Returns false if the field is not one of a view.
Result<bool> modify_view(CollectionOptions& options, const bson::Element& element) {
  if (element.key == "viewOn" && element.value.type() == bson::Type::kString) {
    if (element.value.as_string().empty()) {
      return fail(ErrorCode::kBadValue, "collMod: 'viewOn' cannot be empty");
    }
    options.view_on = element.value.as_string();
  } else if (element.key == "pipeline" && element.value.type() == bson::Type::kArray) {
    options.pipeline = bson::Document(element.value.as_document());
  } else if (element.key == "viewOn" || element.key == "pipeline") {
    return fail(ErrorCode::kTypeMismatch,
                "collMod: '" + std::string(element.key) + "' has the wrong type");
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<bson::Document> LocalDatabase::modify(engine::Transaction& transaction,
                                             std::string_view collection, bson::View changes) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  const engine::Namespace name = ns(collection);
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
            read_view->catalog().find(name));
  if (!metadata) return fail(ErrorCode::kNamespaceNotFound, "ns does not exist: " + name.full());
  CollectionMetadata changed = *metadata;
  CollectionOptions& options = changed.settings;
  const auto wrong_kind = [&](const bson::Element& element, const char* kind) {
    return fail(ErrorCode::kInvalidOptions,
                name.full() + ": collMod: '" + std::string(element.key) + "' is for " + kind);
  };
  bson::Builder reply;
  for (const bson::Element element : changes) {
    GM_ASSIGN(const bool of_view, modify_view(options, element));
    if (of_view != metadata->settings.is_view()) {
      return wrong_kind(element, of_view ? "views" : "collections that are no views");
    }
    if (of_view) continue;
    GM_ASSIGN(const bool of_validation, options.read_validation(name, element));
    if (of_validation) continue;
    if (element.key == "index") {
      GM_TRY(modify_index(changed, element, reply));
    } else if (element.key == "cappedSize" || element.key == "cappedMax") {
      if (!options.capped) return wrong_kind(element, "capped collections");
      const std::optional<int64_t> number = bson::clamped_integer(element.value);
      if (!number) return wrong_type(element.key, element.value, "a number");
      (element.key == "cappedSize" ? options.size_bytes : options.max_documents) = *number;
    } else {
      return fail(ErrorCode::kUnknownField,
                  "BSON field 'collMod." + std::string(element.key) + "' is an unknown field.");
    }
  }
  // Check the combination of options and bring them into canonical form.
  GM_ASSIGN(const CollectionOptions checked, CollectionOptions::parse(name, options.document()));
  if (checked.is_view()) {
    GM_TRY(aggregation::check_view(*this, transaction, collection, checked.view_on,
                                   checked.pipeline ? checked.pipeline->view() : bson::View(),
                                   checked.collation ? checked.collation->view() : bson::View()));
  }
  changed.options = checked.document();
  for (size_t i = 0; i < changed.indexes.size(); ++i) {
    const IndexMetadata& index = changed.indexes[i];
    if (index.definition.hidden != metadata->indexes[i].definition.hidden) {
      read_view->index_usage().reset(index.keyspace);
    }
  }
  GM_TRY(read_view->catalog().put(std::move(changed)));
  return std::move(reply).finish();
}

Status LocalDatabase::convert_to_capped(engine::Transaction& transaction,
                                        std::string_view collection, int64_t bytes) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  Catalog& catalog = read_view->catalog();
  const engine::Namespace name = ns(collection);
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> source, catalog.find(name));
  if (!source) {
    return fail(ErrorCode::kNamespaceNotFound,
                "source collection " + name.full() + " does not exist");
  }
  if (source->settings.is_view()) {
    return fail(ErrorCode::kCommandNotSupportedOnView, name.full() + " is a view");
  }
  CollectionOptions options = source->settings;
  options.capped = true;
  options.size_bytes = bytes;
  GM_ASSIGN(const CollectionOptions checked, CollectionOptions::parse(name, options.document()));

  read_view->notify_collection_changed(name);
  // erase() leaves the entries of the source in place, so they can be read through `source`, which
  // no longer has a name.
  GM_TRY(catalog.erase(*source));
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> target,
            catalog.create(name, checked.document()));
  RecordId first = 0;
  {
    // Find the first record to keep: the newest records are kept, as many as fit. The newest record
    // is kept even if it does not fit, as after an insert.
    int64_t room = checked.size_bytes;
    int64_t documents = checked.max_documents;
    RangeCursor cursor(read_view->shared_trees(), read_view->trees().tree(source->records));
    cursor.set_proving();
    cursor.set_range(keyspace_prefix(source->records), keyspace_end(source->records), true);
    while (true) {
      GM_ASSIGN(const std::optional<TreeEntry> record, cursor.next());
      if (!record) break;
      if (is_of_patches(record->key)) continue;
      const RecordId id = record_id_of(record->key).value_or(0);
      bson::Document patched;
      GM_ASSIGN(const bson::View document,
                whole_document_of(read_view->trees(), name, source->records, id, record->value,
                                  Verify::kBounds, patched));
      room -= static_cast<int64_t>(document.size());
      --documents;
      const bool fits = room >= 0 && (checked.max_documents == 0 || documents >= 0);
      if (!fits && first != 0) break;
      first = id;
    }
  }
  if (first == 0) return {};
  DocumentWriter writer(*read_view, target, false);
  RangeCursor cursor(read_view->shared_trees(), read_view->trees().tree(source->records));
  cursor.set_proving();
  cursor.set_range(std::string(RecordKey(source->records, first).view()),
                   keyspace_end(source->records), false);
  while (true) {
    GM_ASSIGN(const std::optional<TreeEntry> record, cursor.next());
    if (!record) return {};
    if (is_of_patches(record->key)) continue;
    bson::Document patched;
    GM_ASSIGN(const bson::View document,
              whole_document_of(read_view->trees(), name, source->records,
                                record_id_of(record->key).value_or(0), record->value,
                                Verify::kChecksum, patched));
    // The insert ends the view, so copy the document.
    GM_TRY(writer.insert(bson::Document(document)));
  }
}

}  // namespace gridmount::local
