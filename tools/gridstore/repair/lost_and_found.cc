#include "tools/gridstore/repair/lost_and_found.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/bucket/files_document.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/content/file.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// The limit for `original` in the new document. A larger files document goes to the keep folder.
constexpr uint32_t kOriginalBytesMax = 1024 * 1024;
// After this many attempts, a name is used even if another file has it.
constexpr int kNamesTried = 1000;

// A chunk whose n and data can be used.
struct UsableChunk {
  int64_t n;
  bson::Binary data;
};

std::optional<UsableChunk> usable(bson::View chunk) {
  const std::optional<bson::ValueView> n = chunk.find("n");
  const std::optional<bson::ValueView> data = chunk.find("data");
  const std::optional<int64_t> number = n ? n->integral() : std::nullopt;
  if (!number || *number < 0 || *number > std::numeric_limits<int32_t>::max() || !data ||
      data->type() != bson::Type::kBinary) {
    return std::nullopt;
  }
  return UsableChunk{*number, data->as_binary()};
}

std::optional<bson::ValueView> field(bson::View document, std::string_view name, bson::Type type) {
  const std::optional<bson::ValueView> value = document.find(name);
  return value && value->type() == type ? value : std::nullopt;
}

gridfs::BucketOptions lost_and_found_options() {
  gridfs::BucketOptions options;
  options.name = kLostAndFound;
  return options;
}

}  // namespace

LostAndFound::LostAndFound(RepairContext& context, const gridfs::Bucket& from,
                           const std::shared_ptr<engine::Database>& database)
    : context_(context), from_(from), to_(context.store, database, lost_and_found_options()) {}

Result<bool> LostAndFound::move(const ContentDamage::File& file) {
  const bson::Document by_id = gridfs::equals("_id", file.id);
  std::optional<RescuedFile> target;
  GM_ASSIGN(const ChunkFacts chunks, measure_chunks(file.id));
  GM_TRY(gridfs::with_retry(context_.store, [&]() -> Status {
    target.reset();
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
    GM_TRY(to_.ensure_indexes(*transaction));
    GM_ASSIGN(const std::optional<bson::View> found, from_.files().find_one(*transaction, by_id));
    if (!found || !is_as_judged(file, *found)) return {};
    const bson::Document document(*found);
    GM_ASSIGN(target, make_target(*transaction, file, document, chunks, /*is_original=*/true));
    // After the commit of this removal, nobody can write to the file.
    GM_TRY(remove_found(from_.files(), *transaction, by_id));
    return commit_kept(context_, *transaction);
  }));
  if (target) GM_TRY(move_rest(file, *target));
  return target.has_value();
}

Status LostAndFound::move_orphans(const Location& place, const bson::Value& files_id,
                                  const std::optional<std::string>& filename) {
  ContentDamage::File file{place, files_id, {}};
  file.place.file_id = files_id;
  file.place.filename = filename;
  file.verdict.problems.emplace_back("its files document is lost");
  bson::Builder named;
  if (filename) named.append("filename", *filename);
  const bson::Document document = std::move(named).finish();
  RescuedFile target;
  GM_ASSIGN(const ChunkFacts chunks, measure_chunks(file.id));
  GM_TRY(gridfs::with_retry(context_.store, [&]() -> Status {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
    GM_TRY(to_.ensure_indexes(*transaction));
    GM_ASSIGN(target, make_target(*transaction, file, document, chunks, /*is_original=*/false));
    return commit_kept(context_, *transaction);
  }));
  return move_rest(file, target);
}

Status LostAndFound::move_rest(const ContentDamage::File& file, RescuedFile& target) {
  GM_TRY(move_chunks(target));
  GM_TRY(finish(target));
  context_.findings.repaired(
      file.place, "moved to " + std::string(kLostAndFound) + " as " + in_quotes(target.filename) +
                      " with " + counted(static_cast<uint64_t>(target.chunks), "chunk") + ": " +
                      in_words(file.verdict.problems));
  return {};
}

Status LostAndFound::finish_interrupted() {
  while (true) {
    RescuedFile target;
    {
      GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context_.store.snapshot());
      bson::Builder filter;
      filter.append("metadata.lostAndFound.moving", true);
      filter.append("metadata.lostAndFound.bucket", from_.options().name);
      GM_ASSIGN(const std::optional<bson::View> found,
                to_.files().find_one(*snapshot, std::move(filter).finish()));
      if (!found) return {};
      GM_ASSIGN(const gridfs::FilesDocument document, gridfs::FilesDocument::parse(*found));
      target.id = document.id;
      target.chunk_bytes = document.chunk_bytes;
      target.length = document.length;
      target.filename = document.filename.value_or("");
      // The query has matched these fields, so they exist.
      target.old_id =
          bson::Value((*found)["metadata"].as_document()["lostAndFound"].as_document()["_id"]);
    }
    GM_TRY(move_chunks(target));
    GM_TRY(finish(target));
    Location place{from_.database().name(), from_.options().name, target.old_id, {}};
    context_.findings.repaired(place, "moved the rest to " + std::string(kLostAndFound) + " as " +
                                          in_quotes(target.filename));
  }
}

Result<LostAndFound::RescuedFile> LostAndFound::make_target(engine::Transaction& transaction,
                                                            const ContentDamage::File& file,
                                                            bson::View document,
                                                            const ChunkFacts& chunks,
                                                            bool is_original) {
  RescuedFile target;
  target.id = bson::Value(bson::ObjectId::generate());
  target.old_id = file.id;
  const Result<gridfs::FilesDocument> parsed = gridfs::FilesDocument::parse(document);
  if (parsed) {
    target.chunk_bytes = parsed->chunk_bytes;
    target.length = parsed->length;
  } else {
    const int64_t chunk_bytes = chunks.largest > 0 ? chunks.largest : gridfs::kDefaultChunkBytes;
    target.chunk_bytes =
        static_cast<int32_t>(std::clamp<int64_t>(chunk_bytes, 1, gridfs::kMaxChunkBytes));
  }
  target.length = std::max(target.length, chunks.end(target.chunk_bytes));

  const std::optional<bson::ValueView> filename = field(document, "filename", bson::Type::kString);
  GM_ASSIGN(
      target.filename,
      free_name(transaction, from_.options().name + "/" +
                                 (filename ? std::string(filename->as_string())
                                           : bson::to_json(file.id, bson::JsonForm::kRelaxed))));
  bson::Document made = target_document(target, file, document, is_original);
  if (document.size() > kOriginalBytesMax || !bson::validate(made.view().bytes())) {
    GM_TRY(context_.keep.keep_document(from_.files().ns(), document));
    made = target_document(target, file, document, false);
  }
  GM_TRY(to_.files().insert(transaction, made));
  return target;
}

bson::Document LostAndFound::target_document(const RescuedFile& target,
                                             const ContentDamage::File& file, bson::View original,
                                             bool with_original) const {
  const std::optional<bson::ValueView> date = field(original, "uploadDate", bson::Type::kDate);
  bson::Builder made;
  made.append("_id", target.id).append("length", target.length);
  made.append("chunkSize", target.chunk_bytes);
  made.append("uploadDate", date ? date->as_date() : date_of(file.id));
  made.append("filename", target.filename);
  made.open_document("metadata").append("sparse", true);
  const std::optional<bson::ValueView> metadata =
      field(original, "metadata", bson::Type::kDocument);
  if (metadata && with_original) {
    const std::optional<bson::ValueView> posix =
        field(metadata->as_document(), "posix", bson::Type::kDocument);
    if (posix) made.append("posix", *posix);
  }
  made.open_document("lostAndFound").append("bucket", from_.options().name);
  made.append("_id", file.id).append("moving", true);
  made.open_array("problems");
  for (const std::string& problem : file.verdict.problems) made.push(bson::Value(problem).view());
  made.close();
  if (with_original) made.append("original", original);
  made.close().close();
  return std::move(made).finish();
}

int64_t LostAndFound::ChunkFacts::end(int32_t chunk_bytes) const {
  if (last_n < 0) return 0;
  return std::min(last_n * chunk_bytes + std::min<int64_t>(last_bytes, chunk_bytes),
                  gridfs::max_file_bytes(chunk_bytes));
}

Result<LostAndFound::ChunkFacts> LostAndFound::measure_chunks(bson::ValueView id) {
  return gridfs::with_retry(context_.store, [&] { return measure_chunks_once(id); });
}

Result<LostAndFound::ChunkFacts> LostAndFound::measure_chunks_once(bson::ValueView id) {
  ChunkFacts chunks;
  engine::FindOptions options;
  options.partial = true;
  options.one_at_a_time = true;
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context_.store.snapshot());
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            from_.chunks().find(*snapshot, gridfs::equals("files_id", id), options));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> chunk, cursor->next());
    if (!chunk) return chunks;
    const std::optional<UsableChunk> found = usable(*chunk);
    if (!found) continue;
    const int64_t bytes = found->data.size;
    chunks.largest = std::max(chunks.largest, bytes);
    if (found->n < chunks.last_n) continue;
    chunks.last_bytes = found->n > chunks.last_n ? bytes : std::max(chunks.last_bytes, bytes);
    chunks.last_n = found->n;
  }
}

// Returns an unused name. Two files with one name would be revisions, and a mount would show only
// the newer one.
Result<std::string> LostAndFound::free_name(engine::Snapshot& snapshot, const std::string& wanted) {
  std::string name = wanted;
  for (int tried = 2; tried < kNamesTried; ++tried) {
    GM_ASSIGN(const std::optional<bson::View> taken,
              to_.files().find_one(snapshot, gridfs::equals("filename", bson::Value(name))));
    if (!taken) break;
    name = wanted + "~" + std::to_string(tried);
  }
  return name;
}

Status LostAndFound::move_chunks(RescuedFile& target) {
  const bson::Document by_file = gridfs::equals("files_id", target.old_id);
  while (true) {
    const uint64_t moved_before = target.chunks;
    GM_ASSIGN(const bool is_all, gridfs::with_retry(context_.store, [&]() -> Result<bool> {
                target.chunks = moved_before;
                GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction,
                          context_.store.begin());
                GM_ASSIGN(const std::vector<bson::Document> chunks,
                          some_chunks(from_, *transaction, by_file));
                if (chunks.empty()) return true;
                GM_ASSIGN(const bool is_anew, is_uploaded_anew(*transaction, target));
                if (is_anew) return true;
                for (const bson::Document& chunk : chunks) {
                  const bson::Document by_id = gridfs::equals("_id", chunk.view()["_id"]);
                  GM_TRY(move_chunk(*transaction, target, chunk));
                  GM_TRY(remove_found(from_.chunks(), *transaction, by_id));
                }
                GM_TRY(commit_kept(context_, *transaction));
                return false;
              }));
    if (is_all) return {};
  }
}

// Returns true if somebody has uploaded a file with the same _id since the damaged one was removed:
// meanwhile in a deployment, or in a store after an interrupted repair.
Result<bool> LostAndFound::is_uploaded_anew(engine::Transaction& transaction,
                                            const RescuedFile& target) {
  GM_ASSIGN(const std::optional<bson::View> file,
            from_.files().find_one(transaction, gridfs::equals("_id", target.old_id)));
  return file.has_value();
}

Status LostAndFound::move_chunk(engine::Transaction& transaction, RescuedFile& target,
                                bson::View chunk) {
  const std::optional<UsableChunk> found = usable(chunk);
  const int64_t bytes =
      found ? gridfs::bytes_of_chunk(found->n, target.length, target.chunk_bytes) : 0;
  if (bytes == 0 || found->data.size > bytes) {
    GM_TRY(context_.keep.keep_document(from_.chunks().ns(), chunk));
    if (bytes == 0) return {};
  }
  std::vector<uint8_t> content(static_cast<size_t>(bytes));
  const size_t taken = std::min<size_t>(content.size(), found->data.size);
  if (taken > 0) std::memcpy(content.data(), found->data.data, taken);
  bson::Builder moved;
  moved.append("_id", bson::ObjectId::generate()).append("files_id", target.id);
  moved.append("n", static_cast<int32_t>(found->n));
  moved.append("data", bson::Binary{0, content.data(), static_cast<uint32_t>(content.size())});
  // In a deployment a refused insertion would end the transaction.
  if (!context_.store.capabilities().exclusive) {
    bson::Builder same;
    same.append("files_id", target.id).append("n", static_cast<int32_t>(found->n));
    GM_ASSIGN(const std::optional<bson::View> same_place,
              to_.chunks().find_one(transaction, std::move(same).finish()));
    if (same_place) return context_.keep.keep_document(from_.chunks().ns(), chunk);
  }
  const auto inserted = to_.chunks().insert(transaction, std::move(moved).finish());
  if (!inserted && inserted.error().code() == ErrorCode::kDuplicateKey) {
    return context_.keep.keep_document(from_.chunks().ns(), chunk);
  }
  if (!inserted) return fail(inserted.error());
  ++target.chunks;
  return {};
}

Status LostAndFound::finish(const RescuedFile& target) {
  return gridfs::with_retry(context_.store, [&] { return finish_once(target); });
}

Status LostAndFound::finish_once(const RescuedFile& target) {
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
  // Also removes the marker of the chunks that remained after a truncation, because these chunks
  // have moved too.
  bson::Builder marker;
  marker.append("truncated", target.old_id);
  GM_TRY(from_.detached().remove(
      *transaction, gridfs::equals("_id", bson::Value(std::move(marker).finish().view())), false));
  bson::Builder update;
  update.open_document("$unset").append("metadata.lostAndFound.moving", "").close();
  GM_TRY(to_.files().update(*transaction, gridfs::equals("_id", target.id),
                            std::move(update).finish()));
  return commit_kept(context_, *transaction);
}

Result<std::vector<bson::Document>> some_chunks(const gridfs::Bucket& bucket,
                                                engine::Transaction& transaction,
                                                bson::View filter) {
  std::vector<bson::Document> chunks;
  uint64_t bytes = 0;
  engine::FindOptions options;
  options.one_at_a_time = true;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket.chunks().find(transaction, filter, options));
  while (chunks.size() < kRepairDocumentsMax && bytes < kRepairBytesMax) {
    GM_ASSIGN(const std::optional<bson::View> chunk, cursor->next());
    if (!chunk) break;
    bytes += chunk->size();
    chunks.emplace_back(*chunk);
  }
  return chunks;
}

bson::Date date_of(const bson::Value& id) {
  if (id.type() != bson::Type::kObjectId) return bson::Date::now();
  constexpr int64_t kMillisecondsPerSecond = 1000;
  return bson::Date{int64_t{id.view().as_object_id().seconds()} * kMillisecondsPerSecond};
}

std::string in_words(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : "; ") + problem;
  return text;
}

}  // namespace gridmount::tools
