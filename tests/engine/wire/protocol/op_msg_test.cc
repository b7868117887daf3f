// Goal: OP_MSG is parsed as clients send it, and malformed messages are refused.
// Method: messages made byte by byte are parsed. The tests distinguish requests that are served,
// those that are refused with a reply, and those that end the connection.
#include "engine/wire/protocol/op_msg.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/incoming_message.h"
#include "engine/wire/protocol/reply.h"
#include "tests/engine/wire/wire_message.h"

namespace gridmount::wire {
namespace {

bson::Document numbered(int32_t number) {
  bson::Builder builder;
  builder.append("_id", number);
  return std::move(builder).finish();
}

// Returns the code of a message that is refused with a reply, otherwise 0.
int32_t refusal_of(const Bytes& bytes) {
  MessageBytes decompressed;
  const Result<IncomingMessage> incoming = read_incoming(bytes, decompressed);
  if (!incoming) {
    ADD_FAILURE() << "ends the connection: " << incoming.error().message();
    return 0;
  }
  const auto* const reply = std::get_if<bson::Document>(&incoming->content);
  return reply == nullptr ? 0 : (*reply->find("code")).as_int32();
}

bool ends_connection(const Bytes& bytes) {
  MessageBytes decompressed;
  return !read_incoming(bytes, decompressed);
}

TEST(OpMsg, Body_IsTheRequest) {
  const Bytes bytes = op_msg(command("ping"));
  const Result<OpMsg> read = read_op_msg(bytes);
  ASSERT_TRUE(read);
  const auto& request = std::get<Request>(read->content);
  EXPECT_EQ(request.name(), "ping");
  EXPECT_EQ(request.database, "test");
  EXPECT_TRUE(request.sequences.empty());
  EXPECT_FALSE(request.is_legacy_cursor);
}

TEST(OpMsg, Sequences_BeforeAndBehindTheBody_AreBesideIt) {
  const TestSequence documents = {"documents", {numbered(1), numbered(2)}};
  const TestSequence nothing = {"more", {}};
  const Bytes bytes = op_msg_of(
      {sequence_section(documents), body_section(command("insert")), sequence_section(nothing)});
  const Result<OpMsg> read = read_op_msg(bytes);
  ASSERT_TRUE(read);
  const auto& request = std::get<Request>(read->content);
  ASSERT_EQ(request.sequences.size(), 2u);
  EXPECT_EQ(request.sequences[0].name, "documents");
  ASSERT_EQ(request.sequences[0].documents.size(), 2u);
  EXPECT_EQ(request.sequences[0].documents[1]["_id"].as_int32(), 2);
  EXPECT_TRUE(request.sequences[1].documents.empty());
}

TEST(OpMsg, Checksum_Right_IsTakenAndAnsweredWithOne) {
  const Bytes bytes = op_msg(command("ping"), kChecksumPresent);
  MessageBytes decompressed;
  const Result<IncomingMessage> incoming = read_incoming(bytes, decompressed);
  ASSERT_TRUE(incoming);
  EXPECT_TRUE(incoming->form.has_checksum);
}

TEST(OpMsg, Checksum_Wrong_EndsTheConnection) {
  Bytes bytes = op_msg(command("ping"), kChecksumPresent);
  bytes[30] ^= 1;
  EXPECT_TRUE(ends_connection(bytes));
}

TEST(OpMsg, Flags_UnknownRequired_EndTheConnection_OptionalAreIgnored) {
  EXPECT_TRUE(ends_connection(op_msg(command("ping"), 1u << 2)));
  EXPECT_TRUE(ends_connection(op_msg(command("ping"), 1u << 15)));
  EXPECT_EQ(refusal_of(op_msg(command("ping"), kExhaustAllowed)), 0);
  EXPECT_EQ(refusal_of(op_msg(command("ping"), 1u << 31)), 0);
}

TEST(OpMsg, MoreToCome_WantsNoReply) {
  const Bytes bytes = op_msg(command("insert"), kMoreToCome);
  MessageBytes decompressed;
  const Result<IncomingMessage> incoming = read_incoming(bytes, decompressed);
  ASSERT_TRUE(incoming);
  EXPECT_EQ(incoming->form.kind, ReplyForm::Kind::kNone);
}

TEST(OpMsg, Sections_OneTooMany_AreRefused) {
  const Bytes body = body_section(command("insert"));
  const Bytes documents = sequence_section({"documents", {}});
  EXPECT_EQ(refusal_of(op_msg_of({body, body})), 40430);
  EXPECT_EQ(refusal_of(op_msg_of({body, documents, documents})), 40431);
  EXPECT_EQ(refusal_of(op_msg_of({body, Bytes{7}})), 40432);
  EXPECT_EQ(refusal_of(op_msg_of({body, sequence_section({"insert", {}})})), 40433);
  EXPECT_EQ(refusal_of(op_msg_of({documents})), 40587);
  EXPECT_EQ(refusal_of(op_msg_of({})), 40587);
  EXPECT_TRUE(ends_connection(
      op_msg_of({body, documents, sequence_section({"a", {}}), sequence_section({"b", {}})})));
}

TEST(OpMsg, Database_MissingOrNoString_IsRefused) {
  bson::Builder none;
  none.append("ping", int32_t{1});
  EXPECT_EQ(refusal_of(op_msg(std::move(none).finish())), 40571);
  bson::Builder number;
  number.append("ping", int32_t{1}).append("$db", int32_t{1});
  EXPECT_EQ(refusal_of(op_msg(std::move(number).finish())), 14);
}

TEST(OpMsg, Lengths_ThatLie_AreRefused) {
  const Bytes good = op_msg_of({body_section(command("insert")),
                                sequence_section({"documents", {numbered(1), numbered(2)}})});
  const size_t sequence = 21 + command("insert").view().size() + 1;
  for (const uint32_t length : {0u, 3u, 4u, 5u, 14u, 1000u, 0x7fffffffu, 0xffffffffu}) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + sequence, &length, sizeof length);
    EXPECT_NE(refusal_of(bytes), 0) << length;
  }
  for (const uint32_t length : {0u, 4u, 5u, 20u, 1000u, 0x7fffffffu, 0xffffffffu}) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + 21, &length, sizeof length);
    EXPECT_NE(refusal_of(bytes), 0) << length;
  }
}

TEST(OpMsg, EveryCut_IsRefused) {
  const Bytes good =
      op_msg_of({body_section(command("insert")), sequence_section({"documents", {numbered(1)}})});
  const size_t whole_without_sequence = 21 + command("insert").view().size();
  for (size_t size = 0; size + kHeaderBytes < good.size(); ++size) {
    const Bytes bytes = message(2013, 1, std::span(good).subspan(kHeaderBytes, size));
    if (bytes.size() == whole_without_sequence) continue;
    MessageBytes decompressed;
    const Result<IncomingMessage> incoming = read_incoming(bytes, decompressed);
    EXPECT_TRUE(!incoming || std::holds_alternative<bson::Document>(incoming->content)) << size;
  }
}

TEST(OpMsg, Nesting_TooDeep_IsRefused) {
  bson::Document document;
  for (int depth = 0; depth < 201; ++depth) {
    bson::Builder around;
    around.append("a", document);
    document = std::move(around).finish();
  }
  EXPECT_EQ(refusal_of(op_msg(document)), 15);
}

TEST(OpMsg, Document_TooLarge_IsRefused) {
  bson::Builder builder;
  builder.append("insert", std::string(17 << 20, 'x')).append("$db", "test");
  EXPECT_EQ(refusal_of(op_msg(std::move(builder).finish())), 10334);
}

TEST(OpMsg, Sequence_OfMoreThanABatch_IsRefusedByNumber) {
  TestSequence sequence = {"documents", {}};
  sequence.documents.resize(kMessageWritesMax);
  EXPECT_EQ(refusal_of(op_msg_of({body_section(command("insert")), sequence_section(sequence)})),
            0);
  sequence.documents.emplace_back();
  const Bytes bytes = op_msg_of({body_section(command("insert")), sequence_section(sequence)});
  const Result<OpMsg> read = read_op_msg(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<Error>(read->content).message(),
            "Write batch sizes must be between 1 and 100000. Got 100001 operations.");
}

}  // namespace
}  // namespace gridmount::wire
