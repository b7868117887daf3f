#include "tools/gridstore/repair/store_repair.h"

#include <memory>
#include <set>
#include <utility>

#include "command_line/store_opening.h"
#include "engine/base/counted.h"
#include "engine/local/integrity/store_salvage.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/integrity/structure_repair.h"
#include "tools/gridstore/check/bucket_check.h"
#include "tools/gridstore/repair/repair_bucket.h"

namespace gridmount::tools {

namespace {

Status repair_database(RepairContext& context, const std::string& name, Whereabouts& whereabouts) {
  const std::shared_ptr<engine::Database> database = context.store.database(name);
  std::set<std::string> buckets;
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context.store.snapshot());
    GM_ASSIGN(buckets, buckets_to_check(context.store, *database, *snapshot));
  }
  for (const std::string& bucket : buckets) {
    const engine::Namespace where{name, bucket};
    whereabouts.at(where.full());
    if (Status repaired = repair_bucket(context, database, bucket); !repaired) {
      if (!is_damage(repaired.error())) return repaired;
      context.findings.unrepairable(where.full() + ": " + repaired.error().message());
    }
  }
  return {};
}

}  // namespace

Status make_store_anew(const std::filesystem::path& folder, KeepFolder& keep, Findings& findings,
                       Whereabouts& whereabouts) {
  GM_ASSIGN(
      const local::RepairReport report,
      local::salvage_store(folder, {keep, [&](const std::string& line) { findings.repaired(line); },
                                    [&](const std::string& place) { whereabouts.at(place); }}));
  keep.lost().add_collections(report.lost_documents);
  return {};
}

Result<bool> repair_structure(StoreForRepair& repaired, KeepFolder& keep, Findings& findings,
                              Whereabouts& whereabouts) {
  const local::RepairOptions options{
      keep,
      [&](const std::string& line) { findings.repaired(line); },
      [&](const std::string& place) { whereabouts.at(place); },
  };
  std::vector<std::string> problems;
  GM_ASSIGN(const uint64_t damaged, local::damaged_pages(*repaired.store));
  if (damaged > 0) {
    problems.push_back("data.mdb: " + counted(damaged, "page is", "pages are") + " damaged");
  } else {
    GM_ASSIGN(local::RepairReport report, local::repair_structure(*repaired.store, options));
    keep.lost().add_collections(report.lost_documents);
    if (report.unrepairable.empty()) return true;
    problems = std::move(report.unrepairable);
  }
  repaired.store.reset();
  const Status made_anew = make_store_anew(repaired.folder, keep, findings, whereabouts);
  whereabouts.at("what the store is opened with");
  GM_ASSIGN(repaired.store, command_line::open_store(repaired.folder, repaired.options));
  if (made_anew) return true;
  for (const std::string& problem : problems) findings.unrepairable(problem);
  findings.unrepairable(made_anew.error().message());
  findings.unrepairable(
      "the content of the buckets is left unchanged, because the structure below it cannot be "
      "repaired");
  return false;
}

Status repair_content(RepairContext& context, const std::vector<std::string>& databases,
                      Whereabouts& whereabouts) {
  for (const std::string& name : databases) GM_TRY(repair_database(context, name, whereabouts));
  return {};
}

Status finish_repair(RepairContext& context) {
  GM_TRY(context.keep.sync());
  if (context.keep.used()) context.findings.kept_in(context.keep.folder().string());
  return context.store.make_durable();
}

}  // namespace gridmount::tools
