#include "gridfs/content/file_commit.h"

#include <algorithm>
#include <utility>

#include "engine/base/invariant.h"
#include "engine/batch_insert.h"
#include "engine/binary_overwrite.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/posix_place.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/bucket/stored_chunks.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kPosixPath = "metadata.posix.";

// Fails with FileChanged if the files document has another uploadDate. In a deployment with
// transactions, nobody else can change the document between this check and the commit. On a
// standalone server, others can.
Status check_unchanged(const Bucket& bucket, engine::Transaction& transaction,
                       const bson::Value& id, bson::Date expected) {
  for (engine::Collection* collection : {&bucket.files(), &bucket.detached()}) {
    GM_ASSIGN(const std::optional<bson::View> document,
              collection->find_one(transaction, equals("_id", id)));
    if (!document) continue;
    const std::optional<bson::ValueView> date = document->find("uploadDate");
    if (date && date->type() == bson::Type::kDate &&
        date->as_date().milliseconds == expected.milliseconds) {
      return {};
    }
    return fail(file_changed(bucket, id));
  }
  return file_not_found(bucket, id);
}

// Updates the document in `files`, or in `detached` if the file is an orphan. If `expected` is
// given, the document must have that uploadDate. If not, the function fails as check_unchanged()
// does.
Status update_files_document(const Bucket& bucket, engine::Transaction& transaction,
                             const bson::Value& id, bson::View update,
                             std::optional<bson::Date> expected = {}) {
  for (engine::Collection* collection : {&bucket.files(), &bucket.detached()}) {
    GM_ASSIGN(const engine::UpdateResult result,
              update_file(*collection, transaction, id, update, expected));
    if (result.matched != 0) return {};
  }
  if (expected) GM_TRY(check_unchanged(bucket, transaction, id, *expected));
  return file_not_found(bucket, id);
}

// `stored_chunks` is the number after the commit.
bson::Document files_update(const FileCommit& commit, std::optional<int64_t> stored_chunks) {
  bson::Builder set;
  bson::Builder unset;
  set.append("length", commit.length);
  if (commit.chunk_bytes) set.append("chunkSize", *commit.chunk_bytes);
  if (commit.upload_date) set.append("uploadDate", *commit.upload_date);
  if (commit.md5) {
    set.append("md5", *commit.md5);
  } else if (!commit.keep_md5) {
    // The md5 is removed even if we know of none, because one may have been set a moment ago.
    unset.append("md5", "");
  }
  if (commit.sparse && !commit.was_sparse) set.append("metadata.sparse", true);
  if (!commit.sparse && commit.was_sparse) {
    unset.append("metadata.sparse", "").append("metadata.storedChunks", "");
  }
  const bool counted_anew = !commit.was_sparse || commit.stored_chunks != stored_chunks;
  if (commit.sparse && stored_chunks && counted_anew) {
    set.append("metadata.storedChunks", *stored_chunks);
  }
  if (commit.allocated) append_allocated(*commit.allocated, set, unset);
  PosixFields times;
  times.mtime = commit.mtime;
  times.ctime = commit.ctime;
  append_posix_changes(times, kPosixPath, set, unset);
  return update_of(set, unset);
}

bson::Document posix_update(const PosixFields& changes) {
  bson::Builder set;
  bson::Builder unset;
  append_posix_changes(changes, kPosixPath, set, unset);
  return update_of(set, unset);
}

// Writes the chunks of one commit.
class ChunkWriter {
 public:
  // With `replaces_all`, even chunks that should be new replace stored chunks.
  ChunkWriter(const Bucket& bucket, engine::Transaction& transaction, const bson::Value& files_id,
              const ChunkLayout& layout, bool replaces_all)
      : bucket_(bucket),
        chunks_(bucket.chunks()),
        transaction_(transaction),
        files_id_(files_id),
        layout_(layout),
        replaces_all_(replaces_all),
        continues_(bucket.store().capabilities().continues_after_failed_writes),
        is_exclusive_(bucket.store().capabilities().exclusive),
        filter_(files_id) {}

  // Returns true if the file has one more chunk now. A chunk of which little has changed is
  // overwritten in part, if the store can do that. Without
  // Capabilities::continues_after_failed_writes, finish() inserts the new chunks all at once.
  Result<bool> put(const CommittedChunk& chunk) {
    if (chunk.may_be_stored) {
      GM_ASSIGN(const bool is_overwritten, overwrite(chunk));
      if (is_overwritten) return false;
      if (chunk.is_partial) return lacks_rest(chunk);
      return replace(chunk);
    }
    if (replaces_all_) {
      GM_TRY(replace(chunk));
      return true;
    }
    if (!continues_) {
      new_.push_back(laid_out(chunk, chunk.id));
      return true;
    }
    const Status inserted = insert(chunk, chunk.id);
    if (inserted) return true;
    if (inserted.error().code() != ErrorCode::kDuplicateKey) return fail(inserted.error());
    // A driver may have left chunks after the end of the file. They did not count as chunks of the
    // file.
    GM_TRY(replace(chunk));
    return true;
  }
  Status finish() { return engine::insert_all(chunks_, transaction_, std::exchange(new_, {})); }

 private:
  Result<bool> replace(const CommittedChunk& chunk) {
    return is_exclusive_ ? replace_by_insertion(chunk) : replace_by_update(chunk);
  }

  // Writes only the changed blocks. Returns false, and writes nothing, if too much has changed, if
  // the store cannot do that, or if the stored chunk has another size than the one that was read.
  Result<bool> overwrite(const CommittedChunk& chunk) {
    if (!chunk.changed.is_part_of(chunk.size)) return false;
    std::vector<engine::BinaryPiece> pieces;
    for (const ChangedBlocks::Range& range : chunk.changed.ranges(chunk.size)) {
      pieces.push_back({range.from, {content_of(chunk).data + range.from, range.to - range.from}});
    }
    return engine::overwrite_binary(chunks_, transaction_,
                                    filter_.at(static_cast<int32_t>(chunk.n)),
                                    {"data", chunk.changed.stored_bytes(), chunk.size, pieces});
  }

  // Returns the error for a chunk that could not be overwritten and of which only parts are in
  // memory: somebody has removed or replaced the stored chunk.
  Result<bool> lacks_rest(const CommittedChunk& chunk) {
    const bson::View filter = filter_.at(static_cast<int32_t>(chunk.n));
    GM_ASSIGN(const std::optional<bson::View> stored, chunks_.find_one(transaction_, filter, {}));
    if (!stored) {
      GM_TRY(bucket_.expect_file(transaction_, files_id_));
      return chunk_is_missing(files_id_, chunk.n);
    }
    return chunk_is_wrong_size(files_id_, chunk.n);
  }

  // Replaces the chunk by a removal and an insertion. An update costs more, because it copies the
  // content twice more. Returns true if there was no chunk.
  Result<bool> replace_by_insertion(const CommittedChunk& chunk) {
    const bson::View filter = filter_.at(static_cast<int32_t>(chunk.n));
    std::optional<bson::Value> stored_id;
    if (chunk.id) {
      stored_id.emplace(*chunk.id);
    } else {
      engine::FindOptions part;
      part.partial = true;
      GM_ASSIGN(const std::optional<bson::View> stored,
                chunks_.find_one(transaction_, filter, part));
      if (stored) stored_id.emplace((*stored)["_id"]);
    }
    bool is_new = true;
    if (stored_id) {
      GM_ASSIGN(const int64_t removed, chunks_.remove(transaction_, filter, false));
      is_new = removed == 0;
    }
    if (!stored_id || stored_id->type() == bson::Type::kObjectId) {
      GM_TRY(insert(chunk,
                    stored_id ? std::optional(stored_id->view().as_object_id()) : std::nullopt));
      return is_new;
    }
    // A driver has chosen an _id of another type, for which the buffer's header has no room.
    bson::Builder document;
    document.append("_id", *stored_id).append("files_id", files_id_);
    document.append("n", static_cast<int32_t>(chunk.n));
    document.append("data", content_of(chunk));
    GM_TRY(chunks_.insert(transaction_, std::move(document).finish()));
    return is_new;
  }

  // Replaces the chunk by an update with upsert, for stores where a command costs more than copies
  // of the content. Returns true if there was no chunk.
  Result<bool> replace_by_update(const CommittedChunk& chunk) {
    bson::Builder update;
    update.open_document("$set").append("data", content_of(chunk)).close();
    engine::UpdateOptions options;
    options.upsert = true;
    GM_ASSIGN(const engine::UpdateResult result,
              chunks_.update(transaction_, filter_.at(static_cast<int32_t>(chunk.n)),
                             std::move(update).finish(), options));
    return result.matched == 0;
  }

  bson::Binary content_of(const CommittedChunk& chunk) const {
    return {0, chunk.buffer->bytes() + layout_.header_bytes(), chunk.size};
  }
  // Returns the document, which is in the buffer.
  bson::View laid_out(const CommittedChunk& chunk, std::optional<bson::ObjectId> id) const {
    uint8_t* const bytes = chunk.buffer->bytes();
    layout_.begin(bytes, id ? *id : bson::ObjectId::generate());
    return layout_.finish(bytes, static_cast<int32_t>(chunk.n), chunk.size);
  }
  Status insert(const CommittedChunk& chunk, std::optional<bson::ObjectId> id) {
    GM_TRY(chunks_.insert(transaction_, laid_out(chunk, id)));
    return {};
  }

  const Bucket& bucket_;
  engine::Collection& chunks_;
  engine::Transaction& transaction_;
  const bson::Value& files_id_;
  const ChunkLayout& layout_;
  const bool replaces_all_;
  const bool continues_;  // a transaction after a failed write
  const bool is_exclusive_;
  ChunkFilter filter_;
  std::vector<bson::View> new_;  // to be inserted
};

// Returns whether the error means that the rest of a partial chunk is missing in the store, or
// damaged.
bool is_defect_of_chunk(ErrorCode code) {
  return code == kChunkIsMissing || code == kChunkIsWrongSize ||
         code == ErrorCode::kDataCorruptionDetected;
}

// Divides the chunks to remove: if there are many, those after the last chunk written are removed
// later.
struct Cut {
  int64_t remove_to;    // [commit.remove_from, remove_to): removed in the transaction
  int64_t recorded_to;  // [remove_to, recorded_to): removed later
};

Cut plan_cut(const FileCommit& commit, int32_t chunk_bytes) {
  const int64_t at_once = chunks_removed_at_once(chunk_bytes);
  if (commit.remove_to - commit.remove_from <= at_once) return {commit.remove_to, commit.remove_to};
  const int64_t written_to = commit.chunks.empty() ? 0 : commit.chunks.back().n + 1;
  const int64_t remove_to = std::clamp(written_to, commit.remove_from, commit.remove_to);
  // The last chunk to write is far behind the cut. write_cut_and_growth() commits the truncation
  // without it.
  const auto written = static_cast<int64_t>(commit.chunks.size());
  if (remove_to - commit.remove_from > at_once + written) {
    return {commit.remove_from, commit.remove_to};
  }
  return {remove_to, commit.remove_to};
}

// Returns how many stored chunks the cut leaves to be removed later. They are counted here, because
// their removal does not count them. In a sparse file this reads the number of each chunk, which
// costs less than their removal.
Result<int64_t> count_recorded(const Bucket& bucket, const bson::Value& id,
                               const FileCommit& commit, const Cut& cut) {
  const int64_t recorded = cut.recorded_to - cut.remove_to;
  if (recorded == 0 || !commit.was_sparse || !commit.stored_chunks) return recorded;
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, bucket.store().snapshot());
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            chunks_by_number(bucket.chunks(), *snapshot, id, cut.remove_to, cut.recorded_to));
  for (int64_t count = 0;; ++count) {
    GM_ASSIGN(const std::optional<bson::View> chunk, cursor->next());
    if (!chunk) return count;
  }
}

}  // namespace

namespace {

// Readers may wait for a short transaction. A commit of many bytes takes long, so it is not a short
// transaction in a store that only one process uses. Over a deployment, only short transactions run
// at the same time.
engine::TransactionKind kind_of(const FileCommit& commit, const engine::Store& store) {
  constexpr uint64_t kShortBytes = uint64_t{64} << 10;
  uint64_t bytes = 0;
  for (const CommittedChunk& chunk : commit.chunks) {
    bytes += chunk.changed.is_part_of(chunk.size) ? chunk.changed.bytes() : chunk.size;
  }
  const bool is_long = bytes > kShortBytes || commit.remove_from < commit.remove_to;
  return is_long && store.capabilities().exclusive ? engine::TransactionKind::kMayBlock
                                                   : engine::TransactionKind::kShort;
}

// Commits a file that was truncated by more chunks than one transaction removes and has grown
// beyond that point again. First commits the truncation, with the chunks before that point. Then
// removes the chunks that the truncation left, and commits the rest with a later uploadDate.
Status write_cut_and_growth(FileContext& context, const bson::Value& id, const ChunkLayout& layout,
                            int32_t chunk_bytes, FileCommit& commit) {
  FileCommit cut;
  cut.remove_from = commit.remove_from;
  cut.remove_to = commit.remove_to;
  cut.length = commit.remove_from * chunk_bytes;
  cut.chunk_bytes = commit.chunk_bytes;
  cut.upload_date = commit.upload_date;
  cut.expected_date = commit.expected_date;
  cut.may_meet_garbage = commit.may_meet_garbage;
  cut.sparse = commit.was_sparse;
  cut.was_sparse = commit.was_sparse;
  cut.stored_chunks = commit.stored_chunks;
  const auto rest =
      std::find_if(commit.chunks.begin(), commit.chunks.end(),
                   [&](const CommittedChunk& chunk) { return chunk.n >= commit.remove_from; });
  cut.chunks.assign(commit.chunks.begin(), rest);
  const Status written = write_commit(context, id, layout, chunk_bytes, cut);
  commit.unwritable = cut.unwritable;
  GM_TRY(written);
  commit.chunks.erase(commit.chunks.begin(), rest);
  commit.stored_chunks = cut.stored_chunks;
  if (commit.expected_date) commit.expected_date = cut.upload_date;
  commit.upload_date = std::max(*commit.upload_date, bson::Date{cut.upload_date->milliseconds + 1});
  // The truncation is in the store and must not be counted again if the caller repeats the commit.
  commit.cut_length = cut.length;
  commit.remove_from = 0;
  commit.remove_to = 0;
  GM_TRY(context.background_work.finish_truncated(id));
  return write_commit(context, id, layout, chunk_bytes, commit);
}

}  // namespace

Status write_commit(FileContext& context, const bson::Value& id, const ChunkLayout& layout,
                    int32_t chunk_bytes, FileCommit& commit) {
  const Bucket& bucket = context.bucket;
  const bool cuts = commit.remove_from < commit.remove_to;
  const bool has_content = cuts || !commit.chunks.empty();
  // New content has a new date, which shows that an md5 of the old content is outdated.
  GM_INVARIANT("F3", !has_content || (commit.upload_date && !commit.keep_md5),
               "the file with _id " + bson::to_json(id, bson::JsonForm::kRelaxed));
  // Chunks within the length are content, even if an earlier truncation marked them as garbage.
  const int64_t end = commit.length / chunk_bytes + (commit.length % chunk_bytes != 0 ? 1 : 0);
  if (const std::optional<int64_t> garbage = context.background_work.truncated_from(id)) {
    if (cuts || end > *garbage) GM_TRY(context.background_work.finish_truncated(id));
  }
  const Cut cut = plan_cut(commit, chunk_bytes);
  const bool notes = cut.remove_to < cut.recorded_to;
  if (notes && end > cut.remove_to) {
    return write_cut_and_growth(context, id, layout, chunk_bytes, commit);
  }
  // The caller holds the commit lock, so nobody else changes the file's chunks in the meantime.
  GM_ASSIGN(const int64_t recorded, count_recorded(bucket, id, commit, cut));
  if (notes) context.background_work.record_truncated(id, cut.remove_to);
  std::optional<int64_t> stored_chunks;
  // Another process may have truncated the file and not removed the chunks yet.
  bool meets_garbage = false;
  bool replaces_all = false;
  const auto write = [&]() -> Status {
    int64_t fewer = recorded;
    int64_t more = 0;
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction,
              bucket.store().begin(kind_of(commit, bucket.store())));
    // A transaction detects such a change when it updates the files document.
    if (commit.expected_date && !bucket.store().capabilities().transactions) {
      GM_TRY(check_unchanged(bucket, *transaction, id, *commit.expected_date));
    }
    if (commit.may_meet_garbage) {
      GM_ASSIGN(meets_garbage, bucket.has_garbage(*transaction, id));
      if (meets_garbage) return {};
    }
    if (commit.upload_date && context.options.adjust_upload_date) {
      GM_TRY(context.options.adjust_upload_date(bucket, *transaction, id, *commit.upload_date));
    }
    if (commit.remove_from < cut.remove_to) {
      GM_ASSIGN(const int64_t removed,
                bucket.chunks().remove(*transaction,
                                       chunk_range(id, commit.remove_from, cut.remove_to), true));
      fewer += removed;
    }
    if (notes) GM_TRY(bucket.record_truncated(*transaction, id, cut.remove_to, cut.recorded_to));
    ChunkWriter writer(bucket, *transaction, id, layout, replaces_all);
    for (const CommittedChunk& chunk : commit.chunks) {
      const Result<bool> is_new = writer.put(chunk);
      if (!is_new && chunk.is_partial && is_defect_of_chunk(is_new.error().code())) {
        commit.unwritable = chunk.n;
      }
      if (!is_new) return fail(is_new.error());
      more += *is_new ? 1 : 0;
    }
    GM_TRY(writer.finish());
    if (commit.stored_chunks) {
      stored_chunks = std::max<int64_t>(*commit.stored_chunks + more - fewer, 0);
    }
    GM_TRY(update_files_document(bucket, *transaction, id, files_update(commit, stored_chunks),
                                 commit.expected_date));
    return transaction->commit();
  };
  const auto write_with_retry = [&]() -> Status {
    Status written = with_retry(bucket.store(), write);
    // The store already has a chunk that should be new, and the error has ended the transaction.
    if (written || written.error().code() != ErrorCode::kDuplicateKey || replaces_all ||
        bucket.store().capabilities().continues_after_failed_writes) {
      return written;
    }
    replaces_all = true;
    return with_retry(bucket.store(), write);
  };
  GM_TRY(write_with_retry());
  while (meets_garbage) {
    GM_TRY(with_retry(bucket.store(), [&] { return bucket.reclaim_truncated(id); }));
    GM_TRY(write_with_retry());
  }
  commit.stored_chunks = stored_chunks;
  if (notes) context.background_work.start_truncated(id);
  return {};
}

Result<PosixFields> change_posix(const FileContext& context, const bson::Value& id,
                                 const PosixChange& change) {
  const Bucket& bucket = context.bucket;
  const bson::Document by_id = equals("_id", id);
  return with_retry(bucket.store(), [&]() -> Result<PosixFields> {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction,
              bucket.store().begin(engine::TransactionKind::kShort));
    std::optional<bson::View> document;
    for (engine::Collection* collection : {&bucket.files(), &bucket.detached()}) {
      GM_ASSIGN(document, collection->find_one(*transaction, by_id));
      if (document) break;
    }
    if (!document) return file_not_found(bucket, id);
    GM_ASSIGN(const FilesDocument file, FilesDocument::parse(*document));
    GM_ASSIGN(PosixFields changes, change(file.posix));
    const bson::Document update = posix_update(changes);
    if (update.view().empty()) return changes;
    GM_TRY(update_files_document(bucket, *transaction, id, update));
    GM_TRY(transaction->commit());
    return changes;
  });
}

Status write_posix(const FileContext& context, const bson::Value& id, const PosixFields& changes) {
  const bson::Document update = posix_update(changes);
  if (update.view().empty()) return {};
  engine::Store& store = context.bucket.store();
  return with_retry(store, [&]() -> Status {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction,
              store.begin(engine::TransactionKind::kShort));
    GM_TRY(update_files_document(context.bucket, *transaction, id, update));
    return transaction->commit();
  });
}

}  // namespace gridmount::gridfs
