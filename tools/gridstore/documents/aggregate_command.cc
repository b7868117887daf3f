#include "tools/gridstore/documents/aggregate_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "engine/database_name.h"
#include "tools/gridstore/documents/json_argument.h"
#include "tools/gridstore/documents/json_lines.h"
#include "tools/gridstore/documents/namespace_argument.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

namespace {

struct AggregateCommandOptions {
  StoreArgument store;
  std::string ns;  // DB or DB.COLLECTION
  std::string pipeline;
  bool canonical = false;
};

// Returns a namespace with an empty collection if the argument is the name of a database.
Result<engine::Namespace> database_or_collection(const std::string& argument) {
  if (argument.find('.') != std::string::npos) return namespace_argument(argument);
  GM_TRY(engine::check_database_name(argument));
  return engine::Namespace{argument, ""};
}

Result<std::unique_ptr<FoundDocuments>> open(const AggregateCommandOptions& options) {
  GM_ASSIGN(const engine::Namespace ns, database_or_collection(options.ns));
  GM_ASSIGN(bson::Document stages, array_argument("the pipeline", options.pipeline));
  return FoundDocuments::of_pipeline(options.store, ns, std::move(stages));
}

}  // namespace

Subcommand add_aggregate(CLI::App& app) {
  const auto options = std::make_shared<AggregateCommandOptions>();
  CLI::App* const command = app.add_subcommand(
      "aggregate",
      "Prints the result of an aggregation pipeline, one document on each line; works while the "
      "store is in use");
  add_store_or_deployment(*command, options->store);
  command
      ->add_option("DB.COLLECTION", options->ns,
                   "the database and its collection or view; the database alone if the first stage "
                   "reads no collection")
      ->type_name("")
      ->required();
  command
      ->add_option("PIPELINE", options->pipeline,
                   "an array of stages in Extended JSON; - reads it from stdin, @FILE from a file")
      ->type_name("")
      ->required();
  command->add_flag("--canonical", options->canonical,
                    "canonical Extended JSON, which keeps the type of each number");
  const auto run = [options] {
    return print_json_lines(
        open(*options), options->canonical ? bson::JsonForm::kCanonical : bson::JsonForm::kRelaxed);
  };
  return {
      command, run,
      R"(  gridstore aggregate ~/media.gfs media.fs.files '[{"$group": {"_id": null, "bytes": {"$sum": "$length"}}}]'
  gridstore aggregate mongodb://localhost media.fs.files @report.json
)"};
}

}  // namespace gridmount::tools
