// Goal: tests get a MongoDB server that accepts writes, and that still has them after it was
// started again.

#include "tests/peer/mongod_process.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

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

// A socket of another program that listens on the port of a server which has ended.
TEST(Mongod, PortOfAnotherProgram_IsNoServer) {
  require_mongod();
  const auto server = must(MongodProcess::start(MongodKind::kStandalone));
  const std::string address = server->address();
  server->end(SIGKILL);
  const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int reuse = 1;
  ::setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  sockaddr_in taken{};
  taken.sin_family = AF_INET;
  taken.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.find(':') + 1))));
  taken.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(other, reinterpret_cast<const sockaddr*>(&taken), sizeof taken), 0);
  ASSERT_EQ(::listen(other, 8), 0);
  const Status again = server->start_again();
  ::close(other);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message(), testing::HasSubstr("Address already in use"));
}

INSTANTIATE_TEST_SUITE_P(Peer, MongodOf,
                         testing::Values(MongodKind::kStandalone, MongodKind::kReplicaSet),
                         [](const auto& test) {
                           return test.param == MongodKind::kStandalone ? "Standalone"
                                                                        : "ReplicaSet";
                         });

}  // namespace
}  // namespace gridmount::peer
