// A command as a client has sent it, and its outcome. A Request and an Outcome do not depend on the
// format of the message. All folders of the wire server use these types: protocol/ parses a Request
// from bytes, the Service handles the Request, and server/ receives requests and sends replies over
// sockets.
//
// Not thread-safe: plain values, which only the thread that handles the request may use.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::wire {

// Documents outside the body (a section of kind 1), such as `documents` of insert, `updates` of
// update and `deletes` of delete. A sequence stands for an array field with this name. The body
// must not have this field too.
struct Sequence {
  std::string_view name;
  std::vector<bson::View> documents;
};

// The memory for one reply. The memory for all replies together is limited. Only the thread that
// handles the request may use a ReplyRoom.
class ReplyRoom {
 public:
  virtual ~ReplyRoom() = default;
  // Reserves up to `wanted` bytes for a batch, and returns the number of reserved bytes. If much
  // memory is in use, reserves less, so that many requests get a share.
  virtual uint64_t take(uint64_t wanted) = 0;
  // Reserves `bytes` bytes in total for this reply. May wait until other replies have been sent,
  // and fails with ExceededMemoryLimit (146) if this takes too long.
  virtual Status make_room(uint64_t bytes) = 0;
};

// A Request refers to the message from which it was read. The message must outlive the Request. All
// documents of a Request have been validated.
struct Request {
  bson::View body;            // the first field names the command
  std::string_view database;  // `$db`, or the database of the legacy namespace "db.$cmd"
  std::vector<Sequence> sequences;
  // True for OP_QUERY, OP_GET_MORE and OP_KILL_CURSORS on cursors. Replies to such requests must
  // say how many documents earlier replies had (`cursor.startingFrom`). Such requests may kill
  // cursors of any collection.
  bool is_legacy_cursor = false;
  ReplyRoom* room = nullptr;  // null: no limit

  std::string_view name() const { return body.empty() ? std::string_view() : (*body.begin()).key; }
};

// The outcome of a request that has no result yet: an awaitData cursor is at its end, or a hello
// waits for a change of the server. The request must be handled again at `until`, and with
// kByChange also when the store has changed. No thread waits in the meantime.
struct Deferral {
  enum class Wakes { kByChange, kByTime };
  std::chrono::steady_clock::time_point until;
  Wakes wakes = Wakes::kByChange;
};

// The reply document, including `ok`, or a deferral.
using Outcome = std::variant<bson::Document, Deferral>;

}  // namespace gridmount::wire
