#include <gtest/gtest.h>

#include "engine/local/open_store.h"
#include "tests/manuals/manual_fixture.h"
#include "tests/manuals/store_under_test.h"

namespace gridmount::manuals {
namespace {

class EmbeddedStore final : public StoreUnderTest {
 public:
  explicit EmbeddedStore(std::unique_ptr<engine::Store> store) : store_(std::move(store)) {}
  engine::Store& store() override { return *store_; }
  engine::Store& embedded() override { return *store_; }
  bool has_transactions() const override { return true; }

 private:
  const std::unique_ptr<engine::Store> store_;
};

}  // namespace

std::unique_ptr<StoreUnderTest> StoreUnderTest::make(const std::filesystem::path& folder) {
  Result<std::unique_ptr<engine::Store>> opened = local::open(folder, open_options());
  EXPECT_THAT(opened, Succeeded());
  if (!opened) return nullptr;
  return std::make_unique<EmbeddedStore>(std::move(*opened));
}

}  // namespace gridmount::manuals
