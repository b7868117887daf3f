#include "fuse/daemon/change_follower.h"

#include <cassert>
#include <new>

#include "engine/base/log.h"
#include "engine/base/thread_name.h"
#include "engine/transient_error.h"

namespace gridmount::fuse {

namespace {

using std::chrono::milliseconds;

// The interval at which the thread checks whether it must end.
constexpr milliseconds kEventPatience{500};
constexpr milliseconds kPauseAfterError{500};

}  // namespace

ChangeFollower::~ChangeFollower() {
  assert(!thread_.joinable());
}

void ChangeFollower::open() {
  if (!store_.capabilities().change_streams) {
    log::info(
        "the deployment has no change streams, so the mount shows the changes of others only after "
        "the time of --cache-seconds");
    return;
  }
  Result<std::unique_ptr<engine::ChangeStream>> opened = watch();
  if (!opened && !engine::is_resumable(opened.error())) {
    log::warn(
        "the change stream cannot be opened, so the mount shows the changes of others only after "
        "the time of --cache-seconds: {}",
        opened.error().message());
    return;
  }
  follows_ = true;
  if (!opened) return log_broken_stream(opened.error());
  stream_ = *std::move(opened);
  resume_token_ = bson::Document(stream_->resume_token());
}

void ChangeFollower::begin() {
  if (!follows_) return;
  {
    const MutexLock lock(mutex_);
    has_ended_ = false;
  }
  thread_ = std::thread([this] { run(); });
}

void ChangeFollower::request_end() {
  const MutexLock lock(mutex_);
  is_ending_ = true;
  state_.notify_all();
}

bool ChangeFollower::end(milliseconds patience) {
  request_end();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  {
    const MutexLock lock(mutex_);
    while (!has_ended_) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) return false;
      (void)state_.wait_for(mutex_, left);
    }
  }
  if (thread_.joinable()) thread_.join();
  return true;
}

void ChangeFollower::run() {
  name_this_thread("gm-changes");
  while (!must_end()) {
    try {
      if (stream_ || reopen()) {
        follow();
        continue;
      }
    } catch (const std::bad_alloc&) {
      // The events are lost, so a new stream begins, and reopen() reports that everything may have
      // changed.
      log::warn(
          "there is not enough memory for the changes of others, so the change stream begins anew");
      stream_.reset();
      resume_token_ = bson::Document();
    }
    pause();
  }
  stream_.reset();
  const MutexLock lock(mutex_);
  has_ended_ = true;
  state_.notify_all();
}

Result<std::unique_ptr<engine::ChangeStream>> ChangeFollower::watch() {
  const bson::Document stages = change_event_stages();
  engine::ChangeStreamOptions options;
  options.stages = stages;
  options.resume_after = resume_token_;
  options.full_document = true;
  options.patience = kEventPatience;
  return store_.watch(database_, options);
}

bool ChangeFollower::reopen() {
  Result<std::unique_ptr<engine::ChangeStream>> opened = watch();
  const bool is_lost = !opened && !engine::is_resumable(opened.error());
  if (is_lost && !resume_token_.view().empty()) {
    log::warn(
        "the mount has missed changes of others, so the kernel drops all that it has cached: {}",
        opened.error().message());
    resume_token_ = bson::Document();
    opened = watch();
  }
  if (!opened) {
    log_broken_stream(opened.error());
    return false;
  }
  stream_ = *std::move(opened);
  if (has_logged_break_) log::info("the change stream works again");
  has_logged_break_ = false;
  // A new stream reports all changes from now on, but not the changes before.
  if (resume_token_.view().empty() && !must_end()) {
    FollowedChanges all;
    all.everything = true;
    changed_(all);
  }
  resume_token_ = bson::Document(stream_->resume_token());
  return true;
}

void ChangeFollower::follow() {
  const Result<std::vector<bson::View>> events = stream_->next();
  if (!events) {
    log_broken_stream(events.error());
    if (!engine::is_resumable(events.error())) resume_token_ = bson::Document();
    stream_.reset();
    return;
  }
  ChangeEvents changes(database_);
  for (const bson::View event : *events) changes.add(event);
  if (!changes.empty() && !must_end()) changed_(changes.changes());
  resume_token_ = bson::Document(stream_->resume_token());
}

void ChangeFollower::log_broken_stream(const Error& error) {
  if (has_logged_break_) return;
  log::warn("the change stream has failed, and the mount opens it again: {}", error.message());
  has_logged_break_ = true;
}

bool ChangeFollower::must_end() {
  const MutexLock lock(mutex_);
  return is_ending_;
}

void ChangeFollower::pause() {
  const auto end = std::chrono::steady_clock::now() + kPauseAfterError;
  const MutexLock lock(mutex_);
  while (!is_ending_) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) return;
    (void)state_.wait_for(mutex_, left);
  }
}

}  // namespace gridmount::fuse
