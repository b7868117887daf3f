#include "tools/gridstore/repair/store_repair.h"

#include <memory>
#include <set>

#include "engine/local/local_store.h"
#include "tools/gridstore/check/bucket_check.h"
#include "tools/gridstore/repair/repair_bucket.h"

namespace gridmount::tools {

namespace {

Status repair_content(RepairContext& context, const std::string& name, Whereabouts& whereabouts) {
  const std::shared_ptr<engine::Database> database = context.store.database(name);
  std::set<std::string> buckets;
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context.store.snapshot());
    GM_ASSIGN(buckets, buckets_of(*database, *snapshot));
  }
  for (const std::string& bucket : buckets) {
    const engine::Namespace where{name, bucket};
    whereabouts.at(where.full());
    if (Status repaired = repair_bucket(context, database, bucket); !repaired) {
      if (!is_damage(repaired.error())) return repaired;
      context.findings.beyond_repair(where.full() + ": " + repaired.error().message());
    }
  }
  return {};
}

}  // namespace

Status repair_store(RepairContext& context, const std::vector<std::string>& databases,
                    Whereabouts& whereabouts) {
  const local::RepairOptions options{
      context.keep,
      [&](const std::string& line) { context.findings.repaired(line); },
      [&](const std::string& place) { whereabouts.at(place); },
  };
  GM_ASSIGN(const local::RepairReport report, local::repair_structure(context.store, options));
  for (const std::string& problem : report.beyond_repair) context.findings.beyond_repair(problem);
  // Files are moved by removing records, which damaged pages would make worse.
  if (report.beyond_repair.empty()) {
    for (const std::string& name : databases) {
      GM_TRY(repair_content(context, name, whereabouts));
    }
  } else if (!databases.empty()) {
    context.findings.beyond_repair(
        "the buckets' content is left as it is, because what is below it cannot be mended");
  }
  GM_TRY(context.keep.sync());
  if (context.keep.used()) context.findings.kept_in(context.keep.folder().string());
  return context.store.make_durable();
}

}  // namespace gridmount::tools
