#include "gridfs/content/open_files.h"

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/content/file_context.h"
#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {

std::shared_ptr<OpenFile> OpenFiles::find_locked(const bson::Value& id) const {
  const auto found = files_.find(id);
  return found == files_.end() ? nullptr : found->second.reference.lock();
}

std::shared_ptr<OpenFile> OpenFiles::find(bson::ValueView id) const {
  const bson::Value key(id);
  MutexLock lock(mutex_);
  return find_locked(key);
}

std::shared_ptr<OpenFile> OpenFiles::find_or_removal(const bson::Value& id,
                                                     uint64_t& removal) const {
  MutexLock lock(mutex_);
  const auto found = being_removed_.find(id);
  removal = found == being_removed_.end() ? 0 : found->second;
  return find_locked(id);
}

Result<std::shared_ptr<OpenFile>> OpenFiles::open(const std::shared_ptr<FileContext>& context,
                                                  bson::ValueView id, Purpose purpose) {
  const bson::Value key(id);
  // The lock is held while the files document is read. Otherwise another thread could open, change
  // and close the file in between, and this thread would continue with the old document.
  MutexLock opening(opening_[bson::ValueHash()(key) % kOpeningLocks]);
  while (true) {
    uint64_t removal = 0;
    if (std::shared_ptr<OpenFile> file = find_or_removal(key, removal)) {
      if (!bucket_.store().capabilities().exclusive) GM_TRY(refresh(*file));
      return file;
    }
    if (removal == 0) {
      const std::shared_ptr<ChunkCache>& cache = context->options.chunk_cache;
      const bool wants_chunk = purpose == Purpose::kReading && cache && cache->fetches_ahead();
      GM_ASSIGN(FirstChunkLookup::Found stored, find_stored(id, wants_chunk));
      if (!stored.file) return file_not_found(bucket_, id);
      GM_ASSIGN(FilesDocument document, FilesDocument::parse(*stored.file));
      // Declared before the lock, because the destructor of OpenFile takes the lock. It runs if the
      // table has no memory for the entry.
      auto opened = std::make_shared<OpenFile>(context, std::move(document));
      if (stored.chunk) opened->keep_first_chunk(std::move(stored.chunk));
      MutexLock lock(mutex_);
      // The caller may have given the id as another numeric type.
      if (std::shared_ptr<OpenFile> file = find_locked(opened->id())) return file;
      const auto found = being_removed_.find(key);
      if (found == being_removed_.end()) {
        files_[opened->id()] = OpenEntry{opened.get(), opened};
        return opened;
      }
      removal = found->second;
    }
    GM_TRY(wait_for_removal(key, removal));
  }
}

Result<FirstChunkLookup::Found> OpenFiles::find_stored(bson::ValueView id, bool wants_chunk) const {
  if (wants_chunk && first_chunk_lookup_.is_usable()) {
    GM_ASSIGN(std::optional<FirstChunkLookup::Found> both, first_chunk_lookup_.find(id));
    if (both) return *std::move(both);
  }
  FirstChunkLookup::Found found;
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, bucket_.store().short_snapshot());
  GM_ASSIGN(const std::optional<bson::View> document,
            bucket_.files().find_one(*snapshot, equals("_id", id)));
  if (document) found.file.emplace(*document);
  return found;
}

// A transaction that may not be committed yet has removed the file. This empty transaction waits
// for it. The other transaction may belong to the same commit group. In that case commit() returns
// once the whole group is visible, or has failed.
Status OpenFiles::wait_for_removal(const bson::Value& id, uint64_t removal) {
  {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, bucket_.store().begin());
    (void)transaction->commit();
  }
  MutexLock lock(mutex_);
  const auto found = being_removed_.find(id);
  if (found != being_removed_.end() && found->second == removal) being_removed_.erase(found);
  return {};
}

Status OpenFiles::refresh(OpenFile& file) const {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, bucket_.store().snapshot());
  GM_ASSIGN(const std::optional<bson::View> document,
            bucket_.files().find_one(*snapshot, equals("_id", file.id())));
  // An orphan has no document in `files`.
  if (!document) return {};
  GM_ASSIGN(const FilesDocument stored, FilesDocument::parse(*document));
  file.refresh(stored);
  return {};
}

Result<std::shared_ptr<OpenFile>> OpenFiles::open_detached(
    const std::shared_ptr<FileContext>& context, bson::View document) {
  GM_ASSIGN(std::shared_ptr<OpenFile> opened, open_new(context, document));
  opened->set_detached(true);
  return opened;
}

Result<std::shared_ptr<OpenFile>> OpenFiles::open_new(const std::shared_ptr<FileContext>& context,
                                                      bson::View document) {
  GM_ASSIGN(FilesDocument stored, FilesDocument::parse(document));
  constexpr bool kIsNew = true;
  auto opened = std::make_shared<OpenFile>(context, std::move(stored), kIsNew);
  MutexLock lock(mutex_);
  files_[opened->id()] = OpenEntry{opened.get(), opened};
  return opened;
}

void OpenFiles::closed(const OpenFile* file, const bson::Value& id) {
  MutexLock lock(mutex_);
  const auto found = files_.find(id);
  // Somebody may have opened the file again in the meantime.
  if (found != files_.end() && found->second.file == file) files_.erase(found);
}

void OpenFiles::end_removal(const FileRemoval& removal) {
  const auto found = being_removed_.find(removal.id);
  if (found != being_removed_.end() && found->second == removal.number) being_removed_.erase(found);
}

Status OpenFiles::remove(engine::Transaction& transaction, bson::ValueView id,
                         const bson::Document* document) {
  FileRemoval removal;
  removal.id = bson::Value(id);
  {
    MutexLock lock(mutex_);
    const auto found = files_.find(removal.id);
    if (found == files_.end() || found->second.reference.expired()) {
      removal.number = ++last_number_;
      being_removed_[removal.id] = removal.number;
    }
  }
  Status removed;
  if (removal.number == 0) {
    removal.detached = true;
    removed = document != nullptr ? bucket_.detach_document(transaction, *document)
                                  : bucket_.detach(transaction, id);
  } else {
    Result<bool> whole = document != nullptr ? bucket_.remove_document(transaction, *document)
                                             : bucket_.remove(transaction, removal.id);
    if (whole) {
      removal.detached = !*whole;
    } else {
      removed = fail(std::move(whole).error());
    }
  }
  MutexLock lock(mutex_);
  if (!removed) {
    end_removal(removal);
    return removed;
  }
  removals_[std::this_thread::get_id()].push_back(std::move(removal));
  return {};
}

std::vector<bson::Value> OpenFiles::orphans() const {
  std::vector<std::shared_ptr<OpenFile>> open;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, entry] : files_) {
      if (std::shared_ptr<OpenFile> file = entry.reference.lock()) open.push_back(std::move(file));
    }
  }
  std::vector<bson::Value> ids;
  for (const std::shared_ptr<OpenFile>& file : open) {
    if (file->is_detached()) ids.push_back(file->id());
  }
  return ids;
}

OpenFiles::Detached OpenFiles::after_commit() {
  Detached detached;
  std::vector<std::shared_ptr<OpenFile>> open;
  {
    MutexLock lock(mutex_);
    const auto found = removals_.find(std::this_thread::get_id());
    if (found == removals_.end()) return detached;
    for (const FileRemoval& removal : found->second) {
      end_removal(removal);
      if (!removal.detached) continue;
      if (std::shared_ptr<OpenFile> file = find_locked(removal.id)) {
        open.push_back(std::move(file));
      } else {
        detached.unreachable.push_back(removal.id);
      }
    }
    removals_.erase(found);
  }
  // set_detached() is called without the table's lock. A thread may hold the lock of a file while
  // it waits for a transaction that waits for the table's lock.
  for (const std::shared_ptr<OpenFile>& file : open) file->set_detached(true);
  detached.some_are_open = !open.empty();
  return detached;
}

void OpenFiles::give_up_removals() {
  MutexLock lock(mutex_);
  const auto found = removals_.find(std::this_thread::get_id());
  if (found == removals_.end()) return;
  for (const FileRemoval& removal : found->second) end_removal(removal);
  removals_.erase(found);
}

}  // namespace gridmount::gridfs
