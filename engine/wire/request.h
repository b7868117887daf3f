// One command as a client sent it, and what becomes of it, whatever message carried either.
// The parts of the wire server meet here: the protocol makes requests out of bytes, the service
// answers them, the server carries both over sockets.
#pragma once

#include <chrono>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/bson/document.h"

namespace gridmount::wire {

// Documents beside the body (a section of kind 1): insert's `documents`, update's `updates`,
// delete's `deletes`. They stand for an array of that name in the body.
struct Sequence {
  std::string_view name;
  std::vector<bson::View> documents;
};

// Points into the message it was read from, which outlives it. All of it is valid BSON.
struct Request {
  bson::View body;            // its first field names the command
  std::string_view database;  // `$db`, or the database of the legacy namespace "db.$cmd"
  std::vector<Sequence> sequences;
  bool is_legacy = false;  // came as OP_QUERY, where only hello and its older names are answered

  std::string_view name() const { return body.empty() ? std::string_view() : (*body.begin()).key; }
};

// Nothing yet: an awaitData cursor at its end. The request is to be handled again when the store
// has changed, and at `until` at the latest. No thread waits meanwhile.
struct Postponed {
  std::chrono::steady_clock::time_point until;
};

// The reply's document, with `ok` in it.
using Outcome = std::variant<bson::Document, Postponed>;

}  // namespace gridmount::wire
