#include "tools/gridstore/documents/export_command.h"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line/progress.h"
#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "tools/gridstore/documents/export_format.h"
#include "tools/gridstore/documents/query_arguments.h"
#include "tools/gridstore/dump/output_file.h"
#include "tools/gridstore/message.h"

namespace gridmount::tools {

namespace {

struct ExportOptions {
  QueryArguments query;
  std::string type = "json";
  bool json_array = false;
  bool canonical = false;
  std::vector<std::string> fields;
  std::filesystem::path out;  // empty: stdout
  bool quiet = false;

  bool is_csv() const { return type == "csv"; }
};

struct ExportCounts {
  uint64_t documents = 0;
  uint64_t damaged = 0;
};

Status check(const ExportOptions& options) {
  if (!options.is_csv()) return {};
  if (options.fields.empty()) {
    return fail(ErrorCode::kBadValue, "--type csv needs --fields, such as --fields _id,filename");
  }
  if (!options.json_array && !options.canonical) return {};
  return fail(ErrorCode::kBadValue,
              std::string(options.json_array ? "--json-array" : "--canonical") +
                  " does not go together with --type csv");
}

// Returns the projection for the fields. A projection cannot select positions in arrays, so for CSV
// it has only the first name of each path.
bson::Document projection_of(const ExportOptions& options) {
  std::vector<std::string> names;
  for (const std::string& field : options.fields) {
    std::string name = options.is_csv() ? field.substr(0, field.find('.')) : field;
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  bson::Builder projection;
  for (const std::string& name : names) projection.append(name, int32_t{1});
  return std::move(projection).finish();
}

Status export_documents(const ExportOptions& options, ExportCounts& counts) {
  GM_TRY(check(options));
  GM_ASSIGN(Query query, read_query(options.query));
  query.projection = projection_of(options);
  GM_ASSIGN(const std::unique_ptr<FoundDocuments> found,
            FoundDocuments::of_query(options.query.store, std::move(query)));
  const std::unique_ptr<ExportFormat> format =
      options.is_csv()
          ? csv_format(options.fields)
          : json_format(options.canonical ? bson::JsonForm::kCanonical : bson::JsonForm::kRelaxed,
                        options.json_array);
  GM_ASSIGN(const std::unique_ptr<OutputFile> out, options.out.empty()
                                                       ? OutputFile::to_stdout(false)
                                                       : OutputFile::create(options.out, false));
  // If the terminal shows the documents, a progress line would disturb them.
  const bool shows_documents = options.out.empty() && ::isatty(STDOUT_FILENO) == 1;
  Progress progress("documents", options.quiet || shows_documents);
  if (progress.is_shown()) {
    GM_ASSIGN(const std::optional<uint64_t> expected, found->expected());
    progress.expect(expected.value_or(0));
  }
  std::string text;
  format->begin(text);
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, found->next());
    counts.damaged = found->damaged();
    if (!document) break;
    format->append(text, *document);
    GM_TRY(out->write(text));
    text.clear();
    ++counts.documents;
    progress.add(1);
  }
  format->end(text);
  GM_TRY(out->write(text));
  GM_TRY(out->finish());
  return options.out.empty() ? Status() : sync_folder(options.out.parent_path());
}

ExitStatus run_export(const ExportOptions& options) {
  // A write to a closed pipe must fail like any other write, and not end the process.
  ::signal(SIGPIPE, SIG_IGN);
  ExportCounts counts;
  const Status done = export_documents(options, counts);
  if (!done) return print_error(done.error());
  if (!options.quiet || counts.damaged > 0) {
    print_message("exported " + counted(counts.documents, "document") + " of " + options.query.ns +
                  (counts.damaged > 0
                       ? "; " + counted(counts.damaged, "damaged document") + " left out"
                       : std::string()));
  }
  return counts.damaged > 0 ? ExitStatus::kStoreDamaged : ExitStatus::kOk;
}

}  // namespace

Subcommand add_export(CLI::App& app) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* const command = app.add_subcommand("export",
                                               "Writes documents as Extended JSON or CSV, like "
                                               "mongoexport; works while the store is in use");
  add_query_arguments(*command, options->query);
  command->add_option("--type", options->type, "json (the default) or csv")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"json", "csv"}).description(""));
  command->add_flag("--json-array", options->json_array,
                    "one array instead of a document per line");
  command->add_flag("--canonical", options->canonical,
                    "canonical Extended JSON, which keeps the type of each number");
  command
      ->add_option("--fields", options->fields,
                   "only these fields, separated by commas; the columns of CSV, where a.b and a.0 "
                   "are paths")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--out", options->out, "the file to write; default: stdout")
      ->type_name("FILE");
  command->add_flag("--quiet", options->quiet, "print only failures");
  return {command, [options] { return run_export(*options); },
          R"(  gridstore export ~/media.gfs media.things --canonical --out things.json
  gridstore export mongodb://localhost media.fs.files --type csv --fields filename,length,metadata.owner
)"};
}

}  // namespace gridmount::tools
