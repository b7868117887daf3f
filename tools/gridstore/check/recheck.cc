#include "tools/gridstore/check/recheck.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "engine/bson/builder.h"
#include "gridfs/bucket/chunk_document.h"

namespace gridmount::tools {

namespace {

constexpr int kAttemptsMax = 5;
// Without transactions, a commit of a file takes some time. During this time the store has only
// some of its chunks.
constexpr std::chrono::seconds kCommitPause{1};

Status add_chunks(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const bson::Value& id,
                  FileCheck& check) {
  bson::Builder order;
  order.append("files_id", int32_t{1}).append("n", int32_t{1});
  const bson::Document by_number = std::move(order).finish();
  const bson::Document of_file = gridfs::equals("files_id", id);
  engine::FindOptions options;
  options.sort = by_number;
  options.one_at_a_time = true;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket.chunks().find(snapshot, of_file, options));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> chunk, cursor->next());
    if (!chunk) return {};
    check.add_chunk(*chunk);
  }
}

}  // namespace

Result<std::optional<bson::Document>> read_one(engine::Collection& collection,
                                               engine::Snapshot& snapshot, bson::View filter) {
  engine::FindOptions options;
  options.limit = 1;
  options.one_at_a_time = true;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            collection.find(snapshot, filter, options));
  GM_ASSIGN(const std::optional<bson::View> found, cursor->next());
  if (!found) return std::optional<bson::Document>();
  return std::optional(bson::Document(*found));
}

Result<bool> is_unchanged(engine::Collection& collection, engine::Snapshot& snapshot,
                          bson::View document) {
  GM_ASSIGN(const std::optional<bson::Document> now,
            read_one(collection, snapshot, gridfs::equals("_id", document["_id"])));
  return now && std::ranges::equal(now->view().bytes(), document.bytes());
}

Result<Recheck> recheck_file(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                             const Location& place, const bson::Value& id, const Garbage& garbage) {
  const bson::Document by_id = gridfs::equals("_id", id);
  const bool is_atomic = bucket.store().capabilities().transactions;
  Recheck found;
  for (int attempts = 0; attempts < kAttemptsMax; ++attempts) {
    GM_ASSIGN(std::optional<bson::Document> file, read_one(bucket.files(), snapshot, by_id));
    if (!file) return Recheck();
    GM_ASSIGN(const std::optional<bson::Document> detached,
              read_one(bucket.detached(), snapshot, by_id));
    Findings unprinted(Findings::Format::kNone);
    FileCheck check(unprinted, place, *file, garbage);
    GM_TRY(add_chunks(bucket, snapshot, id, check));
    check.finish();
    GM_ASSIGN(const bool is_same, is_unchanged(bucket.files(), snapshot, *file));
    found.kind = Recheck::Kind::kChanging;
    if (!is_same) continue;
    found.verdict = check.verdict();
    found.place = check.place();
    found.is_detached_too = detached.has_value();
    found.document = std::move(file);
    found.kind =
        found.verdict.sound() && !detached ? Recheck::Kind::kSound : Recheck::Kind::kDamaged;
    if (found.kind == Recheck::Kind::kSound || is_atomic || attempts > 0) return found;
    std::this_thread::sleep_for(kCommitPause);
  }
  return found;
}

Result<bool> are_orphans(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                         const bson::Value& files_id) {
  const bson::Document by_id = gridfs::equals("_id", files_id);
  // A removal moves the document from `files` to `detached`, so they are read in this order.
  for (engine::Collection* const of_files : {&bucket.files(), &bucket.detached()}) {
    GM_ASSIGN(const std::optional<bson::Document> document, read_one(*of_files, snapshot, by_id));
    if (document) return false;
  }
  GM_ASSIGN(const std::optional<bson::Document> chunk,
            read_one(bucket.chunks(), snapshot, gridfs::equals("files_id", files_id)));
  return chunk.has_value();
}

}  // namespace gridmount::tools
