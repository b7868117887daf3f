// The findings of a check. Each finding is printed as one line as soon as it is made, so that
// memory use does not grow with the damage. Problems are also counted.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "command_line/exit_status.h"
#include "command_line/progress.h"
#include "engine/bson/value.h"
#include "engine/local/integrity/structure_check.h"

namespace gridmount::tools {

// The place of a finding in the content. `file_id` is set if the finding is about a file.
struct Location {
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
  uint64_t folders = 0;  // documents of directories
  uint64_t detached = 0;
};

class Findings {
 public:
  enum class Format { kText, kJson, kNone };  // kNone: counted, but not printed

  explicit Findings(Format format) : format_(format) {}

  // Reports a problem in the structure of the store: records, index entries, the catalog.
  void structure_problem(const std::string& what);
  // Reports a problem of GridFS content.
  void content_problem(const Location& place, const std::string& what);
  // Reports a fact that users should know and that is not damage.
  void notice(const Location& place, const std::string& what);

  // Reports that a repair has repaired something that is not in a bucket.
  void repaired(const std::string& what) const;
  // Reports that a repair has repaired something in a bucket.
  void repaired(const Location& place, const std::string& what) const;
  // Reports something that a repair cannot repair.
  void unrepairable(const std::string& what);
  // Reports the folder in which a repair has kept the data that it removed.
  void kept_in(const std::string& folder) const;

  // Adds a document that has been read to the progress line.
  void record_read() const {
    if (progress_ != nullptr) progress_->add(1);
  }
  // Sets the progress line that record_read() counts on. Null means no progress line. `progress`
  // must stay valid until the next call of show() or the end of this object.
  void show(Progress* progress) { progress_ = progress; }

  ContentCounts& counts() { return counts_; }
  // Prints the counts of the objects that were read and of the problems, as two lines of text or
  // one line of JSON. Must not be called with kNone. `structure` must be null for a deployment,
  // whose servers check the structure themselves.
  void print_summary(const local::StructureReport* structure) const;

  // Returns kStructureDamaged if there were problems of the structure or calls of unrepairable(),
  // otherwise kContentDamaged if there were problems of the content, otherwise kOk.
  ExitStatus exit_status() const;

 private:
  void print_content(const char* kind, const Location& place, const std::string& what) const;
  void print_line(const std::string& line) const;
  void print_plain(const char* kind, const char* field, const std::string& what) const;

  Format format_;
  Progress* progress_ = nullptr;
  bool unrepairable_ = false;
  uint64_t structure_problems_ = 0;
  uint64_t content_problems_ = 0;
  ContentCounts counts_;
};

}  // namespace gridmount::tools
