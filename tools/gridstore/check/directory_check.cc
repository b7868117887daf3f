#include "tools/gridstore/check/directory_check.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "gridfs/namespace/name_mapping.h"
#include "tools/gridstore/check/recheck.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

class DirectoryCheck {
 public:
  using Kind = DirectoryProblem::Kind;

  DirectoryCheck(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Location& place,
                 Findings& findings, std::function<bool(const DirectoryProblem&)> visit = {})
      : bucket_(bucket),
        snapshot_(snapshot),
        place_(place),
        findings_(findings),
        visit_(std::move(visit)) {}

  Status run() {
    bson::Builder order;
    order.append("parent", int32_t{1}).append("name", int32_t{1});
    bson::Document by_path = std::move(order).finish();
    engine::FindOptions options;
    options.sort = by_path;
    options.one_at_a_time = true;
    GM_ASSIGN(auto cursor, bucket_.directories().find(snapshot_, bson::View(), options));
    for (;;) {
      auto next = cursor->next();
      if (!next) {
        if (next.error().code() != ErrorCode::kDataCorruptionDetected) {
          return fail(std::move(next).error());
        }
        findings_.content_problem(place_, next.error().message());
        continue;
      }
      if (!*next) return {};
      GM_TRY(check(**next));
      if (enough_) return {};
    }
  }

 private:
  Status check(bson::View document) {
    findings_.record_read();
    ++findings_.counts().folders;
    auto posix = document.find("posix");
    if (posix && posix->type() != bson::Type::kDocument) {
      GM_TRY(problem(Kind::kPosix, document, "the posix field of a directory is not a document"));
    }
    auto parent = document.find("parent");
    if (!parent || parent->type() == bson::Type::kNull) {
      return check_root(document);
    }
    auto name = document.find("name");
    if (!is_usable(*parent, name)) {
      return problem(Kind::kUnusable, document, "a directory has an unusable parent or name");
    }
    std::string folder(parent->as_string());
    std::string path = gridfs::join(folder, name->as_string());
    if (last_path_ == path) {
      GM_TRY(problem(Kind::kDuplicate, document,
                     "several documents describe the directory " + in_quotes(path)));
    }
    last_path_ = path;
    GM_ASSIGN(bool known, is_explicit(folder));
    if (!known) {
      return problem(Kind::kNoParent, document,
                     "the directory " + in_quotes(path) + " is in " + in_quotes(folder) +
                         ", which has no document",
                     folder);
    }
    return {};
  }

  // Checks a document of the bucket's root directory. There must be at most one: {parent: null,
  // name: ""}.
  Status check_root(bson::View document) {
    auto name = document.find("name");
    if (!name || name->type() != bson::Type::kString || !name->as_string().empty()) {
      return problem(Kind::kUnusable, document,
                     "a directory has no parent and is not the root directory");
    }
    if (++roots_ == 1) return {};
    return problem(Kind::kRoot, document, "several documents describe the root directory");
  }

  static bool is_usable(bson::ValueView parent, const std::optional<bson::ValueView>& name) {
    if (parent.type() != bson::Type::kString || !name || name->type() != bson::Type::kString) {
      return false;
    }
    std::string path = gridfs::join(parent.as_string(), name->as_string());
    // Only the first component of a path may contain slashes, at its beginning. The empty path is
    // the root directory.
    return !path.empty() && gridfs::can_be_directory(path) &&
           gridfs::can_be_directory(parent.as_string()) &&
           gridfs::split(path).component == name->as_string();
  }

  // The directories are sorted by parent, so it is enough to remember the last answer.
  Result<bool> is_explicit(const std::string& folder) {
    if (folder.empty()) return true;
    if (last_parent_ == folder) return last_parent_is_explicit_;
    gridfs::SplitPath where = gridfs::split(folder);
    bson::Builder filter;
    filter.append("parent", where.directory).append("name", where.component);
    bson::Document by_path = std::move(filter).finish();
    GM_ASSIGN(auto found, read_one(bucket_.directories(), snapshot_, by_path));
    last_parent_ = folder;
    last_parent_is_explicit_ = found.has_value();
    return last_parent_is_explicit_;
  }

  // Returns false if others have changed the directories meanwhile, and the problem no longer
  // exists.
  Result<bool> is_confirmed(Kind kind, bson::View document, const std::string& parent) {
    if (bucket_.store().capabilities().stable_snapshots) return true;
    GM_ASSIGN(const bool is_same, is_unchanged(bucket_.directories(), snapshot_, document));
    if (!is_same) return false;
    switch (kind) {
      case Kind::kPosix:
      case Kind::kUnusable:
        return true;
      case Kind::kNoParent: {
        last_parent_.reset();
        GM_ASSIGN(const bool is_known, is_explicit(parent));
        return !is_known;
      }
      case Kind::kDuplicate:
      case Kind::kRoot: {
        bson::Builder filter;
        filter.append("parent", document.find("parent").value_or(null_.view()));
        filter.append("name", document["name"]);
        const bson::Document by_path = std::move(filter).finish();
        GM_ASSIGN(const int64_t number,
                  bucket_.directories().count(snapshot_, by_path, {.limit = 2}));
        return number > 1;
      }
    }
    return true;
  }

  Status problem(Kind kind, bson::View document, const std::string& what,
                 const std::string& parent = {}) {
    GM_ASSIGN(const bool is_real, is_confirmed(kind, document, parent));
    if (!is_real) return {};
    findings_.content_problem(place_, what);
    if (visit_) enough_ = !visit_({kind, what, document, parent}) || enough_;
    return {};
  }

  const gridfs::Bucket& bucket_;
  engine::Snapshot& snapshot_;
  const Location& place_;
  Findings& findings_;
  const std::function<bool(const DirectoryProblem&)> visit_;
  const bson::Value null_;
  bool enough_ = false;
  uint64_t roots_ = 0;
  std::optional<std::string> last_path_;
  std::optional<std::string> last_parent_;
  bool last_parent_is_explicit_ = false;
};

}  // namespace

Status check_directories(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                         const Location& place, Findings& findings) {
  Status checked = DirectoryCheck(bucket, snapshot, place, findings).run();
  if (checked || checked.error().code() != ErrorCode::kQueryExceededMemoryLimit) return checked;
  findings.content_problem(
      place,
      "directories were not checked: their index is missing and they are too many to "
      "be sorted in memory");
  return {};
}

Status find_directory_problems(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                               const std::function<bool(const DirectoryProblem&)>& visit) {
  Findings unprinted(Findings::Format::kNone);
  const Location place{};
  return DirectoryCheck(bucket, snapshot, place, unprinted, visit).run();
}

}  // namespace gridmount::tools
