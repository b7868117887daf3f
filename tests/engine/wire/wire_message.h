// Makes messages as clients do, byte by byte, valid and malformed, and parses replies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/wire/protocol/compression.h"

namespace gridmount::wire {

using Bytes = std::vector<uint8_t>;

struct TestSequence {
  std::string name;
  std::vector<bson::Document> documents;
};

// Returns {<command>: 1, $db: "test"}.
bson::Document command(std::string_view name);

void put_32(Bytes& bytes, uint32_t number);
void put_64(Bytes& bytes, int64_t number);
void put(Bytes& bytes, std::span<const uint8_t> more);
void put_text(Bytes& bytes, std::string_view text);  // and its NUL
// Puts a header with the right length before `body`.
Bytes message(int32_t opcode, int32_t request_id, std::span<const uint8_t> body);

Bytes body_section(bson::View document);
Bytes sequence_section(const TestSequence& sequence);
// Puts the sections after the flags. With kChecksumPresent, the right checksum follows.
Bytes op_msg_of(const std::vector<Bytes>& sections, uint32_t flags = 0, int32_t request_id = 1);
Bytes op_msg(bson::View body, uint32_t flags = 0, int32_t request_id = 1);
Bytes op_query(std::string_view collection, bson::View query, int32_t request_id = 1,
               int32_t number_to_return = -1, uint32_t flags = 0);
Bytes op_get_more(std::string_view collection, int32_t number_to_return, int64_t cursor);
Bytes op_kill_cursors(const std::vector<int64_t>& cursors);
Bytes op_insert(std::string_view collection, const std::vector<bson::Document>& documents,
                uint32_t flags = 0);
Bytes op_update(std::string_view collection, bson::View filter, bson::View update,
                uint32_t flags = 0);
Bytes op_delete(std::string_view collection, bson::View filter, uint32_t flags = 0);
Bytes compressed(const Bytes& plain, Compressor compressor);

// A reply of either kind.
struct ReadReply {
  int32_t opcode = 0;
  int32_t request_id = 0;
  int32_t response_to = 0;
  uint32_t flags = 0;
  bool was_compressed = false;
  bson::Document document;  // the first one
  // Only for OP_REPLY.
  int64_t cursor = 0;
  int32_t starting_from = 0;
  std::vector<bson::Document> documents;

  double ok() const;
  int32_t code() const;
  std::string errmsg() const;
};
// Parses a reply of either kind. Fails the test if it is malformed.
ReadReply read_reply(std::span<const uint8_t> bytes);

}  // namespace gridmount::wire
