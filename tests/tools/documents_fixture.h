// A store with documents for the tests of `query`, `aggregate`, `export` and `import`, and a server
// that owns it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/dump_fixture.h"

namespace gridmount::tests {

class DocumentsTest : public DumpTest {
 protected:
  // Makes the store, with these documents in test.things.
  void create_things(const std::vector<std::string>& documents) const;
  // Runs `work` while a server owns the store. `uri` is the server's connection string. The server
  // must end without an error afterwards.
  void while_served(const std::function<void(const std::string& uri)>& work) const;
  // Runs gridstore, which must fail with this status and print one line that contains `part`.
  void expect_refused(const std::vector<std::string>& arguments, std::string_view part,
                      int status = 1, const std::string& input = "") const;
};

}  // namespace gridmount::tests
