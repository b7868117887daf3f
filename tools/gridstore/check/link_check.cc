#include "tools/gridstore/check/link_check.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/posix_place.h"
#include "gridfs/namespace/links.h"
#include "gridfs/namespace/path_index.h"
#include "tools/gridstore/check/recheck.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

bson::Document ascending(std::string_view field) {
  bson::Builder sort;
  sort.append(field, int32_t{1});
  return std::move(sort).finish();
}

// Returns true if the link is an additional name of this file.
bool is_further_name(bson::View link, bson::View file) {
  const bson::ValueView name = link["_id"];
  if (name.type() != bson::Type::kString || !link.find("file")) return false;
  return !gridfs::has_filename(file) || file["filename"].as_string() != name.as_string();
}

// A files document records no larger number of additional names.
int64_t recordable(int64_t links) {
  return std::min(links, gridfs::kMaxLinks - 1);
}

// Reads the links in the order of their files, side by side with the files in the order of their
// _ids.
class LinkCheck {
 public:
  using Kind = LinkProblem::Kind;

  LinkCheck(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
            std::function<bool(LinkProblem)> visit)
      : bucket_(bucket), snapshot_(snapshot), visit_(std::move(visit)) {}

  Status run() {
    const std::string& collection = bucket_.links().ns().collection;
    GM_ASSIGN(const bool exists, bucket_.database().exists(snapshot_, collection));
    if (!exists) return {};
    const bson::Document by_file = ascending("file");
    const bson::Document by_id = ascending("_id");
    engine::FindOptions links_order;
    links_order.sort = by_file;
    links_order.one_at_a_time = true;
    GM_ASSIGN(links_, bucket_.links().find(snapshot_, bson::View(), links_order));
    engine::FindOptions files_order;
    files_order.sort = by_id;
    files_order.partial = true;
    files_order.one_at_a_time = true;
    GM_ASSIGN(files_, bucket_.files().find(snapshot_, bson::View(), files_order));
    GM_ASSIGN(link_, read(*links_));
    GM_ASSIGN(std::optional<bson::View> file, read(*files_));
    while (file && !enough_) {
      GM_TRY(check_file(*file));
      GM_ASSIGN(file, read(*files_));
    }
    while (link_ && !enough_) GM_TRY(pass_stray());
    return {};
  }

 private:
  // Returns the next readable document. Does not report unreadable documents: other parts of the
  // check read all documents.
  Result<std::optional<bson::View>> read(engine::Cursor& cursor) {
    while (true) {
      Result<std::optional<bson::View>> next = cursor.next();
      if (next) return next;
      if (next.error().code() != ErrorCode::kDataCorruptionDetected) return next;
      is_partial_ = true;
    }
  }

  Status check_file(bson::View file) {
    const bson::ValueView id = file["_id"];
    while (link_ && !enough_ && compare_to(id) < 0) GM_TRY(pass_stray());
    int64_t links = 0;
    while (link_ && !enough_ && compare_to(id) == 0) {
      if (is_further_name(*link_, file)) {
        ++links;
      } else {
        GM_TRY(report_stray("is not an additional name of its file"));
      }
      GM_ASSIGN(link_, read(*links_));
    }
    if (enough_ || is_partial_ || !gridfs::accepts_posix_fields(file)) return {};
    links = recordable(links);
    const int64_t recorded = gridfs::recorded_links(file);
    if (recorded == links) return {};
    return report({Kind::kNumber,
                   "the file with _id " + bson::to_json(id, bson::JsonForm::kRelaxed) +
                       " records " + counted(static_cast<uint64_t>(recorded), "additional name") +
                       ", but there " + (links == 1 ? "is " : "are ") + std::to_string(links),
                   bson::Value(id), links});
  }

  std::weak_ordering compare_to(bson::ValueView file_id) const {
    static const bson::Value kNull;
    return bson::compare(link_->find("file").value_or(kNull.view()), file_id);
  }

  Status pass_stray() {
    // If some documents could not be read, the file may exist nevertheless.
    if (!is_partial_) GM_TRY(report_stray("leads to a file that is gone"));
    GM_ASSIGN(link_, read(*links_));
    return {};
  }
  Status report_stray(const std::string& what) {
    const bson::ValueView name = (*link_)["_id"];
    const std::string shown = name.type() == bson::Type::kString
                                  ? in_quotes(name.as_string())
                                  : bson::to_json(name, bson::JsonForm::kRelaxed);
    return report({Kind::kStray, "the name " + shown + " " + what, bson::Value(name)});
  }
  Status report(LinkProblem problem) {
    GM_ASSIGN(const bool is_real, is_confirmed(bucket_, snapshot_, problem));
    if (is_real) enough_ = !visit_(std::move(problem));
    return {};
  }

  const gridfs::Bucket& bucket_;
  engine::Snapshot& snapshot_;
  const std::function<bool(LinkProblem)> visit_;
  std::unique_ptr<engine::Cursor> links_;
  std::unique_ptr<engine::Cursor> files_;
  std::optional<bson::View> link_;  // read but not checked yet
  bool is_partial_ = false;         // something could not be read
  bool enough_ = false;
};

}  // namespace

Result<bool> is_confirmed(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                          const LinkProblem& problem) {
  if (bucket.store().capabilities().stable_snapshots) return true;
  const bson::Document by_id = gridfs::equals("_id", problem.id);
  if (problem.kind == LinkProblem::Kind::kNumber) {
    GM_ASSIGN(const std::optional<bson::Document> file, read_one(bucket.files(), snapshot, by_id));
    if (!file) return false;
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              bucket.links().find(snapshot, gridfs::equals("file", problem.id)));
    int64_t links = 0;
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> link, cursor->next());
      if (!link) break;
      if (is_further_name(*link, *file)) ++links;
    }
    return recordable(links) == problem.links && gridfs::recorded_links(*file) != problem.links;
  }
  GM_ASSIGN(const std::optional<bson::Document> link, read_one(bucket.links(), snapshot, by_id));
  if (!link) return false;
  const std::optional<bson::ValueView> file_id = link->find("file");
  if (!file_id) return true;
  GM_ASSIGN(const std::optional<bson::Document> file,
            read_one(bucket.files(), snapshot, gridfs::equals("_id", *file_id)));
  return !file || !is_further_name(*link, *file);
}

Status find_link_problems(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                          const std::function<bool(LinkProblem)>& visit) {
  return LinkCheck(bucket, snapshot, visit).run();
}

Status check_links(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Location& place,
                   Findings& findings) {
  const auto print = [&](const LinkProblem& problem) {
    findings.content_problem(place, problem.what);
    return true;
  };
  Status checked = find_link_problems(bucket, snapshot, print);
  if (checked || checked.error().code() != ErrorCode::kQueryExceededMemoryLimit) return checked;
  findings.content_problem(place,
                           "links were not checked: without their index they are too many to be "
                           "sorted in memory");
  return {};
}

}  // namespace gridmount::tools
