// What a check finds: printed as it is found, one line each, and counted, so that memory does not
// grow with the damage.
//
// Thread-safety: used by one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "command_line/exit_status.h"
#include "engine/bson/value.h"
#include "engine/local/local_store.h"
#include "tools/gridstore/check/progress.h"

namespace gridmount::tools {

// Where in the content something was found. A file is named if the finding is about one.
struct Place {
  std::string database;
  std::string bucket;
  std::optional<bson::Value> file_id;
  std::optional<std::string> filename;
};

struct ContentCounts {
  uint64_t buckets = 0;
  uint64_t files = 0;
  uint64_t chunks = 0;
  uint64_t chunk_bytes = 0;
  uint64_t folders = 0;
  uint64_t detached = 0;
};

class Findings {
 public:
  enum class Format { kText, kJson, kNone };  // kNone: counted, not printed

  explicit Findings(Format format) : format_(format) {}

  // Below the documents: records, index entries, catalog.
  void structure_problem(const std::string& what);
  // GridFS.
  void content_problem(const Place& place, const std::string& what);
  // Worth knowing, no damage.
  void notice(const Place& place, const std::string& what);

  // What a repair has mended, outside a bucket and in one; what it could not mend; where it has put
  // what it took out.
  void repaired(const std::string& what) const;
  void repaired(const Place& place, const std::string& what) const;
  void beyond_repair(const std::string& what);
  void kept_in(const std::string& folder) const;

  // A document has been read.
  void note_read() const {
    if (progress_ != nullptr) progress_->record_read();
  }
  // The progress to be told of what is read, and to be hidden before a line is printed; null: none.
  void show(Progress* progress) { progress_ = progress; }

  ContentCounts& counts() { return counts_; }
  // The last line: what was read and how many problems there are.
  void print_summary(const local::StructureReport& structure) const;

  ExitStatus exit_status() const;

 private:
  void print_content(const char* kind, const Place& place, const std::string& what) const;
  void print_line(const std::string& line) const;
  void print_plain(const char* kind, const char* field, const std::string& what) const;

  Format format_;
  Progress* progress_ = nullptr;
  bool beyond_repair_ = false;
  uint64_t structure_problems_ = 0;
  uint64_t content_problems_ = 0;
  ContentCounts counts_;
};

}  // namespace gridmount::tools
