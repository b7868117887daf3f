#include "gridfs/content/background_work.h"

#include <algorithm>

#include "engine/transient_error.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/content/open_file.h"
#include "gridfs/content/open_files.h"
#include "gridfs/content/stored_md5.h"

namespace gridmount::gridfs {
namespace {

// The time for which a file must be unchanged before its md5 is computed.
constexpr std::chrono::milliseconds kQuiet{1000};
// Delay before a failed removal is tried again.
constexpr std::chrono::milliseconds kRemovalPatience{1000};

// Returns true if another attempt may set the md5. An attempt does nothing if the file has its md5,
// so it may follow a commit whose result is unknown.
bool may_succeed_later(const Error& error) {
  return engine::is_transient(error) ||
         engine::has_error_label(error, engine::kUnknownTransactionCommitResult);
}

}  // namespace

BackgroundWork::BackgroundWork(const Bucket& bucket, OpenFiles& open_files)
    : bucket_(bucket),
      open_files_(open_files),
      thread_("gm-background", BackgroundThread::Priority::kLow, [this] { return work(); }) {}

void BackgroundWork::schedule_md5(const bson::Value& id) {
  {
    MutexLock lock(mutex_);
    md5_due_[id] = Clock::now() + kQuiet;
  }
  thread_.wake();
}

void BackgroundWork::cancel_md5(const bson::Value& id) {
  MutexLock lock(mutex_);
  md5_due_.erase(id);
  md5_done_.notify_all();
}

bool BackgroundWork::finish_md5(std::chrono::milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  MutexLock lock(mutex_);
  hurry_ = true;
  thread_.wake();
  while (!md5_due_.empty()) {
    const Clock::time_point now = Clock::now();
    if (now >= deadline) break;
    md5_done_.wait_for(mutex_, deadline - now);
  }
  hurry_ = false;
  return md5_due_.empty();
}

void BackgroundWork::reclaim(const bson::Value& id) {
  {
    MutexLock lock(mutex_);
    removals_.push_back({id, false});
  }
  thread_.wake();
}

void BackgroundWork::record_truncated(const bson::Value& id, int64_t from) {
  MutexLock lock(mutex_);
  truncated_[id] = from;
}

void BackgroundWork::start_truncated(const bson::Value& id) {
  {
    MutexLock lock(mutex_);
    removals_.push_back({id, true});
  }
  thread_.wake();
}

std::optional<int64_t> BackgroundWork::truncated_from(const bson::Value& id) const {
  MutexLock lock(mutex_);
  const auto found = truncated_.find(id);
  if (found == truncated_.end()) return std::nullopt;
  return found->second;
}

Status BackgroundWork::finish_truncated(const bson::Value& id) {
  GM_TRY(with_retry(bucket_.store(), [&] { return bucket_.reclaim_truncated(id); }));
  MutexLock lock(mutex_);
  truncated_.erase(id);
  return {};
}

void BackgroundWork::stop() {
  stopping_ = true;
  thread_.stop();
  remove_chunks();
}

void BackgroundWork::finish_removals() {
  remove_chunks();
  MutexLock lock(mutex_);
  while (removing_ > 0) removed_.wait(mutex_);
}

// A removal in progress. finish_removals() waits for it.
class BackgroundWork::OrphanRemovalUnderWay {
 public:
  explicit OrphanRemovalUnderWay(BackgroundWork& background_work)
      : background_work_(background_work) {}
  ~OrphanRemovalUnderWay() {
    MutexLock lock(background_work_.mutex_);
    if (--background_work_.removing_ == 0) background_work_.removed_.notify_all();
  }
  OrphanRemovalUnderWay(const OrphanRemovalUnderWay&) = delete;
  OrphanRemovalUnderWay& operator=(const OrphanRemovalUnderWay&) = delete;

 private:
  BackgroundWork& background_work_;
};

void BackgroundWork::remove_chunks() {
  std::deque<OrphanRemoval> failed;
  while (std::optional<OrphanRemoval> removal = take_removal()) {
    const OrphanRemovalUnderWay under_way(*this);
    // There is no caller to report an error to, and a failure costs only space. Chunks that could
    // not be removed are still recorded in `detached`, for the next attempt and for the next start
    // of the bucket.
    if (!remove(*removal)) failed.push_back(*std::move(removal));
  }
  MutexLock lock(mutex_);
  for (OrphanRemoval& removal : failed) removals_.push_back(std::move(removal));
}

std::optional<BackgroundWork::OrphanRemoval> BackgroundWork::take_removal() {
  MutexLock lock(mutex_);
  if (removals_.empty()) return std::nullopt;
  OrphanRemoval removal = std::move(removals_.front());
  removals_.pop_front();
  ++removing_;
  return removal;
}

Status BackgroundWork::remove(const OrphanRemoval& removal) {
  if (removal.truncated) return finish_truncated(removal.id);
  // If nobody has the file open, nobody can open it any more, because its document is not in
  // `files`.
  if (open_files_.find(removal.id)) return {};
  return with_retry(bucket_.store(), [&] { return bucket_.reclaim(removal.id); });
}

bool BackgroundWork::has_removals() const {
  MutexLock lock(mutex_);
  return !removals_.empty();
}

std::optional<bson::Value> BackgroundWork::next_md5(std::optional<Clock::time_point>& due) {
  MutexLock lock(mutex_);
  due.reset();
  for (const auto& [id, time] : md5_due_) {
    if (hurry_ || time <= Clock::now()) return id;
    if (!due || time < *due) due = time;
  }
  return std::nullopt;
}

std::optional<BackgroundWork::Clock::time_point> BackgroundWork::work() {
  std::optional<Clock::time_point> due;
  while (!stopping_) {
    remove_chunks();
    const std::optional<bson::Value> id = next_md5(due);
    if (!id) break;
    const Clock::time_point begun = Clock::now();
    const bool settled = compute_md5(*id);
    MutexLock lock(mutex_);
    const auto found = md5_due_.find(*id);
    if (found == md5_due_.end()) continue;
    if (!settled) {
      found->second = Clock::now() + kQuiet;
    } else if (hurry_ || found->second <= begun) {
      // The file was not scheduled again in the meantime.
      md5_due_.erase(found);
    }
    md5_done_.notify_all();
    // A file that keeps changing must not keep this thread busy while somebody waits.
    if (!settled && hurry_) return Clock::now() + std::chrono::milliseconds(10);
  }
  if (has_removals()) {
    const Clock::time_point again = Clock::now() + kRemovalPatience;
    due = due ? std::min(*due, again) : again;
  }
  return due;
}

bool BackgroundWork::compute_md5(const bson::Value& id) {
  {
    const std::shared_ptr<OpenFile> file = open_files_.find(id);
    if (file) {
      bool hurry = false;
      {
        MutexLock lock(mutex_);
        hurry = hurry_;
      }
      if (!hurry && !file->quiet_for(kQuiet)) return false;
      // If the file was written in order, its md5 is cheap to complete.
      if (!file->commit_with_md5()) return false;
    }
  }
  const Result<StoredMd5> result = set_stored_md5(bucket_, id, stopping_);
  // After another error the file gets no md5. If the file is damaged, a read reports the damage.
  if (!result) return !may_succeed_later(result.error());
  if (result->outcome == StoredMd5::Outcome::kSet) {
    if (const std::shared_ptr<OpenFile> file = open_files_.find(id)) {
      file->md5_was_set(result->upload_date, result->md5);
    }
  }
  return result->outcome == StoredMd5::Outcome::kSet ||
         result->outcome == StoredMd5::Outcome::kNeedless;
}

}  // namespace gridmount::gridfs
