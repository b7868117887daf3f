// Goal: the opcodes that OP_MSG replaced: which command each becomes, what OP_REPLY holds of a
// cursor, and how truncated messages are handled.
// Method: messages made byte by byte are parsed, and compared as JSON.
#include <gtest/gtest.h>

#include "engine/bson/json.h"
#include "engine/wire/protocol/incoming_message.h"
#include "engine/wire/protocol/legacy_query.h"
#include "engine/wire/protocol/reply.h"
#include "tests/engine/wire/wire_message.h"

namespace gridmount::wire {
namespace {

bson::Document doc(std::string_view json) {
  return *bson::document_from_json(json);
}

std::string json(bson::View document) {
  return bson::to_json(document, bson::JsonForm::kRelaxed);
}

// Returns "database: command, sequences", "error " and the code of an error reply, or "closed".
std::string command_of(const Bytes& bytes) {
  MessageBytes decompressed;
  const Result<IncomingMessage> incoming = read_incoming(bytes, decompressed);
  if (!incoming) return "closed";
  if (const auto* const error = std::get_if<bson::Document>(&incoming->content)) {
    return "error " + std::to_string(error->find("code")->as_int32());
  }
  const auto& request = std::get<Request>(incoming->content);
  std::string shown = std::string(request.database) + ": " + json(request.body);
  for (const Sequence& sequence : request.sequences) {
    shown += " " + std::string(sequence.name);
    for (const bson::View document : sequence.documents) shown += " " + json(document);
  }
  return shown;
}

std::string query(std::string_view document, int32_t to_return = 0, uint32_t flags = 0) {
  return command_of(op_query("db.a.b", doc(document), 1, to_return, flags));
}

TEST(LegacyQuery, Filter_BecomesFind) {
  EXPECT_EQ(query(R"({"a": 1})"), R"(db: { "find" : "a.b", "filter" : { "a" : 1 } })");
  EXPECT_EQ(query("{}"), R"(db: { "find" : "a.b", "filter" : {  } })");
  EXPECT_EQ(query("{}", 20), R"(db: { "find" : "a.b", "filter" : {  }, "batchSize" : 20 })");
  EXPECT_EQ(query("{}", -20),
            R"(db: { "find" : "a.b", "filter" : {  }, "limit" : 20, "singleBatch" : true })");
  EXPECT_EQ(query("{}", 1),
            R"(db: { "find" : "a.b", "filter" : {  }, "limit" : 1, "singleBatch" : true })");
  EXPECT_EQ(
      query("{}", std::numeric_limits<int32_t>::min()),
      R"(db: { "find" : "a.b", "filter" : {  }, "limit" : 2147483648, "singleBatch" : true })");
  EXPECT_EQ(
      query("{}", 0, kTailableCursor | kAwaitData | kNoCursorTimeout | 4),
      R"(db: { "find" : "a.b", "filter" : {  }, "tailable" : true, "noCursorTimeout" : true, )"
      R"("awaitData" : true })");
}

TEST(LegacyQuery, SkipAndFields_AreFindsOwn) {
  Bytes body;
  put_32(body, 0);
  put_text(body, "db.c");
  put_32(body, 7);
  put_32(body, 0);
  put(body, doc("{}").view().bytes());
  put(body, doc(R"({"x": 1})").view().bytes());
  EXPECT_EQ(command_of(message(2004, 1, body)),
            R"(db: { "find" : "c", "filter" : {  }, "projection" : { "x" : 1 }, "skip" : 7 })");
}

TEST(LegacyQuery, Modifiers_BecomeFindsFields) {
  EXPECT_EQ(query(R"({"$query": {"a": 1}, "$orderby": {"b": -1}, "$hint": "i", "$comment": "x",
                      "$maxTimeMS": 5, "$min": {"a": 0}, "$max": {"a": 9}, "$returnKey": true,
                      "$showDiskLoc": true, "$snapshot": true})"),
            R"(db: { "find" : "a.b", "filter" : { "a" : 1 }, "sort" : { "b" : -1 }, "hint" : "i", )"
            R"("comment" : "x", "maxTimeMS" : 5, "min" : { "a" : 0 }, "max" : { "a" : 9 }, )"
            R"("returnKey" : true, "showRecordId" : true })");
  EXPECT_EQ(query(R"({"$orderby": {"b": -1}, "$query": {"a": 1}})"),
            R"(db: { "find" : "a.b", "filter" : { "a" : 1 }, "sort" : { "b" : -1 } })");
  EXPECT_EQ(query(R"({"query": {"a": 1}, "orderby": {"b": 1}})"),
            R"(db: { "find" : "a.b", "filter" : { "a" : 1 }, "sort" : { "b" : 1 } })");
  EXPECT_EQ(query(R"({"$query": {"a": 1}, "$explain": true})"),
            R"(db: { "explain" : { "find" : "a.b", "filter" : { "a" : 1 } }, )"
            R"("verbosity" : "allPlansExecution" })");
  // In these queries, the field `query` is a part of the filter.
  EXPECT_EQ(query(R"({"query": "text"})"),
            R"(db: { "find" : "a.b", "filter" : { "query" : "text" } })");
  EXPECT_EQ(query(R"({"a": 1, "query": {"b": 1}})"),
            R"(db: { "find" : "a.b", "filter" : { "a" : 1, "query" : { "b" : 1 } } })");
  EXPECT_EQ(query(R"({"$query": {}, "$maxScan": 5})"), "error 2");
  EXPECT_EQ(query(R"({"$query": {}, "query": {"a": 1}})"), "error 2");
  EXPECT_EQ(query("{}", 0, kExhaust), "error 2");
}

TEST(LegacyCursors, GetMoreAndKillCursors) {
  EXPECT_EQ(command_of(op_get_more("db.c", 0, 77)),
            R"(db: { "getMore" : 77, "collection" : "c" })");
  EXPECT_EQ(command_of(op_get_more("db.c", 5, 77)),
            R"(db: { "getMore" : 77, "collection" : "c", "batchSize" : 5 })");
  EXPECT_EQ(command_of(op_get_more("db.c", -5, 77)),
            R"(db: { "getMore" : 77, "collection" : "c", "batchSize" : 5 })");
  EXPECT_EQ(command_of(op_kill_cursors({1, 2})),
            R"(admin: { "killCursors" : "", "cursors" : [ 1, 2 ] })");
  EXPECT_EQ(command_of(op_kill_cursors({})), "closed");
  EXPECT_EQ(command_of(op_kill_cursors(std::vector<int64_t>(30'000, 1))), "closed");
}

TEST(LegacyWrites, BecomeCommands) {
  EXPECT_EQ(command_of(op_insert("db.c", {doc(R"({"_id": 1})"), doc(R"({"_id": 2})")})),
            R"(db: { "insert" : "c", "ordered" : true } documents { "_id" : 1 } { "_id" : 2 })");
  EXPECT_EQ(command_of(op_insert("db.c", {doc("{}")}, 1)),
            R"(db: { "insert" : "c", "ordered" : false } documents { })");
  EXPECT_EQ(command_of(op_update("db.c", doc(R"({"a": 1})"), doc(R"({"$set": {"b": 1}})"), 3)),
            R"(db: { "update" : "c", "updates" : [ { "q" : { "a" : 1 }, )"
            R"("u" : { "$set" : { "b" : 1 } }, "upsert" : true, "multi" : true } ] })");
  EXPECT_EQ(command_of(op_delete("db.c", doc(R"({"a": 1})"))),
            R"(db: { "delete" : "c", "deletes" : [ { "q" : { "a" : 1 }, "limit" : 0 } ] })");
  EXPECT_EQ(command_of(op_delete("db.c", doc("{}"), 1)),
            R"(db: { "delete" : "c", "deletes" : [ { "q" : {  }, "limit" : 1 } ] })");
}

TEST(LegacyMessages, CutOff_EndTheConnection) {
  const bson::Document some = doc(R"({"a": 1})");
  for (const Bytes& good :
       {op_query("db.c", some), op_get_more("db.c", 1, 2), op_kill_cursors({1, 2}),
        op_update("db.c", some, some), op_delete("db.c", some)}) {
    const std::span<const uint8_t> body = std::span(good).subspan(16);
    const auto opcode = static_cast<int32_t>(good[12] | good[13] << 8);
    for (size_t size = 0; size < body.size(); ++size) {
      EXPECT_EQ(command_of(message(opcode, 1, body.first(size))), "closed")
          << opcode << " " << size;
    }
  }
}

ReadReply reply_to_cursor(std::string_view document) {
  ReplyForm form;
  form.kind = ReplyForm::Kind::kLegacyCursor;
  form.legacy_flags = kAwaitCapable;
  const Reply reply(form, doc(document), 77);
  Bytes bytes;
  for (const auto piece : reply.pieces()) put(bytes, piece);
  return read_reply(bytes);
}

TEST(LegacyReply, HoldsTheBatchsDocuments) {
  const ReadReply first = reply_to_cursor(
      R"({"cursor": {"firstBatch": [{"_id": 1}, {"_id": 2}], "id": {"$numberLong": "9876543210"}},
          "ok": 1.0})");
  EXPECT_EQ(first.opcode, 1);
  EXPECT_EQ(first.flags, kAwaitCapable);
  EXPECT_EQ(first.cursor, 9876543210);
  EXPECT_EQ(first.starting_from, 0);
  ASSERT_EQ(first.documents.size(), 2U);
  EXPECT_EQ(json(first.documents[1]), R"({ "_id" : 2 })");

  const ReadReply next = reply_to_cursor(
      R"({"cursor": {"nextBatch": [], "id": {"$numberLong": "0"}, "startingFrom": 2}, "ok": 1.0})");
  EXPECT_EQ(next.cursor, 0);
  EXPECT_EQ(next.starting_from, 2);
  EXPECT_TRUE(next.documents.empty());
}

TEST(LegacyReply, TellsOfErrorsByItsFlags) {
  const ReadReply failed = reply_to_cursor(R"({"ok": 0.0, "errmsg": "no", "code": 2})");
  EXPECT_EQ(failed.flags, kAwaitCapable | kQueryFailure);
  ASSERT_EQ(failed.documents.size(), 1U);
  EXPECT_EQ(json(failed.documents[0]), R"({ "$err" : "no", "code" : 2, "ok" : 0.0 })");

  const ReadReply unknown = reply_to_cursor(R"({"ok": 0.0, "errmsg": "none", "code": 43})");
  EXPECT_EQ(unknown.flags, kAwaitCapable | kCursorNotFound);
  EXPECT_TRUE(unknown.documents.empty());

  const ReadReply explained = reply_to_cursor(R"({"queryPlanner": {}, "ok": 1.0})");
  ASSERT_EQ(explained.documents.size(), 1U);
}

}  // namespace
}  // namespace gridmount::wire
