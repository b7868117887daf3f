// Records every write and sync that reaches a store's files, LMDB's included.
//
// How: the program that links this defines pwrite, writev, ftruncate and fdatasync itself; calls
// from the shared LMDB library come here too. Syncs are noted, not done: the crash images say what
// they would have done.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gridmount::local::testing {

enum class EventKind {
  kWrite,
  kResize,
  kSyncBegins,
  kSyncEnds,
  kCommitBegins,  // by the workload: a transaction's commit() is called
  kDurable,       // by the workload: a checkpoint has returned
};

struct Event {
  EventKind kind;
  size_t file = 0;      // position in the recorder's files
  uint64_t number = 0;  // kWrite: offset; kResize: size; kSyncEnds: index of its kSyncBegins;
                        // the workload's: generation
  std::vector<uint8_t> bytes;  // kWrite
};

struct RecordedFile {
  std::string name;
  std::vector<uint8_t> initial;
};

class WriteRecorder {
 public:
  static WriteRecorder& instance();

  // Records these files of the folder from their present state on, which counts as durable.
  void start(const std::filesystem::path& folder, const std::vector<std::string>& names);
  void stop();
  const std::vector<RecordedFile>& files() const { return files_; }
  const std::vector<Event>& events() const { return events_; }
  void note(EventKind kind, uint64_t generation);

  // Holds up the next sync of `name` after it has begun, until release(); the caller may write
  // meanwhile, and does so always at the same place in the sequence of events.
  void hold_sync_of(const std::string& name);
  void wait_for_held_sync();
  void release();

  // For the functions that stand in for the C library's.
  int file_of(int fd) const;
  void write(int file, uint64_t offset, const void* bytes, size_t size);
  void resize(int file, uint64_t size);
  void sync(int file);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool recording_ = false;
  std::map<std::pair<uint64_t, uint64_t>, int> by_inode_;
  std::vector<RecordedFile> files_;
  std::vector<Event> events_;
  int held_file_ = -1;
  bool held_ = false;
};

}  // namespace gridmount::local::testing
