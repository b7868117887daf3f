#include "gridfs/content/hash_stream.h"

#include <algorithm>
#include <utility>

#include "gridfs/bucket/zeros.h"

namespace gridmount::gridfs {

HashThread::HashThread()
    : thread_("gm-md5", BackgroundThread::Priority::kNormal, [this] { return work(); }) {}

void HashThread::add(std::shared_ptr<HashStream> stream) {
  {
    MutexLock lock(mutex_);
    waiting_.push_back(std::move(stream));
  }
  thread_.wake();
}

std::optional<BackgroundThread::Clock::time_point> HashThread::work() {
  while (true) {
    std::shared_ptr<HashStream> stream;
    {
      MutexLock lock(mutex_);
      if (waiting_.empty()) return std::nullopt;
      stream = std::move(waiting_.front());
      waiting_.pop_front();
    }
    stream->run();
  }
}

void HashStream::submit(ChunkPin pin, std::span<const uint8_t> data, When when) {
  bool schedule = false;
  {
    MutexLock lock(mutex_);
    if (abandoned_) return;
    pieces_.push_back({std::move(pin), data, nullptr, nullptr});
    if (when == When::kNow) schedule = !std::exchange(scheduled_, true);
  }
  if (schedule) thread_.add(shared_from_this());
}

void HashStream::submit(std::function<bool(Md5&)> read) {
  MutexLock lock(mutex_);
  if (!abandoned_) pieces_.push_back({ChunkPin(), {}, nullptr, std::move(read)});
}

void HashStream::submit_zeros(uint64_t count) {
  MutexLock lock(mutex_);
  while (count > 0) {
    const size_t part = std::min<uint64_t>(count, zeros().size());
    pieces_.push_back({ChunkPin(), zeros().first(part), nullptr, nullptr});
    count -= part;
  }
}

bool HashStream::hash_next() {
  if (pieces_.empty() || abandoned_) return false;
  Piece piece = std::move(pieces_.front());
  pieces_.pop_front();
  busy_ = true;
  mutex_.unlock();
  bool sound = true;
  if (piece.mark) {
    piece.mark->digest = md5_.hex();
  } else if (piece.read) {
    sound = piece.read(md5_);
  } else {
    md5_.update(piece.data);
  }
  piece = Piece();
  mutex_.lock();
  if (!sound) abandoned_ = true;
  busy_ = false;
  idle_.notify_all();
  return true;
}

void HashStream::run() {
  MutexLock lock(mutex_);
  scheduled_ = false;
  while (!busy_ && hash_next()) {
  }
}

std::shared_ptr<HashStream::Mark> HashStream::mark() {
  auto mark = std::make_shared<Mark>();
  MutexLock lock(mutex_);
  pieces_.push_back({ChunkPin(), {}, mark, nullptr});
  return mark;
}

std::optional<std::string> HashStream::digest(const Mark& mark) {
  MutexLock lock(mutex_);
  while (true) {
    if (busy_) {
      idle_.wait(mutex_);
    } else if (abandoned_) {
      return std::nullopt;
    } else if (mark.digest || !hash_next()) {
      return mark.digest;
    }
  }
}

void HashStream::abandon() {
  std::deque<Piece> dropped;  // released after the lock
  {
    MutexLock lock(mutex_);
    abandoned_ = true;
    dropped.swap(pieces_);
  }
}

}  // namespace gridmount::gridfs
