// A command as a client sent it, and its result, independent of the message format that carries
// them. This is where the parts of the wire server meet: protocol/ parses requests from bytes, the
// service answers them, and server/ moves both over sockets.
//
// Not thread-safe: plain values, used by the thread that handles the request.
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
// delete's `deletes`. A sequence stands for an array field of that name in the body.
struct Sequence {
  std::string_view name;
  std::vector<bson::View> documents;
};

// The memory for one reply. All replies together share a limited amount. Used by the thread that
// handles the request.
class ReplyRoom {
 public:
  virtual ~ReplyRoom() = default;
  // Returns how many of the `wanted` bytes a batch may have now. Returns less while much memory is
  // in use, so that many requests get a share.
  virtual uint64_t take(uint64_t wanted) = 0;
  // Reserves `bytes` for this reply in total. May wait until other replies have been sent. Fails
  // with ExceededMemoryLimit (146) if that takes too long.
  virtual Status make_room(uint64_t bytes) = 0;
};

// Points into the message that it was read from, which must outlive it. Everything in it is valid
// BSON.
struct Request {
  bson::View body;            // its first field names the command
  std::string_view database;  // `$db`, or the database of the legacy namespace "db.$cmd"
  std::vector<Sequence> sequences;
  // True for OP_QUERY, OP_GET_MORE and OP_KILL_CURSORS on cursors. Their replies report how many
  // documents were returned before (`cursor.startingFrom`), and they may kill cursors of any
  // collection.
  bool is_legacy_cursor = false;
  ReplyRoom* room = nullptr;  // null: no limit

  std::string_view name() const { return body.empty() ? std::string_view() : (*body.begin()).key; }
};

// There is no result yet: an awaitData cursor is at its end, or a hello waits for a change of the
// server. The request must be handled again at `until` and, with kByChange, also whenever the store
// has changed. No thread is blocked in the meantime.
struct Deferral {
  enum class Wakes { kByChange, kByTime };
  std::chrono::steady_clock::time_point until;
  Wakes wakes = Wakes::kByChange;
};

// The reply document, including `ok`, or a deferral.
using Outcome = std::variant<bson::Document, Deferral>;

}  // namespace gridmount::wire
