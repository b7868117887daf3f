#include "tools/gridstore/check/content_check.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/database_name.h"
#include "tools/gridstore/check/bucket_check.h"
#include "tools/quoted.h"

namespace gridmount::tools {

Findings::Format format_of(const CheckOptions& options) {
  return options.json ? Findings::Format::kJson : Findings::Format::kText;
}

Result<std::vector<std::string>> databases_of(const CheckOptions& options, engine::Store& store,
                                              engine::Snapshot& snapshot) {
  GM_ASSIGN(std::vector<std::string> databases, store.databases(snapshot));
  if (options.database.empty()) {
    if (options.store.is_deployment()) std::erase_if(databases, engine::is_internal_database);
    return databases;
  }
  if (std::find(databases.begin(), databases.end(), options.database) == databases.end()) {
    return fail(ErrorCode::kNamespaceNotFound,
                (options.store.is_deployment() ? "the deployment " : "the store ") +
                    options.store.shown() + " has no database " + in_quotes(options.database));
  }
  return std::vector{options.database};
}

Status check_content(const CheckOptions& options, engine::Store& store, bool in_use,
                     Findings& findings, Whereabouts& whereabouts) {
  GM_ASSIGN(auto snapshot, store.snapshot());
  GM_ASSIGN(const std::vector<std::string> databases, databases_of(options, store, *snapshot));
  for (const std::string& name : databases) {
    auto database = store.database(name);
    GM_ASSIGN(auto buckets, buckets_to_check(store, *database, *snapshot));
    for (const std::string& bucket : buckets) {
      const engine::Namespace where{name, bucket};
      whereabouts.at(where.full());
      Status checked = check_bucket(store, *snapshot, database, bucket, in_use, findings);
      if (checked) continue;
      if (!is_damage(checked.error())) return checked;
      findings.structure_problem(where.full() + ": " + checked.error().message() +
                                 "; the rest of the bucket was not checked");
      // After a damaged page, the old snapshot cannot be read any further.
      GM_ASSIGN(snapshot, store.snapshot());
    }
  }
  return {};
}

}  // namespace gridmount::tools
