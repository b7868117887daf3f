#include "gridfs/namespace/access_times.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "engine/bson/compare.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_place.h"

namespace gridmount::gridfs {
namespace {

// The number of unwritten atimes at which a write begins, whatever their age.
constexpr size_t kWrittenEarly = 4096;
// The maximum number of recorded atimes, which is reached if they cannot be written.
constexpr size_t kRecordedMax = 16 * kWrittenEarly;
// The maximum in one transaction, for which other writers wait some milliseconds.
constexpr size_t kWrittenAtOnce = 256;
constexpr time_t kDaySeconds = 24 * 60 * 60;

bool is_later(const timespec& a, const timespec& b) {
  return std::tie(a.tv_sec, a.tv_nsec) > std::tie(b.tv_sec, b.tv_nsec);
}

// Source: relatime_need_update() of Linux.
bool needs_update(const Attributes& attributes, const timespec& now) {
  return !is_later(attributes.atime, attributes.mtime) ||
         !is_later(attributes.atime, attributes.ctime) ||
         now.tv_sec - attributes.atime.tv_sec >= kDaySeconds;
}

}  // namespace

AccessTimes::AccessTimes(const Bucket& bucket, AccessTimeMode mode, bool strict, IsOpen is_open,
                         SeenDirectories& seen_directories, std::chrono::milliseconds write_delay)
    : bucket_(bucket),
      mode_(mode),
      strict_(strict),
      is_open_(std::move(is_open)),
      seen_directories_(seen_directories),
      write_delay_(write_delay),
      thread_("gm-atime", BackgroundThread::Priority::kNormal, [this] { return work(); }) {}

bool AccessTimes::keeps(NodeKind kind) const {
  return mode_ == AccessTimeMode::kAll ||
         (mode_ == AccessTimeMode::kFiles && kind == NodeKind::kFile);
}

bool AccessTimes::note(const Node& node) {
  if (!keeps(node.kind) || node.id.type() == bson::Type::kNull) return false;
  const timespec now = file_time_now();
  if (!strict_ && !needs_update(node.attributes, now)) return false;
  bool wakes = false;
  {
    MutexLock lock(mutex_);
    if (files_.size() + directories_.size() >= kRecordedMax) return false;
    const auto [place, is_new] = recorded(node.kind).try_emplace(node.id);
    Noted& entry = place->second;
    entry.atime = now;
    if (is_new || std::exchange(entry.written, false)) {
      ++unwritten_;
      if (unwritten_ == 1) due_ = Clock::now() + write_delay_;
      wakes = unwritten_ == 1 || unwritten_ % kWrittenEarly == 0;
    }
  }
  if (wakes) thread_.wake();
  return true;
}

void AccessTimes::apply(Node& node) const {
  if (mode_ == AccessTimeMode::kNone) return;
  MutexLock lock(mutex_);
  const ById& of_kind = recorded(node.kind);
  if (of_kind.empty()) return;
  const auto found = of_kind.find(node.id);
  if (found == of_kind.end() || !is_later(found->second.atime, node.attributes.atime)) return;
  node.attributes.atime = found->second.atime;
}

void AccessTimes::drop(NodeKind kind, const bson::Value& id) {
  MutexLock lock(mutex_);
  ById& of_kind = recorded(kind);
  const auto found = of_kind.find(id);
  if (found == of_kind.end()) return;
  if (!found->second.written) --unwritten_;
  of_kind.erase(found);
}

Status AccessTimes::close() {
  thread_.stop();
  const Status written = write_all();
  // A store may make freed space usable only after a commit has failed, so there is a second
  // attempt.
  if (!written && written.error().code() == ErrorCode::kOutOfDiskSpace) return write_all();
  return written;
}

std::optional<AccessTimes::Clock::time_point> AccessTimes::work() {
  {
    MutexLock lock(mutex_);
    if (unwritten_ == 0) return std::nullopt;
    if (unwritten_ < kWrittenEarly && Clock::now() < due_) return due_;
  }
  // A failed write is tried again later. There is no caller to report the error to.
  const Status written = write_all();
  MutexLock lock(mutex_);
  if (unwritten_ == 0) return std::nullopt;
  if (!written || due_ < Clock::now()) due_ = Clock::now() + write_delay_;
  return due_;
}

Status AccessTimes::write_all() {
  for (const NodeKind kind : {NodeKind::kFile, NodeKind::kDirectory}) {
    const std::vector<Key> keys = unwritten(kind);
    std::span<const Key> left(keys);
    while (!left.empty()) {
      const size_t count = std::min(left.size(), kWrittenAtOnce);
      GM_TRY(write_some(left.first(count)));
      left = left.subspan(count);
    }
  }
  drop_written();
  return {};
}

std::vector<AccessTimes::Key> AccessTimes::unwritten(NodeKind kind) const {
  std::vector<Key> keys;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, entry] : recorded(kind)) {
      if (!entry.written) keys.push_back({kind, id});
    }
  }
  std::sort(keys.begin(), keys.end(),
            [](const Key& a, const Key& b) { return bson::compare(a.id.view(), b.id.view()) < 0; });
  return keys;
}

std::optional<timespec> AccessTimes::find_unwritten(const Key& key) const {
  MutexLock lock(mutex_);
  const ById& of_kind = recorded(key.kind);
  const auto found = of_kind.find(key.id);
  if (found == of_kind.end() || found->second.written) return std::nullopt;
  return found->second.atime;
}

// All keys are of one kind.
Status AccessTimes::write_some(std::span<const Key> keys) {
  std::vector<std::pair<const Key*, timespec>> done;
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, bucket_.store().begin());
  std::optional<SeenDirectories::Forgetting> forgetting;
  if (keys.front().kind == NodeKind::kDirectory) forgetting.emplace(seen_directories_);
  for (const Key& key : keys) {
    // The atime is looked up inside the transaction, while nobody else can set it. A thread that
    // sets an atime first drops the recorded one.
    const std::optional<timespec> atime = find_unwritten(key);
    if (!atime) continue;
    GM_TRY(write_one(*transaction, key, *atime));
    done.emplace_back(&key, *atime);
  }
  GM_TRY(transaction->commit());
  MutexLock lock(mutex_);
  for (const auto& [key, atime] : done) {
    ById& of_kind = recorded(key->kind);
    const auto found = of_kind.find(key->id);
    if (found == of_kind.end() || found->second.written) continue;
    if (is_later(found->second.atime, atime)) continue;
    found->second.written = true;
    --unwritten_;
  }
  return {};
}

Status AccessTimes::write_one(engine::Transaction& transaction, const Key& key,
                              const timespec& atime) const {
  const bool is_file = key.kind == NodeKind::kFile;
  engine::Collection& collection = is_file ? bucket_.files() : bucket_.directories();
  const bson::Document by_id = equals("_id", key.id);
  if (is_file) {
    GM_ASSIGN(const std::optional<bson::View> document, collection.find_one(transaction, by_id));
    if (!document || !accepts_posix_fields(*document)) return {};
  }
  PosixFields changes;
  changes.atime = atime;
  bson::Builder set;
  bson::Builder unset;
  append_posix_changes(changes, is_file ? "metadata.posix." : "posix.", set, unset);
  GM_TRY(update_file(collection, transaction, key.id, update_of(set, unset)));
  return {};
}

void AccessTimes::drop_written() {
  std::vector<bson::Value> written;
  {
    MutexLock lock(mutex_);
    std::erase_if(directories_, [](const auto& entry) { return entry.second.written; });
    for (const auto& [id, entry] : files_) {
      if (entry.written) written.push_back(id);
    }
  }
  std::erase_if(written, [&](const bson::Value& id) { return is_open_(id); });
  MutexLock lock(mutex_);
  for (const bson::Value& id : written) {
    const auto found = files_.find(id);
    if (found != files_.end() && found->second.written) files_.erase(found);
  }
}

}  // namespace gridmount::gridfs
