// The system under test: a document store with the operations of the benchmark's rows, in a new
// folder.
//
// Each operation is independent: a read takes its own snapshot, and a write is its own transaction,
// unless its comment says otherwise. Committed means safe from a kill of the process. A power loss
// may cost what is younger than the last checkpoint. settle() takes one.
//
// Errors are thrown as std::runtime_error, and end the run.
//
// Thread-safety: not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "documents.h"
#include "engine/bson/document.h"

namespace gridmount::bench {

// Takes the documents that a read finds, each in the form its system stores.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual void take(bson::View document) = 0;
  virtual void take(std::string_view json) = 0;
};

// A run of numbers or of operations: `count` from `first` on.
struct Slice {
  uint64_t first = 0;
  uint64_t count = 0;
};

struct Footprint {
  uint64_t documents = 0;
  uint64_t disk_bytes = 0;
};

class System {
 public:
  virtual ~System() = default;

  // Not measured: makes the documents that the next insert() puts in.
  virtual void prepare_insert(Slice numbers) = 0;
  // In transactions of `per_transaction` documents, each durable on its own if `durable`.
  virtual void insert(uint64_t per_transaction, bool durable) = 0;

  // False or 0 if nothing is found.
  virtual bool read_by_id(Number n, Reader& reader) = 0;
  virtual bool read_by_email(Number n, Reader& reader) = 0;
  // Those whose `number` is one of `numbers`, in its order.
  virtual uint64_t scan_numbers(Slice numbers, Reader& reader) = 0;
  // Counts the documents with less, for which there is no index.
  virtual uint64_t count_amount_below(double amount) = 0;

  // Of those with less: per category the number of documents and the sum of `count`. Returns all
  // sums and numbers added up.
  virtual uint64_t group_by_category(double amount_below) = 0;

  virtual bool increment_count(Number n) = 0;
  virtual bool set_text(Number n, std::string_view text) = 0;
  virtual bool remove(Number n) = 0;

  // On all documents that are there.
  virtual void create_index(std::string_view field) = 0;

  // Returns when everything committed is durable and nothing is left to do in the background.
  virtual void settle() = 0;
  virtual Footprint footprint() = 0;
};

struct SystemOptions {
  // Ours: time between checkpoints.
  uint32_t checkpoint_ms = 1000;
  // SQLite's: size of the write-ahead log that makes a checkpoint due.
  uint32_t checkpoint_pages = 1000;
  uint32_t sqlite_cache_mib = 256;
};

std::unique_ptr<System> make_gridmount(const std::filesystem::path& folder,
                                       const Documents& documents, const SystemOptions& options);
std::unique_ptr<System> make_sqlite(const std::filesystem::path& folder, const Documents& documents,
                                    const SystemOptions& options);

// "SQLite 3.40.1".
std::string sqlite_version();

// What the files of a folder take on the disk.
uint64_t bytes_on_disk(const std::filesystem::path& folder);

}  // namespace gridmount::bench
