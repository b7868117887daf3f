// stat prints the files document of the newest file of each name, one field per line, and how many
// revisions the name has. With --json it prints the documents, one per line.
#include <string>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/output.h"

namespace gridmount::tools {

namespace {

Result<int64_t> count_revisions(const CommandContext& context, const std::string& name) {
  bson::Builder by_name;
  by_name.append("filename", name);
  GM_ASSIGN(auto snapshot, context.bucket.store().snapshot());
  return context.bucket.files().count(*snapshot, std::move(by_name).finish());
}

Status print_fields(const CommandContext& context, bson::View file) {
  for (const bson::Element field : file) {
    GM_TRY(print_line(std::string(field.key) + ": " +
                      bson::to_json(field.value, bson::JsonForm::kRelaxed)));
  }
  GM_ASSIGN(const int64_t revisions, count_revisions(context, filename_of(file)));
  return print_line("revisions: " + std::to_string(revisions));
}

}  // namespace

Status run_stat(const CommandContext& context) {
  GM_ASSIGN(const auto files, files_of_arguments(context));
  for (const bson::Document& file : files) {
    if (context.options.json) {
      GM_TRY(print_json(file));
      continue;
    }
    if (&file != &files.front()) GM_TRY(print_line(""));
    GM_TRY(print_fields(context, file));
  }
  return flush_output();
}

}  // namespace gridmount::tools
