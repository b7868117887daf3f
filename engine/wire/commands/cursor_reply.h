// Replies that hold a batch of a cursor: {cursor: {firstBatch or nextBatch: [...], id, ns}}.
//
// Thread-safety: functions without state, and cursors of one thread at a time.
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

// Where no batchSize is given: documents of a first batch, and bytes of any batch for clients on
// this machine. 16 MiB a batch, as servers fill them, spare round trips over networks; here they
// cost three times as much a byte, as both sides take fresh memory for each (tests/bench/wire's
// download measures it). With room for four chunks of 256 KiB.
inline constexpr int64_t kFirstBatchDocuments = 101;
inline constexpr uint64_t kLocalBatchBytes = (1024 + 64) * 1024;

// Lists without a batchSize come whole, as far as a reply has room.
inline constexpr int64_t kWholeList = std::numeric_limits<int64_t>::max();

struct CursorRequest {
  std::optional<int64_t> batch_size = {};  // none: as the server likes
  bool single_batch = false;
  bool no_timeout = false;
  bool tailable = false;
  bool await_data = false;
  std::optional<int64_t> documents_max = {};  // limit
};

// {batchSize} as aggregate and the lists take it in `cursor`; `batch_size` is for where it says
// none.
Result<CursorRequest> read_cursor_argument(std::string_view path,
                                           const std::optional<bson::View>& cursor,
                                           std::optional<int64_t> batch_size = {});

// Reads the first batch into the reply and keeps what goes on. `snapshot` may be null for a cursor
// that reads no store.
Status reply_first_batch(Call& call, bson::Builder& reply, const engine::Namespace& ns,
                         std::unique_ptr<engine::Snapshot> snapshot,
                         std::unique_ptr<engine::Cursor> cursor, const CursorRequest& request);

// Of one batch, of which the client wants `batch_size` documents and nothing beyond them if it
// `is_single`. 16 MiB at most, and as much as the reply may have: a batch that others follow can be
// smaller. ExceededMemoryLimit (146) if there is no room for a single one.
Result<cursors::BatchLimits> batch_limits(const Call& call, std::optional<int64_t> batch_size,
                                          bool is_single = false);

// Puts the documents of a batch into a reply, whose array is open.
class BatchWriter {
 public:
  BatchWriter(const Call& call, bson::Builder& reply, uint64_t bytes_max)
      : call_(call), reply_(reply), bytes_max_(bytes_max) {}

  void push(bson::View document);
  int64_t documents() const { return documents_; }
  // An error if there was no room for one that is larger than a batch; it is lost.
  const Status& status() const { return status_; }

 private:
  const Call& call_;
  bson::Builder& reply_;
  const uint64_t bytes_max_;
  int64_t documents_ = 0;
  Status status_;
};

// A cursor over documents that were made for it.
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
