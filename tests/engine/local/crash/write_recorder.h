// Records every change and every sync of the files below a folder, including those by LMDB.
//
// The program that links this defines the C library's calls itself (file_calls.cc), so calls from
// shared libraries arrive there too. Syncs are recorded but not done: the crash images decide what
// they would have done.
//
// A file is identified by its inode, not by its names, because its contents and its names are made
// durable by different syncs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/engine/local/crash/file_contents.h"

namespace gridmount::local::testing {

// Stands for a folder among the entries.
inline constexpr size_t kNoFile = SIZE_MAX;

enum class EventKind {
  // Of a file.
  kWrite,
  kResize,
  kSyncBegins,
  kSyncEnds,
  // Of names.
  kLink,    // `path` is `file` from now on, or a folder
  kUnlink,  // `path` is gone
  kRename,  // `path`, which was `file`, is `target`
  kFolderSync,
  // By the workload.
  kStepBegins,
  kStepEnds,  // what it did is committed
  kDurable,   // everything up to that step is promised to be
};

struct Event {
  EventKind kind;
  size_t file = kNoFile;  // position in the recorder's files
  uint64_t number = 0;    // kWrite: offset; kResize: size; kSyncEnds: index of its kSyncBegins;
                          // the workload's: the number of a step
  std::span<const uint8_t> bytes = {};  // kWrite; the recorder's, as long as the event
  std::string path = {};                // below the recorded folder, which is ""
  std::string target = {};
  uint64_t stamp = 0;  // stamp_with()'s, when it was recorded
};

class WriteRecorder {
 public:
  static WriteRecorder& instance();

  // Records what happens below this folder, an absolute path without symlinks. What is in it now
  // counts as durable.
  void start(const std::filesystem::path& folder);
  void stop();

  // What was recorded. The events' bytes are in it.
  class Recording {
   private:
    friend class WriteRecorder;
    std::map<std::string, size_t> initial_entries;
    std::vector<FileContents> initial_contents;
    size_t files = 0;
    std::vector<Event> events;
    std::vector<std::vector<uint8_t>> blocks;
  };
  // Gives the recording away, and has none then. Nothing is being recorded.
  Recording take();
  void put_back(Recording recording);
  // Goes on from just before that event of a recording, which must live as long as what is recorded
  // now, in another folder, which has the files that there were then, by these names.
  void resume(const Recording& recording, size_t event, const std::filesystem::path& folder,
              const std::map<std::string, size_t>& entries);

  // What was there at the start: names, and the contents of each file. Files made later begin
  // empty.
  const std::map<std::string, size_t>& initial_entries() const { return now_.initial_entries; }
  const std::vector<FileContents>& initial_contents() const { return now_.initial_contents; }
  const std::vector<Event>& events() const { return now_.events; }
  void note(EventKind kind, uint64_t step);
  // For those who use the store from another process: what it returns is kept with each event. It
  // is called for one event after the other.
  void stamp_with(std::function<uint64_t()> stamp);

  // As if the program never synced a folder.
  void ignore_folder_syncs(bool ignored) { ignores_folder_syncs_ = ignored; }

  // Holds up the next sync of the file of this name (below the recorded folder) after it has begun,
  // until release(); the caller may write meanwhile, and does so always at the same place in the
  // sequence of events. An empty name: no sync after all.
  void hold_sync_of(const std::string& path);
  bool holds_sync() const;
  void release();

  // For the functions that stand in for the C library's. Those about names come after the call.
  bool recording() const { return recording_.load(std::memory_order_acquire); }
  void write(int fd, uint64_t offset, const void* bytes, size_t size);
  void resize(int fd, uint64_t size);
  void sync(int fd);
  void opened(int fd, std::string_view path, bool emptied);
  void made_folder(std::string_view path);
  void removed(std::string_view path);
  void renamed(std::string_view from, std::string_view to);

 private:
  using Inode = std::pair<uint64_t, uint64_t>;

  void push(Event event);  // mutex_ is held
  // kNoFile if it is none that is recorded.
  size_t file_of(int fd) const;
  // Below the recorded folder; false if it is elsewhere.
  bool locate(std::string_view path, std::string& below) const;
  void forget(size_t file);
  std::span<const uint8_t> keep(const void* bytes, size_t size);

  std::atomic<bool> recording_ = false;
  bool ignores_folder_syncs_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string folder_;
  std::map<Inode, size_t> by_inode_;
  std::map<std::string, size_t> entries_;  // as they are now
  Recording now_;
  std::function<uint64_t()> stamp_;
  std::string held_path_;
  bool held_ = false;
};

}  // namespace gridmount::local::testing
