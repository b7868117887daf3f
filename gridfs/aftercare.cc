#include "gridfs/aftercare.h"

#include "gridfs/open_file.h"
#include "gridfs/open_files.h"
#include "gridfs/stored_md5.h"

namespace gridmount::gridfs {
namespace {

// How long a file must be left alone before its md5 is computed.
constexpr std::chrono::milliseconds kQuiet{1000};

}  // namespace

Aftercare::Aftercare(const Bucket& bucket, OpenFiles& open_files)
    : bucket_(bucket),
      open_files_(open_files),
      thread_("gridmount-later", BackgroundThread::Priority::kLow, [this] { return work(); }) {}

void Aftercare::schedule_md5(const bson::Value& id) {
  {
    MutexLock lock(mutex_);
    md5_due_[id] = Clock::now() + kQuiet;
  }
  thread_.wake();
}

void Aftercare::cancel_md5(const bson::Value& id) {
  MutexLock lock(mutex_);
  md5_due_.erase(id);
  md5_done_.notify_all();
}

bool Aftercare::finish_md5(std::chrono::milliseconds patience) {
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

void Aftercare::reclaim(const bson::Value& id) {
  {
    MutexLock lock(mutex_);
    removals_.push_back({id, false});
  }
  thread_.wake();
}

void Aftercare::note_truncated(const bson::Value& id, int64_t from) {
  MutexLock lock(mutex_);
  truncated_[id] = from;
}

void Aftercare::start_truncated(const bson::Value& id) {
  {
    MutexLock lock(mutex_);
    removals_.push_back({id, true});
  }
  thread_.wake();
}

std::optional<int64_t> Aftercare::truncated_from(const bson::Value& id) const {
  MutexLock lock(mutex_);
  const auto found = truncated_.find(id);
  if (found == truncated_.end()) return std::nullopt;
  return found->second;
}

Status Aftercare::finish_truncated(const bson::Value& id) {
  GM_TRY(bucket_.reclaim_truncated(id));
  MutexLock lock(mutex_);
  truncated_.erase(id);
  return {};
}

void Aftercare::stop() {
  stopping_ = true;
  thread_.stop();
  remove_chunks();
}

void Aftercare::remove_chunks() {
  while (true) {
    Removal removal;
    {
      MutexLock lock(mutex_);
      if (removals_.empty()) return;
      removal = std::move(removals_.front());
      removals_.pop_front();
    }
    // An error has nobody to go to, and costs space only: what could not be removed is still noted
    // in `detached` and goes when the bucket is opened the next time.
    if (removal.truncated) {
      (void)finish_truncated(removal.id);
    } else if (!open_files_.find(removal.id)) {
      // Nobody can open it any more: its document is not among the files.
      (void)bucket_.reclaim(removal.id);
    }
  }
}

std::optional<bson::Value> Aftercare::next_md5(std::optional<Clock::time_point>& due) {
  MutexLock lock(mutex_);
  due.reset();
  for (const auto& [id, time] : md5_due_) {
    if (hurry_ || time <= Clock::now()) return id;
    if (!due || time < *due) due = time;
  }
  return std::nullopt;
}

std::optional<Aftercare::Clock::time_point> Aftercare::work() {
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
      // It was not scheduled again meanwhile.
      md5_due_.erase(found);
    }
    md5_done_.notify_all();
    // A file that keeps changing must not keep this thread at it while somebody waits.
    if (!settled && hurry_) return Clock::now() + std::chrono::milliseconds(10);
  }
  return due;
}

bool Aftercare::compute_md5(const bson::Value& id) {
  {
    const std::shared_ptr<OpenFile> file = open_files_.find(id);
    if (file) {
      bool hurry = false;
      {
        MutexLock lock(mutex_);
        hurry = hurry_;
      }
      if (!hurry && !file->quiet_for(kQuiet)) return false;
      // If it was written in order its md5 is at hand.
      if (!file->commit_with_md5()) return false;
    }
  }
  const Result<StoredMd5> result = set_stored_md5(bucket_, id, stopping_);
  // A damaged file has no md5; whoever reads it learns of the damage.
  if (!result) return true;
  if (result->outcome == StoredMd5::Outcome::kSet) {
    if (const std::shared_ptr<OpenFile> file = open_files_.find(id)) {
      file->md5_was_set(result->upload_date, result->md5);
    }
  }
  return result->outcome == StoredMd5::Outcome::kSet ||
         result->outcome == StoredMd5::Outcome::kNeedless;
}

}  // namespace gridmount::gridfs
