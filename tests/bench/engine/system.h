// The system under test: a document store with the operations of the benchmark's rows, in a new
// folder.
//
// Each operation is independent: a read takes its own snapshot, and a write is its own transaction,
// unless its comment says otherwise. Committed means safe from a kill of the process. A power loss
// may lose what was committed after the last checkpoint. settle() takes a checkpoint.
//
// An error is thrown as std::runtime_error, and ends the run.
//
// Thread-safety: not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/bson/document.h"
#include "tests/bench/engine/documents.h"

namespace gridmount::bench {

// Receives the documents that a read finds, each in the form that its system stores.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual void take(bson::View document) = 0;
  virtual void take(std::string_view json) = 0;
};

// A range of numbers or operations: `count` from `first` on.
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

  // Makes the documents for the next insert(). Not measured.
  virtual void prepare_insert(Slice numbers) = 0;
  // Inserts in transactions of `per_transaction` documents. If `durable`, each transaction is
  // durable.
  virtual void insert(uint64_t per_transaction, bool durable) = 0;

  // Returns false or 0 if nothing is found.
  virtual bool read_by_id(Number n, Reader& reader) = 0;
  virtual bool read_by_email(Number n, Reader& reader) = 0;
  // Reads the documents whose `number` is in `numbers`, in that order.
  virtual uint64_t scan_numbers(Slice numbers, Reader& reader) = 0;
  // Counts the documents with a smaller amount. `amount` has no index.
  virtual uint64_t count_amount_below(double amount) = 0;

  // Groups the documents with a smaller amount by category, and computes the number of documents
  // and the sum of `count` for each category. Returns the total of all these numbers and sums.
  virtual uint64_t group_by_category(double amount_below) = 0;

  virtual bool increment_count(Number n) = 0;
  virtual bool set_text(Number n, std::string_view text) = 0;
  virtual bool remove(Number n) = 0;

  // Creates an index on all existing documents.
  virtual void create_index(std::string_view field) = 0;

  // Returns when everything committed is durable and no background work is left.
  virtual void settle() = 0;
  virtual Footprint footprint() = 0;
};

struct SystemOptions {
  // gridmount: the time between checkpoints.
  uint32_t checkpoint_ms = 1000;
  // SQLite: a checkpoint begins when the write-ahead log has this size.
  uint32_t checkpoint_pages = 1000;
  uint32_t sqlite_cache_mib = 256;
};

std::unique_ptr<System> make_gridmount(const std::filesystem::path& folder,
                                       const Documents& documents, const SystemOptions& options);
std::unique_ptr<System> make_sqlite(const std::filesystem::path& folder, const Documents& documents,
                                    const SystemOptions& options);

// Returns, for example, "SQLite 3.40.1".
std::string sqlite_version();

// Returns the disk space of the files in a folder.
uint64_t bytes_on_disk(const std::filesystem::path& folder);

}  // namespace gridmount::bench
