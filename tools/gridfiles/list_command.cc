// list and search print the name, a tab and the length of each file. With --json, they print the
// whole files document.
#include <string>

#include "engine/bson/builder.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/output.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

Status print_file(const CommandContext& context, bson::View document) {
  if (context.options.json) return print_json(document);
  const std::string name = filename_of(document);
  const auto bytes = length_of(document);
  if (!bytes) {
    context.log.line(Log::kAlways, "WARNING: the length in the files document of " +
                                       in_quotes(name) +
                                       " is not a whole number; see `gridstore check`");
  }
  return print_line(name + "\t" + std::to_string(bytes.value_or(0)));
}

Status print_files(const CommandContext& context, bson::View filter) {
  Status printed = for_each_file(context, filter, bson::View(), [&](bson::View document) {
    return print_file(context, document);
  });
  if (printed) printed = flush_output();
  if (printed || printed.error().code() == ErrorCode::kInterrupted) return printed;
  return fail(std::move(printed).error().with_context("error retrieving list of GridFS files"));
}

}  // namespace

Status run_list(const CommandContext& context) {
  return print_files(context, names_of_argument(context));
}

Status run_search(const CommandContext& context) {
  bson::Builder filter;
  filter.open_document("filename").append("$regex", context.arguments[0]).close();
  return print_files(context, std::move(filter).finish());
}

}  // namespace gridmount::tools
