// Goal: the arguments of commands: unknown, missing and wrong fields, and the arguments that every
// command accepts.
// Source: MongoDB 7.0, generic arguments and the parsers of its IDL.
#include "tests/engine/wire/commands/service_test.h"

namespace gridmount::wire {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kLsid =
    R"("lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}})";

class ArgumentsOfCommands : public ServiceTest {
 protected:
  std::string find(std::string_view rest) { return R"({"find": "c", )" + std::string(rest) + "}"; }
};

TEST_F(ArgumentsOfCommands, Fields_Wrong_AreNamed) {
  EXPECT_EQ(bad(R"({"nope": 1})"), "59: no such command: 'nope'");
  EXPECT_EQ(field(run(R"({"nope": 1})"), "codeName"), R"("CommandNotFound")");
  EXPECT_EQ(bad(find(R"("foo": 1)")), "40415: BSON field 'find.foo' is an unknown field.");
  EXPECT_EQ(bad(find(R"("filter": "x")")),
            "14: BSON field 'find.filter' is the wrong type 'string', expected type 'object'");
  EXPECT_EQ(bad(find(R"("singleBatch": "x")")),
            "14: BSON field 'find.singleBatch' is the wrong type 'string', expected types '[bool, "
            "long, int, decimal, double']");
  EXPECT_EQ(bad(R"({"insert": "c"})"),
            "40414: BSON field 'insert.documents' is missing but a required field");
  bson::Builder twice;
  twice.append("find", "c").append("limit", int32_t{1}).append("limit", int32_t{1});
  EXPECT_EQ(field(run(std::move(twice).finish()), "code"), "40413");
  good(find(R"("filter": null, "sort": null)"));
  EXPECT_EQ(bad(R"({"find": 1})"), "73: collection name has invalid type int");
  EXPECT_THAT(bad(R"({"find": ""})"), StartsWith("73: Invalid namespace specified 'test.'"));
  EXPECT_EQ(bad(R"({"find": "c"})", "a b"), "73: Invalid database name: 'a b'");
}

// Drivers reject a whole reply if one of its strings is not UTF-8.
TEST_F(ArgumentsOfCommands, Messages_AreUtf8) {
  EXPECT_THAT(bad(R"({"aggregate": "c", "cursor": {}, "pipeline": [{"$set": {
                      "x": {"$regexMatch": {"input": "x", "regex": "a", "options": "ö"}}}}]})"),
              HasSubstr("invalid flag in regex options: ö"));
  bson::Builder broken;
  broken.append("find", "c").append("sor\xFFt\xC3", int32_t{1});
  EXPECT_EQ(field(run(std::move(broken).finish()), "errmsg"),
            R"("BSON field 'find.sor\\xfft\\xc3' is an unknown field.")");
  bson::Builder insert;
  insert.append("insert", "c").open_array("documents");
  for (int i = 0; i < 2; ++i) insert.push_open_document().append("_id", "\xE2\x82").close();
  insert.close();
  EXPECT_THAT(field(run(std::move(insert).finish()), "writeErrors.0.errmsg"),
              HasSubstr(R"(\\xe2\\x82)"));
  EXPECT_THAT(good(R"({"getLastError": 1})", "test", "err"), HasSubstr(R"(\\xe2\\x82)"));
  good(R"({"profile": 2})");
  bson::Builder profiled;
  profiled.append("find", "c").open_document("filter").append("$ski\xFFp", int32_t{1}).close();
  run(std::move(profiled).finish());
  good(R"({"profile": 0})");
  EXPECT_THAT(good(R"({"find": "system.profile", "filter": {"errCode": {"$gt": 0}}})", "test",
                   "cursor.firstBatch.0.errMsg"),
              HasSubstr(R"($ski\\xffp)"));
}

TEST_F(ArgumentsOfCommands, Fields_Many_CostNoSquare) {
  bson::Builder builder;
  builder.append("find", "c");
  for (int i = 0; i < 200'000; ++i) builder.append("f" + std::to_string(i), int32_t{1});
  EXPECT_EQ(field(run(std::move(builder).finish()), "code"), "40415");
}

TEST_F(ArgumentsOfCommands, Generic_OnesOfDrivers_AreTaken) {
  good(find(R"("$readPreference": {"mode": "primaryPreferred"}, "comment": "x", )" +
            std::string(kLsid)));
  good(find(R"("$clusterTime": {"clusterTime": {"$timestamp": {"t": 1, "i": 1}}})"));
  for (const char* const level : {"local", "available", "majority"}) {
    good(find(R"("readConcern": {"level": ")" + std::string(level) + "\"}"));
  }
  EXPECT_THAT(bad(find(R"("readConcern": {"level": "snapshot"})")), StartsWith("123: "));
  EXPECT_THAT(bad(find(R"("readConcern": {"level": "linearizable"})")), StartsWith("123: "));
  EXPECT_EQ(code_of(find(R"("readConcern": {"level": "odd"})")), 2);
  EXPECT_EQ(code_of(R"({"insert": "c", "documents": [{}], "readConcern": {"level": "majority"}})"),
            72);
  EXPECT_EQ(code_of(R"({"insert": "c", "documents": [{}], "readConcern": {"level": "snapshot"}})"),
            72);
  EXPECT_EQ(code_of(find(R"("readConcern": {"afterClusterTime": 5})")), 14);
  EXPECT_EQ(
      code_of(find(R"("readConcern": {"afterClusterTime": {"$timestamp": {"t": 1, "i": 1}}})")),
      20);
}

TEST_F(ArgumentsOfCommands, MaxTime_IsAWholeNumber) {
  good(find(R"("maxTimeMS": 5000.0)"));
  for (const char* const time :
       {"2.5", R"({"$numberDouble": "NaN"})", R"({"$numberDouble": "Infinity"})",
        R"({"$numberDecimal": "0.5"})"}) {
    EXPECT_EQ(code_of(find(R"("maxTimeMS": )" + std::string(time))), 9) << time;
  }
  EXPECT_EQ(code_of(find(R"("maxTimeMS": -1)")), 2);
  EXPECT_EQ(code_of(find(R"("maxTimeMS": 4294967296)")), 2);
}

TEST_F(ArgumentsOfCommands, Hint_Null_IsRefused) {
  EXPECT_EQ(code_of(find(R"("hint": null)")), 9);
  EXPECT_EQ(code_of(R"({"count": "c", "hint": null})"), 9);
}

TEST_F(ArgumentsOfCommands, WriteConcern_Values_AreChecked) {
  const auto insert = [](std::string_view concern) {
    return R"({"insert": "c", "documents": [{}], "writeConcern": )" + std::string(concern) + "}";
  };
  for (const char* const concern : {R"({})", R"({"w": 1})", R"({"w": 0})", R"({"w": "majority"})",
                                    R"({"w": 1, "j": true, "wtimeout": 100})", R"({"j": false})"}) {
    good(insert(concern));
  }
  EXPECT_EQ(bad(insert(R"({"w": 2})")), "2: cannot use 'w' > 1 when a host is not replicated");
  EXPECT_THAT(bad(insert(R"({"w": 51})")), StartsWith("9: w has to be"));
  EXPECT_EQ(code_of(insert(R"({"w": "two"})")), 2);
  EXPECT_EQ(code_of(insert(R"({"j": true, "fsync": true})")), 9);
  for (const char* const w : {"null", R"({"$numberDecimal": "1.5"})"}) {
    EXPECT_EQ(code_of(insert(R"({"w": )" + std::string(w) + "}")), 2) << w;
  }
  EXPECT_EQ(good(insert(R"({"w": {"$numberDouble": "NaN"}})")), R"({ "n" : 0 })") << "as w: 0";
  EXPECT_EQ(code_of(insert(R"({"wtimeout": 4294967296})")), 9);
  good(insert(R"({"wtimeout": "long"})"));
  EXPECT_EQ(bad(insert(R"({"x": 1})")), "40415: BSON field 'writeConcern.x' is an unknown field.");
  EXPECT_EQ(code_of(find(R"("writeConcern": {"w": 1})")), 72);
}

TEST_F(ArgumentsOfCommands, Transactions_OnAStandalone_AreRefused) {
  EXPECT_EQ(bad(find(R"("txnNumber": {"$numberLong": "1"}, "autocommit": false,
                       "startTransaction": true, )" +
                     std::string(kLsid))),
            "20: Transaction numbers are only allowed on a replica set member or mongos");
  EXPECT_EQ(code_of(find(R"("txnNumber": {"$numberLong": "1"})")), 72);
  EXPECT_EQ(code_of(find(R"("lsid": {"id": 1})")), 14);
  EXPECT_EQ(code_of(find(R"("lsid": {})")), 40414);
}

TEST_F(ArgumentsOfCommands, ApiVersion_Values_AreChecked) {
  good(find(R"("apiVersion": "1", "apiStrict": true, "apiDeprecationErrors": true)"));
  EXPECT_EQ(code_of(find(R"("apiVersion": "2")")), 322);
  EXPECT_EQ(code_of(find(R"("apiStrict": true)")), 322);
  EXPECT_THAT(bad(R"({"buildInfo": 1, "apiVersion": "1", "apiStrict": true})"),
              StartsWith("323: Provided apiStrict:true, but the command buildInfo"));
}

TEST_F(ArgumentsOfCommands, Hello_Reply_IsWhatDriversReadOf) {
  const bson::Document hello = run(
      R"({"hello": 1, "helloOk": true, "client": {"application": {"name": "a"}}, "odd": 1,
          "compression": ["zlib", "lzma", "zstd"]})",
      "admin");
  EXPECT_EQ(field(hello, "isWritablePrimary"), "true");
  EXPECT_EQ(field(hello, "helloOk"), "true");
  EXPECT_EQ(field(hello, "maxWireVersion"), "21");
  EXPECT_EQ(field(hello, "minWireVersion"), "0");
  EXPECT_EQ(field(hello, "maxBsonObjectSize"), "16777216");
  EXPECT_EQ(field(hello, "logicalSessionTimeoutMinutes"), "30");
  EXPECT_EQ(field(hello, "compression"), R"([ "zlib", "zstd" ])");
  EXPECT_EQ(field(hello, "topologyVersion.counter"), "0");
  EXPECT_EQ(field(hello, "ok"), "1.0");
  EXPECT_EQ(code_of(R"({"hello": 1, "client": {"a": 1}})"), 186);
  EXPECT_EQ(field(run(R"({"ismaster": 1})", "admin"), "ismaster"), "true");
}

TEST_F(ArgumentsOfCommands, Hello_ThatAwaitsAChange_IsAnsweredAtItsTime) {
  const std::string version = field(run(R"({"hello": 1})", "admin"), "topologyVersion");
  const std::string id = field(run(R"({"hello": 1})", "admin"), "topologyVersion.processId");
  const auto awaiting = [&](const std::string& rest, const std::string& counter = "0") {
    return R"({"hello": 1, "topologyVersion": {"processId": )" + id +
           R"(, "counter": {"$numberLong": ")" + counter + R"("}})" + rest + "}";
  };
  const bson::Document hello = doc(awaiting(R"(, "maxAwaitTimeMS": 60)"));
  for (int i = 0; i < 2; ++i) {
    const Outcome waits = handle(client(), hello, "admin");
    ASSERT_TRUE(std::holds_alternative<Deferral>(waits));
    EXPECT_EQ(std::get<Deferral>(waits).wakes, Deferral::Wakes::kByTime);
    std::this_thread::sleep_until(std::get<Deferral>(waits).until);
    const Outcome told = handle(client(), hello, "admin");
    ASSERT_TRUE(std::holds_alternative<bson::Document>(told));
    EXPECT_EQ(field(std::get<bson::Document>(told), "topologyVersion"), version);
  }
  // The version is that of another process, so the reply comes at once.
  EXPECT_EQ(field(run(R"({"hello": 1, "maxAwaitTimeMS": 60000, "topologyVersion":
                       {"processId": {"$oid": "0123456789abcdef01234567"},
                        "counter": {"$numberLong": "7"}}})",
                      "admin"),
                  "topologyVersion"),
            version);
  EXPECT_EQ(code_of(awaiting(""), "admin"), 31368);
  EXPECT_EQ(code_of(R"({"hello": 1, "maxAwaitTimeMS": 5})", "admin"), 31368);
  EXPECT_EQ(code_of(awaiting(R"(, "maxAwaitTimeMS": -1)"), "admin"), 31373);
  EXPECT_EQ(code_of(awaiting(R"(, "maxAwaitTimeMS": 5)", "1"), "admin"), 51764);
  EXPECT_EQ(code_of(awaiting(R"(, "maxAwaitTimeMS": 5)", "-1"), "admin"), 31372);
}

TEST_F(ArgumentsOfCommands, BuildInfo_Version_HasItsParts) {
  restart({.version = "7.0.14"});
  const bson::Document info = run(R"({"buildInfo": 1})");
  EXPECT_EQ(field(info, "version"), R"("7.0.14")");
  EXPECT_EQ(field(info, "versionArray"), "[ 7, 0, 14, 0 ]");
  EXPECT_EQ(good(R"({"ping": 1})"), "{ }");
  EXPECT_EQ(good(R"({"whatsmyuri": 1})"), R"({ "you" : "in process" })");
}

}  // namespace
}  // namespace gridmount::wire
