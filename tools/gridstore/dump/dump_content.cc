#include "tools/gridstore/dump/dump_content.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/database_name.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

constexpr std::array<std::string_view, 7> kKeptOfConfig = {
    "chunks", "collections", "databases", "settings", "shards", "tags", "version"};
// Only servers create databases with this prefix.
constexpr std::string_view kInternalPrefix = "__mdb_internal_";

bool is_left_out(const engine::Namespace& ns, bool database_is_asked_for) {
  if (ns.database == "config" && !database_is_asked_for) {
    return std::find(kKeptOfConfig.begin(), kKeptOfConfig.end(), ns.collection) ==
           kKeptOfConfig.end();
  }
  if (ns.database == "admin") return ns.collection == "system.keys";
  if (ns.database == "config" || ns.collection == "system.js") return false;
  return ns.collection.starts_with("system.");
}

Result<DumpedCollection> described(engine::Database& database, engine::Snapshot& snapshot,
                                   const engine::CollectionInfo& info) {
  DumpedCollection dumped;
  dumped.ns = {database.name(), info.name};
  dumped.metadata.options = info.options;
  dumped.metadata.collection_name = info.name;
  dumped.metadata.type = dumped.metadata.is_view() ? "view" : "collection";
  if (dumped.metadata.is_view()) return dumped;
  GM_ASSIGN(const auto indexes, database.collection(info.name)->indexes(snapshot));
  for (const engine::IndexDefinition& index : indexes) {
    dumped.metadata.indexes.push_back(index.specification());
  }
  return dumped;
}

}  // namespace

Result<std::vector<DumpedCollection>> dumped_collections(engine::Store& store,
                                                         engine::Snapshot& snapshot,
                                                         const std::string& database,
                                                         const std::string& collection) {
  std::vector<DumpedCollection> all;
  GM_ASSIGN(std::vector<std::string> names, store.databases(snapshot));
  if (!database.empty()) {
    if (std::find(names.begin(), names.end(), database) == names.end()) {
      return fail(ErrorCode::kNamespaceNotFound, "there is no database " + in_quotes(database));
    }
    names = {database};
  }
  for (const std::string& name : names) {
    if (database.empty() && (name == "local" || name.starts_with(kInternalPrefix))) continue;
    const bool is_deployment = !store.capabilities().exclusive;
    if (database.empty() && is_deployment && engine::is_internal_database(name)) continue;
    const std::shared_ptr<engine::Database> of = store.database(name);
    GM_ASSIGN(const auto infos, of->collections(snapshot));
    for (const engine::CollectionInfo& info : infos) {
      if (!collection.empty() ? info.name != collection
                              : is_left_out({name, info.name}, !database.empty())) {
        continue;
      }
      GM_ASSIGN(DumpedCollection dumped, described(*of, snapshot, info));
      all.push_back(std::move(dumped));
    }
  }
  if (!collection.empty() && all.empty()) {
    return fail(ErrorCode::kNamespaceNotFound,
                "there is no collection " + in_quotes(database + "." + collection));
  }
  return all;
}

}  // namespace gridmount::tools
