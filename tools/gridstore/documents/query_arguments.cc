#include "tools/gridstore/documents/query_arguments.h"

#include <CLI/CLI.hpp>

#include "tools/gridstore/documents/json_argument.h"
#include "tools/gridstore/documents/namespace_argument.h"

namespace gridmount::tools {

void add_query_arguments(CLI::App& command, QueryArguments& arguments) {
  add_store_or_deployment(command, arguments.store);
  command.add_option("DB.COLLECTION", arguments.ns, "the database and its collection or view")
      ->type_name("")
      ->required();
  command
      .add_option("FILTER", arguments.filter,
                  "only documents that match, in Extended JSON; - reads the filter from stdin, "
                  "@FILE from a file; default: all documents")
      ->type_name("");
  command.add_option("--sort", arguments.sort, "the order, such as '{\"length\": -1}'")
      ->type_name("JSON");
  command.add_option("--limit", arguments.limit, "at most so many documents; 0: no limit")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  command.add_option("--skip", arguments.skip, "leave out the first N documents")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
}

Result<Query> read_query(const QueryArguments& arguments) {
  Query query;
  GM_ASSIGN(query.ns, namespace_argument(arguments.ns));
  GM_ASSIGN(query.filter, document_argument("the filter", arguments.filter));
  GM_ASSIGN(query.projection, document_argument("the projection", arguments.projection));
  GM_ASSIGN(query.sort, document_argument("the sort", arguments.sort));
  query.limit = arguments.limit;
  query.skip = arguments.skip;
  return query;
}

}  // namespace gridmount::tools
