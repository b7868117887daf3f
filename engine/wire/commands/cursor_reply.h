// Writes replies that contain a batch of a cursor: {cursor: {firstBatch or nextBatch: [...], id,
// ns}}.
//
// The functions are thread-safe. BatchWriter and ListCursor are not.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/store.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// The defaults for requests without a batchSize. kFirstBatchDocuments is the number of documents in
// a first batch. kLocalBatchBytes is the limit of the size of every batch for clients on this
// machine, with room for four chunks of 256 KiB. MongoDB servers make batches of up to 16 MiB,
// which saves round trips over networks. On one machine, batches of 16 MiB cost three times as much
// per byte, because both sides allocate new memory for each batch (measured by the download in
// tests/bench/wire).
inline constexpr int64_t kFirstBatchDocuments = 101;
inline constexpr uint64_t kLocalBatchBytes = (1024 + 64) * 1024;

// The default batch size of commands that list something: the first batch has the whole list, if
// the list fits into a batch.
inline constexpr int64_t kWholeList = std::numeric_limits<int64_t>::max();

struct CursorRequest {
  std::optional<int64_t> batch_size = {};  // empty: the server chooses
  bool single_batch = false;
  bool no_timeout = false;
  bool tailable = false;
  bool await_data = false;
  std::optional<int64_t> documents_max = {};  // the limit for all batches together
};

// Reads the `cursor` argument of aggregate and of commands that list something, which is
// {batchSize}. `path` is the argument's name in error messages, such as "aggregate.cursor".
// `batch_size` is the default.
Result<CursorRequest> read_cursor_argument(std::string_view path,
                                           const std::optional<bson::View>& cursor,
                                           std::optional<int64_t> batch_size = {});

// Writes the first batch into the reply, and registers the cursor if more documents may follow and
// `request` does not want a single batch. Fails as CursorRegistry::open() and batch_limits() do,
// and with ExceededMemoryLimit (146) if the memory for replies does not allow the first document.
// `snapshot` may be null for a cursor that does not read the store.
Status reply_first_batch(Call& call, bson::Builder& reply, const engine::Namespace& ns,
                         std::unique_ptr<engine::Snapshot> snapshot,
                         std::unique_ptr<engine::Cursor> cursor, const CursorRequest& request);

// Returns the limits of one batch. `batch_size` is the number of documents that the client wants.
// `is_single` means that no further batch can follow. A batch has at most 16 MiB, and at most the
// bytes that the memory for replies allows. Without `batch_size` and `is_single`, a batch for a
// client on this machine has at most kLocalBatchBytes. But a batch of a single document may be
// larger than all these limits. If `is_single`, fails with ExceededMemoryLimit (146) if that memory
// does not allow a batch of 16 MiB.
Result<cursors::BatchLimits> batch_limits(const Call& call, std::optional<int64_t> batch_size,
                                          bool is_single = false);

// Appends the documents of a batch to the array that `reply` has open. `call` and `reply` must
// outlive the writer.
class BatchWriter {
 public:
  BatchWriter(const Call& call, bson::Builder& reply, uint64_t bytes_max)
      : call_(call), reply_(reply), bytes_max_(bytes_max) {}

  void push(bson::View document);
  int64_t documents() const { return documents_; }
  // Returns an error if push() could not append a document because there was no memory for it. The
  // reply lacks this document, so the caller must send the error instead of the reply.
  const Status& status() const { return status_; }

 private:
  const Call& call_;
  bson::Builder& reply_;
  const uint64_t bytes_max_;
  int64_t documents_ = 0;
  Status status_;
};

// A cursor over a list of documents in memory.
class ListCursor : public engine::Cursor {
 public:
  explicit ListCursor(std::vector<bson::Document> documents) : documents_(std::move(documents)) {}
  Result<std::optional<bson::View>> next() override {
    if (at_ == documents_.size()) return std::optional<bson::View>();
    return std::optional(documents_[at_++].view());
  }

 private:
  const std::vector<bson::Document> documents_;
  size_t at_ = 0;
};

}  // namespace gridmount::wire
