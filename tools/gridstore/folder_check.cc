#include "tools/gridstore/folder_check.h"

#include <optional>
#include <string>

#include "engine/bson/builder.h"
#include "gridfs/path.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

class FolderCheck {
 public:
  FolderCheck(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Place& place,
              Findings& findings)
      : bucket_(bucket), snapshot_(snapshot), place_(place), findings_(findings) {}

  Status run() {
    bson::Builder order;
    order.append("parent", int32_t{1}).append("name", int32_t{1});
    bson::Document by_path = std::move(order).finish();
    engine::FindOptions options;
    options.sort = by_path;
    GM_ASSIGN(auto cursor, bucket_.directories().find(snapshot_, bson::View(), options));
    for (;;) {
      auto next = cursor->next();
      if (!next) {
        if (next.error().code() != ErrorCode::kDataCorruptionDetected) {
          return fail(std::move(next).error());
        }
        problem(next.error().message());
        continue;
      }
      if (!*next) return {};
      GM_TRY(check(**next));
    }
  }

 private:
  Status check(bson::View document) {
    ++findings_.counts().folders;
    auto posix = document.find("posix");
    if (posix && posix->type() != bson::Type::kDocument) {
      problem("a folder's posix field is no document");
    }
    auto parent = document.find("parent");
    if (!parent || parent->type() == bson::Type::kNull) {
      // The document of the bucket's root, of which there is one.
      if (++roots_ == 2) problem("there are several documents of the root folder");
      return {};
    }
    auto name = document.find("name");
    // Only the first component of a path may hold slashes, at its beginning.
    bool usable = parent->type() == bson::Type::kString && name &&
                  name->type() == bson::Type::kString &&
                  gridfs::split(gridfs::join(parent->as_string(), name->as_string())).component ==
                      name->as_string();
    if (!usable) {
      problem("a folder's parent or name is unusable");
      return {};
    }
    std::string folder(parent->as_string());
    std::string path = gridfs::join(folder, name->as_string());
    if (last_path_ == path) problem("there are several documents of the folder " + in_quotes(path));
    last_path_ = path;
    GM_ASSIGN(bool known, is_explicit(folder));
    if (!known) {
      problem("the folder " + in_quotes(path) + " is in " + in_quotes(folder) +
              ", which has no document");
    }
    return {};
  }

  // Folders come in the order of their parents, so only the last answer is kept.
  Result<bool> is_explicit(const std::string& folder) {
    if (folder.empty()) return true;
    if (last_parent_ == folder) return last_parent_is_explicit_;
    gridfs::SplitPath where = gridfs::split(folder);
    bson::Builder filter;
    filter.append("parent", where.folder).append("name", where.component);
    bson::Document by_path = std::move(filter).finish();
    GM_ASSIGN(auto found, bucket_.directories().find_one(snapshot_, by_path));
    last_parent_ = folder;
    last_parent_is_explicit_ = found.has_value();
    return last_parent_is_explicit_;
  }

  void problem(const std::string& what) { findings_.content_problem(place_, what); }

  const gridfs::Bucket& bucket_;
  engine::Snapshot& snapshot_;
  const Place& place_;
  Findings& findings_;
  uint64_t roots_ = 0;
  std::optional<std::string> last_path_;
  std::optional<std::string> last_parent_;
  bool last_parent_is_explicit_ = false;
};

}  // namespace

Status check_folders(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Place& place,
                     Findings& findings) {
  Status checked = FolderCheck(bucket, snapshot, place, findings).run();
  if (checked || checked.error().code() != ErrorCode::kQueryExceededMemoryLimit) return checked;
  findings.content_problem(place,
                           "folders were not checked: without their index they are too many to be "
                           "sorted in memory");
  return {};
}

}  // namespace gridmount::tools
