#include "gridfs/bucket/upload_stream.h"

#include <algorithm>
#include <cstring>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/bucket/md5.h"
#include "gridfs/bucket/retry.h"

namespace gridmount::gridfs {
namespace {

// The size of one transaction: as many chunks as fit, at least one.
constexpr size_t kBatchBytes = 4 * 1024 * 1024;

class BucketUploadStream final : public UploadStream {
 public:
  BucketUploadStream(const Bucket& bucket, std::string_view filename, const UploadOptions& options,
                     int32_t chunk_bytes)
      : bucket_(bucket),
        filename_(filename),
        metadata_(options.metadata),
        content_type_(options.content_type),
        aliases_(options.aliases),
        upload_date_min_(options.upload_date_min),
        before_commit_(options.before_commit),
        id_(options.id.value_or(bson::Value(bson::ObjectId::generate()))),
        id_is_given_(options.id.has_value()),
        chunk_bytes_(chunk_bytes),
        layout_(id_, chunk_bytes),
        batch_chunks_(std::max<size_t>(1, kBatchBytes / layout_.capacity())) {
    if (bucket.options().md5 && Md5::available()) md5_.emplace();
  }

  ~BucketUploadStream() override {
    if (!ended_) (void)abort();
  }

  const bson::Value& id() const override { return id_; }

  Status write(std::span<const uint8_t> data) override {
    GM_TRY(check_open());
    if (static_cast<uint64_t>(length_) + data.size() >
        static_cast<uint64_t>(max_file_bytes(chunk_bytes_))) {
      return fail(kFileTooLarge, "uploading '" + filename_ + "': chunks of " +
                                     std::to_string(chunk_bytes_) +
                                     " bytes make files of at most " +
                                     std::to_string(max_file_bytes(chunk_bytes_)) + " bytes");
    }
    while (!data.empty()) {
      if (filled_ == 0 && chunks_.size() == batch_chunks_) {
        if (Status written = write_batch(); !written) return broken(std::move(written).error());
      }
      if (filled_ == 0) add_chunk();
      const size_t part = std::min<size_t>(data.size(), chunk_bytes_ - filled_);
      std::memcpy(chunks_.back().get() + layout_.header_bytes() + filled_, data.data(), part);
      if (md5_) md5_->update(data.first(part));
      filled_ += static_cast<uint32_t>(part);
      length_ += static_cast<int64_t>(part);
      if (filled_ == static_cast<uint32_t>(chunk_bytes_)) filled_ = 0;
      data = data.subspan(part);
    }
    return {};
  }

  Status close(engine::Durability durability) override {
    GM_TRY(check_open());
    Status closed = with_retry_in_transactions([&] { return finish(durability); });
    if (!closed) return broken(std::move(closed).error());
    ended_ = true;
    chunks_.clear();
    return {};
  }

  Status abort() override {
    if (ended_) return closed_error();
    ended_ = true;
    chunks_.clear();
    return detached_ ? bucket_.reclaim(id_) : Status();
  }

 private:
  tl::unexpected<Error> closed_error() const {
    return fail(kStreamClosed, "uploading '" + filename_ + "': the stream has been closed");
  }

  Status check_open() const {
    if (ended_) return closed_error();
    if (error_) return fail(*error_);
    return {};
  }

  // After a failure, an unknown part of the data is stored. Only abort() is allowed then.
  tl::unexpected<Error> broken(Error error) {
    error_ = error;
    return fail(std::move(error).with_context("uploading '" + filename_ + "'"));
  }

  void add_chunk() {
    // Reuses the buffers of the last batch.
    std::unique_ptr<uint8_t[]> buffer;
    if (spare_.empty()) {
      buffer = std::make_unique_for_overwrite<uint8_t[]>(layout_.capacity());
    } else {
      buffer = std::move(spare_.back());
      spare_.pop_back();
    }
    layout_.begin(buffer.get(), bson::ObjectId::generate());
    chunks_.push_back(std::move(buffer));
  }

  Status insert_chunks(engine::Transaction& transaction) {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      const int64_t n = written_ + static_cast<int64_t>(i);
      const bson::View document = layout_.finish(chunks_[i].get(), static_cast<int32_t>(n),
                                                 bytes_of_chunk(n, length_, chunk_bytes_));
      GM_TRY(bucket_.chunks().insert(transaction, document));
    }
    return {};
  }

  void drop_batch() {
    written_ += static_cast<int64_t>(chunks_.size());
    for (std::unique_ptr<uint8_t[]>& buffer : chunks_) spare_.push_back(std::move(buffer));
    chunks_.clear();
  }

  // Checks that no other file, complete or being uploaded, has the given id.
  Status check_id_is_free(engine::Transaction& transaction) {
    const bson::Document by_id = equals("_id", id_);
    for (engine::Collection* collection : {&bucket_.files(), &bucket_.detached()}) {
      GM_ASSIGN(const std::optional<bson::View> taken, collection->find_one(transaction, by_id));
      if (taken) {
        return fail(ErrorCode::kDuplicateKey, collection->ns().full() + " has a file with _id " +
                                                  bson::to_json(id_, bson::JsonForm::kRelaxed) +
                                                  " already");
      }
    }
    return {};
  }

  Status renew_lease() {
    leased_at_ = std::chrono::steady_clock::now();
    if (bucket_.store().capabilities().exclusive) return {};
    return bucket_.renew_leases({id_});
  }

  // Repeats `attempt`, which is one transaction, as with_retry() does. In a store without
  // transactions it runs once, because a failed attempt may have left some of its writes.
  template <typename Attempt>
  Status with_retry_in_transactions(const Attempt& attempt) {
    const engine::Store& store = bucket_.store();
    return store.capabilities().transactions ? with_retry(store, attempt) : attempt();
  }

  Status write_batch() {
    // An upload may take longer than a lease.
    if (detached_ && std::chrono::steady_clock::now() - leased_at_ > kLeaseInterval) {
      GM_TRY(renew_lease());
    }
    GM_TRY(with_retry_in_transactions([&] { return commit_batch(); }));
    detached_ = true;
    drop_batch();
    return {};
  }

  Status commit_batch() {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, bucket_.store().begin());
    if (!detached_) {
      leased_at_ = std::chrono::steady_clock::now();
      if (id_is_given_) GM_TRY(check_id_is_free(*transaction));
      GM_TRY(bucket_.detached().insert(*transaction, bucket_.as_orphan(files_document())));
    }
    GM_TRY(insert_chunks(*transaction));
    return transaction->commit();
  }

  Status finish(engine::Durability durability) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, bucket_.store().begin());
    if (detached_) {
      GM_ASSIGN(const int64_t removed,
                bucket_.detached().remove(*transaction, equals("_id", id_), false));
      // Without the orphan, the chunks are gone too. A deployment may not say how many documents it
      // has removed.
      if (removed == 0 && bucket_.store().capabilities().exclusive) {
        return fail(file_deleted(bucket_, id_));
      }
    } else if (id_is_given_) {
      GM_TRY(check_id_is_free(*transaction));
    }
    GM_TRY(insert_chunks(*transaction));
    if (before_commit_) {
      GM_ASSIGN(CommitFields fields, before_commit_(*transaction));
      metadata_ = std::move(fields.metadata);
      upload_date_min_ = fields.upload_date_min;
    }
    GM_TRY(bucket_.files().insert(*transaction, files_document()));
    return transaction->commit(durability);
  }

  // Returns the present files document. Optional fields are left out unless the caller asked for
  // them.
  bson::Document files_document() const {
    bson::Builder builder;
    builder.append("_id", id_).append("length", length_).append("chunkSize", chunk_bytes_);
    const bson::Date now = bson::Date::now();
    builder.append("uploadDate", std::max(now, upload_date_min_.value_or(now)));
    if (md5_) builder.append("md5", md5_->hex());
    builder.append("filename", filename_);
    if (content_type_) builder.append("contentType", *content_type_);
    if (!aliases_.view().empty()) builder.append_array("aliases", aliases_);
    if (!metadata_.view().empty()) builder.append("metadata", metadata_);
    return std::move(builder).finish();
  }

  const Bucket& bucket_;
  const std::string filename_;
  bson::Document metadata_;
  const std::optional<std::string> content_type_;
  const bson::Document aliases_;
  std::optional<bson::Date> upload_date_min_;
  const std::function<Result<CommitFields>(engine::Transaction&)> before_commit_;
  const bson::Value id_;
  const bool id_is_given_;
  const int32_t chunk_bytes_;
  const ChunkLayout layout_;
  const size_t batch_chunks_;

  std::optional<Md5> md5_;
  int64_t length_ = 0;
  int64_t written_ = 0;  // number of chunks in the store
  std::vector<std::unique_ptr<uint8_t[]>> chunks_;
  std::vector<std::unique_ptr<uint8_t[]>> spare_;
  uint32_t filled_ = 0;  // bytes in the last of chunks_; 0 if the next byte begins a chunk
  static constexpr std::chrono::hours kLeaseInterval{1};
  bool detached_ = false;
  std::chrono::steady_clock::time_point leased_at_;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace

std::unique_ptr<UploadStream> make_upload_stream(const Bucket& bucket, std::string_view filename,
                                                 const UploadOptions& options,
                                                 int32_t chunk_bytes) {
  return std::make_unique<BucketUploadStream>(bucket, filename, options, chunk_bytes);
}

}  // namespace gridmount::gridfs
