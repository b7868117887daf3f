// The arguments by which `query` and `export` select documents.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/error.h"
#include "tools/gridstore/documents/found_documents.h"
#include "tools/gridstore/store_argument.h"

namespace CLI {
class App;
}

namespace gridmount::tools {

struct QueryArguments {
  StoreArgument store;
  std::string ns;  // DB.COLLECTION
  std::string filter;
  std::string projection;
  std::string sort;
  int64_t limit = 0;
  int64_t skip = 0;
};

// Adds STORE with its options (add_store_or_deployment()), DB.COLLECTION, FILTER and the options
// --sort, --limit and --skip. `arguments` must live until the subcommand runs.
void add_query_arguments(CLI::App& command, QueryArguments& arguments);

// Parses the arguments. Fails as namespace_argument() and document_argument() do. The message names
// the argument.
Result<Query> read_query(const QueryArguments& arguments);

}  // namespace gridmount::tools
