#include "engine/local/database.h"

#include "engine/aggregation/view.h"
#include "engine/local/collection.h"

namespace gridmount::local {
namespace {

engine::CollectionInfo info_of(const CollectionMetadata& metadata) {
  return {metadata.ns.collection, metadata.options,
          metadata.settings.is_view() ? std::string() : metadata.uuid};
}

}  // namespace

std::unique_ptr<engine::Collection> LocalDatabase::collection(std::string_view name) {
  return std::make_unique<LocalCollection>(ns(name), environment_);
}

Result<std::vector<engine::CollectionInfo>> LocalDatabase::collections(engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_ASSIGN(const std::vector<engine::Namespace> names, read_view->catalog().collections(name_));
  std::vector<engine::CollectionInfo> infos;
  for (const engine::Namespace& name : names) {
    GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
              read_view->catalog().find(name));
    if (metadata) infos.push_back(info_of(*metadata));
  }
  return infos;
}

Result<std::optional<engine::CollectionInfo>> LocalDatabase::collection_info(
    engine::Snapshot& snapshot, std::string_view collection) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
            read_view->catalog().find(ns(collection)));
  if (!metadata) return std::optional<engine::CollectionInfo>();
  return std::optional(info_of(*metadata));
}

Result<bool> LocalDatabase::exists(engine::Snapshot& snapshot, std::string_view collection) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
            read_view->catalog().find(ns(collection)));
  return metadata != nullptr;
}

Status LocalDatabase::create(engine::Transaction& transaction, std::string_view collection,
                             bson::View options) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  const engine::Namespace name = ns(collection);
  GM_TRY(engine::check_namespace(name));
  GM_ASSIGN(const engine::CollectionOptions parsed,
            engine::CollectionOptions::parse(name, options));
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> existing,
            read_view->catalog().find(name));
  if (existing) {
    return fail(ErrorCode::kNamespaceExists, "Collection " + name.full() + " already exists.");
  }
  if (parsed.is_view()) {
    GM_TRY(aggregation::check_view(*this, transaction, collection, parsed.view_on,
                                   parsed.pipeline ? parsed.pipeline->view() : bson::View(),
                                   parsed.collation ? parsed.collation->view() : bson::View()));
  }
  GM_TRY(read_view->catalog().create(name, parsed.document()));
  return {};
}

Status LocalDatabase::drop(engine::Transaction& transaction, std::string_view collection) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  const engine::Namespace name = ns(collection);
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
            read_view->catalog().find(name));
  if (!metadata) return fail(ErrorCode::kNamespaceNotFound, "ns not found: " + name.full());
  read_view->notify_collection_changed(name);
  return read_view->catalog().erase(*metadata);
}

Status LocalDatabase::rename(engine::Transaction& transaction, std::string_view from,
                             const engine::Namespace& target, bool drop_target) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  Catalog& catalog = read_view->catalog();
  const engine::Namespace source = ns(from);
  GM_TRY(engine::check_namespace(target));
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata, catalog.find(source));
  if (!metadata) {
    return fail(ErrorCode::kNamespaceNotFound,
                "Source collection " + source.full() + " does not exist");
  }
  if (source == target) {
    return fail(ErrorCode::kIllegalOperation,
                "Can't rename a collection to itself: " + source.full());
  }
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> replaced, catalog.find(target));
  if (replaced) {
    if (!drop_target) {
      return fail(ErrorCode::kNamespaceExists, "target namespace exists: " + target.full());
    }
    GM_TRY(catalog.erase(*replaced));
  }
  read_view->notify_collection_changed(source);
  read_view->notify_collection_changed(target);
  return catalog.rename(*metadata, target);
}

Status LocalDatabase::drop_database(engine::Transaction& transaction) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  GM_ASSIGN(const std::vector<engine::Namespace> names, read_view->catalog().collections(name_));
  for (const engine::Namespace& name : names) {
    GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
              read_view->catalog().find(name));
    if (!metadata) continue;
    read_view->notify_collection_changed(name);
    GM_TRY(read_view->catalog().erase(*metadata));
  }
  return {};
}

}  // namespace gridmount::local
