// Goal: the embedded store fulfils the Store contract. At the end of every test the store's
// structure is checked too.

#include "tests/engine/contract/store_contract.h"

#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"

namespace gridmount::engine {

INSTANTIATE_TEST_SUITE_P(Local, StoreContract,
                         testing::Values(StoreFactory{"Local",
                                                      [](const std::filesystem::path& folder) {
                                                        local::OpenOptions options;
                                                        options.create = true;
                                                        return local::open(folder, options);
                                                      },
                                                      [](Store& store) {
                                                        const auto report =
                                                            local::check_structure(store);
                                                        ASSERT_THAT(report, Succeeded());
                                                        EXPECT_THAT(report->problems,
                                                                    testing::IsEmpty());
                                                      }}),
                         [](const auto& test) { return test.param.name; });

}  // namespace gridmount::engine
