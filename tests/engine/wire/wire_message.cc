#include "tests/engine/wire/wire_message.h"

#include <gtest/gtest.h>

#include "engine/checksum/crc32c.h"
#include "engine/wire/protocol/byte_reader.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/op_msg.h"

namespace gridmount::wire {

bson::Document command(std::string_view name) {
  bson::Builder builder;
  builder.append(name, int32_t{1}).append("$db", "test");
  return std::move(builder).finish();
}

void put_32(Bytes& bytes, uint32_t number) {
  bytes.resize(bytes.size() + 4);
  store_32(number, bytes.data() + bytes.size() - 4);
}

void put_64(Bytes& bytes, int64_t number) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(&number);
  bytes.insert(bytes.end(), begin, begin + sizeof number);
}

void put(Bytes& bytes, std::span<const uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void put_text(Bytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.push_back(0);
}

Bytes message(int32_t opcode, int32_t request_id, std::span<const uint8_t> body) {
  Bytes bytes;
  put_32(bytes, static_cast<uint32_t>(kHeaderBytes + body.size()));
  put_32(bytes, static_cast<uint32_t>(request_id));
  put_32(bytes, 0);
  put_32(bytes, static_cast<uint32_t>(opcode));
  put(bytes, body);
  return bytes;
}

Bytes body_section(bson::View document) {
  Bytes bytes = {0};
  put(bytes, document.bytes());
  return bytes;
}

Bytes sequence_section(const TestSequence& sequence) {
  Bytes content;
  put_text(content, sequence.name);
  for (const bson::Document& document : sequence.documents) put(content, document.view().bytes());
  Bytes bytes = {1};
  put_32(bytes, static_cast<uint32_t>(content.size() + 4));
  put(bytes, content);
  return bytes;
}

Bytes op_msg_of(const std::vector<Bytes>& sections, uint32_t flags, int32_t request_id) {
  Bytes body;
  put_32(body, flags);
  for (const Bytes& section : sections) put(body, section);
  if ((flags & kChecksumPresent) == 0) return message(2013, request_id, body);
  put_32(body, 0);
  Bytes bytes = message(2013, request_id, body);
  const size_t covered = bytes.size() - 4;
  store_32(crc32c(std::span(bytes).first(covered)), bytes.data() + covered);
  return bytes;
}

Bytes op_msg(bson::View body, uint32_t flags, int32_t request_id) {
  return op_msg_of({body_section(body)}, flags, request_id);
}

Bytes op_query(std::string_view collection, bson::View query, int32_t request_id,
               int32_t number_to_return, uint32_t flags) {
  Bytes body;
  put_32(body, flags);
  put_text(body, collection);
  put_32(body, 0);
  put_32(body, static_cast<uint32_t>(number_to_return));
  put(body, query.bytes());
  return message(2004, request_id, body);
}

Bytes op_get_more(std::string_view collection, int32_t number_to_return, int64_t cursor) {
  Bytes body;
  put_32(body, 0);
  put_text(body, collection);
  put_32(body, static_cast<uint32_t>(number_to_return));
  put_64(body, cursor);
  return message(2005, 1, body);
}

Bytes op_kill_cursors(const std::vector<int64_t>& cursors) {
  Bytes body;
  put_32(body, 0);
  put_32(body, static_cast<uint32_t>(cursors.size()));
  for (const int64_t cursor : cursors) put_64(body, cursor);
  return message(2007, 1, body);
}

Bytes op_insert(std::string_view collection, const std::vector<bson::Document>& documents,
                uint32_t flags) {
  Bytes body;
  put_32(body, flags);
  put_text(body, collection);
  for (const bson::Document& document : documents) put(body, document.view().bytes());
  return message(2002, 1, body);
}

Bytes op_update(std::string_view collection, bson::View filter, bson::View update, uint32_t flags) {
  Bytes body;
  put_32(body, 0);
  put_text(body, collection);
  put_32(body, flags);
  put(body, filter.bytes());
  put(body, update.bytes());
  return message(2001, 1, body);
}

Bytes op_delete(std::string_view collection, bson::View filter, uint32_t flags) {
  Bytes body;
  put_32(body, 0);
  put_text(body, collection);
  put_32(body, flags);
  put(body, filter.bytes());
  return message(2006, 1, body);
}

Bytes compressed(const Bytes& plain, Compressor compressor) {
  if (const auto smaller = compress(plain, compressor)) {
    return {smaller->data(), smaller->data() + smaller->size()};
  }
  ADD_FAILURE() << "a message that does not get smaller";
  return plain;
}

double ReadReply::ok() const {
  const auto value = document.find("ok");
  return value && value->type() == bson::Type::kDouble ? value->as_double() : -1;
}

int32_t ReadReply::code() const {
  const auto value = document.find("code");
  return value && value->type() == bson::Type::kInt32 ? value->as_int32() : 0;
}

std::string ReadReply::errmsg() const {
  const auto value = document.find("errmsg");
  return value ? std::string(value->as_string()) : std::string();
}

ReadReply read_reply(std::span<const uint8_t> bytes) {
  ReadReply reply;
  if (bytes.size() < kHeaderBytes || load_32(bytes.data()) != bytes.size()) {
    ADD_FAILURE() << "no whole message: " << bytes.size() << " bytes";
    return reply;
  }
  reply.request_id = static_cast<int32_t>(load_32(bytes.data() + 4));
  reply.response_to = static_cast<int32_t>(load_32(bytes.data() + 8));
  MessageBytes decompressed;
  if (static_cast<Opcode>(load_32(bytes.data() + 12)) == Opcode::kCompressed) {
    Result<MessageBytes> inner = decompress(bytes);
    if (!inner) {
      ADD_FAILURE() << inner.error().message();
      return reply;
    }
    reply.was_compressed = true;
    decompressed = std::move(*inner);
    bytes = decompressed.bytes();
  }
  reply.opcode = static_cast<int32_t>(load_32(bytes.data() + 12));
  reply.flags = load_32(bytes.data() + 16);
  const bool is_legacy = reply.opcode == static_cast<int32_t>(Opcode::kReply);
  const size_t begin = is_legacy ? 36 : 21;
  size_t end = bytes.size();
  if (!is_legacy && (reply.flags & kChecksumPresent) != 0) {
    end -= 4;
    EXPECT_EQ(crc32c(bytes.first(end)), load_32(bytes.data() + end));
  }
  size_t documents = 1;
  if (is_legacy) {
    std::memcpy(&reply.cursor, bytes.data() + 20, sizeof reply.cursor);
    reply.starting_from = static_cast<int32_t>(load_32(bytes.data() + 28));
    documents = load_32(bytes.data() + 32);
  }
  std::span<const uint8_t> rest = bytes.subspan(begin, end - begin);
  for (size_t i = 0; i < documents && rest.size() >= 4; ++i) {
    const auto document =
        bson::validate(rest.first(std::min<size_t>(load_32(rest.data()), rest.size())));
    if (!document) {
      ADD_FAILURE() << document.error().message();
      return reply;
    }
    reply.documents.emplace_back(*document);
    rest = rest.subspan(document->size());
  }
  EXPECT_EQ(reply.documents.size(), documents);
  EXPECT_TRUE(rest.empty());
  if (!reply.documents.empty()) reply.document = reply.documents.front();
  return reply;
}

}  // namespace gridmount::wire
