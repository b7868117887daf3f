// Goal: a Store of engine/mongo over our own server fulfils the Store contract, as far as a
// standalone server can.
// Method: the suite of tests/engine/contract, through a driver's library and the socket of a
// server.

#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"
#include "engine/mongo/mongo_store.h"
#include "engine/wire/server/server.h"
#include "engine/wire/server/service_handler.h"
#include "tests/engine/contract/store_contract.h"
#include "tests/engine/mongo/differences.h"

namespace gridmount::engine {
namespace {

// The driver's store, with the server that it is connected to.
class ServedStore final : public Store {
 public:
  static Result<std::unique_ptr<Store>> open(const std::filesystem::path& folder) {
    local::OpenOptions options;
    options.create = true;
    GM_ASSIGN(std::unique_ptr<Store> embedded, local::open(folder, options));
    std::unique_ptr<ServedStore> served(new ServedStore(std::move(embedded)));
    wire::ServerOptions server;
    server.socket_folder = folder;
    GM_ASSIGN(served->server_, wire::Server::start(served->handler_, std::move(server)));
    GM_ASSIGN(served->driver_, mongo::connect({.uri = uri_of(served->server_->addresses().at(0)),
                                               .application = "contract"}));
    return std::unique_ptr<Store>(std::move(served));
  }
  static void check(Store& store) {
    const auto report = local::check_structure(*static_cast<ServedStore&>(store).embedded_);
    ASSERT_THAT(report, Succeeded());
    EXPECT_THAT(report->problems, testing::IsEmpty());
  }

  std::shared_ptr<Database> database(std::string_view name) override {
    return driver_->database(name);
  }
  Result<std::vector<std::string>> databases(Snapshot& snapshot) override {
    return driver_->databases(snapshot);
  }
  Result<std::unique_ptr<Snapshot>> snapshot() override { return driver_->snapshot(); }
  Result<std::unique_ptr<Transaction>> begin(TransactionKind kind) override {
    return driver_->begin(kind);
  }
  Status make_durable() override { return driver_->make_durable(); }
  Result<int64_t> compact(const Namespace& ns, const std::optional<Deadline>& deadline) override {
    return driver_->compact(ns, deadline);
  }
  Result<StoreStats> stats() override { return driver_->stats(); }
  bool read_only() const override { return driver_->read_only(); }
  Capabilities capabilities() const override { return driver_->capabilities(); }

 private:
  explicit ServedStore(std::unique_ptr<Store> embedded)
      : embedded_(std::move(embedded)), service_(*embedded_, {}), handler_(service_) {}

  static std::string uri_of(const std::filesystem::path& socket) {
    std::string uri = "mongodb://";
    for (const char byte : socket.string()) {
      uri += byte == '/' ? std::string("%2F") : std::string(1, byte);
    }
    return uri + "/";
  }

  const std::unique_ptr<Store> embedded_;
  wire::Service service_;
  wire::ServiceHandler handler_;
  std::unique_ptr<wire::Server> server_;
  std::unique_ptr<Store> driver_;
};

INSTANTIATE_TEST_SUITE_P(Served, StoreContract,
                         testing::Values(StoreFactory{"Served", ServedStore::open,
                                                      ServedStore::check,
                                                      difference_of_our_server}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace gridmount::engine
