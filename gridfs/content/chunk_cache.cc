#include "gridfs/content/chunk_cache.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "engine/base/signals_blocked.h"
#include "engine/base/thread_name.h"
#include "engine/bson/builder.h"
#include "gridfs/bucket/chunk_document.h"

namespace gridmount::gridfs {
namespace {

// While fetches take longer than this, the window stays as it is: the link is busy.
constexpr std::chrono::milliseconds kQuickFetch{500};
// The rate of reading for which a window suffices. Chunks that are fetched earlier than this rate
// demands only occupy memory: a stream from a server nearby took 1.5 times as long with 32 MiB as
// with 8 MiB.
constexpr int64_t kBytesPerNanosecond = 2;
constexpr int64_t kWindowBytesNearby = 8 * 1024 * 1024;
// A run is not longer than the number of documents that servers return in the first reply to a
// find.
constexpr int64_t kRunChunksMax = 100;

}  // namespace

// --- Fetching.

std::string ChunkCache::key(const Source& source, const CachedContent& content, int64_t n) const {
  bson::Builder key;
  key.append("deployment", options_.deployment).append("chunks", source.bucket);
  key.append("files_id", source.files_id).append("n", n).append("chunkSize", source.chunk_bytes);
  key.append("uploadDate", content.upload_date).append("length", content.length);
  if (content.mtime) {
    key.append("mtime", int64_t{content.mtime->tv_sec});
    key.append("mtimeNanoseconds", int64_t{content.mtime->tv_nsec});
  }
  const bson::Document document = std::move(key).finish();
  const bson::View view = document.view();
  return {reinterpret_cast<const char*>(view.data()), view.size()};
}

Result<ChunkCache::Fetched> ChunkCache::fetch(const Source& source, const KnownContent& known,
                                              int64_t first, int64_t last) const {
  const Clock::time_point now = Clock::now();
  if (!options_.disk || !known || now - known->confirmed >= options_.fresh_for) {
    GM_ASSIGN(Contents contents, fetch_from_store(source, first, last));
    return Fetched{std::move(contents), Clock::now()};
  }
  Contents contents(static_cast<size_t>(last - first));
  // One command fetches all chunks from the first to the last one that the disk does not have.
  int64_t from = first;
  int64_t to = last;
  const auto find = [&](int64_t n) {
    Content content = options_.disk->find(key(source, *known, n));
    const bool is_there = content != nullptr;
    contents[static_cast<size_t>(n - first)] = std::move(content);
    return is_there;
  };
  while (from < last && find(from)) ++from;
  while (to > from + 1 && find(to - 1)) --to;
  if (from == last) return Fetched{std::move(contents), known->confirmed};
  GM_ASSIGN(const Contents fetched, fetch_from_store(source, from, to));
  for (int64_t n = from; n < to; ++n) {
    const Content& content = fetched[static_cast<size_t>(n - from)];
    contents[static_cast<size_t>(n - first)] = content;
    if (content) options_.disk->keep(key(source, *known, n), content);
  }
  const bool is_mixed = from > first || to < last;
  return Fetched{std::move(contents), is_mixed ? known->confirmed : Clock::now()};
}

Result<ChunkCache::Contents> ChunkCache::fetch_from_store(const Source& source, int64_t first,
                                                          int64_t last) const {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  engine::FindOptions options;
  options.limit = last - first;
  options.one_at_a_time = true;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            source.chunks->find(*snapshot, chunk_range(source.files_id, first, last), options));
  Contents contents(static_cast<size_t>(last - first));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return contents;
    const std::optional<bson::ValueView> number = document->find("n");
    const std::optional<int64_t> n = number ? number->integral() : std::nullopt;
    if (!n || *n < first || *n >= last) continue;
    const std::optional<bson::ValueView> data = document->find("data");
    bson::Binary bytes;
    // A chunk that is too large gets no bytes here, so that C3 holds. The reader refuses the chunk.
    if (data && data->type() == bson::Type::kBinary &&
        data->as_binary().size <= static_cast<uint64_t>(source.chunk_bytes)) {
      bytes = data->as_binary();
    }
    contents[static_cast<size_t>(*n - first)] =
        std::make_shared<const std::vector<uint8_t>>(bytes.data, bytes.data + bytes.size);
  }
}

Result<ChunkCache::Contents> ChunkCache::fetch_run(const RunPointer& run) {
  const Clock::time_point begun = Clock::now();
  // The result stays this error if memory runs out.
  Result<Contents> contents =
      fail(ErrorCode::kExceededMemoryLimit, "there is not enough memory for chunks");
  // All memory that end() needs is allocated before it is called. end() must not fail, because
  // other readers wait for it.
  Contents kept;
  std::list<RunPointer> entry;
  Clock::time_point as_of;
  const auto end = [&] {
    MutexLock lock(mutex_);
    run->state = contents ? State::kReady : State::kFailed;
    if (run->file != nullptr && contents) {
      run->contents = std::move(kept);
      run->arrived = as_of;
      run->file->last_fetch = Clock::now() - begun;
      run->file->quickest_fetch = std::min(run->file->quickest_fetch, run->file->last_fetch);
      // An idle thread drops the run when it is too old.
      if (ready_.empty()) queued_.notify_one();
      run->place = entry.begin();
      ready_.splice(ready_.end(), entry);
    } else if (run->file != nullptr) {
      drop(run);
    } else {
      release(*run);
    }
    fetched_.notify_all();
  };
  try {
    entry.push_back(run);
    Result<Fetched> fetched = fetch(*run->source, run->known, run->first, run->last);
    if (fetched) {
      as_of = fetched->as_of;
      kept = fetched->contents;
      contents = std::move(fetched->contents);
    } else {
      contents = fail(std::move(fetched).error());
    }
  } catch (const std::bad_alloc&) {
    end();
    throw;
  }
  end();
  return contents;
}

Result<ChunkCache::Contents> ChunkCache::read(File& file, uint64_t version,
                                              const KnownContent& known, int64_t first,
                                              int64_t last) {
  Contents found;
  found.reserve(static_cast<size_t>(last - first));
  const auto take = [&](const Contents& contents, int64_t begin) {
    const int64_t n = first + static_cast<int64_t>(found.size());
    const int64_t end = std::min(last, begin + static_cast<int64_t>(contents.size()));
    found.insert(found.end(), contents.begin() + (n - begin), contents.begin() + (end - begin));
  };
  for (int64_t n = first; n < last; n = first + static_cast<int64_t>(found.size())) {
    RunPointer to_fetch;
    {
      MutexLock lock(mutex_);
      if (!is_ending_ && adopt(file, version)) {
        const RunPointer run = find_fresh(file, n);
        if (run && run->state == State::kReady) {
          run->is_used = true;
          ready_.splice(ready_.end(), ready_, run->place);
          take(run->contents, run->first);
          continue;
        }
        if (run && run->state == State::kFetching) {
          while (run->state == State::kFetching && !is_ending_) fetched_.wait(mutex_);
          // This reader has waited for the fetch, so it may use the chunks. C2 is for later
          // readers.
          if (run->state == State::kReady && run->file != nullptr) {
            run->is_used = true;
            take(run->contents, run->first);
          }
          continue;
        }
        if (run) {
          // The run is still in the queue, because all threads are busy. This reader fetches it.
          queue_.erase(run->place);
          run->state = State::kFetching;
          run->is_used = true;
          to_fetch = run;
        } else {
          to_fetch = add(file, known, n, last, false);
        }
      }
    }
    if (to_fetch) {
      GM_ASSIGN(const Contents contents, fetch_run(to_fetch));
      take(contents, to_fetch->first);
    } else {
      GM_ASSIGN(const Fetched fetched,
                fetch(*file.source, known, n, std::min(last, n + kRunChunksMax)));
      take(fetched.contents, n);
    }
  }
  return found;
}

void ChunkCache::keep(File& file, uint64_t version, int64_t n, Content content) {
  Contents contents;
  contents.push_back(std::move(content));
  std::list<RunPointer> entry(1);
  MutexLock lock(mutex_);
  if (is_ending_ || !adopt(file, version) || find_fresh(file, n)) return;
  const RunPointer run = add(file, std::nullopt, n, n + 1, false);
  if (!run) return;
  const uint64_t bytes = contents.front()->size();
  if (bytes < run->bytes) {
    used_bytes_ -= run->bytes - bytes;
    run->bytes = bytes;
  }
  run->contents = std::move(contents);
  run->arrived = Clock::now();
  // An idle thread drops the run when it is too old, as after a fetch.
  if (ready_.empty()) queued_.notify_one();
  entry.front() = run;
  run->place = entry.begin();
  ready_.splice(ready_.end(), entry);
  run->state = State::kReady;
}

// --- Fetching ahead.

void ChunkCache::record_read(File& file, uint64_t version, const KnownContent& known,
                             int64_t offset, int64_t end, int64_t length) {
  if (options_.threads_max == 0) return;
  MutexLock lock(mutex_);
  if (is_ending_ || !adopt(file, version)) return;
  const int64_t chunk_bytes = file.source->chunk_bytes;
  ReadWindow::State state;
  state.window_bytes_max = window_bytes_max(file);
  state.may_grow = file.last_fetch < kQuickFetch;
  state.is_there = find_fresh(file, offset / chunk_bytes) != nullptr;
  const ReadWindow::Advice advice = file.window.record_read(offset, end, length, state);
  drop_used(file, advice.done_to);
  const int64_t last = (advice.end + chunk_bytes - 1) / chunk_bytes;
  const int64_t chunks_per_run = std::max<int64_t>(advice.request_bytes / chunk_bytes, 1);
  for (int64_t n = advice.begin / chunk_bytes; n < last;) {
    if (const RunPointer there = find_fresh(file, n)) {
      n = there->last;
      continue;
    }
    const RunPointer run = add(file, known, n, std::min(last, n + chunks_per_run), true);
    if (!run) return;
    n = run->last;
    queued_.notify_one();
    if (idle_ < queue_.size()) start_thread();
  }
}

int64_t ChunkCache::window_bytes_max(const File& file) const {
  const int64_t streams = std::max<int64_t>(streams_, 1);
  const int64_t share = static_cast<int64_t>(options_.bytes_max) / 2 / streams;
  const auto delay = std::chrono::nanoseconds(
      std::min<Clock::duration>(file.quickest_fetch, std::chrono::seconds(1)));
  return std::min(share, std::max(kWindowBytesNearby, delay.count() * kBytesPerNanosecond));
}

void ChunkCache::start_thread() {
  if (threads_.size() >= options_.threads_max) return;
  const AllSignalsBlocked blocked;
  try {
    threads_.reserve(options_.threads_max);
    threads_.emplace_back([this] { work(); });
    ++running_;
  } catch (const std::system_error&) {
    // Without threads, the readers fetch the chunks.
  }
}

void ChunkCache::work() {
  name_this_thread("gm-read-ahead");
  while (true) {
    RunPointer run;
    {
      MutexLock lock(mutex_);
      ++idle_;
      while (queue_.empty() && !is_ending_) {
        if (ready_.empty()) {
          queued_.wait(mutex_);
        } else if (!queued_.wait_for(mutex_, options_.fresh_for)) {
          drop_stale();
        }
      }
      --idle_;
      if (is_ending_) {
        --running_;
        ended_.notify_all();
        return;
      }
      run = queue_.front();
      queue_.pop_front();
      run->state = State::kFetching;
    }
    try {
      (void)fetch_run(run);
    } catch (const std::bad_alloc&) {
      // The next reader of these chunks fetches them.
    }
  }
}

// --- The table of runs.

bool ChunkCache::adopt(File& file, uint64_t version) {
  if (version < file.version) return false;
  if (version > file.version) drop_all(file);
  file.version = version;
  return true;
}

ChunkCache::RunPointer ChunkCache::find(File& file, int64_t n) {
  auto after = file.runs.upper_bound(n);
  if (after == file.runs.begin()) return nullptr;
  const RunPointer& run = (--after)->second;
  return n < run->last ? run : nullptr;
}

ChunkCache::RunPointer ChunkCache::find_fresh(File& file, int64_t n) {
  RunPointer run = find(file, n);
  if (run && run->state == State::kReady && !is_fresh(*run)) {
    drop(run);
    return nullptr;
  }
  return run;
}

ChunkCache::RunPointer ChunkCache::add(File& file, const KnownContent& known, int64_t first,
                                       int64_t last, bool is_ahead) {
  last = std::min(last, first + kRunChunksMax);
  const auto next = file.runs.lower_bound(first);
  if (next != file.runs.end()) last = std::min(last, next->first);
  const uint64_t bytes =
      static_cast<uint64_t>(last - first) * static_cast<uint64_t>(file.source->chunk_bytes);
  if (!make_room(bytes, is_ahead)) return nullptr;
  auto run = std::make_shared<Run>();
  run->source = file.source;
  run->file = &file;
  run->first = first;
  run->last = last;
  run->known = known;
  run->bytes = bytes;
  run->is_ahead = is_ahead;
  std::list<RunPointer> entry;
  if (is_ahead) entry.push_back(run);
  file.runs.emplace(first, run);
  if (is_ahead) {
    run->place = entry.begin();
    queue_.splice(queue_.end(), entry);
    run->state = State::kQueued;
    if (file.runs_ahead++ == 0) ++streams_;
  } else {
    run->is_used = true;
  }
  used_bytes_ += bytes;
  return run;
}

bool ChunkCache::make_room(uint64_t bytes, bool is_ahead) {
  if (bytes > options_.bytes_max) return false;
  auto next = ready_.begin();
  while (used_bytes_ + bytes > options_.bytes_max && next != ready_.end()) {
    const RunPointer run = *next++;
    // Chunks that one program will soon need are not dropped for chunks that another program may
    // need.
    if (!is_ahead || run->is_used || !is_fresh(*run)) drop(run);
  }
  return used_bytes_ + bytes <= options_.bytes_max;
}

void ChunkCache::drop(const RunPointer& run) {
  File& file = *std::exchange(run->file, nullptr);
  file.runs.erase(run->first);
  if (run->is_ahead && --file.runs_ahead == 0) --streams_;
  if (run->state == State::kQueued) queue_.erase(run->place);
  if (run->state == State::kReady) ready_.erase(run->place);
  // The memory of a run that is being fetched stays in use until the fetch ends.
  if (run->state != State::kFetching) release(*run);
}

void ChunkCache::release(Run& run) {
  used_bytes_ -= std::exchange(run.bytes, 0);
  run.contents.clear();
}

void ChunkCache::drop_all(File& file) {
  while (!file.runs.empty()) {
    const RunPointer run = file.runs.begin()->second;
    drop(run);
  }
}

void ChunkCache::drop_used(File& file, int64_t before) {
  for (auto next = file.runs.begin(); next != file.runs.end();) {
    const RunPointer run = (next++)->second;
    if (run->last * file.source->chunk_bytes > before) return;
    if (run->state == State::kReady && run->is_used) drop(run);
  }
}

void ChunkCache::drop_stale() {
  for (auto next = ready_.begin(); next != ready_.end();) {
    const RunPointer run = *next++;
    if (!is_fresh(*run)) drop(run);
  }
}

void ChunkCache::close(File& file) {
  MutexLock lock(mutex_);
  drop_all(file);
}

// --- The end.

void ChunkCache::request_end() {
  MutexLock lock(mutex_);
  is_ending_ = true;
  queued_.notify_all();
  fetched_.notify_all();
}

bool ChunkCache::end(std::chrono::milliseconds patience) {
  request_end();
  const Clock::time_point deadline = Clock::now() + patience;
  std::vector<std::thread> ended;
  {
    MutexLock lock(mutex_);
    while (running_ > 0) {
      const Clock::duration left = deadline - Clock::now();
      if (left <= left.zero()) return false;
      (void)ended_.wait_for(mutex_, left);
    }
    ended.swap(threads_);
  }
  for (std::thread& thread : ended) thread.join();
  return true;
}

ChunkCache::~ChunkCache() {
  while (!end(std::chrono::hours(1))) {
  }
}

CachedChunks::CachedChunks(std::shared_ptr<ChunkCache> cache, const Bucket& bucket,
                           bson::ValueView files_id, int64_t chunk_bytes)
    : cache_(std::move(cache)) {
  auto source = std::make_shared<ChunkCache::Source>();
  source->bucket = bucket.chunks().ns().database + "." + bucket.chunks().ns().collection;
  source->chunks = bucket.database().collection(bucket.chunks().ns().collection);
  source->files_id = bson::Value(files_id);
  source->chunk_bytes = chunk_bytes;
  file_.source = std::move(source);
}

}  // namespace gridmount::gridfs
