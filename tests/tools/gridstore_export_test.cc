// Goal: gridstore export writes Extended JSON and CSV as mongoexport does, to stdout or to a file
// that appears only when it is complete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line/exit_status.h"
#include "tests/tools/documents_fixture.h"

namespace gridmount::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GridstoreExport : public DocumentsTest {
 protected:
  void SetUp() override {
    DocumentsTest::SetUp();
    create_things({R"({"_id": 1, "a": 0.5, "t": "x, \"y\""})",
                   R"({"_id": 2, "a": {"b": [7, {"c": null}]}, "t": "two\nlines"})"});
  }

  // Returns stdout of an export of test.things.
  std::string exported(std::vector<std::string> arguments,
                       const std::string& store = "store.gfs") const {
    arguments.insert(arguments.begin(), {"export", store, "test.things"});
    const Outcome outcome = gridstore(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("exported "));
    return outcome.out;
  }
};

TEST_F(GridstoreExport, Json_IsALineForEachDocument) {
  EXPECT_EQ(exported({}), R"({"_id":1,"a":0.5,"t":"x, \"y\""})"
                          "\n"
                          R"({"_id":2,"a":{"b":[7,{"c":null}]},"t":"two\nlines"})"
                          "\n");
  EXPECT_EQ(exported({R"({"_id": 1})", "--canonical", "--fields", "a"}),
            R"({"_id":{"$numberInt":"1"},"a":{"$numberDouble":"0.5"}})"
            "\n");
}

TEST_F(GridstoreExport, JsonArray_IsOneArray) {
  EXPECT_EQ(exported({"--json-array", "--fields", "_id"}), "[{\"_id\":1},\n{\"_id\":2}]\n");
  EXPECT_EQ(exported({R"({"_id": 3})", "--json-array"}), "[]\n");
}

TEST_F(GridstoreExport, Csv_HasAHeaderAndPaths) {
  EXPECT_EQ(exported({"--type", "csv", "--fields", "_id,a.b.0,t"}),
            "_id,a.b.0,t\n1,,\"x, \"\"y\"\"\"\n2,7,\"two\nlines\"\n");
  EXPECT_EQ(
      exported({"--type", "csv", "--fields", "a", "--sort", R"({"_id": -1})", "--limit", "1"}),
      "a\n\"{\"\"b\"\":[7,{\"\"c\"\":null}]}\"\n");
}

TEST_F(GridstoreExport, ToAFile_WritesItWhole) {
  EXPECT_EQ(exported({"--out", "things.json"}), "");
  EXPECT_EQ(read_file("things.json"), exported({}));
  EXPECT_THAT(names(), ElementsAre("things.json"));
}

TEST_F(GridstoreExport, StoreInUse_IsReadBesideItsOwnerAndOverAConnection) {
  const std::string expected = exported({});
  while_served([&](const std::string& uri) {
    EXPECT_EQ(exported({}), expected);
    EXPECT_EQ(exported({}, uri), expected);
  });
}

TEST_F(GridstoreExport, WhatIsWrong_IsRefusedAndLeavesNoFile) {
  const auto refused = [&](std::vector<std::string> arguments, std::string_view part,
                           int status = 1) {
    arguments.insert(arguments.begin(), {"export", "store.gfs"});
    expect_refused(arguments, part, status);
    EXPECT_THAT(names(), IsEmpty());
  };
  refused({"test.things", "--type", "csv"}, "--type csv needs --fields");
  refused({"test.things", "--type", "csv", "--fields", "a", "--json-array"},
          "--json-array does not");
  refused({"test.things", "--type", "csv", "--fields", "a", "--canonical"}, "--canonical does not");
  refused({"test.things", "--type", "xml"}, "xml");
  refused({"test.things", "{", "--out", "file"}, "the filter: invalid JSON at byte 1: ");
  refused({"test.absent", "--out", "file"}, "there is no collection `test.absent`");
  refused({"test.things", "--out", "absent/file"}, "creating the file `absent/file`: ");
  refused({"test.things", "--out", "/dev/full"},
          "writing `/dev/full`: ", static_cast<int>(ExitStatus::kOutOfDiskSpace));
}

}  // namespace
}  // namespace gridmount::tests
