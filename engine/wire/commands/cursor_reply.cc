#include "engine/wire/commands/cursor_reply.h"

#include <algorithm>

namespace gridmount::wire {
namespace {

// The bytes that an array element of a reply takes besides its document: type, key and terminator.
constexpr uint64_t kElementBytes = 10;

// A batch that grows beyond this size gets the memory for the largest possible batch. Pages that it
// does not use cost nothing.
constexpr uint64_t kSmallBatchBytes = 4 * 1024 * 1024;

// An upper limit for the bytes of a reply without its batch.
constexpr uint64_t kEnvelopeBytes = 4096;

}  // namespace

Result<CursorRequest> read_cursor_argument(std::string_view path,
                                           const std::optional<bson::View>& cursor,
                                           std::optional<int64_t> batch_size) {
  CursorRequest request;
  request.batch_size = batch_size;
  if (!cursor) return request;
  GM_ASSIGN(Arguments fields, Arguments::of(path, *cursor));
  GM_ASSIGN(const std::optional<int64_t> size, fields.integer_from("batchSize", 0));
  GM_TRY(fields.finish());
  if (size) request.batch_size = size;
  return request;
}

Result<cursors::BatchLimits> batch_limits(const Call& call, std::optional<int64_t> batch_size,
                                          bool is_single) {
  cursors::BatchLimits limits;
  limits.documents = batch_size;
  const bool is_as_we_like = !batch_size && !is_single;
  if (is_as_we_like && call.client().peer().is_loopback) limits.bytes = kLocalBatchBytes;
  limits.bytes_per_document = kElementBytes;
  ReplyRoom* const room = call.request().room;
  if (room == nullptr) return limits;
  if (is_single) {
    GM_TRY(room->make_room(limits.bytes));
  } else {
    limits.bytes = room->take(limits.bytes);
  }
  return limits;
}

void BatchWriter::push(bson::View document) {
  ReplyRoom* const room = call_.request().room;
  // The first document is returned even if it is larger than the limit.
  if (room != nullptr && documents_ == 0 && document.size() > bytes_max_) {
    status_ = room->make_room(document.size());
    if (!status_) return;
  }
  const uint64_t bytes = reply_.size() + document.size() + kElementBytes;
  if (bytes > kSmallBatchBytes) reply_.reserve(std::max(bytes, bytes_max_) + kEnvelopeBytes);
  reply_.push(document);
  ++documents_;
}

Status reply_first_batch(Call& call, bson::Builder& reply, const engine::Namespace& ns,
                         std::unique_ptr<engine::Snapshot> snapshot,
                         std::unique_ptr<engine::Cursor> cursor, const CursorRequest& request) {
  auto note = std::make_shared<ClientCursor>();
  note->session = call.operation().session;
  note->session_user = call.operation().session_user;
  note->interrupt = call.operation().interrupt;
  note->await_data = request.await_data;
  note->observer = call.observer();
  // No other request may read the cursor before the first batch has been returned.
  note->being_read = true;
  const AccessControl& access = call.state().access();
  if (access.applies_to(call.client())) {
    if (const std::optional<Identity> identity = access.identity(call.client())) {
      note->owner = identity->user;
    }
    note->privileges = privileges_of(call.command(), call.request());
    note->privileges.insert(note->privileges.end(), call.reached().begin(), call.reached().end());
  }
  // currentOp shows the command with the cursor. The cursor does not keep a large command.
  constexpr uint32_t kShownBytesMax = 4096;
  if (call.request().body.size() <= kShownBytesMax) {
    note->command = bson::Document(call.request().body);
  }
  cursors::CursorOptions options;
  options.no_timeout = request.no_timeout;
  options.tailable = request.tailable;
  options.documents_max = request.documents_max;
  options.note = note;
  GM_ASSIGN(cursors::BatchLimits limits,
            batch_limits(call, request.batch_size, request.single_batch));
  if (!limits.documents) limits.documents = kFirstBatchDocuments;

  BatchWriter writer(call, reply.open_document("cursor").open_array("firstBatch"), limits.bytes);
  GM_ASSIGN(int64_t id,
            call.state().cursors().open(ns, std::move(snapshot), std::move(cursor), options, limits,
                                        [&](bson::View document) { writer.push(document); }));
  if (id != 0 && (request.single_batch || !writer.status())) {
    call.state().cursors().kill(id);
    id = 0;
  }
  GM_TRY(writer.status());
  const int64_t returned = writer.documents();
  note->returned = returned;
  if (id != 0) {
    // Time between batches does not count against maxTimeMS.
    if (call.generic().max_time) {
      const auto spent = std::chrono::steady_clock::now() - call.operation().begin;
      const auto left = *call.generic().max_time - spent;
      note->microseconds_left =
          std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(left).count());
    }
    note->interrupt->set(engine::Interrupt::Time::max());
  }
  reply.close().append("id", id).append("ns", ns.full()).close();
  call.counts().append("nreturned", returned).append("cursorExhausted", id == 0);
  if (id != 0) call.counts().append("cursorid", id);
  call.set_examined(call.examined());
  note->being_read = false;
  return {};
}

}  // namespace gridmount::wire
