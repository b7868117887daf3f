#include "gridfs/content/writeback.h"

#include <new>

#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {
namespace {

// The time that a writer that waits for memory sleeps between two attempts.
constexpr std::chrono::milliseconds kMemoryPatience{20};
// Memory kept for reuse returns to the system if no buffer was requested for this long.
constexpr std::chrono::seconds kTrimInterval{5};

// How long release_removed() waits for the background thread before it counts the references again.
constexpr std::chrono::milliseconds kRecountInterval{10};

// The references to a file that nobody has open: those of dirty_ and of the caller. A thread that
// holds another reference keeps the file alive itself.
constexpr long kListAndCaller = 2;
// The references to a file that nobody has open and that is being committed in the background,
// without that of dirty_.
constexpr long kCallerAndWorker = 2;

}  // namespace

Writeback::Writeback(ChunkMemory& memory, std::chrono::milliseconds interval)
    : memory_(memory),
      interval_(interval),
      thread_("gm-writeback", BackgroundThread::Priority::kNormal, [this] { return work(); }) {}

void Writeback::add(std::shared_ptr<OpenFile> file) {
  const Clock::time_point due = Clock::now() + interval_;
  {
    MutexLock lock(mutex_);
    if (is_worker() && is_at_work_on(file)) worker_has_reference_of_list_ = false;
    if (stopped_) return;
    const OpenFile* const key = file.get();
    const auto [place, is_new] = dirty_.try_emplace(key);
    if (!is_new) return;
    try {
      by_due_.emplace(due, key);
    } catch (const std::bad_alloc&) {
      dirty_.erase(place);
      throw;
    }
    place->second = {std::move(file), due};
  }
  thread_.wake_by(due);
}

std::shared_ptr<OpenFile> Writeback::remove(const OpenFile* file) {
  MutexLock lock(mutex_);
  return remove_locked(file);
}

std::shared_ptr<OpenFile> Writeback::remove_if_unused(const OpenFile* file) {
  MutexLock lock(mutex_);
  const auto found = dirty_.find(file);
  if (found == dirty_.end() || found->second.file.use_count() > kListAndCaller) return nullptr;
  return remove_locked(file);
}

std::shared_ptr<OpenFile> Writeback::remove_locked(const OpenFile* file) {
  const auto found = dirty_.find(file);
  if (found == dirty_.end()) return nullptr;
  std::shared_ptr<OpenFile> reference = std::move(found->second.file);
  by_due_.erase({found->second.due, file});
  dirty_.erase(found);
  if (is_worker() && is_at_work_on(reference)) worker_has_reference_of_list_ = true;
  return reference;
}

bool Writeback::is_worker() const {
  return worker_ == std::this_thread::get_id();
}

bool Writeback::is_at_work_on(const std::shared_ptr<OpenFile>& file) const {
  // Compares without taking a reference, which would count.
  return at_work_ && !at_work_on_.owner_before(file) && !file.owner_before(at_work_on_);
}

void Writeback::set_due(const OpenFile* file, Clock::time_point due) {
  Dirty& dirty = dirty_.at(file);
  by_due_.erase({dirty.due, file});
  dirty.due = due;
  by_due_.emplace(due, file);
}

void Writeback::hurry(const OpenFile* file) {
  {
    MutexLock lock(mutex_);
    const auto found = dirty_.find(file);
    if (found == dirty_.end()) return;
    const Clock::time_point now = Clock::now();
    if (found->second.due <= now) return;
    set_due(file, now);
  }
  thread_.wake();
}

void Writeback::release_removed() {
  {
    MutexLock lock(mutex_);
    if (is_worker()) return;
  }
  MutexLock lock(releasing_);
  for (const std::shared_ptr<OpenFile>& file : dirty_files()) release_if_removed(file);
  // The background thread may be releasing the last reference.
  MutexLock state(mutex_);
  while (at_work_ && at_work_on_.expired()) work_ended_.wait(mutex_);
}

void Writeback::release_if_removed(const std::shared_ptr<OpenFile>& file) {
  if (!file->is_detached()) return;
  while (wait_for_end_of_work(file)) {
    if (file->unlist_if_unused()) return;
    // The background thread may have taken the file again.
    MutexLock lock(mutex_);
    if (!is_at_work_on(file)) return;
  }
}

bool Writeback::wait_for_end_of_work(const std::shared_ptr<OpenFile>& file) {
  MutexLock lock(mutex_);
  while (is_at_work_on(file)) {
    const long unused = kCallerAndWorker + (dirty_.contains(file.get()) ? 1 : 0) +
                        (worker_has_reference_of_list_ ? 1 : 0);
    if (file.use_count() > unused) return false;
    // Another thread may get the file by its _id, and may keep the background thread waiting until
    // this thread releases releasing_. So the count is checked again without a notification.
    (void)work_ended_.wait_for(mutex_, kRecountInterval);
  }
  return true;
}

void Writeback::end_work() {
  MutexLock lock(mutex_);
  at_work_ = false;
  at_work_on_.reset();
  worker_has_reference_of_list_ = false;
  work_ended_.notify_all();
}

Status Writeback::wait_for_memory(uint64_t failures_before) {
  {
    MutexLock lock(mutex_);
    if (failures_ != failures_before) return fail(*last_failure_);
    const Clock::time_point now = Clock::now();
    while (!by_due_.empty() && by_due_.rbegin()->first > now) {
      set_due(by_due_.rbegin()->second, now);
    }
  }
  thread_.wake();
  memory_.wait_for_release(kMemoryPatience);
  return {};
}

uint64_t Writeback::failures() const {
  MutexLock lock(mutex_);
  return failures_;
}

std::vector<std::shared_ptr<OpenFile>> Writeback::dirty_files() const {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<OpenFile>> files;
  files.reserve(dirty_.size() + 1);
  for (const auto& [key, dirty] : dirty_) files.push_back(dirty.file);
  // A file is not in dirty_ while it is being committed.
  std::shared_ptr<OpenFile> at_work_on = at_work_on_.lock();
  if (at_work_on && !dirty_.contains(at_work_on.get())) files.push_back(std::move(at_work_on));
  return files;
}

void Writeback::stop() {
  std::unordered_map<const OpenFile*, Dirty> dropped;  // released after the lock
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    dropped.swap(dirty_);
    by_due_.clear();
  }
  thread_.stop();
}

bool Writeback::stopped() const {
  MutexLock lock(mutex_);
  return stopped_;
}

std::shared_ptr<OpenFile> Writeback::take_due(std::optional<Clock::time_point>& next) {
  MutexLock lock(mutex_);
  if (by_due_.empty()) {
    next = std::nullopt;
    return nullptr;
  }
  const auto [due, key] = *by_due_.begin();
  next = due;
  if (due > Clock::now()) return nullptr;
  const std::shared_ptr<OpenFile>& file = dirty_.at(key).file;
  at_work_ = true;
  at_work_on_ = file;
  return file;
}

std::optional<Writeback::Clock::time_point> Writeback::work() {
  {
    MutexLock lock(mutex_);
    worker_ = std::this_thread::get_id();
  }
  std::optional<Clock::time_point> next;
  while (std::shared_ptr<OpenFile> file = take_due(next)) {
    Status committed;
    if (!file->unlist_if_unused()) {
      // The commit removes the file from dirty_. If the commit fails, it adds the file again, due
      // one interval later.
      committed = file->commit_in_background();
      (void)file->unlist_if_unused();
    }
    file.reset();
    end_work();
    MutexLock lock(mutex_);
    if (!committed) {
      ++failures_;
      last_failure_ = committed.error();
    }
  }
  if (!next && memory_.trim()) next = Clock::now() + kTrimInterval;
  return next;
}

}  // namespace gridmount::gridfs
