// Goal: documents, names, indexes and pipelines at their limit are accepted, and those one beyond
// the limit fail with the code that doc/limits.md names.
// Method: commands as a driver sends them.
#include <string>

#include "tests/engine/wire/commands/service_test.h"

namespace gridmount::wire {
namespace {

class CommandLimits : public ServiceTest {
 protected:
  // Returns the code of the command or of its first statement, or 0 on success.
  int32_t code(const bson::Document& command, std::string_view database = "test",
               std::vector<Sequence> sequences = {}) {
    const Outcome outcome = handle(client(), command, database, std::move(sequences));
    const bson::View reply = std::get<bson::Document>(outcome);
    const auto errors = reply.find("writeErrors");
    const bson::View failed = errors ? errors->as_document()["0"].as_document() : reply;
    const auto number = failed.find("code");
    return number ? number->as_int32() : 0;
  }
  int32_t code(std::string_view command, std::string_view database = "test") {
    return code(doc(command), database);
  }
};

std::string numbered_fields(int count) {
  std::string fields;
  for (int i = 0; i < count; ++i) {
    fields += (i > 0 ? R"(, "f)" : R"("f)") + std::to_string(i) + R"(": 1)";
  }
  return "{" + fields + "}";
}

std::string repeated(std::string_view element, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i > 0 ? ", " : "") + std::string(element);
  return "[" + list + "]";
}

TEST_F(CommandLimits, DocumentBytes) {
  const auto insert = [&](size_t bytes) {
    bson::Builder document;
    document.append("_id", static_cast<int64_t>(bytes));
    const size_t around = bson::Builder(document).append("x", "").size() + 1;
    document.append("x", std::string(bytes - around, 'x'));
    const bson::Document made = std::move(document).finish();
    EXPECT_EQ(made.view().size(), bytes);
    return code(doc(R"({"insert": "c"})"), "test", {Sequence{"documents", {made}}});
  };
  EXPECT_EQ(insert(16'777'216), 0);
  EXPECT_EQ(insert(16'777'217), 2);
  const auto push = [&](const std::string& filter) {
    bson::Builder update;
    update.append("q", doc(filter)).append("upsert", true);
    update.open_document("u").open_document("$set").append("y", std::string(16'777'216, 'y'));
    update.close().close();
    return code(doc(R"({"update": "c"})"), "test",
                {Sequence{"updates", {std::move(update).finish()}}});
  };
  EXPECT_EQ(push(R"({"_id": 16777216})"), 17419);
  EXPECT_EQ(push(R"({"_id": "another"})"), 17420);
}

TEST_F(CommandLimits, DistinctBytes) {
  const auto insert = [&](int32_t id, size_t bytes) {
    bson::Builder document;
    document.append("_id", id).append("x", std::string(bytes, static_cast<char>('a' + id)));
    return code(doc(R"({"insert": "c"})"), "test",
                {Sequence{"documents", {std::move(document).finish()}}});
  };
  const std::string distinct = R"({"distinct": "c", "key": "x"})";
  EXPECT_EQ(insert(0, 8'000'000), 0);
  EXPECT_EQ(insert(1, 8'000'000), 0);
  EXPECT_EQ(code(distinct), 0);
  EXPECT_EQ(insert(2, 1'000'000), 0);
  EXPECT_EQ(code(distinct), 17217);
}

TEST_F(CommandLimits, ArrayBackfill) {
  insert("c", R"([{"_id": 1, "a": []}, {"_id": 2, "a": []}])");
  const auto set = [&](int id, int64_t position) {
    return code(R"({"update": "c", "updates": [{"q": {"_id": )" + std::to_string(id) +
                R"(}, "u": {"$set": {"a.)" + std::to_string(position) + R"(": 1}}}]})");
  };
  EXPECT_EQ(set(1, 1'500'000), 0);
  EXPECT_EQ(set(2, 1'500'001), 34);
}

TEST_F(CommandLimits, DatabaseName) {
  const char* const insert = R"({"insert": "c", "documents": [{"_id": 1}]})";
  EXPECT_EQ(code(insert, std::string(63, 'd')), 0);
  EXPECT_EQ(code(insert, std::string(64, 'd')), 73);
}

TEST_F(CommandLimits, Namespace) {
  const auto insert = [&](size_t bytes) {
    return code(R"({"insert": ")" + std::string(bytes - 5, 'c') +
                R"(", "documents": [{"_id": 1}]})");
  };
  EXPECT_EQ(insert(255), 0);
  EXPECT_EQ(insert(256), 73);
}

TEST_F(CommandLimits, CappedCollection) {
  const auto create = [&](const std::string& name, int64_t size, int64_t documents) {
    return code(R"({"create": ")" + name + R"(", "capped": true, "size": )" + std::to_string(size) +
                R"(, "max": )" + std::to_string(documents) + "}");
  };
  constexpr int64_t kBytes = int64_t{1} << 50;
  constexpr int64_t kDocuments = (int64_t{1} << 31) - 1;
  EXPECT_EQ(create("at_the_limit", kBytes, kDocuments), 0);
  EXPECT_EQ(create("too_large", kBytes + 1, kDocuments), 51024);
  EXPECT_EQ(create("too_many", kBytes, kDocuments + 1), 51024);
}

TEST_F(CommandLimits, IndexFields) {
  const auto create = [&](int fields) {
    return code(R"({"createIndexes": "c", "indexes": [{"name": "i", "key": )" +
                numbered_fields(fields) + "}]}");
  };
  EXPECT_EQ(create(33), 13103);
  EXPECT_EQ(create(32), 0);
}

TEST_F(CommandLimits, ExpireAfterSeconds) {
  const auto create = [&](int64_t seconds) {
    return code(R"({"createIndexes": "c", "indexes": [{"name": "i", "key": {"t": 1},
                    "expireAfterSeconds": )" +
                std::to_string(seconds) + "}]}");
  };
  EXPECT_EQ(create(2'147'483'648), 67);
  EXPECT_EQ(create(2'147'483'647), 0);
}

TEST_F(CommandLimits, SortFields) {
  insert_numbered("c", 3);
  const auto find = [&](int fields) {
    return code(R"({"find": "c", "sort": )" + numbered_fields(fields) + "}");
  };
  EXPECT_EQ(find(32), 0);
  EXPECT_EQ(find(33), 2);
}

TEST_F(CommandLimits, PipelineStages) {
  insert_numbered("c", 3);
  const auto aggregate = [&](int stages) {
    return code(R"({"aggregate": "c", "cursor": {}, "pipeline": )" +
                repeated(R"({"$set": {"a": 1}})", stages) + "}");
  };
  EXPECT_EQ(aggregate(1000), 0);
  EXPECT_EQ(aggregate(1001), 7749501);
}

TEST_F(CommandLimits, ViewsUponViews) {
  insert_numbered("v0", 3);
  const auto create = [&](int number) {
    return code(R"({"create": "v)" + std::to_string(number) + R"(", "viewOn": "v)" +
                std::to_string(number - 1) + R"(", "pipeline": []})");
  };
  for (int number = 1; number <= 20; ++number) EXPECT_EQ(create(number), 0) << number;
  EXPECT_EQ(find("v20").size(), 3U);
  EXPECT_EQ(create(21), 165);
}

TEST_F(CommandLimits, KeysOfMinAndMax) {
  insert_numbered("c", 3);
  ASSERT_EQ(code(R"({"createIndexes": "c", "indexes": [{"name": "i", "key": {"a": 1}}]})"), 0);
  const auto find = [&](size_t bytes) {
    return code(R"({"find": "c", "hint": "i", "min": {"a": ")" + std::string(bytes, 'a') +
                R"("}})");
  };
  EXPECT_EQ(find(470), 0);
  EXPECT_EQ(find(481), 2);
}

TEST_F(CommandLimits, ClientMetadata) {
  const auto hello = [&](size_t bytes) {
    bson::Builder metadata;
    const size_t around = bson::Builder(metadata).append("x", "").size() + 1;
    metadata.append("x", std::string(bytes - around, 'x'));
    bson::Builder command;
    command.append("hello", int32_t{1}).append("client", std::move(metadata).finish());
    Client other(2, Peer{.address = "in process"});
    const Outcome outcome = handle(other, std::move(command).finish(), "admin");
    const auto code = std::get<bson::Document>(outcome).find("code");
    service().forget(other);
    return code ? code->as_int32() : 0;
  };
  EXPECT_EQ(hello(512), 0);
  EXPECT_EQ(hello(513), 185);
}

}  // namespace
}  // namespace gridmount::wire
