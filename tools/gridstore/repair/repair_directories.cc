#include "tools/gridstore/repair/repair_directories.h"

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/namespace/directory_store.h"
#include "gridfs/namespace/name_mapping.h"
#include "tools/gridstore/check/directory_check.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

using Kind = DirectoryProblem::Kind;

// The mode of a directory that the repair creates.
constexpr uint32_t kFolderMode = S_IFDIR | 0755;

struct Flaw {
  Kind kind;
  std::string what;
  bson::Value id;
  bson::Value document;
  std::string parent;
};

class FolderRepair {
 public:
  FolderRepair(RepairContext& context, const gridfs::Bucket& bucket, const Location& place)
      : context_(context), bucket_(bucket), place_(place), folders_(bucket) {}

  Status run() {
    while (true) {
      GM_ASSIGN(const std::vector<Flaw> problems, find_problems());
      if (problems.empty()) return {};
      GM_TRY(gridfs::with_retry(context_.store, [&] { return repair(problems); }));
      // The check reports what could not be repaired.
      if (lines_.empty()) return {};
      for (const std::string& line : lines_) context_.findings.repaired(place_, line);
    }
  }

 private:
  Result<std::vector<Flaw>> find_problems() {
    std::vector<Flaw> problems;
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context_.store.snapshot());
    GM_TRY(find_directory_problems(bucket_, *snapshot, [&](const DirectoryProblem& problem) {
      problems.push_back({problem.kind, problem.what, bson::Value(problem.document["_id"]),
                          bson::Value(problem.document), problem.parent});
      return problems.size() < documents_per_transaction(context_.store);
    }));
    return problems;
  }

  Status repair(const std::vector<Flaw>& problems) {
    lines_.clear();
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
    for (const Flaw& problem : problems) GM_TRY(repair(*transaction, problem));
    return lines_.empty() ? Status() : commit_kept(context_, *transaction);
  }

  Status repair(engine::Transaction& transaction, const Flaw& problem) {
    const bson::Document by_id = gridfs::equals("_id", problem.id);
    GM_ASSIGN(const std::optional<bson::View> found,
              bucket_.directories().find_one(transaction, by_id));
    // The repair of another defect has already removed the document.
    if (!found) return {};
    const bson::Document document(*found);
    // Others may have changed the document since the check.
    if (bson::compare(bson::Value(document.view()).view(), problem.document.view()) != 0) return {};
    switch (problem.kind) {
      case Kind::kPosix: {
        GM_TRY(context_.keep.keep_document(bucket_.directories().ns(), document));
        bson::Builder update;
        update.open_document("$unset").append("posix", "").close();
        GM_TRY(bucket_.directories().update(transaction, by_id, std::move(update).finish()));
        lines_.push_back(problem.what + ": the field is removed");
        return {};
      }
      case Kind::kRoot:
      case Kind::kUnusable:
      case Kind::kDuplicate:
        GM_TRY(context_.keep.keep_document(bucket_.directories().ns(), document));
        GM_TRY(bucket_.directories().remove(transaction, by_id, false));
        lines_.push_back(problem.what + ": removed its document with _id " +
                         bson::to_json(problem.id, bson::JsonForm::kRelaxed));
        return {};
      case Kind::kNoParent:
        return make_parents(transaction, problem.parent, document);
    }
    return {};
  }

  Status make_parents(engine::Transaction& transaction, std::string path, bson::View child) {
    const gridfs::PosixFields of_child = gridfs::DirectoryDocument::parse(child).posix;
    gridfs::PosixFields posix;
    posix.mode = kFolderMode;
    posix.uid = of_child.uid;
    posix.gid = of_child.gid;
    posix.mtime = of_child.mtime;
    posix.ctime = of_child.ctime;
    while (!path.empty()) {
      GM_ASSIGN(const std::optional<gridfs::DirectoryDocument> there,
                folders_.find(transaction, path));
      if (there) return {};
      GM_TRY(folders_.insert(transaction, path, posix));
      lines_.push_back("created the missing parent directory " + in_quotes(path));
      path = std::string(gridfs::split(path).directory);
    }
    return {};
  }

  RepairContext& context_;
  const gridfs::Bucket& bucket_;
  const Location& place_;
  const gridfs::DirectoryStore folders_;
  std::vector<std::string> lines_;
};

}  // namespace

Status repair_directories(RepairContext& context, const gridfs::Bucket& bucket,
                          const Location& place) {
  return FolderRepair(context, bucket, place).run();
}

}  // namespace gridmount::tools
