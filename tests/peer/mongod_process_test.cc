// Goal: tests get a MongoDB server that accepts writes, and that still has them after it was
// started again.

#include "tests/peer/mongod_process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "engine/bson/builder.h"
#include "engine/mongo/mongo_store.h"
#include "tests/must.h"

namespace gridmount::peer {
namespace {

class MongodOf : public testing::TestWithParam<MongodKind> {
 protected:
  static void SetUpTestSuite() { require_mongod(); }
};

TEST_P(MongodOf, Server_KeepsWhatIsWritten) {
  const auto server = must(MongodProcess::start(GetParam()));
  const auto store = must(mongo::connect(
      {.uri = server->uri("", "serverSelectionTimeoutMS=5000"), .application = "peer"}));
  const auto documents = store->database("test")->collection("c");
  {
    const auto transaction = must(store->begin());
    bson::Builder document;
    document.append("_id", int32_t{1});
    must(documents->insert(*transaction, std::move(document).finish()));
    must(transaction->commit(engine::Durability::kDurable));
  }
  server->end(SIGKILL);
  must(server->start_again());
  const auto again = must(mongo::connect({.uri = server->uri(), .application = "peer"}));
  EXPECT_EQ(must(documents->count(*must(again->snapshot()), bson::View())), 1);
}

INSTANTIATE_TEST_SUITE_P(Peer, MongodOf,
                         testing::Values(MongodKind::kStandalone, MongodKind::kReplicaSet),
                         [](const auto& test) {
                           return test.param == MongodKind::kStandalone ? "Standalone"
                                                                        : "ReplicaSet";
                         });

}  // namespace
}  // namespace gridmount::peer
