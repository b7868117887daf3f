#include "tools/gridstore/repair/repair_links.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/posix_place.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/namespace/links.h"
#include "tools/gridstore/check/link_check.h"

namespace gridmount::tools {

namespace {

Result<std::vector<LinkProblem>> find_problems(RepairContext& context,
                                               const gridfs::Bucket& bucket) {
  std::vector<LinkProblem> problems;
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context.store.snapshot());
  GM_TRY(find_link_problems(bucket, *snapshot, [&](LinkProblem problem) {
    problems.push_back(std::move(problem));
    return problems.size() < documents_per_transaction(context.store);
  }));
  return problems;
}

Status remove_name(RepairContext& context, const gridfs::Bucket& bucket,
                   engine::Transaction& transaction, const LinkProblem& problem) {
  const bson::Document by_id = gridfs::equals("_id", problem.id);
  GM_ASSIGN(const std::optional<bson::View> found, bucket.links().find_one(transaction, by_id));
  if (!found) return {};
  GM_TRY(context.keep.keep_document(bucket.links().ns(), *found));
  return remove_found(bucket.links(), transaction, by_id);
}

Status record_number(const gridfs::Bucket& bucket, engine::Transaction& transaction,
                     const LinkProblem& problem) {
  bson::Builder set;
  bson::Builder unset;
  if (problem.links > 0) {
    set.append(gridfs::kRecordedLinksPath, problem.links);
  } else {
    unset.append(gridfs::kRecordedLinksPath, "");
  }
  GM_TRY(
      gridfs::update_file(bucket.files(), transaction, problem.id, gridfs::update_of(set, unset)));
  return {};
}

// Returns a line for each repair. Skips problems that others have removed since the check.
Result<std::vector<std::string>> repair(RepairContext& context, const gridfs::Bucket& bucket,
                                        const std::vector<LinkProblem>& problems) {
  std::vector<std::string> lines;
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context.store.begin());
  for (const LinkProblem& problem : problems) {
    GM_ASSIGN(const bool is_there, is_confirmed(bucket, *transaction, problem));
    if (!is_there) continue;
    const bool is_number = problem.kind == LinkProblem::Kind::kNumber;
    GM_TRY(is_number ? record_number(bucket, *transaction, problem)
                     : remove_name(context, bucket, *transaction, problem));
    lines.push_back(problem.what + (is_number ? ": corrected" : ": removed its document"));
  }
  if (!lines.empty()) GM_TRY(commit_kept(context, *transaction));
  return lines;
}

}  // namespace

Status repair_links(RepairContext& context, const gridfs::Bucket& bucket, const Location& place) {
  while (true) {
    GM_ASSIGN(const std::vector<LinkProblem> problems, find_problems(context, bucket));
    if (problems.empty()) return {};
    GM_ASSIGN(const std::vector<std::string> lines,
              gridfs::with_retry(context.store, [&] { return repair(context, bucket, problems); }));
    for (const std::string& line : lines) context.findings.repaired(place, line);
    if (lines.empty()) return {};
  }
}

}  // namespace gridmount::tools
