// Goal: a Store of engine/mongo over MongoDB's own server fulfils the Store contract, as far as the
// server can. If the contract leaves a choice, the server decides what is right.
// Method: the suite of tests/engine/contract over a replica set of one member and over a standalone
// server. Each server is started once, and each test begins without databases.

#include <map>

#include "engine/mongo/mongo_store.h"
#include "tests/engine/contract/store_contract.h"
#include "tests/engine/mongo/differences.h"
#include "tests/peer/mongod_process.h"

namespace gridmount::engine {
namespace {

using peer::MongodKind;
using peer::MongodProcess;

// The servers that this program starts. They end with the program.
class Servers : public testing::Environment {
 public:
  void SetUp() override { peer::require_mongod(); }
  void TearDown() override { running_.clear(); }

  Result<std::string> uri(MongodKind kind) {
    std::unique_ptr<MongodProcess>& server = running_[kind];
    if (!server) {
      // With this parameter, the server makes plans of the form that our explain reports.
      GM_ASSIGN(server, MongodProcess::start(
                            kind, {"--setParameter", "internalQueryForceClassicEngine=true"}));
    }
    return server->uri("", "serverSelectionTimeoutMS=5000");
  }

 private:
  std::map<MongodKind, std::unique_ptr<MongodProcess>> running_;
};

Servers& servers() {
  static auto* const servers =
      static_cast<Servers*>(testing::AddGlobalTestEnvironment(new Servers));
  return *servers;
}
[[maybe_unused]] const Servers& registered = servers();

Status remove_databases(Store& store) {
  GM_ASSIGN(const std::unique_ptr<Transaction> transaction, store.begin());
  GM_ASSIGN(const std::vector<std::string> names, store.databases(*transaction));
  for (const std::string& name : names) {
    if (name == "admin" || name == "config" || name == "local") continue;
    GM_TRY(store.database(name)->drop_database(*transaction));
  }
  return {};
}

StoreFactory over(std::string name, MongodKind kind) {
  const auto open = [kind](const std::filesystem::path& folder) -> Result<std::unique_ptr<Store>> {
    GM_ASSIGN(const std::string uri, servers().uri(kind));
    GM_ASSIGN(std::unique_ptr<Store> store,
              mongo::connect({.uri = uri, .application = "contract"}));
    if (std::filesystem::create_directory(folder)) GM_TRY(remove_databases(*store));
    return store;
  };
  return StoreFactory{
      std::move(name),
      open,
      {},
      kind == MongodKind::kReplicaSet ? difference_of_replica_set : difference_of_standalone};
}

INSTANTIATE_TEST_SUITE_P(Peer, StoreContract,
                         testing::Values(over("ReplicaSet", MongodKind::kReplicaSet),
                                         over("Standalone", MongodKind::kStandalone)),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace gridmount::engine
