// One command as a client sent it, and what becomes of it, whatever message carried either.
// The parts of the wire server meet here: the protocol makes requests out of bytes, the service
// answers them, the server carries both over sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::wire {

// Documents beside the body (a section of kind 1): insert's `documents`, update's `updates`,
// delete's `deletes`. They stand for an array of that name in the body.
struct Sequence {
  std::string_view name;
  std::vector<bson::View> documents;
};

// The memory for a reply, of which all replies together have a limited amount. Used by the thread
// that handles the request.
class ReplyRoom {
 public:
  virtual ~ReplyRoom() = default;
  // How many bytes of `wanted` a batch may have now: fewer while much is in use, so that many get
  // some.
  virtual uint64_t take(uint64_t wanted) = 0;
  // Has room for `bytes` in all, which it may wait for while others send theirs;
  // ExceededMemoryLimit (146) if that takes too long.
  virtual Status make_room(uint64_t bytes) = 0;
};

// Points into the message it was read from, which outlives it. All of it is valid BSON.
struct Request {
  bson::View body;            // its first field names the command
  std::string_view database;  // `$db`, or the database of the legacy namespace "db.$cmd"
  std::vector<Sequence> sequences;
  // Came as OP_QUERY, OP_GET_MORE or OP_KILL_CURSORS on cursors, whose replies tell how many
  // documents were given before (`cursor.startingFrom`), and which kill cursors of any collection.
  bool is_legacy_cursor = false;
  ReplyRoom* room = nullptr;  // null: there is as much as is wanted

  std::string_view name() const { return body.empty() ? std::string_view() : (*body.begin()).key; }
};

// Nothing yet: an awaitData cursor at its end, or a hello that awaits a change of the server. The
// request is to be handled again at `until`, and when the store has changed if it waits for that.
// No thread waits meanwhile.
struct Postponed {
  enum class Wakes { kByChange, kByTime };
  std::chrono::steady_clock::time_point until;
  Wakes wakes = Wakes::kByChange;
};

// The reply's document, with `ok` in it.
using Outcome = std::variant<bson::Document, Postponed>;

}  // namespace gridmount::wire
