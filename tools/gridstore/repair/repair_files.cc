#include "tools/gridstore/repair/repair_files.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/retry.h"
#include "tools/gridstore/check/bucket_check.h"
#include "tools/gridstore/check/recheck.h"
#include "tools/gridstore/repair/lost_and_found.h"

namespace gridmount::tools {

namespace {

class FileRepair {
 public:
  FileRepair(RepairContext& context, const gridfs::Bucket& bucket,
             const std::shared_ptr<engine::Database>& database, const Location& place)
      : context_(context),
        bucket_(bucket),
        place_(place),
        lost_and_found_(context, bucket, database) {}

  Status run() {
    std::optional<bson::Value> repaired_first;
    while (true) {
      GM_TRY(lost_and_found_.finish_interrupted());
      GM_ASSIGN(const ContentDamage damage, find_damage());
      repaired_ = 0;
      if (!damage.files.empty() && repaired_first && *repaired_first == damage.files[0].id) {
        return fail(ErrorCode::kDataCorruptionDetected,
                    bucket_.files().ns().full() + ": repairing the file with _id " +
                        bson::to_json(*repaired_first, bson::JsonForm::kRelaxed) +
                        " has no effect");
      }
      repaired_first.reset();
      for (const ContentDamage::File& file : damage.files) {
        const uint64_t before = repaired_;
        GM_TRY(repair(file));
        if (&file == &damage.files[0] && repaired_ > before) repaired_first = file.id;
      }
      for (const ContentDamage::Orphans& orphans : damage.orphans) GM_TRY(take_out(orphans));
      // The check reports what could not be repaired.
      if (repaired_ == 0) return {};
    }
  }

 private:
  Result<ContentDamage> find_damage() {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context_.store.snapshot());
    return find_content_damage(
        bucket_, *snapshot, place_,
        [&](const ContentDamage::Orphans& orphans) { return is_within_grace(orphans); });
  }

  bool is_within_grace(const ContentDamage::Orphans& orphans) {
    if (may_have_been_files()) return false;
    if (context_.grace.count() == 0) return false;
    if (!orphans.made) return may_be_of_others(orphans);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    if (std::chrono::seconds(*orphans.made) <= now - context_.grace) return false;
    if (reported_young_.insert(orphans.files_id.bytes()).second) {
      Location place = place_;
      place.file_id = orphans.files_id;
      context_.findings.notice(
          place, counted(orphans.chunks, "chunk without a files document is left, because it was",
                         "chunks without a files document are left, because they were") +
                     " made less than " +
                     counted(static_cast<uint64_t>(context_.grace.count()), "second") +
                     " ago (--grace)");
    }
    return true;
  }

  // Handles chunks whose _ids do not contain a time. Returns true in a store that others use, where
  // the chunks may belong to an upload, and reports this once.
  bool may_be_of_others(const ContentDamage::Orphans& orphans) {
    if (context_.store.capabilities().exclusive) return false;
    if (reported_young_.insert(orphans.files_id.bytes()).second) {
      Location place = place_;
      place.file_id = orphans.files_id;
      context_.findings.notice(place,
                               counted(orphans.chunks,
                                       "chunk without a files document is left, because its _id "
                                       "does not say when it was made (--grace 0 removes it)",
                                       "chunks without a files document are left, because their "
                                       "_ids do not say when they were made (--grace 0 removes "
                                       "them)"));
    }
    return true;
  }

  // Returns true if this repair has lost documents that may have been the files documents of
  // orphans.
  bool may_have_been_files() const { return context_.keep.lost().are_of(bucket_.files().ns()); }

  Status repair(const ContentDamage::File& file) {
    const engine::Store& store = context_.store;
    if (file.is_detached_too) GM_TRY(gridfs::with_retry(store, [&] { return attach(file); }));
    if (file.verdict.content) {
      GM_ASSIGN(const bool is_moved, lost_and_found_.move(file));
      if (is_moved) ++repaired_;
      return {};
    }
    const bool repairs = file.verdict.md5 || file.verdict.upload_date || file.verdict.stored_chunks;
    if (repairs) return gridfs::with_retry(store, [&] { return repair_document(file); });
    return {};
  }

  // Removes the document from `detached`, because the file is also in `files`. Otherwise the next
  // mount would remove its chunks.
  Status attach(const ContentDamage::File& file) {
    const bson::Document by_id = gridfs::equals("_id", file.id);
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
    GM_ASSIGN(const std::optional<bson::View> document,
              bucket_.detached().find_one(*transaction, by_id));
    if (!document) return {};
    GM_ASSIGN(const std::optional<bson::View> file_document,
              bucket_.files().find_one(*transaction, by_id));
    if (!file_document) return {};
    GM_TRY(context_.keep.keep_document(bucket_.detached().ns(), *document));
    GM_TRY(bucket_.detached().remove(*transaction, by_id, false));
    GM_TRY(commit_kept(context_, *transaction));
    ++repaired_;
    context_.findings.repaired(file.place, "is no longer in detached, only in files");
    return {};
  }

  Status repair_document(const ContentDamage::File& file) {
    const bson::Document by_id = gridfs::equals("_id", file.id);
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
    GM_ASSIGN(const std::optional<bson::View> document,
              bucket_.files().find_one(*transaction, by_id));
    if (!document || !is_as_judged(file, *document)) return {};
    GM_TRY(context_.keep.keep_document(bucket_.files().ns(), *document));
    bson::Builder update;
    std::vector<std::string> lines;
    if (file.verdict.md5) {
      update.open_document("$unset").append("md5", "").close();
      lines.emplace_back("its md5 is removed");
    }
    bson::Builder set;
    if (file.verdict.upload_date) {
      set.append("uploadDate", date_of(file.id));
      lines.emplace_back("it has an uploadDate again");
    }
    if (file.verdict.stored_chunks) {
      set.append("metadata.storedChunks", file.verdict.chunks);
      lines.emplace_back("its metadata.storedChunks is right again");
    }
    const bson::Document fields = std::move(set).finish();
    if (!fields.view().empty()) update.append("$set", fields);
    GM_TRY(bucket_.files().update(*transaction, by_id, std::move(update).finish()));
    GM_TRY(commit_kept(context_, *transaction));
    ++repaired_;
    for (const std::string& line : lines) {
      context_.findings.repaired(file.place, line + ": " + in_words(file.verdict.problems));
    }
    return {};
  }

  Status take_out(const ContentDamage::Orphans& orphans) {
    if (may_have_been_files()) {
      ++repaired_;
      return lost_and_found_.move_orphans(place_, orphans.files_id,
                                          context_.keep.lost().filename(orphans.files_id));
    }
    uint64_t removed = 0;
    while (true) {
      GM_ASSIGN(const uint64_t more,
                gridfs::with_retry(context_.store, [&] { return take_out_some(orphans); }));
      if (more == 0) break;
      removed += more;
    }
    repaired_ += removed;
    if (removed == 0) return {};
    Location place = place_;
    place.file_id = orphans.files_id;
    context_.findings.repaired(
        place, "removed " + counted(removed, "orphan chunk") + ": there is no files document");
    return {};
  }

  // Returns the number of chunks removed. Returns 0 if no chunks are left, or if they are not
  // orphans.
  Result<uint64_t> take_out_some(const ContentDamage::Orphans& orphans) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
    if (!context_.store.capabilities().exclusive) {
      GM_ASSIGN(const bool are_there, are_orphans(bucket_, *transaction, orphans.files_id));
      if (!are_there) return uint64_t{0};
    }
    const bson::Document by_file = gridfs::equals("files_id", orphans.files_id);
    GM_ASSIGN(const std::vector<bson::Document> chunks,
              some_chunks(bucket_, *transaction, by_file));
    for (const bson::Document& chunk : chunks) {
      GM_TRY(context_.keep.keep_document(bucket_.chunks().ns(), chunk));
      const bson::Document by_id = gridfs::equals("_id", chunk.view()["_id"]);
      GM_TRY(remove_found(bucket_.chunks(), *transaction, by_id));
    }
    GM_TRY(commit_kept(context_, *transaction));
    return uint64_t{chunks.size()};
  }

  RepairContext& context_;
  const gridfs::Bucket& bucket_;
  const Location& place_;
  LostAndFound lost_and_found_;
  uint64_t repaired_ = 0;  // in this pass
  std::set<std::string> reported_young_;
};

}  // namespace

Status repair_files(RepairContext& context, const gridfs::Bucket& bucket,
                    const std::shared_ptr<engine::Database>& database, const Location& place) {
  return FileRepair(context, bucket, database, place).run();
}

}  // namespace gridmount::tools
