// Removal of a bucket's files: small files at once, large files by way of `detached` and in slices.

#include <algorithm>
#include <limits>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/bucket.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/bucket/files_document.h"
#include "gridfs/bucket/upload_order.h"

namespace gridmount::gridfs {
namespace {

// The maximum that one transaction removes: enough to be worth a commit, but so little that other
// writers wait only a short time.
constexpr int64_t kSliceBytes = 16 * 1024 * 1024;
constexpr int64_t kSliceChunksMax = 1024;
constexpr int64_t kFilesMax = 1000;
// The ids of all files are in one filter, which has to fit in a document.
constexpr int64_t kIdBytesMax = 1024 * 1024;

constexpr std::string_view kTruncated = "truncated";
constexpr std::string_view kLeased = "leased";

bson::Value marker_id(bson::ValueView files_id) {
  bson::Builder builder;
  builder.append(kTruncated, files_id);
  return bson::Value(std::move(builder).finish().view());
}

// Returns the files_id of a marker, or nothing if the document is an orphaned file.
std::optional<bson::ValueView> truncated_file(bson::View detached) {
  const bson::ValueView id = detached["_id"];
  if (id.type() != bson::Type::kDocument || !detached.find("from") || detached.find("chunkSize")) {
    return std::nullopt;
  }
  return id.as_document().find(kTruncated);
}

void append_without_lease(bson::View document, bson::Builder& to) {
  for (const bson::Element field : document) {
    if (field.key != kLeased) to.append(field.key, field.value);
  }
}

int64_t slice_chunks(int64_t chunk_bytes) {
  return std::clamp<int64_t>(kSliceBytes / std::max<int64_t>(chunk_bytes, 1), 1, kSliceChunksMax);
}

int64_t chunk_bytes_of(bson::View files_document) {
  const std::optional<bson::ValueView> value = files_document.find("chunkSize");
  return value ? value->integral().value_or(kDefaultChunkBytes) : kDefaultChunkBytes;
}

// Returns whether the file is removed by way of `detached`. A document that cannot be parsed is
// treated as a large file, whose chunks are removed as they are found.
bool is_large(bson::View files_document) {
  const Result<FilesDocument> file = FilesDocument::parse(files_document);
  return !file || file->chunk_count() > kChunksDeletedAtOnce;
}

// Returns {`field`: {$in: `values`}}.
bson::Document any_of(std::string_view field, const std::vector<bson::Value>& values) {
  bson::Builder filter;
  bson::Builder& in = filter.open_document(field).open_array("$in");
  for (const bson::Value& value : values) in.push(value);
  in.close().close();
  return std::move(filter).finish();
}

// Divides ids among filters, none of which is too large.
std::vector<std::vector<bson::Value>> batches_of(const std::vector<bson::Value>& ids) {
  std::vector<std::vector<bson::Value>> batches;
  int64_t files = kFilesMax;
  int64_t id_bytes = 0;
  for (const bson::Value& id : ids) {
    const auto size = static_cast<int64_t>(id.view().size());
    if (files == kFilesMax || id_bytes + size > kIdBytesMax) {
      batches.emplace_back();
      files = id_bytes = 0;
    }
    batches.back().push_back(id);
    ++files;
    id_bytes += size;
  }
  return batches;
}

// Adds up what one transaction removes.
class BatchSize {
 public:
  // Returns false, and adds nothing, if the file would make the transaction too large.
  bool add(bson::View files_document) {
    int64_t chunks = 0;
    int64_t bytes = 0;
    if (!is_large(files_document)) {
      const Result<FilesDocument> file = FilesDocument::parse(files_document);
      chunks = file->chunk_count();
      bytes = file->length;
    }
    const auto id_bytes = static_cast<int64_t>(files_document["_id"].size());
    const bool fits = files_ < kFilesMax && chunks_ + chunks <= kSliceChunksMax &&
                      bytes_ + bytes <= kSliceBytes && id_bytes_ + id_bytes <= kIdBytesMax;
    if (!fits) return false;
    ++files_;
    chunks_ += chunks;
    bytes_ += bytes;
    id_bytes_ += id_bytes;
    return true;
  }

 private:
  int64_t files_ = 0;
  int64_t chunks_ = 0;
  int64_t bytes_ = 0;
  int64_t id_bytes_ = 0;
};

}  // namespace

Status Bucket::remove(bson::ValueView id) const {
  {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    GM_ASSIGN(const bool whole, remove(*transaction, id));
    GM_TRY(transaction->commit());
    if (whole) return {};
  }
  return reclaim(id);
}

Result<bool> Bucket::remove(engine::Transaction& transaction, bson::ValueView id) const {
  GM_ASSIGN(const bson::Document document, read_file(transaction, id));
  return remove_document(transaction, document);
}

// Returns a copy, because writes invalidate views.
Result<bson::Document> Bucket::read_file(engine::Transaction& transaction,
                                         bson::ValueView id) const {
  GM_ASSIGN(const std::optional<bson::View> document,
            files_->find_one(transaction, equals("_id", id)));
  if (!document) return file_not_found(*this, id);
  return bson::Document(*document);
}

Result<bool> Bucket::remove_document(engine::Transaction& transaction,
                                     const bson::Document& files_document) const {
  const bson::ValueView id = files_document.view()["_id"];
  GM_ASSIGN(const bool is_marked, has_garbage(transaction, id));
  if (is_marked || is_large(files_document)) {
    GM_TRY(detach_document(transaction, files_document));
    return false;
  }
  GM_TRY(remove_links(transaction, files_document));
  GM_TRY(files_->remove(transaction, equals("_id", id), false));
  GM_TRY(chunks_->remove(transaction, equals("files_id", id), true));
  return true;
}

Status Bucket::remove_links(engine::Transaction& transaction, bson::View files_document) const {
  if (recorded_links(files_document) == 0) return {};
  GM_TRY(links_->remove(transaction, equals("file", bson::Value(files_document["_id"])), true));
  return {};
}

Status Bucket::remove_by_name(std::string_view filename) const {
  std::vector<std::vector<bson::Value>> batches;
  {
    engine::FindOptions options;
    options.sort = oldest_first();
    options.one_at_a_time = true;
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              files_->find(*snapshot, equals("filename", bson::Value(filename)), options));
    BatchSize size;
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      if (!document) break;
      if (!size.add(*document) || batches.empty()) {
        batches.emplace_back();
        size = BatchSize();
        (void)size.add(*document);
      }
      batches.back().emplace_back((*document)["_id"]);
    }
  }
  if (batches.empty()) {
    return fail(kFileNotFound,
                "bucket '" + options_.name + "': no file is named '" + std::string(filename) + "'");
  }
  for (const std::vector<bson::Value>& batch : batches) {
    GM_ASSIGN(const std::vector<bson::Value> large, remove_batch(filename, batch));
    for (const bson::Value& id : large) GM_TRY(reclaim(id));
  }
  return {};
}

// A client of a server may have to wait for each call, so the number of calls does not depend on
// the number of files, except for large files.
Result<std::vector<bson::Value>> Bucket::remove_batch(std::string_view filename,
                                                      const std::vector<bson::Value>& ids) const {
  std::vector<bson::Value> whole;
  std::vector<bson::Value> large;
  std::vector<bson::Value> linked;
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
  std::vector<bson::Value> marker_ids;
  for (const bson::Value& id : ids) marker_ids.push_back(marker_id(id));
  std::vector<bson::Value> marked;
  {
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              detached_->find(*transaction, any_of("_id", marker_ids)));
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> marker, cursor->next());
      if (!marker) break;
      if (const auto file = truncated_file(*marker)) marked.emplace_back(*file);
    }
  }
  {
    bson::Builder filter;
    filter.append_all(any_of("_id", ids)).append("filename", filename);
    const bson::Document named = std::move(filter).finish();
    engine::FindOptions by_id;
    by_id.hint = bson::Value("_id_");
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              files_->find(*transaction, named, by_id));
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      if (!document) break;
      const bson::ValueView id = (*document)["_id"];
      const bool has_marker = std::any_of(marked.begin(), marked.end(), [&](bson::ValueView other) {
        return bson::compare(other, id) == 0;
      });
      if (has_marker || is_large(*document)) {
        large.emplace_back(id);
        continue;
      }
      whole.emplace_back(id);
      if (recorded_links(*document) != 0) linked.emplace_back(id);
    }
  }
  if (!linked.empty()) GM_TRY(links_->remove(*transaction, any_of("file", linked), true));
  if (!whole.empty()) {
    GM_TRY(files_->remove(*transaction, any_of("_id", whole), true));
    GM_TRY(chunks_->remove(*transaction, any_of("files_id", whole), true));
  }
  for (const bson::Value& id : large) GM_TRY(detach(*transaction, id));
  GM_TRY(transaction->commit());
  return large;
}

Status Bucket::detach(engine::Transaction& transaction, bson::ValueView id) const {
  GM_ASSIGN(const bson::Document document, read_file(transaction, id));
  return detach_document(transaction, document);
}

Status Bucket::detach_document(engine::Transaction& transaction,
                               const bson::Document& files_document) const {
  const bson::ValueView id = files_document.view()["_id"];
  GM_TRY(remove_links(transaction, files_document));
  // reclaim() will remove all chunks, including those after the end of the file.
  GM_TRY(remove_marker(transaction, id));
  GM_TRY(detached_->insert(transaction, as_orphan(files_document)));
  GM_TRY(files_->remove(transaction, equals("_id", id), false));
  return {};
}

bson::Document Bucket::as_orphan(bson::View files_document) const {
  bson::Builder orphan;
  append_without_lease(files_document, orphan);
  if (!store_.capabilities().exclusive) orphan.append(kLeased, bson::Date::now());
  return std::move(orphan).finish();
}

bson::Document without_lease(bson::View orphan) {
  bson::Builder document;
  append_without_lease(orphan, document);
  return std::move(document).finish();
}

Status Bucket::renew_leases(const std::vector<bson::Value>& ids) const {
  bson::Builder set;
  set.open_document("$set").append(kLeased, bson::Date::now()).close();
  const bson::Document update = std::move(set).finish();
  engine::UpdateOptions all;
  all.multi = true;
  for (const std::vector<bson::Value>& batch : batches_of(ids)) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    GM_TRY(detached_->update(*transaction, any_of("_id", batch), update, all));
    GM_TRY(transaction->commit());
  }
  return {};
}

Status Bucket::reclaim_expired() const {
  const bson::Date expired{bson::Date::now().milliseconds -
                           std::chrono::milliseconds(kOrphanLease).count()};
  GM_ASSIGN(const Detached detached, read_detached());
  std::vector<bson::Value> without_leases;
  for (const Orphan& orphan : detached.orphans) {
    if (!orphan.leased) without_leases.push_back(orphan.id);
  }
  GM_TRY(renew_leases(without_leases));
  for (const bson::Value& id : detached.truncated) GM_TRY(reclaim_truncated(id));
  for (const Orphan& orphan : detached.orphans) {
    if (orphan.leased && *orphan.leased < expired) GM_TRY(reclaim(orphan.id));
  }
  return {};
}

Result<bool> Bucket::has_garbage(engine::Snapshot& snapshot, bson::ValueView id) const {
  GM_ASSIGN(const std::optional<bson::View> marker,
            detached_->find_one(snapshot, equals("_id", marker_id(id))));
  return marker.has_value();
}

Status Bucket::reclaim(bson::ValueView id) const {
  const bson::Value key(id);  // `id` may point into a document that is removed here
  const bson::Document by_id = equals("_id", key);
  const bson::Document by_file = equals("files_id", key);
  bson::Builder order;
  order.append("n", int32_t{1});
  const bson::Document sort = std::move(order).finish();
  engine::FindOptions lowest;
  lowest.sort = sort;
  lowest.partial = true;
  while (true) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    // Each transaction checks that the file is still in `detached`: only then are its chunks
    // garbage.
    GM_ASSIGN(const std::optional<bson::View> file, detached_->find_one(*transaction, by_id));
    if (!file) return {};
    const int64_t slice = slice_chunks(chunk_bytes_of(*file));
    GM_ASSIGN(const std::optional<bson::View> chunk,
              chunks_->find_one(*transaction, by_file, lowest));
    if (!chunk) {
      GM_TRY(detached_->remove(*transaction, by_id, false));
      return transaction->commit();
    }
    const bson::Value chunk_id((*chunk)["_id"]);
    const std::optional<bson::ValueView> n = chunk->find("n");
    const int64_t first = n ? n->integral().value_or(0) : 0;
    constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
    const int64_t end = first > kLargest - slice ? kLargest : first + slice;
    GM_ASSIGN(const int64_t removed,
              chunks_->remove(*transaction, chunk_range(key, first, end), true));
    if (removed == 0) {
      // The chunk's n is not a whole number, or is the largest one.
      GM_TRY(chunks_->remove(*transaction, equals("_id", chunk_id), false));
    }
    GM_TRY(transaction->commit());
  }
}

Status Bucket::record_truncated(engine::Transaction& transaction, bson::ValueView id, int64_t from,
                                int64_t to) const {
  bson::Builder marker;
  marker.append("_id", marker_id(id)).append("from", from).append("to", to);
  GM_TRY(detached_->insert(transaction, std::move(marker).finish()));
  return {};
}

Status Bucket::remove_marker(engine::Transaction& transaction, bson::ValueView id) const {
  GM_TRY(detached_->remove(transaction, equals("_id", marker_id(id)), false));
  return {};
}

Result<int64_t> Bucket::end_of_stored(engine::Transaction& transaction, const bson::Value& id,
                                      int64_t from, int64_t to) const {
  static const bson::Document kHighestFirst = [] {
    bson::Builder order;
    order.append("n", int32_t{-1});
    return std::move(order).finish();
  }();
  engine::FindOptions highest;
  highest.sort = kHighestFirst;
  highest.partial = true;
  GM_ASSIGN(const std::optional<bson::View> chunk,
            chunks_->find_one(transaction, chunk_range(id, from, to), highest));
  const std::optional<bson::ValueView> n = chunk ? chunk->find("n") : std::nullopt;
  return n ? n->integral().value_or(to - 1) + 1 : from;
}

Status Bucket::reclaim_truncated(bson::ValueView id) const {
  const bson::Value key(id);
  const bson::Document by_marker = equals("_id", marker_id(key));
  while (true) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    // Each transaction checks the marker: after the removal of the marker, the file may have new
    // chunks in that range.
    GM_ASSIGN(const std::optional<bson::View> marker, detached_->find_one(*transaction, by_marker));
    if (!marker) return {};
    const int64_t from = (*marker)["from"].integral().value_or(0);
    const int64_t to = (*marker)["to"].integral().value_or(from);
    GM_ASSIGN(const std::optional<bson::View> file,
              files_->find_one(*transaction, equals("_id", key)));
    const int64_t slice = slice_chunks(file ? chunk_bytes_of(*file) : kDefaultChunkBytes);
    // Removes the chunks from the end, so that [from, to) is always the range that is left. The
    // search for the end skips the missing chunks of a sparse file.
    GM_ASSIGN(const int64_t end, end_of_stored(*transaction, key, from, to));
    const int64_t first = std::max(from, end - slice);
    GM_TRY(chunks_->remove(*transaction, chunk_range(key, first, end), true));
    if (first == from) {
      GM_TRY(detached_->remove(*transaction, by_marker, false));
      return transaction->commit();
    }
    bson::Builder update;
    update.open_document("$set").append("to", first).close();
    GM_TRY(detached_->update(*transaction, by_marker, std::move(update).finish()));
    GM_TRY(transaction->commit());
  }
}

Status Bucket::reclaim_all() const {
  GM_ASSIGN(const Detached detached, read_detached());
  for (const bson::Value& id : detached.truncated) GM_TRY(reclaim_truncated(id));
  for (const Orphan& orphan : detached.orphans) GM_TRY(reclaim(orphan.id));
  return {};
}

Result<Bucket::Detached> Bucket::read_detached() const {
  Detached detached;
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            detached_->find(*snapshot, bson::View(), {.one_at_a_time = true}));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return detached;
    if (const std::optional<bson::ValueView> file = truncated_file(*document)) {
      detached.truncated.emplace_back(*file);
      continue;
    }
    Orphan orphan{bson::Value((*document)["_id"]), std::nullopt};
    const std::optional<bson::ValueView> leased = document->find(kLeased);
    if (leased && leased->type() == bson::Type::kDate) orphan.leased = leased->as_date();
    detached.orphans.push_back(std::move(orphan));
  }
}

}  // namespace gridmount::gridfs
