// Goal: commands about the server and its operations: status, settings, probes of clients,
// sessions, the profiler, killing operations, and access rights.
#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

#include "engine/wire/service_state.h"
#include "tests/engine/wire/commands/service_test.h"

namespace gridmount::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kServerLsid =
    R"({"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}})";

class ServerCommands : public ServiceTest {};

TEST_F(ServerCommands, Probes_OfClients_AreAnswered) {
  EXPECT_EQ(bad(R"({"atlasVersion": 1})", "admin"), "59: no such command: 'atlasVersion'");
  EXPECT_EQ(bad(R"({"replSetGetStatus": 1})", "admin"), "76: not running with --replSet");
  EXPECT_EQ(field(run(R"({"replSetGetStatus": 1})", "admin"), "codeName"),
            R"("NoReplicationEnabled")");
  EXPECT_EQ(good(R"({"getParameter": "*"})", "admin", "enableTestCommands"), "false");
  EXPECT_EQ(good(R"({"getParameter": 1, "featureCompatibilityVersion": 1})", "admin"),
            R"({ "featureCompatibilityVersion" : { "version" : "7.0" } })");
  EXPECT_EQ(bad(R"({"getParameter": 1, "odd": 1})", "admin"), "72: no option found to get");
  good(R"({"configureFailPoint": "failCommand", "mode": "off"})", "admin");
  EXPECT_EQ(code_of(R"({"configureFailPoint": "failCommand", "mode": {"times": 1}})", "admin"),
            115);
  EXPECT_EQ(good(R"({"getLog": "startupWarnings"})", "admin", "log"), "[  ]");
  EXPECT_EQ(good(R"({"getCmdLineOpts": 1})", "admin"), R"({ "argv" : [  ], "parsed" : {  } })");
  EXPECT_EQ(good(R"({"connectionStatus": 1})", "admin", "authInfo.authenticatedUsers"), "[  ]");
  EXPECT_EQ(code_of(R"({"getDefaultRWConcern": 1})", "admin"), 51300);
  EXPECT_EQ(code_of(R"({"isdbgrid": 1})", "admin"), 59);
  EXPECT_EQ(code_of(R"({"getShardMap": 1})", "admin"), 59);
  for (const char* const command : {"features", "connPoolStats", "lockInfo", "hostInfo", "top",
                                    "logRotate", "shardingState", "listCommands"}) {
    good(R"({")" + std::string(command) + R"(": 1})", "admin");
  }
  EXPECT_THAT(good(R"({"listCommands": 1})"), HasSubstr("listIndexes"));
  EXPECT_EQ(
      good(R"({"find": "c", "help": true})"),
      R"({ "help" : "help for: find returns the documents of a collection that match a filter" })");
}

TEST_F(ServerCommands, ServerStatus_Sections_AreThereAndCount) {
  insert_numbered("c", 5);
  const bson::Document status = run(R"({"serverStatus": 1, "mem": 0})", "admin");
  for (const char* const section :
       {"host", "version", "process", "pid", "uptime", "localTime", "asserts", "connections",
        "extra_info", "globalLock", "logicalSessionRecordCache", "metrics", "network", "opcounters",
        "security", "storageEngine"}) {
    EXPECT_NE(field(status, section), "missing") << section;
  }
  EXPECT_EQ(field(status, "mem"), "missing");
  // The uptime is a double without a fraction, because mongostat reads it into an integer.
  const double uptime = status.view()["uptime"].as_double();
  EXPECT_EQ(uptime, std::floor(uptime));
  EXPECT_EQ(field(status, "opcounters.insert"), "5");
  EXPECT_EQ(field(status, "metrics.commands.insert.total"), "1");
  EXPECT_THAT(good(R"({"top": 1})", "admin"), HasSubstr("test.c"));
}

// The stats of a server with a port.
class Listening : public ServerStats {
 public:
  int64_t connections() const override { return 1; }
  int64_t connections_available() const override { return 1; }
  int64_t connections_created() const override { return 1; }
  uint64_t bytes_in() const override { return 0; }
  uint64_t bytes_out() const override { return 0; }
  uint64_t requests() const override { return 0; }
  uint16_t port() const override { return 27'018; }
};

TEST_F(ServerCommands, Host_WithItsPort_IsTold) {
  insert_numbered("c", 1);
  const auto first = [&](const char* stage) {
    return field(
        run(R"({"aggregate": "c", "cursor": {}, "pipeline": [)" + std::string(stage) + "]}"),
        "cursor.firstBatch.0.host");
  };
  const char* const explain = R"({"explain": {"find": "c"}, "verbosity": "queryPlanner"})";
  EXPECT_EQ(good(explain, "test", "serverInfo.port"), "0");
  EXPECT_THAT(first(R"({"$indexStats": {}})"), Not(HasSubstr(":")));
  const Listening stats;
  service().set_stats(&stats);
  EXPECT_EQ(good(explain, "test", "serverInfo.port"), "27018");
  EXPECT_THAT(first(R"({"$indexStats": {}})"), HasSubstr(":27018"));
  EXPECT_THAT(first(R"({"$collStats": {"count": {}}})"), HasSubstr(":27018"));
  service().set_stats(nullptr);
}

TEST_F(ServerCommands, ServerStatus_Cursors_AreCounted) {
  restart({.cursor_idle_max = std::chrono::milliseconds(1)});
  insert_numbered("c", 3);
  run(R"({"find": "c"})");
  run(R"({"find": "c", "batchSize": 1})");
  service().expire(std::chrono::steady_clock::now() + std::chrono::seconds(1));
  run(R"({"find": "c", "batchSize": 1, "noCursorTimeout": true})");
  const bson::Document status = run(R"({"serverStatus": 1})", "admin");
  EXPECT_EQ(field(status, "metrics.cursor.totalOpened"), "2");
  EXPECT_EQ(field(status, "metrics.cursor.timedOut"), "1");
  EXPECT_EQ(field(status, "metrics.cursor.open.total"), "1");
  EXPECT_EQ(field(status, "metrics.ttl.deletedDocuments"), "0");
}

TEST_F(ServerCommands, DatabaseStats_OfTheFileSystem) {
  insert_numbered("c", 1);
  const bson::Document stats = run(R"({"dbStats": 1})");
  const auto bytes = [&](const char* name) { return *stats.view()[name].integral(); };
  const std::filesystem::space_info space =
      std::filesystem::space(std::filesystem::temp_directory_path());
  EXPECT_EQ(bytes("fsTotalSize"), static_cast<int64_t>(space.capacity));
  EXPECT_GT(bytes("fsUsedSize"), bytes("storageSize"));
  EXPECT_LT(bytes("fsUsedSize"), bytes("fsTotalSize"));
}

TEST_F(ServerCommands, SetParameter_Known_Changes) {
  EXPECT_EQ(good(R"({"setParameter": 1, "logLevel": 2})", "admin"), R"({ "was" : 0 })");
  EXPECT_EQ(good(R"({"getParameter": 1, "logLevel": 1})", "admin"), R"({ "logLevel" : 2 })");
  EXPECT_EQ(code_of(R"({"setParameter": 1, "odd": 2})", "admin"), 72);
  EXPECT_EQ(code_of(R"({"setParameter": 1, "enableTestCommands": true})", "admin"), 20);
}

TEST_F(ServerCommands, Fsync_Lock_IsRefused) {
  good(R"({"fsync": 1})", "admin");
  EXPECT_EQ(code_of(R"({"fsync": 1, "lock": true})", "admin"), 115);
  EXPECT_EQ(bad(R"({"fsyncUnlock": 1})", "admin"), "20: fsyncUnlock called when not locked");
}

TEST_F(ServerCommands, Sessions_Ended_TakeTheirCursorsAlong) {
  insert_numbered("c", 5);
  const std::string find =
      R"({"find": "c", "batchSize": 1, "lsid": )" + std::string(kServerLsid) + "}";
  const auto get_more = [&](int64_t id) {
    return R"({"getMore": {"$numberLong": ")" + std::to_string(id) +
           R"("}, "collection": "c", "lsid": )" + kServerLsid + "}";
  };
  for (const char* const command : {"endSessions", "killSessions"}) {
    const int64_t id = cursor_id(run(find));
    good(R"({")" + std::string(command) + R"(": [)" + kServerLsid + "]}");
    EXPECT_EQ(code_of(get_more(id)), 43) << command;
  }
  for (const char* const command : {"killAllSessions", "killAllSessionsByPattern"}) {
    const int64_t id = cursor_id(run(find));
    good(R"({")" + std::string(command) + R"(": []})", "admin");
    EXPECT_EQ(code_of(get_more(id)), 43) << command;
  }
  EXPECT_EQ(good(R"({"startSession": 1})", "admin", "timeoutMinutes"), "30");
  good(R"({"refreshSessions": [)" + std::string(kServerLsid) + "]}", "admin");
  EXPECT_EQ(code_of(R"({"endSessions": [{"id": 1}]})", "admin"), 14);
}

TEST_F(ServerCommands, Sessions_TooManyOrIdle_GiveWay) {
  restart({.session_idle_max = std::chrono::minutes(1), .sessions_max = 8});
  for (int i = 0; i < 20; ++i) good(R"({"startSession": 1})");
  const auto known = [&] {
    return good(R"({"serverStatus": 1})", "admin", "logicalSessionRecordCache");
  };
  EXPECT_THAT(known(), HasSubstr(R"("activeSessionsCount" : 2)"));
  service().expire(std::chrono::steady_clock::now() + std::chrono::minutes(2));
  EXPECT_THAT(known(), HasSubstr(R"("activeSessionsCount" : 0)"));
}

TEST_F(ServerCommands, GetLastError_AfterWrites_TellsOfThem) {
  EXPECT_EQ(good(R"({"getLastError": 1})"), R"({ "connectionId" : 1, "n" : 0, "err" : null })");
  run(R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 1}]})");
  EXPECT_EQ(good(R"({"getlasterror": 1, "w": 1})", "test", "code"), "11000");
  good(R"({"update": "c", "updates": [{"q": {"_id": 5}, "u": {"a": 1}, "upsert": true}]})");
  EXPECT_EQ(good(R"({"getLastError": 1})", "test", "upserted"), "5");
}

// Source: MongoDB manual, "Set a Filter to Determine Profiled Operations".
TEST_F(ServerCommands, Profile_Filter_DecidesAtLevelOne) {
  insert_numbered("c", 3);
  good(R"({"profile": 1, "slowms": 100000, "filter": {"op": "query", "nreturned": {"$gt": 1}}})");
  const bson::Document asked = run(R"({"profile": -1})");
  EXPECT_EQ(field(asked, "filter"),
            R"({ "$and" : [ { "op" : { "$eq" : "query" } }, { "nreturned" : { "$gt" : 1 } } ] })");
  EXPECT_THAT(field(asked, "note"), HasSubstr("slowms"));
  good(R"({"find": "c", "filter": {"_id": 1}})");
  good(R"({"find": "c", "comment": "told"})");
  good(R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}}]})");
  EXPECT_THAT(find("system.profile", "{}"), ElementsAre(HasSubstr("told")));
  good(R"({"profile": 1, "filter": "unset"})");
  EXPECT_EQ(field(run(R"({"profile": -1})"), "filter"), "missing");
  good(R"({"find": "c"})");
  EXPECT_THAT(find("system.profile", "{}"), SizeIs(1)) << "slowms decides again";
  for (const char* const filter : {"null", "1", R"("Unset")", "[]"}) {
    EXPECT_EQ(code_of(R"({"profile": 1, "filter": )" + std::string(filter) + "}"), 2) << filter;
  }
  EXPECT_EQ(code_of(R"({"profile": 1, "filter": {"$odd": 1}})"), 2);
}

TEST_F(ServerCommands, SortMemory_Above32Bits_IsToldWhole) {
  restart({.operation_bytes_max = uint64_t{3} << 30});
  constexpr const char* kName = "internalQueryMaxBlockingSortMemoryUsageBytes";
  EXPECT_EQ(good(R"({"getParameter": 1, ")" + std::string(kName) + R"(": 1})", "admin", kName),
            "3221225472");
  EXPECT_EQ(good(R"({"explain": {"find": "c"}})", "test", std::string("serverParameters.") + kName),
            "3221225472");
}

// The values are those that a server answers.
TEST_F(ServerCommands, Profile_SlowMs_Has32Bits) {
  for (const auto& [given, kept] :
       {std::pair("2147483647", "2147483647"), std::pair("2147483648", "-2147483648"),
        std::pair("9223372036854775807", "-1"), std::pair("-9223372036854775808", "0"),
        std::pair("1099511627776", "0")}) {
    good(R"({"profile": 0, "slowms": {"$numberLong": ")" + std::string(given) + R"("}})");
    EXPECT_EQ(good(R"({"profile": -1})", "test", "slowms"), kept);
  }
  insert_numbered("c", 1);
  good(R"({"profile": 1, "slowms": {"$numberLong": "2147483648"}})");
  good(R"({"find": "c"})");
  EXPECT_THAT(find("system.profile", R"({"op": "query"})"), SizeIs(1));
}

TEST_F(ServerCommands, Profile_LevelTwo_RecordsCommands) {
  EXPECT_EQ(good(R"({"profile": -1})"), R"({ "was" : 0, "slowms" : 100, "sampleRate" : 1.0 })");
  EXPECT_EQ(good(R"({"profile": 2, "slowms": 50})", "test", "was"), "0");
  EXPECT_EQ(good(R"({"profile": -1})"), R"({ "was" : 2, "slowms" : 50, "sampleRate" : 1.0 })");
  insert_numbered("c", 3);
  good(R"({"find": "c", "filter": {"_id": 1}, "comment": "mine"})");
  run(R"({"find": "c", "filter": {"$foo": 1}})");
  const int64_t id = cursor_id(run(R"({"find": "c", "batchSize": 1})"));
  good(R"({"getMore": {"$numberLong": ")" + std::to_string(id) + R"("}, "collection": "c"})");
  good(R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}}]})");
  EXPECT_EQ(code_of(R"({"profile": 3})"), 2);
  good(R"({"profile": 0})");
  const std::vector<std::string> entries = find("system.profile", R"({"ns": "test.c"})");
  ASSERT_THAT(entries, SizeIs(6));
  EXPECT_THAT(entries[0], HasSubstr(R"("ninserted" : 3)"));
  EXPECT_THAT(entries[1], HasSubstr(R"("comment" : "mine")"));
  EXPECT_THAT(entries[1], HasSubstr(R"("nreturned" : 1)"));
  EXPECT_THAT(entries[2], HasSubstr(R"("errCode" : 2)"));
  const auto plan = [&](size_t entry) {
    const bson::Document document = doc(entries[entry]);
    return field(document, "planSummary") + " " + field(document, "keysExamined") + " " +
           field(document, "docsExamined");
  };
  EXPECT_EQ(plan(0), "missing missing missing");
  EXPECT_EQ(plan(1), R"("IDHACK" 1 1)");
  EXPECT_EQ(plan(3), R"("COLLSCAN" 0 1)");
  EXPECT_EQ(plan(4), R"("COLLSCAN" 0 2)");  // of this batch only
  EXPECT_EQ(plan(5), R"("IDHACK" 1 1)");
}

TEST_F(ServerCommands, Profile_ReadsOfTheProfile_AreRecorded) {
  good(R"({"profile": 2})");
  good(R"({"find": "c"})");
  for (size_t read = 0; read < 3; ++read) {
    EXPECT_THAT(find("system.profile", "{}"), SizeIs(1 + read));
  }
  good(R"({"profile": 0})");
  EXPECT_THAT(find("system.profile", R"({"ns": "test.system.profile", "op": "query"})"), SizeIs(3));
}

TEST_F(ServerCommands, Profile_OfUpdatesAndDeletes_HasEachStatement) {
  insert_numbered("c", 3);
  good(R"({"profile": 2})");
  run(R"({"update": "c", "ordered": false, "updates": [
      {"q": {"_id": 1}, "u": {"$set": {"a": 1}}},
      {"q": {"_id": 1}, "u": {"$set": {"_id": 2}}},
      {"q": {"_id": 9}, "u": {"a": 9}, "upsert": true}]})");
  good(R"({"delete": "c", "deletes": [{"q": {"a": 1}, "limit": 1}, {"q": {}, "limit": 0}]})");
  run(R"({"update": "c", "updates": [{"q": {}, "u": {}, "nonsense": 1}]})");
  good(R"({"profile": 0})");
  const std::vector<std::string> entries = find("system.profile", R"({"ns": "test.c"})");
  ASSERT_THAT(entries, SizeIs(5));
  const auto of = [&](size_t entry, const char* name) { return field(doc(entries[entry]), name); };
  EXPECT_EQ(of(0, "op"), R"("update")");
  EXPECT_EQ(
      of(0, "command"),
      R"({ "q" : { "_id" : 1 }, "u" : { "$set" : { "a" : 1 } }, "multi" : false, "upsert" : false })");
  EXPECT_EQ(of(0, "nMatched") + of(0, "nModified") + of(0, "nUpserted"), "110");
  EXPECT_EQ(of(0, "planSummary"), R"("IDHACK")");
  EXPECT_EQ(of(1, "errCode"), "66");
  EXPECT_EQ(of(2, "nMatched") + of(2, "nUpserted"), "01");
  EXPECT_EQ(of(3, "op") + of(3, "command"), R"("remove"{ "q" : { "a" : 1 }, "limit" : 1 })");
  EXPECT_EQ(of(3, "ndeleted"), "1");
  EXPECT_EQ(of(4, "ndeleted") + of(4, "docsExamined"), "33");
}

// A slow find, which a test runs in a thread.
constexpr const char* kSlowFind = R"({"find": "c", "comment": "slow", "filter": {"$expr": {"$eq": [
    {"$reduce": {"input": {"$range": [0, 5000]}, "initialValue": 0,
                 "in": {"$add": ["$$value", "$$this"]}}}, 1]}}})";

TEST_F(ServerCommands, KillOp_ARunningFind_EndsIt) {
  insert_numbered("c", 3000);
  Client other(2, Peer{.address = "other"});
  bson::Document reply;
  std::thread thread([&] { reply = run_as(other, kSlowFind); });
  std::string id;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (id.empty() && std::chrono::steady_clock::now() < patience) {
    const bson::Document running = run(R"({"currentOp": 1, "command.comment": "slow"})", "admin");
    const std::string opid = field(running, "inprog.0.opid");
    if (opid != "missing") {
      id = opid;
      EXPECT_EQ(field(running, "inprog.0.ns"), R"("test.c")");
      EXPECT_EQ(field(running, "inprog.0.client"), R"("other")");
    }
  }
  if (id.empty()) thread.join();
  ASSERT_FALSE(id.empty());
  EXPECT_EQ(good(R"({"killOp": 1, "op": )" + id + "}", "admin", "info"),
            R"("attempting to kill op")");
  thread.join();
  EXPECT_EQ(field(reply, "code"), "11601");
  EXPECT_EQ(field(reply, "errmsg"), R"("operation was interrupted")");
  EXPECT_EQ(code_of(R"({"killOp": 1, "op": "x"})", "admin"), 14);
  EXPECT_EQ(code_of(R"({"killOp": 1})", "admin"), 40414);
}

// An expression that would take days for a single document.
std::string endless(const std::string& around) {
  std::string command = around;
  const std::string loops = R"({"$reduce": {"input": {"$range": [0, 1000000]}, "initialValue": 0,
      "in": {"$reduce": {"input": {"$range": [0, 1000000]}, "initialValue": 0,
                         "in": {"$add": ["$$value", "$$this"]}}}}})";
  return command.replace(command.find('@'), 1, loops);
}

TEST_F(ServerCommands, EndlessExpressions_EndInTime) {
  insert_numbered("c", 1);
  for (
      const char* const command :
      {R"({"find": "c", "filter": {"$expr": {"$eq": [@, 1]}}, "maxTimeMS": 30})",
       R"({"find": "c", "projection": {"x": @}, "maxTimeMS": 30})",
       R"({"aggregate": "c", "pipeline": [{"$project": {"x": @}}], "cursor": {}, "maxTimeMS": 30})",
       R"({"aggregate": "c", "pipeline": [{"$group": {"_id": @}}], "cursor": {}, "maxTimeMS": 30})",
       R"({"count": "c", "query": {"$expr": @}, "maxTimeMS": 30})",
       R"({"findAndModify": "c", "update": [{"$set": {"x": @}}], "maxTimeMS": 30})"}) {
    EXPECT_EQ(code_of(endless(command)), 50) << command;
  }
  EXPECT_EQ(find("c"), std::vector<std::string>{R"({ "_id" : 0 })"});
  Client gone(2, Peer{.address = "gone"});
  gone.set_gone();
  const bson::Document reply =
      run_as(gone, endless(R"({"find": "c", "filter": {"$expr": {"$eq": [@, 1]}}})"));
  EXPECT_EQ(field(reply, "code"), "11601");
}

TEST_F(ServerCommands, Forget_AClient_EndsWhatItRuns) {
  insert_numbered("c", 3000);
  Client other(2, Peer{.address = "other"});
  bson::Document reply;
  std::thread thread([&] { reply = run_as(other, kSlowFind); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  service().forget(other);
  thread.join();
  EXPECT_EQ(field(reply, "code"), "11601");
}

TEST_F(ServerCommands, Increments_OfOneDocument_AreAllKept) {
  insert("c", R"([{"_id": 1, "n": 0}])");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      Client own(10 + i, Peer{.address = "thread"});
      for (int k = 0; k < 50; ++k) {
        run_as(own, R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]})");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(find("c"), ElementsAre(R"({ "_id" : 1, "n" : 400 })"));
}

TEST_F(ServerCommands, Privileges_OfCommands_AreThoseOfMongoDb) {
  const auto needed = [](std::string_view command) {
    const bson::Document body = doc(command);
    const Request request{body, "test", {}, false};
    const Command* const found = find_command(request.name());
    EXPECT_NE(found, nullptr) << command;
    std::string text;
    for (const Privilege& one : privileges_of(*found, request)) {
      const std::string where = one.resource == Privilege::Resource::kCluster       ? "cluster"
                                : one.resource == Privilege::Resource::kAnyDatabase ? "any"
                                : one.resource == Privilege::Resource::kDatabase
                                    ? one.database
                                    : one.database + "." + one.collection;
      text += (text.empty() ? "" : ", ") + std::string(one.action) + " on " + where;
    }
    return text;
  };
  EXPECT_EQ(needed(R"({"find": "c"})"), "find on test.c");
  EXPECT_EQ(needed(R"({"getMore": 1, "collection": "c"})"), "");  // the cursor's owner only
  EXPECT_EQ(needed(R"({"insert": "c", "bypassDocumentValidation": true})"),
            "insert on test.c, bypassDocumentValidation on test.c");
  EXPECT_EQ(needed(R"({"update": "c", "updates": [{"q": {}, "u": {}, "upsert": true}]})"),
            "update on test.c, insert on test.c");
  EXPECT_EQ(needed(R"({"findAndModify": "c", "remove": true})"),
            "find on test.c, remove on test.c");
  // The rights for joined collections are checked when the pipeline is parsed.
  EXPECT_EQ(
      needed(R"({"aggregate": "c", "pipeline": [{"$lookup": {"from": "d"}}, {"$out": "o"}]})"),
      "find on test.c");
  EXPECT_EQ(needed(R"({"aggregate": "c", "pipeline": [{"$collStats": {}}]})"),
            "collStats on test.c");
  EXPECT_EQ(needed(R"({"aggregate": "c", "pipeline": [1, "x", {}]})"), "find on test.c");
  EXPECT_EQ(needed(R"({"explain": {"delete": "c", "deletes": []}})"), "remove on test.c");
  EXPECT_EQ(needed(R"({"serverStatus": 1})"), "serverStatus on cluster");
  EXPECT_EQ(needed(R"({"listDatabases": 1})"), "");  // the reply has what the user may read
  EXPECT_EQ(needed(R"({"dropDatabase": 1})"), "dropDatabase on test");
  EXPECT_EQ(needed(R"({"renameCollection": "a.b", "to": "c.d"})"), "");  // both names count
  EXPECT_EQ(needed(R"({"hello": 1})"), "");
}

}  // namespace
}  // namespace gridmount::wire
