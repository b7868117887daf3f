#include "tools/gridstore/documents/query_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/gridstore/documents/json_lines.h"
#include "tools/gridstore/documents/query_arguments.h"
#include "tools/gridstore/message.h"

namespace gridmount::tools {

namespace {

struct QueryOptions {
  QueryArguments query;
  bool canonical = false;
};

ExitStatus run_query(const QueryOptions& options) {
  Result<Query> query = read_query(options.query);
  if (!query) return print_error(query.error());
  return print_json_lines(
      FoundDocuments::of_query(options.query.store, std::move(*query)),
      options.canonical ? bson::JsonForm::kCanonical : bson::JsonForm::kRelaxed);
}

}  // namespace

Subcommand add_query(CLI::App& app) {
  const auto options = std::make_shared<QueryOptions>();
  CLI::App* const command = app.add_subcommand(
      "query",
      "Prints documents as Extended JSON, one on each line; works while the store is in use");
  add_query_arguments(*command, options->query);
  command
      ->add_option("--projection", options->query.projection,
                   "only these fields, such as '{\"filename\": 1, \"_id\": 0}'")
      ->type_name("JSON");
  command->add_flag("--canonical", options->canonical,
                    "canonical Extended JSON, which keeps the type of each number");
  return {command, [options] { return run_query(*options); },
          R"(  gridstore query ~/media.gfs media.fs.files '{"length": {"$gt": 1000000}}' --limit 10
  gridstore query mongodb://localhost media.fs.files --sort '{"uploadDate": -1}' --projection '{"filename": 1}'
)"};
}

}  // namespace gridmount::tools
