#include "engine/mongo/mongo_database.h"

#include <algorithm>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/mongo/mongo_collection.h"
#include "engine/mongo/mongo_cursor.h"

namespace gridmount::mongo {
namespace {

using bson::Builder;

bson::Document named(std::string_view command, std::string_view collection) {
  Builder builder;
  builder.append(command, collection);
  return std::move(builder).finish();
}

}  // namespace

std::unique_ptr<engine::Collection> MongoDatabase::collection(std::string_view name) {
  return std::make_unique<MongoCollection>(engine::Namespace{name_, std::string(name)});
}

Result<bson::Document> MongoDatabase::run(engine::Snapshot& snapshot, std::string_view database,
                                          bson::View command) const {
  GM_ASSIGN(const std::shared_ptr<Reads> reads, reads_of(snapshot));
  GM_ASSIGN(bson::Document reply, reads->run_apart(database, command));
  GM_TRY(check_writes(reply));
  return reply;
}

Result<bson::Document> MongoDatabase::change(engine::Transaction& transaction,
                                             std::string_view collection, std::string_view database,
                                             bson::View command) const {
  GM_ASSIGN(const std::shared_ptr<Reads> reads, reads_of(transaction));
  GM_ASSIGN(bson::Document reply,
            reads->change_catalog({name_, std::string(collection)}, database, command));
  GM_TRY(check_writes(reply));
  return reply;
}

Result<std::vector<engine::CollectionInfo>> MongoDatabase::list(engine::Snapshot& snapshot,
                                                                bson::View filter) const {
  GM_ASSIGN(std::shared_ptr<Reads> reads, reads_of(snapshot));
  Builder command;
  command.append("listCollections", int32_t{1}).append("filter", filter);
  command.open_document("cursor").close();
  GM_ASSIGN(bson::Document reply, run(snapshot, name_, std::move(command).finish()));
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            MongoCursor::open(std::move(reads), name_, std::move(reply)));
  std::vector<engine::CollectionInfo> infos;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> entry, cursor->next());
    if (!entry) break;
    const std::optional<bson::ValueView> name = entry->find("name");
    const std::optional<bson::ValueView> options = entry->find("options");
    if (!name || name->type() != bson::Type::kString) continue;
    engine::CollectionInfo info{.name = std::string(name->as_string())};
    if (options && options->type() == bson::Type::kDocument) {
      info.options = bson::Document(options->as_document());
    }
    if (const auto more = entry->find("info"); more && more->type() == bson::Type::kDocument) {
      const std::optional<bson::ValueView> uuid = more->as_document().find("uuid");
      if (uuid && uuid->type() == bson::Type::kBinary) {
        const bson::Binary binary = uuid->as_binary();
        info.uuid.assign(reinterpret_cast<const char*>(binary.data), binary.size);
      }
    }
    infos.push_back(std::move(info));
  }
  std::sort(infos.begin(), infos.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return infos;
}

Result<std::vector<engine::CollectionInfo>> MongoDatabase::collections(engine::Snapshot& snapshot) {
  return list(snapshot, bson::View());
}

Result<std::optional<engine::CollectionInfo>> MongoDatabase::collection_info(
    engine::Snapshot& snapshot, std::string_view collection) {
  const bson::Document filter = named("name", collection);
  GM_ASSIGN(std::vector<engine::CollectionInfo> infos, list(snapshot, filter));
  if (infos.empty()) return std::optional<engine::CollectionInfo>();
  return std::optional(std::move(infos.front()));
}

Result<bool> MongoDatabase::exists(engine::Snapshot& snapshot, std::string_view collection) {
  GM_ASSIGN(const std::optional<engine::CollectionInfo> info,
            collection_info(snapshot, collection));
  return info.has_value();
}

Status MongoDatabase::create(engine::Transaction& transaction, std::string_view collection,
                             bson::View options) {
  Builder command;
  command.append("create", collection).append_all(options);
  GM_TRY(change(transaction, collection, name_, std::move(command).finish()));
  return {};
}

Result<bson::Document> MongoDatabase::modify(engine::Transaction& transaction,
                                             std::string_view collection, bson::View changes) {
  Builder command;
  command.append("collMod", collection).append_all(changes);
  GM_ASSIGN(const bson::Document reply,
            change(transaction, collection, name_, std::move(command).finish()));
  Builder added;
  for (const bson::Element element : reply.view()) {
    if (element.key.ends_with("_old") || element.key.ends_with("_new")) {
      added.append(element.key, element.value);
    }
  }
  return std::move(added).finish();
}

Status MongoDatabase::convert_to_capped(engine::Transaction& transaction,
                                        std::string_view collection, int64_t bytes) {
  Builder command;
  command.append("convertToCapped", collection).append("size", bytes);
  GM_TRY(change(transaction, collection, name_, std::move(command).finish()));
  return {};
}

Result<bson::Document> MongoDatabase::validate(engine::Snapshot& snapshot,
                                               std::string_view collection) {
  Builder command;
  // Does not request {full: true}, which needs exclusive use of the collection.
  command.append("validate", collection);
  GM_ASSIGN(const bson::Document reply, run(snapshot, name_, std::move(command).finish()));
  Builder report;
  for (const std::string_view field :
       {"ns", "nInvalidDocuments", "nNonCompliantDocuments", "nrecords", "nIndexes", "keysPerIndex",
        "indexDetails", "valid", "repaired", "warnings", "errors", "extraIndexEntries",
        "missingIndexEntries", "corruptRecords"}) {
    if (const std::optional<bson::ValueView> value = reply.find(field)) {
      report.append(field, *value);
    }
  }
  return std::move(report).finish();
}

Status MongoDatabase::drop(engine::Transaction& transaction, std::string_view collection) {
  // Newer servers succeed if the collection does not exist.
  GM_ASSIGN(const bool is_there, exists(transaction, collection));
  if (!is_there) {
    return fail(ErrorCode::kNamespaceNotFound,
                "ns not found: " + name_ + "." + std::string(collection));
  }
  GM_TRY(change(transaction, collection, name_, named("drop", collection)));
  return {};
}

Status MongoDatabase::rename(engine::Transaction& transaction, std::string_view from,
                             const engine::Namespace& to, bool drop_target) {
  Builder command;
  command.append("renameCollection", name_ + "." + std::string(from));
  GM_ASSIGN(const std::shared_ptr<Reads> reads, reads_of(transaction));
  GM_TRY(reads->check_unused(to));
  command.append("to", to.full()).append("dropTarget", drop_target);
  GM_TRY(change(transaction, from, "admin", std::move(command).finish()));
  return {};
}

Status MongoDatabase::drop_database(engine::Transaction& transaction) {
  Builder command;
  command.append("dropDatabase", int32_t{1});
  GM_TRY(change(transaction, "", name_, std::move(command).finish()));
  return {};
}

}  // namespace gridmount::mongo
