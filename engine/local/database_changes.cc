// Changing what a collection is: collMod and convertToCapped.
// Source: MongoDB manual, "collMod", "convertToCapped".

#include "engine/aggregation/view.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/local/collection.h"
#include "engine/local/database.h"
#include "engine/local/storage/range_cursor.h"

namespace gridmount::local {
namespace {

using engine::CollectionOptions;

Result<int64_t> whole_number(const bson::Element& element) {
  const std::optional<int64_t> number = element.value.integral();
  if (number) return *number;
  return fail(ErrorCode::kTypeMismatch,
              "collMod: '" + std::string(element.key) + "' must be a whole number");
}

// {index: {name or keyPattern: ..., expireAfterSeconds: ..., hidden: ...}}.
Status modify_index(CollectionEntry& entry, const bson::Element& element, bson::Builder& reply) {
  if (element.value.type() != bson::Type::kDocument) {
    return fail(ErrorCode::kTypeMismatch, "collMod: 'index' must be an object");
  }
  const bson::View change = element.value.as_document();
  const std::optional<bson::ValueView> name = change.find("name");
  const std::optional<bson::ValueView> keys = change.find("keyPattern");
  if (name.has_value() == keys.has_value()) {
    return fail(ErrorCode::kInvalidOptions,
                "collMod: the index is told either by its name or by its keyPattern");
  }
  const auto is_it = [&](const IndexEntry& index) {
    if (name) {
      return name->type() == bson::Type::kString && index.definition.name == name->as_string();
    }
    return keys->type() == bson::Type::kDocument &&
           bson::compare(index.definition.keys.view(), keys->as_document()) == 0;
  };
  const auto at = std::find_if(entry.indexes.begin(), entry.indexes.end(), is_it);
  if (at == entry.indexes.end()) {
    return fail(ErrorCode::kIndexNotFound,
                entry.ns.full() + ": collMod: cannot find the index for the change");
  }
  query::IndexDefinition& definition = at->definition;
  bool any = false;
  for (const bson::Element field : change) {
    if (field.key == "name" || field.key == "keyPattern") continue;
    any = true;
    if (field.key == "expireAfterSeconds") {
      if (entry.settings.capped) {
        return fail(ErrorCode::kInvalidOptions,
                    entry.ns.full() + ": collMod: documents of a capped collection do not expire");
      }
      bson::Builder specification;
      specification.append("key", definition.keys).append("name", definition.name);
      specification.append("expireAfterSeconds", field.value);
      GM_ASSIGN(const query::IndexDefinition parsed,
                query::IndexDefinition::parse(std::move(specification).finish()));
      if (definition.expire_after_seconds) {
        reply.append("expireAfterSeconds_old", *definition.expire_after_seconds);
      }
      reply.append("expireAfterSeconds_new", *parsed.expire_after_seconds);
      definition.expire_after_seconds = parsed.expire_after_seconds;
    } else if (field.key == "hidden") {
      if (field.value.type() != bson::Type::kBool) {
        return fail(ErrorCode::kTypeMismatch, "collMod: 'index.hidden' must be a boolean");
      }
      reply.append("hidden_old", definition.hidden).append("hidden_new", field.value);
      definition.hidden = field.value.as_bool();
    } else {
      return fail(ErrorCode::kInvalidOptions,
                  "collMod: '" + std::string(field.key) + "' of an index cannot be changed");
    }
  }
  if (!any) {
    return fail(ErrorCode::kInvalidOptions,
                "collMod: no expireAfterSeconds or hidden field for the index");
  }
  return query::check_combination(definition);
}

// True if the field is one of a view's.
Result<bool> modify_view(CollectionOptions& options, const bson::Element& element) {
  if (element.key == "viewOn" && element.value.type() == bson::Type::kString) {
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
  GM_ASSIGN(const std::shared_ptr<Contents> contents,
            writable_contents_of(transaction, environment_));
  const engine::Namespace name = ns(collection);
  GM_ASSIGN(const std::shared_ptr<const CollectionEntry> entry, contents->catalog().find(name));
  if (!entry) return fail(ErrorCode::kNamespaceNotFound, "ns does not exist: " + name.full());
  CollectionEntry changed = *entry;
  CollectionOptions& options = changed.settings;
  const auto wrong_kind = [&](const bson::Element& element, const char* kind) {
    return fail(ErrorCode::kInvalidOptions,
                name.full() + ": collMod: '" + std::string(element.key) + "' is for " + kind);
  };
  bson::Builder reply;
  for (const bson::Element element : changes) {
    GM_ASSIGN(const bool of_view, modify_view(options, element));
    if (of_view != entry->settings.is_view()) {
      return wrong_kind(element, of_view ? "views" : "collections that are no views");
    }
    if (of_view) continue;
    GM_ASSIGN(const bool of_validation, options.read_validation(name, element));
    if (of_validation) continue;
    if (element.key == "index") {
      GM_TRY(modify_index(changed, element, reply));
    } else if (element.key == "cappedSize" || element.key == "cappedMax") {
      if (!options.capped) return wrong_kind(element, "capped collections");
      GM_ASSIGN((element.key == "cappedSize" ? options.size_bytes : options.max_documents),
                whole_number(element));
    } else {
      return fail(ErrorCode::kInvalidOptions,
                  name.full() + ": collMod: '" + std::string(element.key) + "' is not supported");
    }
  }
  // Checks how the options go together, and brings them into their form.
  GM_ASSIGN(const CollectionOptions checked, CollectionOptions::parse(name, options.document()));
  if (checked.is_view()) {
    GM_TRY(aggregation::check_view(*this, transaction, collection, checked.view_on,
                                   checked.pipeline ? checked.pipeline->view() : bson::View()));
  }
  changed.options = checked.document();
  GM_TRY(contents->catalog().put(std::move(changed)));
  return std::move(reply).finish();
}

Status LocalDatabase::convert_to_capped(engine::Transaction& transaction,
                                        std::string_view collection, int64_t bytes) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents,
            writable_contents_of(transaction, environment_));
  Catalog& catalog = contents->catalog();
  const engine::Namespace name = ns(collection);
  GM_ASSIGN(const std::shared_ptr<const CollectionEntry> source, catalog.find(name));
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

  contents->tell_collection_changed(name);
  // Read through a view of the catalog in which the source goes on under no name.
  GM_TRY(catalog.erase(*source));
  GM_ASSIGN(const std::shared_ptr<const CollectionEntry> target,
            catalog.create(name, checked.document()));
  RecordId first = 0;
  {
    // From the newest back, as far as there is room.
    int64_t room = checked.size_bytes;
    int64_t documents = checked.max_documents;
    RangeCursor cursor(contents->shared_trees(), contents->trees().tree(source->records));
    cursor.set_proving();
    cursor.set_range(range_prefix(source->records), range_end(source->records), true);
    while (true) {
      GM_ASSIGN(const std::optional<TreeEntry> record, cursor.next());
      if (!record) break;
      room -= static_cast<int64_t>(record->value.size()) - static_cast<int64_t>(kRecordHeaderBytes);
      if (room < 0 || (checked.max_documents > 0 && documents-- == 0)) break;
      first = record_id_of(record->key).value_or(0);
    }
  }
  if (first == 0) return {};
  DocumentWriter writer(*contents, target, false);
  RangeCursor cursor(contents->shared_trees(), contents->trees().tree(source->records));
  cursor.set_proving();
  cursor.set_range(std::string(RecordKey(source->records, first).view()),
                   range_end(source->records), false);
  while (true) {
    GM_ASSIGN(const std::optional<TreeEntry> record, cursor.next());
    if (!record) return {};
    GM_ASSIGN(const bson::View document,
              document_of(record->value, Verify::kChecksum, name,
                          RecordKey(source->records, record_id_of(record->key).value_or(0))));
    // The view does not outlive the write.
    GM_TRY(writer.insert(bson::Document(document)));
  }
}

}  // namespace gridmount::local
