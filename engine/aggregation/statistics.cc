#include "engine/aggregation/statistics.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "engine/bson/builder.h"
#include "engine/bson/count.h"
#include "engine/bson/number.h"

namespace gridmount::aggregation {
namespace {

Result<engine::CollectionOptions> options_of(engine::Database& database, engine::Snapshot& snapshot,
                                             const std::string& collection) {
  GM_ASSIGN(const std::optional<engine::CollectionInfo> info,
            database.collection_info(snapshot, collection));
  if (!info) return engine::CollectionOptions();
  return engine::CollectionOptions::parse({database.name(), collection}, info->options);
}

// Appends the fields that collStats and storageStats of $collStats share.
Status append_storage(bson::Builder& out, engine::Collection& collection,
                      engine::Snapshot& snapshot, const engine::CollectionOptions& options,
                      int64_t scale) {
  GM_ASSIGN(const engine::CollectionStats stats, collection.stats(snapshot));
  GM_ASSIGN(const std::vector<engine::IndexStats> indexes, collection.index_stats(snapshot));
  bson::append_count(out, "size", stats.document_bytes / scale);
  bson::append_count(out, "count", stats.documents);
  if (stats.documents > 0)
    bson::append_count(out, "avgObjSize", stats.document_bytes / stats.documents);
  bson::append_count(out, "storageSize", stats.storage_bytes / scale);
  out.append("capped", options.capped);
  if (options.capped) {
    out.append("max", options.max_documents);
    bson::append_count(out, "maxSize", options.size_bytes / scale);
  }
  out.append("nindexes", static_cast<int32_t>(indexes.size()));
  int64_t total = 0;
  bson::Builder& sizes = out.open_document("indexSizes");
  for (const engine::IndexStats& index : indexes) {
    bson::append_count(sizes, index.definition.name, index.bytes / scale);
    total += index.bytes;
  }
  sizes.close();
  bson::append_count(out, "totalIndexSize", total / scale);
  bson::append_count(out, "totalSize", (stats.storage_bytes + total) / scale);
  bson::append_count(out, "scaleFactor", scale);
  return {};
}

}  // namespace

Result<bson::Document> collection_stats(engine::Database& database, engine::Snapshot& snapshot,
                                        std::string_view collection, int64_t scale) {
  const engine::Namespace ns{database.name(), std::string(collection)};
  GM_ASSIGN(const engine::CollectionOptions options, options_of(database, snapshot, ns.collection));
  if (options.is_view()) {
    return fail(ErrorCode::kCommandNotSupportedOnView, ns.full() + " is a view, not a collection");
  }
  bson::Builder out;
  out.append("ns", ns.full());
  GM_TRY(append_storage(out, *database.collection(collection), snapshot, options, scale));
  return std::move(out).finish();
}

Result<bson::Document> database_stats(engine::Store& store, engine::Snapshot& snapshot,
                                      std::string_view database, int64_t scale) {
  const std::shared_ptr<engine::Database> opened = store.database(database);
  GM_ASSIGN(const std::vector<engine::CollectionInfo> infos, opened->collections(snapshot));
  int64_t views = 0;
  int64_t documents = 0;
  int64_t document_bytes = 0;
  int64_t storage_bytes = 0;
  int64_t indexes = 0;
  int64_t index_bytes = 0;
  for (const engine::CollectionInfo& info : infos) {
    GM_ASSIGN(const engine::CollectionOptions options,
              engine::CollectionOptions::parse({opened->name(), info.name}, info.options));
    if (options.is_view()) {
      ++views;
      continue;
    }
    const std::unique_ptr<engine::Collection> collection = opened->collection(info.name);
    GM_ASSIGN(const engine::CollectionStats stats, collection->stats(snapshot));
    GM_ASSIGN(const std::vector<engine::IndexStats> own, collection->index_stats(snapshot));
    documents += stats.documents;
    document_bytes += stats.document_bytes;
    storage_bytes += stats.storage_bytes;
    indexes += static_cast<int64_t>(own.size());
    for (const engine::IndexStats& index : own) index_bytes += index.bytes;
  }
  GM_ASSIGN(const engine::StoreStats whole, store.stats());
  bson::Builder out;
  out.append("db", opened->name());
  out.append("collections", static_cast<int64_t>(infos.size()) - views).append("views", views);
  out.append("objects", documents);
  out.append(
      "avgObjSize",
      documents > 0 ? static_cast<double>(document_bytes) / static_cast<double>(documents) : 0.0);
  // In a server's reply sizes are doubles.
  const auto scaled = [scale](int64_t bytes) { return static_cast<double>(bytes / scale); };
  out.append("dataSize", scaled(document_bytes)).append("storageSize", scaled(storage_bytes));
  out.append("indexes", indexes).append("indexSize", scaled(index_bytes));
  out.append("totalSize", scaled(storage_bytes + index_bytes)).append("scaleFactor", scale);
  out.append("fsUsedSize", scaled(whole.file_system_used_bytes));
  out.append("fsTotalSize", scaled(whole.file_system_bytes));
  return std::move(out).finish();
}

Result<bson::Document> collection_stats_stage(engine::Database& database,
                                              engine::Snapshot& snapshot,
                                              std::string_view collection, bson::View options,
                                              std::string_view host) {
  const engine::Namespace ns{database.name(), std::string(collection)};
  bson::Builder out;
  out.append("ns", ns.full());
  if (!host.empty()) out.append("host", host);
  out.append("localTime", bson::Date::now());
  const std::unique_ptr<engine::Collection> opened = database.collection(collection);
  for (const bson::Element option : options) {
    if (option.key != "storageStats" && option.key != "count") {
      return fail(ErrorCode::kCommandNotSupported,
                  "$collStats: " + std::string(option.key) + " is not supported");
    }
    GM_ASSIGN(const engine::CollectionOptions settings,
              options_of(database, snapshot, ns.collection));
    if (settings.is_view()) {
      return fail(ErrorCode::kCommandNotSupportedOnView,
                  "$collStats: " + std::string(option.key) + " of a view: " + ns.full());
    }
    if (option.key == "count") {
      GM_ASSIGN(const engine::CollectionStats stats, opened->stats(snapshot));
      GM_ASSIGN(const bool exists, database.exists(snapshot, collection));
      if (!exists) {
        return fail(ErrorCode::kNamespaceNotFound,
                    "Unable to retrieve count in $collStats stage: Collection [" + ns.full() +
                        "] not found.");
      }
      bson::append_count(out, "count", stats.documents);
      continue;
    }
    const std::optional<bson::ValueView> given = option.value.as_document().find("scale");
    const int64_t scale = given ? bson::clamped_integer(*given).value_or(1) : 1;
    out.open_document("storageStats");
    GM_TRY(append_storage(out, *opened, snapshot, settings,
                          std::clamp<int64_t>(scale, 1, std::numeric_limits<int32_t>::max())));
    out.close();
  }
  return std::move(out).finish();
}

Result<std::vector<bson::Document>> index_stats_stage(engine::Collection& collection,
                                                      engine::Snapshot& snapshot,
                                                      std::string_view host) {
  GM_ASSIGN(const std::vector<engine::IndexStats> indexes, collection.index_stats(snapshot));
  std::vector<bson::Document> documents;
  for (const engine::IndexStats& index : indexes) {
    bson::Builder out;
    out.append("name", index.definition.name).append("key", index.definition.keys);
    if (!host.empty()) out.append("host", host);
    out.open_document("accesses")
        .append("ops", index.accesses)
        .append("since", index.since)
        .close();
    out.append("spec", index.definition.specification());
    documents.push_back(std::move(out).finish());
  }
  return documents;
}

}  // namespace gridmount::aggregation
