#include "tools/gridstore/check_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/local/local_store.h"
#include "engine/store.h"
#include "gridfs/md5.h"
#include "tools/gridstore/bucket_check.h"
#include "tools/gridstore/findings.h"
#include "tools/quoted.h"
#include "tools/store_opening.h"

namespace gridmount::tools {

namespace {

struct CheckOptions {
  std::filesystem::path store;
  std::string database;  // GridFS is checked in this one only; empty: in all
  bool json = false;
};

void print_failure(const Error& error) {
  fputs(("gridstore: " + error.message() + "\n").c_str(), stderr);
}

// The names of all buckets, also of those of which only orphans are left.
Result<std::set<std::string>> buckets_of(engine::Database& database, engine::Snapshot& snapshot) {
  static constexpr std::array<std::string_view, 4> kSuffixes = {".files", ".chunks", ".directories",
                                                                ".detached"};
  std::set<std::string> names;
  GM_ASSIGN(auto collections, database.collections(snapshot));
  for (const engine::CollectionInfo& collection : collections) {
    for (std::string_view suffix : kSuffixes) {
      if (collection.name.size() > suffix.size() && collection.name.ends_with(suffix)) {
        names.insert(collection.name.substr(0, collection.name.size() - suffix.size()));
      }
    }
  }
  return names;
}

Status check_content(const CheckOptions& options, engine::Store& store, bool in_use,
                     Findings& findings) {
  GM_ASSIGN(auto snapshot, store.snapshot());
  GM_ASSIGN(auto databases, store.databases(*snapshot));
  if (!options.database.empty()) {
    if (std::find(databases.begin(), databases.end(), options.database) == databases.end()) {
      return fail(ErrorCode::kNamespaceNotFound, "the store " + options.store.string() +
                                                     " has no database " +
                                                     in_quotes(options.database));
    }
    databases = {options.database};
  }
  for (const std::string& name : databases) {
    auto database = store.database(name);
    GM_ASSIGN(auto buckets, buckets_of(*database, *snapshot));
    for (const std::string& bucket : buckets) {
      GM_TRY(check_bucket(store, *snapshot, database, bucket, in_use, findings));
    }
  }
  return {};
}

// What check_structure() could not read at all is damage too.
bool is_damage(const Error& error) {
  return error.code() == ErrorCode::kDataCorruptionDetected ||
         error.code() == ErrorCode::kStoreDamaged;
}

ExitStatus run_check(const CheckOptions& options) {
  local::OpenOptions open_options;
  open_options.read_only = true;
  open_options.beside_owner = true;
  auto store = open_store(options.store, open_options);
  if (!store) {
    print_failure(store.error());
    return exit_status_of(store.error().code());
  }

  const std::optional<local::Owner> owner = local::owner_beside(**store);
  if (owner) {
    fputs(("gridstore: process " + std::to_string(owner->pid) + " on " + owner->host +
           " has the store in use; it is checked as it is now\n")
              .c_str(),
          stderr);
  }
  if (!gridfs::Md5::available()) {
    fputs("gridstore: md5 digests are not checked, because this system refuses MD5\n", stderr);
  }
  Findings findings(options.json ? Findings::Format::kJson : Findings::Format::kText);
  auto structure = local::check_structure(**store);
  if (!structure && !is_damage(structure.error())) {
    print_failure(structure.error());
    return exit_status_of(structure.error().code());
  }
  if (structure) {
    for (const std::string& problem : structure->problems) findings.structure_problem(problem);
  } else {
    findings.structure_problem(structure.error().message());
  }
  Status content = check_content(options, **store, owner.has_value(), findings);
  if (!content) {
    if (!is_damage(content.error())) {
      print_failure(content.error());
      return exit_status_of(content.error().code());
    }
    findings.structure_problem(content.error().message() + "; the check of the content ended here");
  }
  findings.print_summary(structure ? *structure : local::StructureReport{});
  return findings.exit_status();
}

}  // namespace

Command add_check(CLI::App& app) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* const command =
      app.add_subcommand("check",
                         "Reads everything and reports damage, one line per problem; also while "
                         "the store is in use");
  command->add_option("STORE", options->store, "the store's folder")->required();
  command->add_option("--db", options->database,
                      "check the GridFS buckets of this database only (the structure is "
                      "checked whole)");
  command->add_flag("--json", options->json, "one JSON document per line");
  return {command, [options] { return run_check(*options); }};
}

}  // namespace gridmount::tools
