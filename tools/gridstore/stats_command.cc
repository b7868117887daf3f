#include "tools/gridstore/stats_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/byte_units.h"
#include "engine/aggregation/statistics.h"
#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/database_name.h"
#include "engine/local/open_store.h"
#include "engine/store.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

namespace {

struct StatsOptions {
  StoreArgument store;
  bool json = false;  // one document: {store, owner, fileBytes, ..., databases: [{db, ...}]}
};

struct DatabaseContents {
  std::string name;
  bson::Document totals;                    // in the form of dbStats
  std::vector<bson::Document> collections;  // in the form of collStats, without views
};

struct StoreContents {
  std::string store;  // the folder, or the deployment's connection string without secrets
  bool is_deployment = false;
  std::optional<local::Owner> owner;
  engine::StoreStats totals;
  std::vector<DatabaseContents> databases;
};

Result<DatabaseContents> read_database(engine::Store& store, engine::Snapshot& snapshot,
                                       const std::string& name) {
  DatabaseContents contents;
  contents.name = name;
  GM_ASSIGN(contents.totals, aggregation::database_stats(store, snapshot, name));
  const std::shared_ptr<engine::Database> database = store.database(name);
  GM_ASSIGN(const std::vector<engine::CollectionInfo> infos, database->collections(snapshot));
  for (const engine::CollectionInfo& info : infos) {
    auto stats = aggregation::collection_stats(*database, snapshot, info.name);
    if (!stats && stats.error().code() == ErrorCode::kCommandNotSupportedOnView) continue;
    if (!stats) return fail(std::move(stats).error());
    contents.collections.push_back(std::move(stats).value());
  }
  return contents;
}

// Returns the databases to show: the one that the connection string of a deployment names, or else
// all databases, without the internal ones of a deployment.
Result<std::vector<std::string>> databases_of(const StoreInUse& opened,
                                              engine::Snapshot& snapshot) {
  if (!opened.database.empty()) return std::vector{opened.database};
  GM_ASSIGN(std::vector<std::string> names, opened.store->databases(snapshot));
  if (opened.is_deployment) std::erase_if(names, engine::is_internal_database);
  return names;
}

Result<StoreContents> read_contents(const StoreArgument& argument) {
  local::OpenOptions options;
  options.read_only = true;
  options.beside_owner = true;
  GM_ASSIGN(const StoreInUse opened, open_argument(argument, options));
  StoreContents contents;
  contents.store = argument.shown();
  contents.is_deployment = opened.is_deployment;
  contents.owner = opened.owner;
  GM_ASSIGN(contents.totals, opened.store->stats());
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, opened.store->snapshot());
  GM_ASSIGN(const std::vector<std::string> names, databases_of(opened, *snapshot));
  for (const std::string& name : names) {
    GM_ASSIGN(DatabaseContents database, read_database(*opened.store, *snapshot, name));
    contents.databases.push_back(std::move(database));
  }
  return contents;
}

int64_t number(const bson::Document& document, std::string_view key) {
  const auto value = document.find(key);
  return value ? value->integral().value_or(0) : 0;
}

std::string in_units(int64_t bytes) {
  return in_byte_units(static_cast<uint64_t>(std::max<int64_t>(bytes, 0)));
}

void print_deployment(const StoreContents& contents) {
  const engine::StoreStats& totals = contents.totals;
  printf("deployment  %s\n", contents.store.c_str());
  printf("files       %s\n", in_units(totals.file_bytes).c_str());
  printf("room        %s more on its file system\n", in_units(totals.available_bytes).c_str());
}

void print_folder(const StoreContents& contents) {
  const engine::StoreStats& totals = contents.totals;
  printf("store       %s\n", contents.store.c_str());
  if (contents.owner) {
    printf("in use by   process %lld on %s\n", static_cast<long long>(contents.owner->pid),
           contents.owner->host.c_str());
  } else {
    printf("in use by   nobody\n");
  }
  printf("file        %s, %s of it in use, the rest free for reuse\n",
         in_units(totals.file_bytes).c_str(), in_units(totals.used_bytes).c_str());
  printf("room        %s more on its file system\n",
         in_units(totals.capacity_bytes - totals.file_bytes).c_str());
  constexpr double kMillisecondsPerSecond = 1000;
  printf("checkpoint  %.1f s ago\n",
         static_cast<double>(totals.since_checkpoint.count()) / kMillisecondsPerSecond);
}

void print_text(const StoreContents& contents) {
  contents.is_deployment ? print_deployment(contents) : print_folder(contents);
  for (const DatabaseContents& database : contents.databases) {
    printf("\ndatabase %s: %s, %s; %s, %s\n", database.name.c_str(),
           counted(static_cast<uint64_t>(number(database.totals, "objects")), "document").c_str(),
           in_units(number(database.totals, "dataSize")).c_str(),
           counted(static_cast<uint64_t>(number(database.totals, "indexes")), "index").c_str(),
           in_units(number(database.totals, "indexSize")).c_str());
    for (const bson::Document& collection : database.collections) {
      const auto ns = collection.find("ns");
      const std::string full(ns ? ns->as_string() : std::string_view());
      const int64_t documents = number(collection, "count");
      const int64_t indexes = number(collection, "nindexes");
      printf("  %-32s %12lld %-9s %12s   %3lld %-7s %12s\n",
             full.substr(database.name.size() + 1).c_str(), static_cast<long long>(documents),
             documents == 1 ? "document" : "documents",
             in_units(number(collection, "size")).c_str(), static_cast<long long>(indexes),
             indexes == 1 ? "index" : "indexes",
             in_units(number(collection, "totalIndexSize")).c_str());
    }
  }
}

void print_json(const StoreContents& contents) {
  const engine::StoreStats& totals = contents.totals;
  bson::Builder out;
  out.append("store", contents.store);
  if (contents.owner) {
    out.open_document("owner").append("pid", contents.owner->pid);
    out.append("host", contents.owner->host).close();
  }
  out.append("fileBytes", totals.file_bytes);
  if (!contents.is_deployment) out.append("usedBytes", totals.used_bytes);
  out.append("capacityBytes", totals.capacity_bytes);
  if (!contents.is_deployment) {
    out.append("sinceCheckpointMillis", static_cast<int64_t>(totals.since_checkpoint.count()));
  }
  out.open_array("databases");
  for (const DatabaseContents& database : contents.databases) {
    out.push_open_document().append_all(database.totals).open_array("collectionStats");
    for (const bson::Document& collection : database.collections) out.push(collection.view());
    out.close().close();
  }
  out.close();
  puts(bson::to_json(std::move(out).finish(), bson::JsonForm::kRelaxed).c_str());
}

ExitStatus run_stats(const StatsOptions& options) {
  const Result<StoreContents> contents = read_contents(options.store);
  if (!contents) {
    print_message(contents.error().message());
    return exit_status_of(contents.error().code());
  }
  if (options.json) {
    print_json(*contents);
  } else {
    print_text(*contents);
  }
  return ExitStatus::kOk;
}

}  // namespace

Subcommand add_stats(CLI::App& app) {
  const auto options = std::make_shared<StatsOptions>();
  CLI::App* const command = app.add_subcommand(
      "stats", "Shows the content and size of the store; works while the store is in use");
  add_store_or_deployment(*command, options->store);
  command->add_flag("--json", options->json, "one JSON document");
  return {command, [options] { return run_stats(*options); }};
}

}  // namespace gridmount::tools
