// Records every change and every sync of the files below a folder, including those that LMDB makes.
//
// The program that links the recorder defines the C library's calls itself (file_calls.cc), so
// calls from shared libraries arrive there too. Syncs are recorded but not executed: the crash
// images decide what the syncs would have done.
//
// The recorder identifies a file by its inode and not by its names, because different syncs make
// its contents and its names durable.
//
// Thread-safe, except for ignore_folder_syncs() and the functions that return references.
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

// Marks a folder among the entries.
inline constexpr size_t kNoFile = SIZE_MAX;

enum class EventKind {
  // Events of a file.
  kWrite,
  kResize,
  kSyncBegins,
  kSyncEnds,
  // Events of names.
  kLink,    // from now on `path` names `file`, or a folder
  kUnlink,  // `path` is removed
  kRename,  // `path`, which was `file`, is now `target`
  kFolderSync,
  // Events of the workload.
  kStepBegins,
  kStepEnds,  // the changes of the step are committed
  kDurable,   // everything up to this step is promised to be durable
};

struct Event {
  EventKind kind;
  size_t file = kNoFile;  // index in the recorder's files
  uint64_t number = 0;    // kWrite: offset; kResize: size; kSyncEnds: index of its kSyncBegins;
                          // the workload's: the number of a step
  std::span<const uint8_t> bytes = {};  // kWrite; owned by the recorder
  std::string path = {};                // below the recorded folder, whose own path is ""
  std::string target = {};
  uint64_t stamp = 0;  // the result of stamp_with()'s function
};

class WriteRecorder {
 public:
  static WriteRecorder& instance();

  // Starts recording below `folder`, an absolute path without symlinks. The present contents of the
  // folder count as durable.
  void start(const std::filesystem::path& folder);
  void stop();

  // A recording. It owns the bytes of its events.
  class Recording {
   private:
    friend class WriteRecorder;
    std::map<std::string, size_t> initial_entries;
    std::vector<FileContents> initial_contents;
    size_t files = 0;
    std::vector<Event> events;
    std::vector<std::vector<uint8_t>> blocks;
  };
  // Returns the recording and clears it. Must not be called while recording.
  Recording take();
  // Makes a recording from take() the current one again.
  void put_back(Recording recording);
  // Continues a recording from just before `event`, in another folder. At that moment the files had
  // the names `entries`, and the folder must have them under these names. `recording` must outlive
  // the new recording, which uses its bytes.
  void resume(const Recording& recording, size_t event, const std::filesystem::path& folder,
              const std::map<std::string, size_t>& entries);

  // The state at the start: the names, and the contents of each file. Files that were made later
  // begin empty.
  const std::map<std::string, size_t>& initial_entries() const { return now_.initial_entries; }
  const std::vector<FileContents>& initial_contents() const { return now_.initial_contents; }
  const std::vector<Event>& events() const { return now_.events; }
  void note(EventKind kind, uint64_t step);
  // Stores the result of `stamp` with each event. Used for a store that another process uses. The
  // recorder calls `stamp` for one event at a time.
  void stamp_with(std::function<uint64_t()> stamp);

  // If `ignored` is true, behaves as if the program never synced a folder.
  void ignore_folder_syncs(bool ignored) { ignores_folder_syncs_ = ignored; }

  // Holds up the next sync of the file with this name (below the recorded folder) after it has
  // begun, until release(). The caller may write meanwhile, so these writes always have the same
  // position in the sequence of events. An empty name cancels the request.
  void hold_sync_of(const std::string& path);
  bool holds_sync() const;
  void release();

  // The functions that replace the C library's call these. opened(), made_folder(), removed() and
  // renamed() are called after the real call.
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

  void push(Event event);  // the caller must hold mutex_
  // Returns kNoFile if the file is not recorded.
  size_t file_of(int fd) const;
  // Sets `below` to the path below the recorded folder. Returns false if the path is elsewhere.
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
