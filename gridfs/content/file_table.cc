// Implements FileTable with a FileContext.

#include "gridfs/bucket/error.h"
#include "gridfs/content/file.h"
#include "gridfs/content/file_context.h"
#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {
namespace {

class BucketFileTable final : public FileTable {
 public:
  BucketFileTable(const Bucket& bucket, const FileTableOptions& options)
      : context_(std::make_shared<FileContext>(bucket, options)) {}
  ~BucketFileTable() override { (void)close(std::chrono::milliseconds(0)); }

  Result<std::shared_ptr<File>> open(bson::ValueView id) override {
    return open(id, OpenFiles::Purpose::kAny);
  }
  Result<std::shared_ptr<File>> open_to_read(bson::ValueView id) override {
    return open(id, OpenFiles::Purpose::kReading);
  }

  std::shared_ptr<File> find(bson::ValueView id) override { return context_->open_files.find(id); }

  void refresh(bson::View document) override {
    const std::shared_ptr<OpenFile> file = context_->open_files.find(document["_id"]);
    if (!file) return;
    if (const Result<FilesDocument> stored = FilesDocument::parse(document)) file->refresh(*stored);
  }

  Result<std::shared_ptr<File>> open_detached(bson::View document) override {
    GM_ASSIGN(std::shared_ptr<OpenFile> file,
              context_->open_files.open_detached(context_, document));
    return std::shared_ptr<File>(std::move(file));
  }

  Result<std::shared_ptr<File>> open_new(bson::View document) override {
    GM_ASSIGN(std::shared_ptr<OpenFile> file, context_->open_files.open_new(context_, document));
    return std::shared_ptr<File>(std::move(file));
  }

  void set_attached(bson::ValueView id) override {
    if (const auto file = context_->open_files.find(id)) file->set_detached(false);
  }

  Status remove(engine::Transaction& transaction, bson::ValueView id,
                const bson::Document* document) override {
    return context_->open_files.remove(transaction, id, document);
  }

  void after_commit() override {
    const OpenFiles::Detached detached = context_->open_files.after_commit();
    for (const bson::Value& id : detached.unreachable) context_->background_work.reclaim(id);
    if (detached.unreachable.empty() && !detached.some_are_open) return;
    if (context_->is_room_scarce()) context_->reclaim_removed_files();
  }

  void give_up_removals() override { context_->open_files.give_up_removals(); }

  void keep_leases() override { context_->leases.start(); }

  Status flush_all(engine::Durability durability) override {
    Status first;
    for (const std::shared_ptr<OpenFile>& file : context_->writeback.dirty_files()) {
      Status flushed = file->flush();
      if (!flushed && first) first = std::move(flushed);
    }
    if (durability == engine::Durability::kDurable && first) {
      return context_->bucket.store().make_durable();
    }
    return first;
  }

  Status close(std::chrono::milliseconds md5_patience) override {
    if (std::exchange(closed_, true)) return {};
    Status flushed = flush_all(engine::Durability::kCommitted);
    // The chunks of removed files may still occupy the space. A store may make freed space usable
    // only after a commit has failed, so there is a second attempt after the chunks are removed.
    constexpr int kMoreAttempts = 2;
    for (int i = 0; i < kMoreAttempts && !flushed; ++i) {
      if (flushed.error().code() != ErrorCode::kOutOfDiskSpace) break;
      context_->background_work.stop();
      flushed = flush_all(engine::Durability::kCommitted);
    }
    if (md5_patience.count() > 0) context_->background_work.finish_md5(md5_patience);
    context_->writeback.stop();
    context_->background_work.stop();
    context_->leases.stop();
    return flushed;
  }

  uint64_t dirty_bytes() const override { return context_->memory->bytes_in_use(); }

 private:
  Result<std::shared_ptr<File>> open(bson::ValueView id, OpenFiles::Purpose purpose) {
    GM_ASSIGN(std::shared_ptr<OpenFile> file, context_->open_files.open(context_, id, purpose));
    return std::shared_ptr<File>(std::move(file));
  }

  const std::shared_ptr<FileContext> context_;
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<FileTable> FileTable::create(const Bucket& bucket,
                                             const FileTableOptions& options) {
  return std::make_unique<BucketFileTable>(bucket, options);
}

}  // namespace gridmount::gridfs
