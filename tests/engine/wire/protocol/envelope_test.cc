// Goal: the envelope of commands and replies: headers, OP_QUERY and OP_REPLY, compression.
// Method: messages made byte by byte are parsed, and replies are taken apart again.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/wire/protocol/compression.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/incoming_message.h"
#include "engine/wire/protocol/op_msg.h"
#include "engine/wire/protocol/reply.h"
#include "tests/engine/wire/wire_message.h"

namespace gridmount::wire {
namespace {

constexpr Compressor kCompressors[] = {Compressor::kNoop, Compressor::kSnappy, Compressor::kZlib,
                                       Compressor::kZstd};

Bytes bytes_of(const Reply& reply) {
  Bytes bytes;
  for (const auto piece : reply.pieces()) put(bytes, piece);
  EXPECT_EQ(bytes.size(), reply.size());
  return bytes;
}

bson::Document compressible_command(std::string_view name) {
  bson::Builder builder;
  builder.append(name, std::string(5000, 'a')).append("$db", "test");
  return std::move(builder).finish();
}

Result<IncomingMessage> read(const Bytes& bytes) {
  static MessageBytes decompressed;
  return read_incoming(bytes, decompressed);
}

// Makes a compressed message whose header claims what the test wants.
Bytes compressed_claiming(uint32_t opcode, uint32_t size, uint8_t compressor,
                          std::span<const uint8_t> content) {
  Bytes body;
  put_32(body, opcode);
  put_32(body, size);
  body.push_back(compressor);
  put(body, content);
  return message(2012, 1, body);
}

TEST(Header, Length_OutsideTheLimits_IsRefused) {
  for (const uint32_t length : {0u, 15u, 48'000'001u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    Bytes bytes(kHeaderBytes);
    std::memcpy(bytes.data(), &length, sizeof length);
    EXPECT_FALSE(read_header(std::span<const uint8_t, kHeaderBytes>(bytes.data(), kHeaderBytes)))
        << length;
  }
  for (const uint32_t length : {16u, 48'000'000u}) {
    Bytes bytes(kHeaderBytes);
    std::memcpy(bytes.data(), &length, sizeof length);
    EXPECT_TRUE(read_header(std::span<const uint8_t, kHeaderBytes>(bytes.data(), kHeaderBytes)))
        << length;
  }
}

TEST(OpQuery, Hello_IsALegacyRequest) {
  const Bytes bytes = op_query("admin.$cmd", command("isMaster"), 7);
  const Result<IncomingMessage> incoming = read(bytes);
  ASSERT_TRUE(incoming);
  const auto& request = std::get<Request>(incoming->content);
  EXPECT_EQ(request.name(), "isMaster");
  EXPECT_EQ(request.database, "admin");
  EXPECT_FALSE(request.is_legacy_cursor);
  EXPECT_EQ(incoming->form.kind, ReplyForm::Kind::kLegacy);
  EXPECT_EQ(incoming->form.legacy_flags, 8u);
  EXPECT_EQ(incoming->form.response_to, 7);
}

TEST(OpQuery, CommandInQuery_IsUnwrapped) {
  bson::Builder wrapped;
  wrapped.append("$query", command("hello")).append("$readPreference", bson::Document());
  const Bytes bytes = op_query("admin.$cmd", std::move(wrapped).finish());
  const Result<IncomingMessage> incoming = read(bytes);
  ASSERT_TRUE(incoming);
  EXPECT_EQ(std::get<Request>(incoming->content).name(), "hello");
}

TEST(OpQuery, SeveralReplies_OfACommand_AreRefused) {
  const Result<IncomingMessage> several = read(op_query("admin.$cmd", command("hello"), 1, 5));
  ASSERT_TRUE(several);
  EXPECT_EQ((*std::get<bson::Document>(several->content).find("code")).as_int32(), 16979);
}

TEST(Opcodes, Unknown_EndTheConnection) {
  for (const int32_t opcode : {0, 1, 2, 2003, 2008, 2010, 2014, -1}) {
    EXPECT_FALSE(read(message(opcode, 1, Bytes(40)))) << opcode;
  }
}

TEST(GoesOn, Hello_ThatKnowsTheVersion) {
  const auto hello = [](std::string_view name, bson::ObjectId process) {
    bson::Builder builder;
    builder.append(name, int32_t{1}).open_document("topologyVersion");
    builder.append("processId", process).append("counter", int64_t{0}).close();
    builder.append("maxAwaitTimeMS", int32_t{10}).append("$db", "admin");
    return std::move(builder).finish();
  };
  const bson::ObjectId ours = bson::ObjectId::generate();
  const bson::Document reply = hello("ok", ours);
  for (const char* const name : {"hello", "isMaster", "ismaster"}) {
    const Bytes allowed = op_msg(hello(name, ours), kExhaustAllowed);
    EXPECT_TRUE(has_more_to_come(*read(allowed), reply)) << name;
    const Bytes once = op_msg(hello(name, ours));
    EXPECT_FALSE(has_more_to_come(*read(once), reply)) << name;
  }
  const Bytes other_process = op_msg(hello("hello", bson::ObjectId::generate()), kExhaustAllowed);
  EXPECT_FALSE(has_more_to_come(*read(other_process), reply));
  const Bytes other_command = op_msg(hello("ping", ours), kExhaustAllowed);
  EXPECT_FALSE(has_more_to_come(*read(other_command), reply));
  const Bytes hello_bytes = op_msg(hello("hello", ours), kExhaustAllowed);
  EXPECT_FALSE(has_more_to_come(*read(hello_bytes), command("ok")));
}

TEST(Compression, EachCompressor_GivesBackTheMessage) {
  const Bytes plain = op_msg(compressible_command("find"), 0, 9);
  for (const Compressor compressor : kCompressors) {
    const Bytes bytes = compressed(plain, compressor);
    const Result<MessageBytes> inner = decompress(bytes);
    ASSERT_TRUE(inner);
    EXPECT_TRUE(
        std::equal(plain.begin(), plain.end(), inner->data(), inner->data() + inner->size()));
    const Result<IncomingMessage> incoming = read(bytes);
    ASSERT_TRUE(incoming);
    EXPECT_EQ(std::get<Request>(incoming->content).name(), "find");
    EXPECT_EQ(incoming->form.compressor, compressor);
    EXPECT_EQ(incoming->form.response_to, 9);
    EXPECT_EQ(compressor_named(compressor_name(compressor)), compressor);
  }
  EXPECT_FALSE(compressor_named("lz4"));
}

TEST(Compression, OfHelloAndLogIn_IsNotAnsweredInKind) {
  for (const char* name : {"hello", "saslStart", "createUser"}) {
    const Bytes bytes = compressed(op_msg(compressible_command(name)), Compressor::kZlib);
    const Result<IncomingMessage> incoming = read(bytes);
    ASSERT_TRUE(incoming);
    EXPECT_FALSE(incoming->form.compressor) << name;
  }
}

TEST(Compression, ClaimedSize_BeyondTheLimit_IsRefusedBeforeAnythingIsAllocated) {
  for (const uint32_t size : {48'000'000u - 15, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    const Bytes bytes = compressed_claiming(2013, size, 2, Bytes(20));
    EXPECT_FALSE(read_compressed_header(bytes)) << size;
    EXPECT_FALSE(read(bytes)) << size;
  }
  EXPECT_TRUE(read_compressed_header(compressed_claiming(2013, 48'000'000 - 16, 2, Bytes(20))));
}

TEST(Compression, NestedUnknownOrShort_IsRefused) {
  const Bytes plain = op_msg(compressible_command("find"));
  const Bytes once = compressed(plain, Compressor::kSnappy);
  const auto body = std::span(once).subspan(kHeaderBytes);
  EXPECT_FALSE(read(compressed_claiming(2012, static_cast<uint32_t>(body.size()), 0, body)));
  EXPECT_FALSE(read(compressed_claiming(2013, 4, 4, Bytes(4))));
  EXPECT_FALSE(read(compressed_claiming(2013, 4, 255, Bytes(4))));
  for (size_t size = 0; size < 9; ++size) EXPECT_FALSE(read(message(2012, 1, Bytes(size))));
}

TEST(Compression, SizesThatLie_AreRefused) {
  const Bytes plain = op_msg(compressible_command("find"));
  const auto size = static_cast<uint32_t>(plain.size() - kHeaderBytes);
  for (const Compressor compressor : kCompressors) {
    const Bytes good = compressed(plain, compressor);
    for (const uint32_t claimed : {0u, 1u, size - 1, size + 1, 40'000'000u}) {
      Bytes bytes = good;
      std::memcpy(bytes.data() + 20, &claimed, sizeof claimed);
      EXPECT_FALSE(read(bytes)) << compressor_name(compressor) << " " << claimed;
    }
    Bytes cut = good;
    cut.resize(cut.size() - 3);
    const auto length = static_cast<uint32_t>(cut.size());
    std::memcpy(cut.data(), &length, sizeof length);
    EXPECT_FALSE(read(cut)) << compressor_name(compressor);
  }
}

TEST(Reply, OpMsg_CarriesTheDocument_WithAChecksumWhereAskedForWithOne) {
  for (const bool has_checksum : {false, true}) {
    ReplyForm form;
    form.response_to = 5;
    form.has_checksum = has_checksum;
    const ReadReply reply = read_reply(bytes_of(Reply(form, command("x"), 77)));
    EXPECT_EQ(reply.opcode, 2013);
    EXPECT_EQ(reply.response_to, 5);
    EXPECT_EQ(reply.flags, has_checksum ? 1u : 0u);
    EXPECT_EQ((*reply.document.find("x")).as_int32(), 1);
  }
}

TEST(Reply, Legacy_IsOpReplyWithOneDocument) {
  ReplyForm form;
  form.kind = ReplyForm::Kind::kLegacy;
  form.legacy_flags = 8;
  const Bytes bytes = bytes_of(Reply(form, command("x"), 77));
  const ReadReply reply = read_reply(bytes);
  EXPECT_EQ(reply.opcode, 1);
  EXPECT_EQ(reply.flags, 8u);
  EXPECT_EQ(bytes[32], 1);  // the number of documents
  EXPECT_EQ((*reply.document.find("x")).as_int32(), 1);
}

TEST(Reply, Compressed_WhereItGetsShorter) {
  for (const Compressor compressor : kCompressors) {
    ReplyForm form;
    form.compressor = compressor;
    const ReadReply large = read_reply(bytes_of(Reply(form, compressible_command("x"), 1)));
    EXPECT_TRUE(large.was_compressed);
    EXPECT_TRUE(large.document.find("x"));
    const ReadReply small = read_reply(bytes_of(Reply(form, bson::Document(), 1)));
    EXPECT_EQ(small.was_compressed, compressor == Compressor::kNoop);
  }
}

TEST(Reply, BeyondTheMessageLimit_IsAnError) {
  bson::Builder builder;
  builder.append("x", std::string(kMessageBytesMax, 'x'));
  const ReadReply reply = read_reply(bytes_of(Reply({}, std::move(builder).finish(), 1)));
  EXPECT_EQ(reply.code(), 10334);
}

TEST(ErrorDocument, HasCodeNameAndDetails) {
  const bson::Document details = command("detail");
  const auto bytes = details.view().bytes();
  const bson::Document document =
      error_document(Error(ErrorCode::kBadValue, "why").with_details({bytes.begin(), bytes.end()}));
  EXPECT_EQ((*document.find("ok")).as_double(), 0);
  EXPECT_EQ((*document.find("codeName")).as_string(), "BadValue");
  EXPECT_EQ((*document.find("detail")).as_int32(), 1);
}

}  // namespace
}  // namespace gridmount::wire
