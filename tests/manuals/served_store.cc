#include <gtest/gtest.h>

#include <string>

#include "engine/local/open_store.h"
#include "engine/mongo/mongo_store.h"
#include "engine/wire/server/server.h"
#include "engine/wire/server/service_handler.h"
#include "tests/manuals/manual_fixture.h"
#include "tests/manuals/store_under_test.h"

namespace gridmount::manuals {
namespace {

std::string uri_of(const std::filesystem::path& socket) {
  std::string uri = "mongodb://";
  for (const char byte : socket.string())
    uri += byte == '/' ? std::string("%2F") : std::string(1, byte);
  return uri + "/";
}

class ServedStore final : public StoreUnderTest {
 public:
  explicit ServedStore(std::unique_ptr<engine::Store> embedded)
      : embedded_(std::move(embedded)), service_(*embedded_, {}), handler_(service_) {}

  Status connect(const std::filesystem::path& folder) {
    wire::ServerOptions options;
    options.socket_folder = folder;
    GM_ASSIGN(server_, wire::Server::start(handler_, std::move(options)));
    GM_ASSIGN(driver_, mongo::connect(
                           {.uri = uri_of(server_->addresses().at(0)), .application = "manuals"}));
    return {};
  }
  engine::Store& store() override { return *driver_; }
  engine::Store& embedded() override { return *embedded_; }
  bool has_transactions() const override { return false; }

 private:
  const std::unique_ptr<engine::Store> embedded_;
  wire::Service service_;
  wire::ServiceHandler handler_;
  std::unique_ptr<wire::Server> server_;
  std::unique_ptr<engine::Store> driver_;
};

}  // namespace

std::unique_ptr<StoreUnderTest> StoreUnderTest::make(const std::filesystem::path& folder) {
  Result<std::unique_ptr<engine::Store>> opened = local::open(folder, open_options());
  EXPECT_THAT(opened, Succeeded());
  if (!opened) return nullptr;
  auto served = std::make_unique<ServedStore>(std::move(*opened));
  const Status connected = served->connect(folder);
  EXPECT_THAT(connected, Succeeded());
  if (!connected) return nullptr;
  return served;
}

}  // namespace gridmount::manuals
